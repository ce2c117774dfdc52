#!/usr/bin/env python3
"""Measures every operator that ATen has beside ATen, on one thread, and writes the ratios into docs/performance.md.

Usage: catalogue.py [--rounds N] [--build FOLDER]     (build first: scripts/build bench, with libtorch-dev)

In every round each operator is measured by both programs in turn, with all of its dtypes and sizes.
"""

import argparse
import collections
import json
import pathlib
import re
import statistics
import subprocess
import sys

import run

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/performance.md"
BEGIN, END = "<!-- Made by tests/bench/kernels/catalogue.py. -->\n", "<!-- end -->\n"
# Of what is done element by element: in the caches, and from memory.
SIZES = ["4096", "1048576"]
DTYPES = ["f32", "bf16", "f16"]
# ATen makes no copy for Permute.
PATTERN = r"^(?!Stream|Engine|PlanAndExecute|Permute)\w+/\w+/.*/threads:1$"
MIN_SECONDS = 0.05
SLOWER = 0.95
WIDTH = 120


def cases_of(binary):
    """Of each operator, the names of its cases."""
    cases = collections.defaultdict(list)
    for name in run.names_of(binary, PATTERN):
        operator, _, size, _ = name.split("/")
        if not size.isdigit() or size in SIZES:
            cases[operator].append(name)
    return cases


def nanoseconds(binary, names):
    """Of each case that the program has."""
    wanted = "|".join(re.escape(name) for name in names)
    command = [binary, f"--benchmark_filter=^({wanted})/real_time$", f"--benchmark_min_time={MIN_SECONDS}",
               "--benchmark_format=json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = json.loads(output)["benchmarks"] if output.startswith("{") else []
    return {row["name"].removesuffix("/real_time"): run.nanoseconds(row) for row in rows if not row.get("error_occurred")}


def measure(ours, aten, rounds):
    """ATen's time over opserve's, of each case that both have."""
    ratios = collections.defaultdict(list)
    cases = cases_of(ours)
    for i in range(rounds):
        for operator, names in cases.items():
            peers = nanoseconds(aten, names)
            for name, time in nanoseconds(ours, list(peers)).items() if peers else []:
                ratios[name].append(peers[name] / time)
        print(f"round {i + 1} of {rounds}: {len(ratios)} cases", file=sys.stderr)
    return {name: statistics.median(values) for name, values in ratios.items()}


def wrapped(words):
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 1 > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return "\n".join(lines) + "\n"


def processor():
    """What decides which kernels run."""
    flags = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return "AVX-512" if "avx512bw" in flags else "AVX2, without AVX-512" if "avx2" in flags else "neither AVX2 nor AVX-512"


def table(operators):
    """A row an operator, a column a dtype."""
    lines = ["| | " + " | ".join(DTYPES) + " |", "|---" * (len(DTYPES) + 1) + "|"]
    for operator, by_dtype in operators.items():
        cells = [" / ".join(f"{ratio:.2g}" for ratio in by_dtype.get(dtype, {}).values()) for dtype in DTYPES]
        lines.append(f"| {operator} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def markdown(ratios, rounds):
    operators = {}
    for name, ratio in ratios.items():
        operator, dtype, size, _ = name.split("/")
        operators.setdefault(operator, {}).setdefault(dtype, {})[size] = ratio
    of_elements = {name: row for name, row in operators.items() if list(row.get("f32", {})) == SIZES}
    others = {name: row for name, row in operators.items() if name not in of_elements}
    slower = [f"{name} {dtype} {size} ({ratio:.2g})" for name, row in operators.items()
              for dtype, sizes in row.items() for size, ratio in sizes.items() if ratio < SLOWER]
    return (f"Medians of {rounds} interleaved rounds, on a processor with {processor()}. Element by element, 4 Ki / 1 Mi elements:\n\n"
            f"{table(of_elements)}\nAlong a dimension, over planes, over classes; of the sizes of the benchmark, small to large:\n\n"
            f"{table(others)}\nBelow {SLOWER} ({len(slower)} of {len(ratios)} cases; elements, or rows by columns, or planes):\n\n"
            f"{wrapped([word + ',' for word in slower[:-1]] + [word + '.' for word in slower[-1:]])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    ours, aten = (options.build / "tests/bench/kernels" / name for name in ("opserve_kernel_bench", "aten_kernel_bench"))
    if not ours.exists() or not aten.exists():
        sys.exit(f"{ours} and {aten}: want both, got {ours.exists()} and {aten.exists()}; scripts/build bench builds them")
    ratios = measure(ours, aten, options.rounds)
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{markdown(ratios, options.rounds)}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
