#!/usr/bin/env python3
"""What a call costs its load tester: opserve bench beside ghz, one server, the same request, interleaved, medians.

Usage: ghz.py [--rounds N] [--calls N] [--build FOLDER] [--ghz PROGRAM]

Build first: scripts/build release. ghz is a Go program: go install github.com/bojand/ghz/cmd/ghz@v0.120.0. Both send the same bytes,
made once, on as many connections with as many calls under way. A tester's ceiling is what it sends in a second of CPU time of its own.
"""

import argparse
import dataclasses
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import running_server  # noqa: E402

CONNECTIONS = 4
IN_FLIGHT = 16
ELEMENTS = 8
PROTO = "opserve/v1/operator_service.proto"


@dataclasses.dataclass
class Cost:
    calls_per_second: float
    cpu_us: float  # of the tester, a call


def request_bytes():
    tensor = 'inputs {{ name: "{}" dtype: DATA_TYPE_FLOAT32 shape: {} values {{ {} }} }}'
    values = " ".join(["floats: 1"] * ELEMENTS)
    inputs = " ".join(tensor.format(name, ELEMENTS, values) for name in ("grad_out", "self", "target"))
    text = f'call {{ op: "SmoothL1LossBackward" {inputs} }}'
    command = ["protoc", f"--proto_path={ROOT / 'proto'}", "--encode=opserve.v1.ExecuteRequest", PROTO]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def cost_of(command, calls):
    """Of a tester that is started, makes `calls` calls and ends."""
    begin = time.monotonic()
    tester = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output = tester.stdout.read().decode()
    _, status, usage = os.wait4(tester.pid, 0)
    tester.returncode = os.waitstatus_to_exitcode(status)
    if tester.returncode != 0:
        sys.exit(f"{command} ended with status {tester.returncode}:\n{output}")
    seconds = time.monotonic() - begin
    return Cost(calls / seconds, (usage.ru_utime + usage.ru_stime) * 1e6 / calls), output


def run_opserve(build, address, calls):
    command = [build / "bin" / "opserve", "--target", address, "bench", "SmoothL1LossBackward", "--shape", str(ELEMENTS),
               "--concurrency", str(IN_FLIGHT), "--connections", str(CONNECTIONS), "--count", str(calls), "--warm-up", "0s",
               "--duration", "10m", "--no-ceiling", "--csv"]
    return cost_of(command, calls)[0]


def run_ghz(ghz, address, calls, request):
    command = [ghz, "--insecure", "--import-paths", ROOT / "proto", "--proto", ROOT / "proto" / PROTO, "--call",
               "opserve.v1.OperatorService.Execute", "--binary-file", request, "--concurrency", str(IN_FLIGHT), "--connections",
               str(CONNECTIONS), "--total", str(calls), address]
    cost, output = cost_of(command, calls)
    if f"[OK]   {calls} responses" not in " ".join(output.replace("\t", " ").split("\n")):
        sys.exit(f"ghz was not served everything:\n{output}")
    return cost


def show(name, costs):
    rate = statistics.median(cost.calls_per_second for cost in costs)
    cpu = statistics.median(cost.cpu_us for cost in costs)
    print(f"{name:14} {rate:10.0f} calls/s {cpu:8.1f} us of CPU a call {1e6 / cpu:10.0f} calls a second of CPU")
    return cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=50000)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--ghz", default="ghz")
    flags = parser.parse_args()
    os.environ["OPSERVE_BIN_DIR"] = str(flags.build.resolve() / "bin")
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "request").write_bytes(request_bytes())
        with running_server.running_server(folder) as address:
            for _ in range(flags.rounds):
                ours.append(run_opserve(flags.build, address, flags.calls))
                theirs.append(run_ghz(flags.ghz, address, flags.calls, folder / "request"))
    ratio = show("ghz", theirs) / show("opserve bench", ours)
    print(f"opserve bench sends {ratio:.1f} times as many calls a second of CPU")


if __name__ == "__main__":
    main()
