#!/usr/bin/env python3
"""Measures every operator that ATen has beside ATen, float32 on one thread, and writes the ratios into docs/performance.md.

Usage: catalogue.py [--rounds N] [--build FOLDER]     (build first: scripts/build bench, with libtorch-dev)
"""

import argparse
import pathlib
import sys

import run

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs/performance.md"
BEGIN, END = "<!-- Made by tests/bench/kernels/catalogue.py. -->\n", "<!-- end -->\n"
ELEMENTS = 1 << 20
# ATen makes no copy for Permute.
PATTERN = r"^(?!Stream|Engine|PlanAndExecute|Permute)\w+/f32/.*/threads:1$"
WIDTH = 120


def is_wanted(name):
    """Of what is done element by element, one size."""
    size = name.split("/")[2]
    return not size.isdigit() or int(size) == ELEMENTS


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


def markdown(rows, rounds):
    """`rows` as run.table gives them."""
    ratios, sizes = {}, {}
    for row in rows:
        if "ratio" in row:
            operator, _, size, _ = row["case"].split("/")
            ratios.setdefault(operator, []).append(row["ratio"])
            sizes.setdefault(operator, []).append(size)
    single = sorted((name for name in ratios if sizes[name] == [str(ELEMENTS)]), key=lambda name: -ratios[name][0])
    words = [f"{name} {ratios[name][0]:.2g}" for name in single]
    slower = [name for name, row in ratios.items() if row[-1] < 0.8]
    text = [f"Medians of {rounds} interleaved rounds, on a processor with {processor()}. Element by element, {ELEMENTS >> 20} Mi elements:\n\n",
            wrapped([word + "," for word in words[:-1]] + [words[-1] + "."]),
            "\nAlong a dimension, over planes, over classes; of the sizes of the benchmark, small to large:\n\n| | |\n|---|---|\n"]
    text += [f"| {name} | {' / '.join(f'{ratio:.2g}' for ratio in row)} |\n" for name, row in ratios.items() if name not in single]
    text.append("\nAt the largest size below 0.8:\n" + wrapped([name + "," for name in slower[:-1]] + [f"{name}." for name in slower[-1:]]))
    return "".join(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    ours, aten = (options.build / "tests/bench/kernels" / name for name in ("opserve_kernel_bench", "aten_kernel_bench"))
    if not ours.exists() or not aten.exists():
        sys.exit(f"{ours} and {aten}: want both, got {ours.exists()} and {aten.exists()}; scripts/build bench builds them")
    names = [name for name in run.names_of(ours, PATTERN) if is_wanted(name)]
    rows = run.table(*run.measure(ours, aten, names, options.rounds), names)
    run.show(rows)
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{markdown(rows, options.rounds)}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
