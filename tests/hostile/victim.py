"""A well-behaved client beside an attack, in a process of its own, and how well it is served.

It sends small calls at a steady rate on one connection, now and then a medium one (some milliseconds of computing) on
a second, and again and again comes anew: a connection, a call, a session. Latencies count from when a call was due,
not from when it left. To know how much of a delay is the machine's, it also sends bytes to a process that only sends
them back.
"""

import collections
import contextlib
import json
import multiprocessing
import os
import select
import socket
import struct
import time
from collections.abc import Sequence

import http2
import wire
from processes import reap, spawn

SMALL_RATE, ECHO_RATE, MEDIUM_RATE, NEWCOMER_RATE = 200.0, 200.0, 2.5, 1.5
MOST_OUTSTANDING = 24  # more wait, and their time runs
SMALL_REQUEST = wire.execute(wire.small_gradient(), [wire.floats(*[value] * 8) for value in (2.0, 3.0, 1.0)])
SMALL_ANSWER = wire.floats(*[2.0] * 8)
MEDIUM_REQUEST = wire.execute(
    wire.call(
        "L1Loss", [wire.repeated("self", [1 << 22], raw=0), wire.repeated("target", [1 << 22], raw=1)], reduction=1
    ),
    [wire.floats(3.0), wire.floats(1.0)],
)
MEDIUM_ANSWER = wire.floats(2.0)
SESSION_REQUEST = wire.session_request(
    [wire.command(wire.EXECUTE, wire.ids(wire.small_gradient()), 1)],
    [wire.floats(*[value] * 8) for value in (2.0, 3.0, 1.0)],
)
RESOURCE_EXHAUSTED = 8


def percentile(values: list[float], share: float) -> float:
    """In milliseconds; 0 of none."""
    if not values:
        return 0.0
    values = sorted(values)
    return round(values[min(int(len(values) * share), len(values) - 1)] * 1000, 2)


class Record:
    """What happened in one phase."""

    def __init__(self):
        self.small, self.medium, self.newcomer, self.echo = [], [], [], []
        self.refused = 0  # medium ones, for want of room
        self.turned_away = 0  # newcomers
        self.failures: list[str] = []
        self.failed = 0

    def fail(self, why: str) -> None:
        self.failed += 1
        if why not in self.failures and len(self.failures) < 5:
            self.failures.append(why)

    def turn_away(self, why: str) -> None:
        self.turned_away += 1
        if f"newcomer: {why}" not in self.failures and len(self.failures) < 8:
            self.failures.append(f"newcomer: {why}")

    def summary(self, waiting: Sequence[float] = (), medium_waiting: Sequence[float] = ()) -> dict:
        """Calls that still wait took as long as they have waited, at least."""
        small, medium = [*self.small, *waiting], [*self.medium, *medium_waiting]
        return {
            "calls": len(self.small),
            "p50_ms": percentile(small, 0.5),
            "p99_ms": percentile(small, 0.99),
            "max_ms": percentile(small, 1.0),
            "waiting": len(waiting),
            "medium": len(self.medium),
            "medium_waiting": len(medium_waiting),
            "medium_p50_ms": percentile(medium, 0.5),
            "medium_max_ms": percentile(medium, 1.0),
            "medium_refused": self.refused,
            "newcomers": len(self.newcomer),
            "turned_away": self.turned_away,
            "newcomer_max_ms": percentile(self.newcomer, 1.0),
            "echo_p50_ms": percentile(self.echo, 0.5),
            "echo_p99_ms": percentile(self.echo, 0.99),
            "failed": self.failed,
            "failures": self.failures,
        }


class Pace:
    def __init__(self, rate: float):
        self._step = 1 / rate
        self.due = time.monotonic() + self._step

    def take(self, now: float) -> float | None:
        """When one was due, if one was."""
        if now < self.due:
            return None
        due = self.due
        self.due += self._step
        return due


