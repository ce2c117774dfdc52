"""opserve-server where the system allows few threads: it serves, or says in one line which thread it lacks and exits 1.

Usage: few_threads_test.py LIBRARY      preloaded, LIBRARY allows a program $OPSERVE_TEST_THREADS threads (few_threads.cc)
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server

MOST_THREADS = 64
CLIENTS = 12
WORKERS = 3
# Threads in the order in which they start: what the line says of the first that is lacking.
STEPS = [(0, "cannot start the thread of the watchdog"), (1, "device cpu:0: cannot start a relief thread"),
         (2, "device cpu:0: cannot start thread 1 of 3 for workers"), (4, "device cpu:0: cannot start thread 3 of 3 for workers"),
         (5, "cannot start the thread that ends streams"), (6, "cannot start the thread of shared memory"),
         (7, "cannot start the thread that looks at sessions"), (8, "for gRPC: Resource temporarily unavailable")]


def start(library, folder, threads):
    environment = {**os.environ, "LD_PRELOAD": library, "OPSERVE_TEST_THREADS": str(threads),
                   "ASAN_OPTIONS": "verify_asan_link_order=0"}
    command = [running_server.bin_folder() / "opserve-server", "--listen", f"unix:{folder}/socket",
               "--allow-shared-memory", f"unix:{folder}/memory", "--device", f"cpu,threads={WORKERS}"]
    return subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def keep_busy(folder):
    """Sessions of several clients: gRPC wants more threads than there are."""
    command = [running_server.bin_folder() / "opserve", "run", "--session", "L1LossBackward", "-i", "grad_output=f32[9]=1", "-i",
               "self=f32[9]=2", "-i", "target=f32[9]=1", "-a", "reduction=0", "--target", f"unix:{folder}/socket"]
    clients = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(CLIENTS)]
    failed = [status for status in [client.wait() for client in clients] if status != 0]
    if failed:
        sys.exit(f"{len(failed)} of {CLIENTS} clients were not served")


def outcome(library, folder, threads):
    """(it served, exit status, what it said)."""
    with start(library, folder, threads) as server:
        said = ""
        for line in server.stdout:
            said += line
            if "msg=serving" in line:
                keep_busy(folder)
                server.send_signal(signal.SIGTERM)
        return "msg=serving" in said, server.wait(), said


def problem(served, status, said, wanted):
    """None when it ended as it should."""
    if served:
        return None if status == 0 and "msg=stopped" in said else "it served, and did not stop with status 0"
    lines = said.splitlines()
    if status != 1 or len(lines) != 1 or not re.search(r'level=error msg="cannot start" error=', lines[0]):
        return "want one line, and status 1"
    return None if wanted in lines[0] else f"want '{wanted}'"


def main():
    library = sys.argv[1]
    wanted = ""
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        for threads in range(MOST_THREADS):
            wanted = dict(STEPS).get(threads, "cannot start" if threads < STEPS[-1][0] else STEPS[-1][1])
            served, status, said = outcome(library, folder, threads)
            wrong = problem(served, status, said, wanted)
            if wrong:
                sys.exit(f"with {threads} threads: {wrong}; status {status}:\n{said}")
            left = os.listdir(folder)
            if left:
                sys.exit(f"with {threads} threads: it left {left}")
            if served:
                print(f"it serves with {threads} threads, and says so in one line with fewer")
                return
    sys.exit(f"it does not serve with {MOST_THREADS - 1} threads")


if __name__ == "__main__":
    main()
