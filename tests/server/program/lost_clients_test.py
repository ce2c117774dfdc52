"""Clients that cancel, whose deadline expires, that are killed or whose connection breaks, at any point of a call: they
leave nothing behind: what the server holds afterwards is what it held before the first of them.

OPSERVE_LOST_CLIENTS says how many (400), OPSERVE_LOST_CLIENTS_ROUNDS how often (1) the same server goes through that.
"""

import collections
import contextlib
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import running_server  # noqa: E402
from protobuf_wire import field, floats, varint  # noqa: E402
from raw_connection import DATA, STREAM, Broken, RawConnection, frame, framed  # noqa: E402

CLIENTS = int(os.environ.get("OPSERVE_LOST_CLIENTS", "400"))
SEED = int(os.environ.get("OPSERVE_TEST_SEED", str(random.randrange(1 << 32))))
ROUNDS = int(os.environ.get("OPSERVE_LOST_CLIENTS_ROUNDS", "1"))
PROCESSES = 4
PATIENCE_SECONDS = 120
# Of some thousand connections that are reset, gRPC overlooks one until it next pings it.
FLAGS = ["--device", "cpu,threads=2", "--keepalive-time", "2s"]
# Threads of gRPC's pools, which grow to what a rush needs and stay; all others are counted exactly.
POOLS = {"default-executo", "resolver-execut", "grpc_global_tim", "event_engine"}
MOST_POOLED_THREADS = 16 + 3 * (os.cpu_count() or 1)
FLOAT32 = 1


def gradient(elements, first_raw=0):
    """L1LossBackward, reduction none: a serialized Call."""
    call = field(1, b"L1LossBackward")
    for i, name in enumerate((b"grad_output", b"self", b"target")):
        call += field(2, field(1, name) + field(2, FLOAT32) + field(3, varint(elements)) + field(6, first_raw + i))
    return call + field(3, field(1, b"reduction") + field(2, 0))


def raw_of(elements):
    return b"".join(field(15, floats(value) * elements) for value in (1.0, 2.0, 3.0))


def batch(calls, elements):
    return (b"".join(field(1, gradient(elements, 3 * i)) for i in range(calls)) + raw_of(elements) * calls)


# Method and request: run by the network thread; in turns of workers; as one task of a worker.
REQUESTS = [
    ("Execute", field(1, gradient(8)) + raw_of(8)),
    ("ExecuteBatch", batch(100, 8)),
    ("Execute", field(1, gradient(1 << 18)) + raw_of(1 << 18)),
    ("ExecuteBatch", batch(3, 1 << 16)),
]


def whole(message):
    return len(message) + 5


def cancels(address, rng):
    method, message = rng.choice(REQUESTS)
    connection = RawConnection(address)
    connection.begin(method)
    connection.send(message, whole(message) if rng.random() < 0.7 else rng.randrange(whole(message)))
    time.sleep(rng.random() * 0.005)
    connection.cancel()
    connection.await_end(rng.random() * 0.005)
    connection.close()


def expires(address, rng):
    method, message = rng.choice(REQUESTS)
    connection = RawConnection(address)
    connection.begin(method, f"{rng.randrange(1, 20_000)}u")
    connection.send(message, whole(message))
    connection.await_end(1)
    connection.close()


def breaks_off(address, rng):
    """Anywhere in a message, a frame or a header."""
    method, message = rng.choice(REQUESTS)
    connection = RawConnection(address)
    connection.begin(method)
    sent = rng.randrange(whole(message))
    connection.send(message, sent)
    cut = frame(DATA, 0, STREAM, framed(message)[sent:sent + 100])
    connection.send_bytes(cut[:rng.randrange(len(cut))])
    if rng.random() < 0.5:
        connection.vanish()
    else:
        connection.close()


def leaves(address, rng):
    """With its request sent and no answer read."""
    method, message = rng.choice(REQUESTS)
    connection = RawConnection(address)
    connection.begin(method)
    connection.send(message, whole(message))
    time.sleep(rng.random() * 0.003)
    connection.vanish()


def is_killed(address, rng):
    """A process that is ended by SIGKILL."""
    seed = rng.random()
    pid = os.fork()
    if pid == 0:
        try:
            mine = random.Random(seed)
            while True:
                method, message = mine.choice(REQUESTS)
                connection = RawConnection(address)
                connection.begin(method)
                connection.send(message, whole(message))
                connection.await_end(1)
        except BaseException:
            signal.pause()
    time.sleep(rng.random() * 0.02)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


KINDS = [cancels, expires, breaks_off, leaves, is_killed]


