"""Loads a server of its own with everything at once, for so many minutes: calls, batches, sessions and shared memory
as clients mean them; clients that cancel, expire, read slowly, reset, send garbage, or are killed at any point. All
along a victim is served, the server is healthy and keeps to its memory; at the end nothing is left.

    scripts/soak 10
    scripts/soak 480 --seed 7 --workers 12

Exit status 1 when something broke, with what and when.
"""

import argparse
import multiprocessing
import os
import pathlib
import queue
import random
import shutil
import sys
import tempfile
import time

import http2
import memory_races
import processes
import verdict
import wire
from sessions import CONTEXT, Session, bytes_of
from victim import VictimProcess

from server import Server, held

WINDOW_SECONDS = 5.0
# With a dozen busy clients on the same cores; beyond what the machine delays an echo.
P99_MS = 400.0
RSS_MIB, LEAK_MIB = 900, 150
RAW = [wire.floats(*[value] * 8) for value in (2.0, 3.0, 1.0)]
GRADIENT = wire.floats(*[2.0] * 8)


class Wrong(Exception):
    """An answer that is not right."""


def expect(condition: bool, what: str) -> None:
    if not condition:
        raise Wrong(what)


# Each takes an address, a generator and a path; what a server may refuse for want of room (8, 4) is no mistake.


def calls(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address)
    for _ in range(rng.randrange(1, 200)):
        answer = connection.unary("Execute", wire.execute(wire.small_gradient(), RAW), seconds=20)
        expect(answer.status in (0, 8), f"a small call: {answer.status} {answer.text}")
        expect(answer.status != 0 or wire.first(answer.messages[0], 15) == GRADIENT, "a small call's answer")
    connection.close()


def large_calls(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address, window=16 << 20)
    for _ in range(rng.randrange(1, 20)):
        elements = rng.choice([10_000, 100_000, 1_000_000])
        raw = [wire.floats(value) * elements for value in (2.0, 3.0, 1.0)]
        answer = connection.unary("Execute", wire.execute(wire.small_gradient(0, elements), raw), "20S", 30)
        expect(answer.status in (0, 4, 8), f"a large call: {answer.status} {answer.text}")
        expect(
            answer.status != 0 or wire.first(answer.messages[0], 15) == wire.floats(2.0) * elements,
            "a large call's answer",
        )
    connection.close()


def batches(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address)
    for _ in range(rng.randrange(1, 50)):
        count = rng.choice([1, 10, 100, 1000])
        wrong = rng.randrange(count)
        some = [wire.call("Nonsense") if i == wrong else wire.small_gradient() for i in range(count)]
        answer = connection.unary("ExecuteBatch", wire.batch(some, RAW), seconds=20)
        expect(answer.status in (0, 3, 8), f"a batch: {answer.status} {answer.text}")
        if answer.status == 0:
            results = wire.fields(answer.messages[0]).get(1, [])
            expect(len(results) == count and wire.first(results[wrong], 2) is not None, "a batch's answer")
    connection.close()


