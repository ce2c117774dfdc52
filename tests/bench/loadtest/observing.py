#!/usr/bin/env python3
"""What being observed costs a server: instructions of a tiny call, with and without --http and tracing.

Usage: observing.py [--rounds N] [--calls N] [--build FOLDER]

Build first: scripts/build release. Needs valgrind, whose callgrind counts the instructions of a server that makes a few calls, and of
one that makes more: the difference is what calls take, and it is the same within a percent when other programs run, too, where times
differ by a fifth. "--http" counts calls and keeps histograms and exemplars; no page is asked for. "tracing" has --trace-endpoint, too,
with calls of which none is traced. The servers take turns; medians.
"""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

FEW_CALLS = 1000
START_SECONDS = 60
COLLECTED = re.compile(r"Collected : (\d+)")
SERVERS = {
    "plain": (),
    "--http": ("--http", "localhost:0"),
    "tracing": ("--http", "localhost:0", "--trace-endpoint", "http://localhost:9/v1/traces", "--trace-sample", "0%"),
}


def address_in(port_file, server):
    """Waits for the server's address."""
    deadline = time.monotonic() + START_SECONDS
    while not port_file.exists():
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("the server did not start under valgrind")
        time.sleep(0.1)
    return port_file.read_text(encoding="utf-8").split()[0]


def instructions(programs, words, calls):
    """Of a server that starts, answers `calls` calls and ends."""
    with tempfile.TemporaryDirectory() as folder:
        port_file, log = pathlib.Path(folder) / "address", pathlib.Path(folder) / "log"
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", programs / "opserve-server", "--listen",
                   "localhost:0", "--port-file", port_file, *words]
        with open(log, "w", encoding="utf-8") as output:
            server = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            subprocess.run([programs / "opserve", "--target", address_in(port_file, server), "bench", "SmoothL1LossBackward", "--shape",
                            "8", "--concurrency", "4", "--count", str(calls), "--warm-up", "0s", "--duration", "10m", "--no-ceiling",
                            "--check", "0", "--csv"], stdout=subprocess.DEVNULL, check=True)
        finally:
            server.terminate()
            server.wait()
        return int(COLLECTED.search(log.read_text(encoding="utf-8")).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=8000)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    flags = parser.parse_args()
    found = {name: [] for name in SERVERS}
    for _ in range(flags.rounds):
        for name, words in SERVERS.items():
            few, many = (instructions(flags.build / "bin", words, calls) for calls in (FEW_CALLS, FEW_CALLS + flags.calls))
            found[name].append((many - few) / flags.calls)
    plain = statistics.median(found["plain"])
    for name, counts in found.items():
        print(f"{name:8} {statistics.median(counts):8.0f} instructions a call ({min(counts):.0f} to {max(counts):.0f}), "
              f"{statistics.median(counts) / plain:.3f} of plain")


if __name__ == "__main__":
    main()
