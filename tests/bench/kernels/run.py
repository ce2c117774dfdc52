#!/usr/bin/env python3
"""Kernel benchmark: opserve beside ATen and the machine's bandwidth, interleaved, medians.

Usage: run.py [--rounds N] [--filter REGEX] [--json FILE] [--build FOLDER]

Build first: scripts/build bench. ATen's columns need libtorch-dev at build time. Every round runs each program once, in turn,
case by case, so that a drift of the machine's speed meets both.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys


def run(binary, name, min_time):
    command = [binary, f"--benchmark_filter=^{re.escape(name)}/real_time$", f"--benchmark_min_time={min_time}",
               "--benchmark_format=json"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [row for row in json.loads(output)["benchmarks"] if not row.get("error_occurred")]
    return rows[0] if rows else None


def names_of(binary, pattern):
    output = subprocess.run([binary, "--benchmark_list_tests=true"], check=True, capture_output=True, text=True).stdout
    names = [line.removesuffix("/real_time") for line in output.split()]
    return [name for name in names if re.search(pattern, name)]


def nanoseconds(row):
    return row["real_time"] * {"ns": 1, "us": 1e3, "ms": 1e6}[row["time_unit"]]


# What a case of ours alone is compared with.
ATEN_CASES = {name: "SmoothL1LossBackward/f32/8/threads:1"
              for name in ("PlanAndExecute/f32/8/threads:1", "Engine/f32/8/threads:1")}


def measure(ours, aten, names, rounds):
    times, bandwidths, reads = {}, {}, {}
    for _ in range(rounds):
        for name in names:
            for key, binary in (("opserve", ours), ("aten", aten)):
                case = ATEN_CASES.get(name, name) if key == "aten" else name
                if binary is None or key == "aten" and name.startswith("Stream"):
                    continue
                row = run(binary, case, 0.1)
                if row is None:
                    continue
                times.setdefault((name, key), []).append(nanoseconds(row))
                if key == "opserve":
                    bandwidths.setdefault(name, []).append(row.get("bytes_per_second", 0) / 1e9)
                    reads[name] = int(row.get("inputs", 0))
    return times, bandwidths, reads


def table(times, bandwidths, reads, names):
    rows = []
    for name in names:
        ours = times.get((name, "opserve"))
        if not ours:
            continue
        parts = name.split("/")
        peer = times.get((name, "aten"))
        row = {"case": name, "ns": statistics.median(ours), "GB/s": statistics.median(bandwidths[name])}
        if parts[2].isdigit():
            row["ns/element"] = row["ns"] / int(parts[2])
        if peer:
            row["aten ns"] = statistics.median(peer)
            row["ratio"] = statistics.median(b / a for a, b in zip(ours, peer))
        stream = bandwidths.get(f"Stream/f32/{reads[name]}r1w/{parts[-1]}")
        if stream and parts[2] == str(16 << 20):
            row["of stream"] = row["GB/s"] / statistics.median(stream)
        rows.append(row)
    return rows


def show(rows):
    columns = ["case", "ns", "ns/element", "GB/s", "aten ns", "ratio", "of stream"]
    text = [[column for column in columns]]
    for row in rows:
        text.append([row["case"]] + [f"{row[c]:.4g}" if c in row else "-" for c in columns[1:]])
    widths = [max(len(line[i]) for line in text) for i in range(len(columns))]
    for line in text:
        print("  ".join(cell.ljust(w) if i == 0 else cell.rjust(w) for i, (cell, w) in enumerate(zip(line, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--filter", default=".")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/bench"))
    options = parser.parse_args()
    folder = options.build / "tests/bench/kernels"
    ours, aten = folder / "opserve_kernel_bench", folder / "aten_kernel_bench"
    if not ours.exists():
        sys.exit(f"{ours} is not there: run scripts/build bench first")
    if not aten.exists():
        print("ATen was not found when the benchmark was built: its columns are left out", file=sys.stderr)
        aten = None
    names = names_of(ours, options.filter)
    rows = table(*measure(ours, aten, names, options.rounds), names)
    show(rows)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