class Line:
    """One connection of the victim's, opened again when it breaks."""

    def __init__(self, address: str, kind: str, answer: bytes, patience: float):
        self._address, self._kind, self._answer, self._patience = address, kind, answer, patience
        self._connection: http2.Connection | None = None
        self._due: collections.deque[tuple[bytes, float]] = collections.deque()
        self._sent: dict[int, tuple[http2.Call, float]] = {}

    def fileno(self) -> int:
        return self._connection.fileno() if self._connection else -1

    def send(self, request: bytes, due: float, record: Record) -> None:
        self._due.append((request, due))
        self._send_waiting(record)

    def _send_waiting(self, record: Record) -> None:
        try:
            while self._due and len(self._sent) < MOST_OUTSTANDING:
                if self._connection is None:
                    self._connection = http2.Connection(self._address, timeout=1.0)
                request, due = self._due.popleft()
                call = self._connection.begin("Execute", wait=False)
                self._connection.message(call, request, end=True, wait=False)
                self._sent[call.stream] = (call, due)
        except http2.Broken as error:
            self._lose(str(error), record)

    def receive(self, latencies: list[float], record: Record) -> None:
        """Whatever has come; and gives up on what waits too long."""
        try:
            if self._connection is not None:
                self._connection.poll(0)
        except http2.Broken as error:
            self._lose(str(error), record)
        now = time.monotonic()
        for stream, (call, due) in list(self._sent.items()):
            if call.ended:
                self._finish(call, now - due, latencies, record)
            elif now - due > self._patience:
                record.fail(f"{self._kind}: no answer within {self._patience:g} s")
            else:
                continue
            del self._sent[stream]
            self._connection.forget(call, wait=False)
        while self._due and now - self._due[0][1] > self._patience:
            self._due.popleft()
            record.fail(f"{self._kind}: no answer within {self._patience:g} s")
        self._send_waiting(record)

    def ages(self) -> list[float]:
        """How long those have waited by now that have no answer yet."""
        now = time.monotonic()
        return [now - due for _, due in self._sent.values()] + [now - due for _, due in self._due]

    def _finish(self, call: http2.Call, latency: float, latencies: list[float], record: Record) -> None:
        if call.status == RESOURCE_EXHAUSTED and self._kind == "medium":
            record.refused += 1
        elif call.status != 0:
            record.fail(f"{self._kind}: status {call.status} {call.text[:160]}")
        elif wire.first(call.messages[0], 15) != self._answer:
            record.fail(f"{self._kind}: a wrong answer")
        else:
            latencies.append(latency)

    def _lose(self, why: str, record: Record) -> None:
        record.fail(f"{self._kind}: the connection broke: {why}")
        self._sent.clear()
        self._due.clear()
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class Victim:
    def __init__(self, address: str, echo_port: int, patience: float):
        self._address, self._patience = address, patience
        self._small = Line(address, "small", SMALL_ANSWER, patience)
        self._medium = Line(address, "medium", MEDIUM_ANSWER, patience)
        self._echo = socket.create_connection(("127.0.0.1", echo_port))
        self._echo.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.record = Record()

    def run(self, orders) -> None:
        """Until told to stop; each order names the phase that begins, and is answered with the one that ended."""
        paces = {"small": Pace(SMALL_RATE), "echo": Pace(ECHO_RATE), "medium": Pace(MEDIUM_RATE)}
        pipe_in, pipe_out = os.pipe()
        newcomers = spawn(come_anew, self._address, self._patience, pipe_out)
        os.close(pipe_out)
        try:
            while True:
                now = time.monotonic()
                self._send_due(paces, now)
                readers = [
                    orders,
                    self._echo,
                    pipe_in,
                    *(line for line in (self._small, self._medium) if line.fileno() >= 0),
                ]
                until = min(pace.due for pace in paces.values())
                ready, _, _ = select.select(readers, [], [], max(0, min(until - time.monotonic(), 0.05)))
                self._take(ready, pipe_in)
                if orders in ready:
                    order = orders.recv()
                    orders.send(self.record.summary(self._small.ages(), self._medium.ages()))
                    self.record = Record()
                    if order == "stop":
                        return
        finally:
            reap([newcomers])

    def _send_due(self, paces: dict[str, Pace], now: float) -> None:
        while (due := paces["small"].take(now)) is not None:
            self._small.send(SMALL_REQUEST, due, self.record)
        while (due := paces["medium"].take(now)) is not None:
            self._medium.send(MEDIUM_REQUEST, due, self.record)
        while (due := paces["echo"].take(now)) is not None:
            self._echo.send(struct.pack("d", due))

    def _take(self, ready: list, newcomers: int) -> None:
        if self._echo in ready:
            received = self._echo.recv(1 << 16)
            now = time.monotonic()
            self.record.echo += [now - due for (due,) in struct.iter_unpack("d", received[: len(received) // 8 * 8])]
        if newcomers in ready:
            for line in os.read(newcomers, 1 << 16).decode().splitlines():
                latency, why = json.loads(line)
                if why:
                    self.record.turn_away(why)
                else:
                    self.record.newcomer.append(latency)
        self._small.receive(self.record.small, self.record)
        self._medium.receive(self.record.medium, self.record)


def come_anew(address: str, patience: float, report: int) -> None:
    """In a process of its own, as connecting may block."""
    while True:
        start = time.monotonic()
        why = visit(address, patience)
        latency = time.monotonic() - start
        os.write(report, json.dumps([latency, why]).encode() + b"\n")
        time.sleep(max(0.05, 1 / NEWCOMER_RATE - latency))


def visit(address: str, patience: float) -> str:
    """A connection, a call, a session with a call: what went wrong."""
    try:
        connection = http2.Connection(address, timeout=patience)
        try:
            answer = connection.unary("Execute", SMALL_REQUEST, seconds=patience)
            if answer.status != 0:
                return (
                    f"a call: status {answer.status} {answer.text[:160]}"
                    if answer.ended
                    else f"a call: no answer within {patience:g} s"
                )
            session = connection.begin(http2.SESSION)
            connection.message(session, SESSION_REQUEST, end=True)
            if not connection.await_end(session, patience):
                return f"a session: no answer within {patience:g} s"
            if session.status != 0 or wire.first(session.messages[-1], 15) != SMALL_ANSWER:
                return f"a session: status {session.status} {session.text[:160]}"
        finally:
            connection.close()
    except http2.Broken as error:
        return str(error)
    return ""


def echo(listener: socket.socket) -> None:
    connection, _ = listener.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(OSError):
        while received := connection.recv(1 << 16):
            connection.sendall(received)


def live(address: str, echo_port: int, patience: float, orders) -> None:
    try:
        Victim(address, echo_port, patience).run(orders)
    except EOFError:
        pass


class VictimProcess:
    """Starts in the phase "calm"."""

    def __init__(self, address: str, patience: float):
        listener = socket.create_server(("127.0.0.1", 0))
        self._orders, theirs = multiprocessing.Pipe()
        self._pids = [spawn(echo, listener), spawn(live, address, listener.getsockname()[1], patience, theirs)]
        theirs.close()
        listener.close()

    def next_phase(self, name: str) -> dict:
        """How the phase was that ends now."""
        try:
            self._orders.send(name)
            return self._orders.recv()
        except (EOFError, OSError):
            record = Record()
            record.fail("the victim's process ended")
            return record.summary()

    def stop(self) -> dict:
        """How the last one was. To be called once."""
        record = self.next_phase("stop")
        reap(self._pids)
        return record