def sessions(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address, window=16 << 20)
    session = Session(connection).begin(streams=3)
    for i in range(1, rng.randrange(2, 20)):
        size = rng.choice([64, 4096, 1 << 20])
        content = bytes([i]) * size
        session.allocate(i, size)
        session.upload(i, content)
        last = session.download(i, size, chunk=rng.choice([0, size // 3 + 1]))
        answers = session.await_answers(last, 20)
        expect(any(3 in each for each in answers) or bytes_of(answers, last) == content, "a session's download")
        session.send(wire.EXECUTE, wire.field(1, wire.small_gradient()) + wire.field(3, 1 + i % 3), RAW)
        if rng.random() < 0.3:
            session.send(wire.FREE, wire.ids(i))
    if rng.random() < 0.7:
        session.await_answers(session.send(wire.SYNCHRONIZE, wire.field(3, CONTEXT)), 20)
        session.end()
        connection.await_end(session.call, 20)
    connection.close()


def shared(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address)
    region = memory_races.Region()
    region.memory[:16384] = bytes(16384)
    for the_call in memory_races.calls_on(region):
        connection.unary("Execute", wire.execute(the_call), seconds=20)
    if rng.random() < 0.5:
        region.socket.close()
    connection.close()


def cancels(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address)
    for _ in range(rng.randrange(1, 50)):
        message = wire.execute(wire.l1_loss([1 << rng.randrange(1, 26)], rng.randrange(3)), [wire.floats(1.0)])
        call = connection.start("Execute", message, rng.choice([None, "1m", "10m", "1S"]))
        connection.poll(rng.random() * 0.02)
        connection.forget(call)
    connection.vanish() if rng.random() < 0.5 else connection.close()


def reads_slowly(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address, window=rng.choice([0, 1, 1000]), refill=False)
    for _ in range(rng.randrange(1, 10)):
        connection.start("Execute", wire.execute(wire.l1_loss([200_000], 0), [wire.floats(1.0)]), "5S")
    connection.poll(rng.random())
    connection.close()


def garbage(address: str, rng: random.Random, _) -> None:
    connection = http2.Connection(address)
    for _ in range(rng.randrange(1, 60)):
        message = bytearray(wire.execute(wire.small_gradient(), RAW))
        for _ in range(rng.randrange(1, 6)):
            message[rng.randrange(len(message))] = rng.randrange(256)
        method = rng.choice(["Execute", "ExecuteBatch", "GetWorkspaceSize", "ListOperators", http2.SESSION, "Nonsense"])
        connection.unary(
            method, bytes(message[: rng.randrange(len(message))] if rng.random() < 0.3 else message), "2S", 5
        )
    connection.send(rng.randbytes(rng.randrange(1, 1000)))
    connection.poll(0.05)
    connection.close()


KINDS = [calls, calls, large_calls, batches, sessions, sessions, shared, cancels, reads_slowly, garbage]


def work(address: str, seed: str, wrong) -> None:
    rng = random.Random(seed)
    while True:
        kind = rng.choice(KINDS)
        try:
            kind(address, rng, None)
        except Wrong as error:
            wrong.put(f"{kind.__name__}: {error}")
            time.sleep(0.2)
        except (http2.Broken, OSError):
            time.sleep(0.01)
        time.sleep(rng.random() * 0.05)


class Soak:
    def __init__(self, server: Server, seed: int, workers: int):
        self.server, self.seed = server, seed
        self.rng = random.Random(seed)
        self.wrong = multiprocessing.get_context("fork").Queue()
        self.broken: list[str] = []
        self.start = time.monotonic()
        self.made = 0
        self.workers = [self._hire() for _ in range(workers)]
        self.rss: list[int] = []

    def _hire(self) -> int:
        self.made += 1
        return processes.spawn(work, self.server.address, f"{self.seed} {self.made}", self.wrong)

    def _break(self, what: str) -> None:
        self.broken.append(f"after {time.monotonic() - self.start:.0f} s: {what}")
        print(self.broken[-1], flush=True)

    def window(self, victim: VictimProcess) -> None:
        """Some seconds of it, with clients that are killed, and then a look."""
        until = time.monotonic() + WINDOW_SECONDS
        while time.monotonic() < until:
            time.sleep(self.rng.random())
            unlucky = self.rng.randrange(len(self.workers))
            processes.reap([self.workers[unlucky]])
            self.workers[unlucky] = self._hire()
        record = victim.next_phase("soak")
        self._check(record)

    def _check(self, record: dict) -> None:
        usage = self.server.usage()
        self.rss.append(usage.rss_mib)
        if not self.server.alive():
            return self._break(f"the server died: {self.server.ended_how()}")
        if not self.server.is_serving():
            self._break("health is not SERVING")
        if record["failed"] or record["turned_away"]:
            self._break(f"victim: {record['failed'] + record['turned_away']} failed: {record['failures']}")
        bound = (P99_MS if not self.server.sanitized else 10 * P99_MS) + record["echo_p99_ms"]
        if record["p99_ms"] > bound:
            self._break(f"victim: p99 {record['p99_ms']} ms, want {bound:.0f}")
        if not self.server.sanitized and usage.rss_mib > RSS_MIB:
            self._break(f"{usage.rss_mib} MiB of memory, want at most {RSS_MIB}")
        while True:
            try:
                self._break(self.wrong.get_nowait())
            except queue.Empty:
                break
        print(
            f"{time.monotonic() - self.start:7.0f} s  p50 {record['p50_ms']:7.2f} ms  p99 {record['p99_ms']:8.2f}  "
            f"echo {record['echo_p99_ms']:7.2f}  {usage.rss_mib:5} MiB  {usage.threads:3} threads  "
            f"{usage.fds:3} descriptors  {self.made} clients",
            flush=True,
        )

    def finish(self, before) -> None:
        """Nothing is left, and memory did not grow."""
        processes.reap(self.workers)
        until = time.monotonic() + 15
        while self.server.alive():
            statistics = self.server.statistics()
            usage = self.server.usage()
            left = (
                {what: count for what, count in held(statistics).items() if count and what != "warm bytes"}
                if statistics
                else {"no": 1}
            )
            more = usage.threads > before.threads + verdict.SLACK_THREADS or usage.fds > before.fds + verdict.SLACK_FDS
            if not left and not more:
                break
            if time.monotonic() > until:
                self._break(f"still held: {left}, {usage} before {before}")
                break
            time.sleep(0.2)
        fifth = max(1, len(self.rss) // 5)
        growth = max(self.rss[-fifth:]) - max(self.rss[: 2 * fifth])
        if not self.server.sanitized and len(self.rss) >= 20 and growth > LEAK_MIB:
            self._break(f"memory grew by {growth} MiB from the first two fifths to the last")


def run(server: Server, minutes: float, seed: int, workers: int) -> list[str]:
    victim = VictimProcess(server.address, 10.0)
    time.sleep(0.5)
    before = server.usage()
    victim.next_phase("soak")
    soak = Soak(server, seed, workers)
    try:
        while time.monotonic() - soak.start < minutes * 60 and server.alive():
            soak.window(victim)
    finally:
        victim.stop()
        soak.finish(before)
    if server.alive():
        server.terminate()
        if not server.await_exit(10) or server.ended_how() != "exit status 0":
            soak.broken.append(f"SIGTERM: {server.ended_how()}")
    if report := server.sanitizer_report():
        soak.broken.append(report)
    print(
        f"\n{minutes:g} minutes, {soak.made} clients, seed {seed}: memory {min(soak.rss, default=0)} to "
        f"{max(soak.rss, default=0)} MiB, "
        f"{len(soak.broken)} broken invariants"
    )
    return soak.broken


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("minutes", type=float)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    parser.add_argument("--workers", type=int, default=8, help="clients at one time (%(default)s)")
    default_bin = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "bin"
    parser.add_argument("--bin", default=os.environ.get("OPSERVE_BIN_DIR", str(default_bin)))
    options = parser.parse_args()
    os.environ["OPSERVE_BIN_DIR"] = options.bin
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        flags = {"--allow-shared-memory": f"unix:{memory_races.PATH}", "--shared-memory-limit": "64MiB"}
        server = Server(pathlib.Path(folder), flags, 5.0)
        try:
            broken = run(server, options.minutes, options.seed, options.workers)
        finally:
            server.kill()
            shutil.rmtree(os.path.dirname(memory_races.PATH), ignore_errors=True)
    for each in broken:
        print(each)
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