def run_clients(address, count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        try:
            rng.choice(KINDS)(address, rng)
        except (Broken, ConnectionError):
            pass  # the server was quicker: it ended a call that had expired or was cut


def lose_clients(address, count, seed):
    """From several processes at once."""
    pids = []
    for i in range(PROCESSES):
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                run_clients(address, count // PROCESSES, f"{seed} {i}")
                status = 0
            finally:
                os._exit(status)
        pids.append(pid)
    for pid in pids:
        if os.waitpid(pid, 0)[1] != 0:
            sys.exit(f"a process of clients failed; OPSERVE_TEST_SEED={SEED}")


def ask(address, *words):
    command = [running_server.bin_folder() / "opserve", *words, "--json", "--target", address]
    return json.loads(subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_SECONDS).stdout)


def threads(pid):
    """How many of each name."""
    found = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            found[(task / "comm").read_text().strip()] += 1
    return found


def descriptors(pid):
    """How many of each kind: sockets, or what their link says."""
    found = collections.Counter()
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            found[re.sub(r":\[\d+\]$", "", str(link.readlink()))] += 1
    return found


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


def held_by_process(pid):
    by_name = threads(pid)
    return {
        "threads": collections.Counter({name: count for name, count in by_name.items() if name not in POOLS}),
        "pooled threads": sum(by_name[name] for name in POOLS),
        "descriptors": descriptors(pid),
    }


def settled(pid):
    """What the server holds once its start is over: a thread has its name a moment after it began."""
    before = None
    while (now := held_by_process(pid)) != before:
        before = now
        time.sleep(1)
    return now


def held_by_calls(address):
    """Numbers that are 0 when nothing is under way."""
    now = ask(address, "stats")
    engine = now["engine"]
    return {
        "calls of Execute": sum(m["in_flight"] for m in now["methods"] if m["method"].startswith("Execute")),
        "admitted calls": engine["calls_in_flight"],
        "admitted bytes": engine["bytes_in_flight"],
        "bytes of pools": sum(device["memory"]["used_bytes"] for device in now["devices"]),
    }


def leftovers(address, pid, first):
    """What the server holds beyond `first`, what it held before its first client."""
    left = {name: count for name, count in held_by_calls(address).items() if count != 0}
    now = held_by_process(pid)
    for name in ("threads", "descriptors"):
        if more := now[name] - first[name]:
            left[name] = f"{dict(more)} more than {dict(first[name])}"
    if now["pooled threads"] > MOST_POOLED_THREADS:
        left["pooled threads"] = f"{now['pooled threads']}, want at most {MOST_POOLED_THREADS}"
    return left


def await_nothing(address, pid, first):
    until = time.monotonic() + PATIENCE_SECONDS
    while left := leftovers(address, pid, first):
        if time.monotonic() > until:
            sys.exit(f"still held after {PATIENCE_SECONDS} s: {left}; OPSERVE_TEST_SEED={SEED}")
        time.sleep(0.1)


def check_serves(address):
    outputs = ask(address, "run", "L1LossBackward", "-i", "grad_output=f32[2]=1", "-i", "self=f32[2]{3,1}", "-i",
                  "target=f32[2]=2", "-a", "reduction=0")
    if "grad_input" not in json.dumps(outputs):
        sys.exit(f"no gradient in {outputs}")


def check_counted(statistics):
    """Each of the calls ended; those whose clients were lost are not errors of clients, nor results."""
    for method in statistics["methods"]:
        if method["method"].startswith("Execute"):
            print(f"{method['method']}: ended {method['ended']}")
            for status in ("NOT_FOUND", "INVALID_ARGUMENT"):
                if method["ended"].get(status, 0) > 0:
                    sys.exit(f"want no call {status}, as no message is wrong, got {method['ended']}")
    for kind in ("cancelled_calls", "expired_calls"):
        if CLIENTS * ROUNDS >= 400 and statistics["engine"][kind] == 0:
            sys.exit(f"{kind}: want some, got none of {CLIENTS * ROUNDS} clients")


def main():
    print(f"OPSERVE_TEST_SEED={SEED}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        with running_server.running_process(pathlib.Path(folder), *FLAGS) as (address, pid):
            first = settled(pid)
            print(f"before: {first}", flush=True)
            for i in range(ROUNDS):
                start = time.monotonic()
                lose_clients(address, CLIENTS, f"{SEED} {i}")
                took = time.monotonic() - start
                await_nothing(address, pid, first)
                print(f"{CLIENTS} clients in {took:.1f} s; after: {held_by_process(pid)}, resident "
                      f"{resident_mib(pid)} MiB", flush=True)
            check_serves(address)
            statistics = ask(address, "stats")
    check_counted(statistics)


if __name__ == "__main__":
    main()
