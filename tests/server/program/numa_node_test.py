"""A device on one NUMA node runs on its cores alone: with the real server, on a machine that hwloc is told to have, two nodes of
a core each.

Usage: numa_node_test.py BUILD      a build without sanitizers, which do not let oneTBB load libtbbbind
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

MACHINE = {"HWLOC_SYNTHETIC": "node:2 core:1 pu:1", "HWLOC_THISSYSTEM": "1"}
LOAD_SECONDS = 2
REST_SECONDS = 60  # until the threads of a device that has no work have left its cores


def refused(device):
    """What the server says to the flag."""
    command = [running_server.bin_folder() / "opserve-server", "--listen", "localhost:0", "--device", device]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60, check=False)
    if done.returncode == 0:
        sys.exit(f"--device {device} was not refused: {done.stdout}")
    return done.stdout


def expect(what, got, want):
    if want not in got:
        sys.exit(f"{what}: want {want!r}, got {got!r}")


def bound_threads(pid):
    """core → the threads of the process that may run on that core alone."""
    bound = {0: set(), 1: set()}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            cores = re.search(r"^Cpus_allowed_list:\s*(\S+)$", (task / "status").read_text(), re.MULTILINE)[1]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        if cores in ("0", "1"):
            bound[int(cores)].add(task.name)
    return bound


def seen_under_load(address, pid, device):
    """The cores to which threads were bound while the device had work."""
    command = [running_server.bin_folder() / "opserve", "bench", "--target", address, "L1Loss", "--shape", "1048576", "--device",
               device, "--concurrency", "2", "--duration", f"{LOAD_SECONDS}s", "--warm-up", "0s", "--no-ceiling"]
    load = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    seen = set()
    while load.poll() is None:
        seen |= {core for core, threads in bound_threads(pid).items() if threads}
        time.sleep(0.01)
    output, _ = load.communicate()
    if load.returncode != 0:
        sys.exit(f"the load ended with status {load.returncode}:\n{output}")
    return seen


def wait_for_rest(pid):
    deadline = time.monotonic() + REST_SECONDS
    while any(bound_threads(pid).values()):
        if time.monotonic() > deadline:
            sys.exit(f"threads are bound to a core {REST_SECONDS} s after the work ended")
        time.sleep(0.05)


def check_devices(address):
    told = subprocess.run([running_server.bin_folder() / "opserve", "devices", "--target", address], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, timeout=60, check=True).stdout
    expect("devices", told, "1 thread on NUMA node 0, ")
    expect("devices", told, "2 threads on NUMA node 1, ")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.environ["OPSERVE_BIN_DIR"] = str(pathlib.Path(sys.argv[1]) / "bin")
    if not {0, 1} <= os.sched_getaffinity(0):
        toolchains.skip("it needs the cores 0 and 1, which this process may not use")
    os.environ |= MACHINE
    for node in ("2", "-1", "x", ""):
        expect(f"node {node!r}", refused(f"cpu,numa-node={node}"), "--device: numa-node: want one of 0, 1, got")
    expect("an NPU's node", refused("ascend,numa-node=0"), "want ascend[:ID][,threads=N][,profile=P], got")
    with tempfile.TemporaryDirectory() as folder:
        devices = ("--device", "cpu,numa-node=0", "--device", "cpu,numa-node=1,threads=2")
        with running_server.running_process(pathlib.Path(folder), *devices) as (address, pid):
            check_devices(address)
            for number in (0, 1, 0):
                seen = seen_under_load(address, pid, f"cpu:{number}")
                if seen != {number}:
                    sys.exit(f"cpu:{number} under load: want threads on core {number} alone, got some on {sorted(seen)}")
                wait_for_rest(pid)
    return 0


if __name__ == "__main__":
    sys.exit(main())
