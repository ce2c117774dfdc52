"""What every attack shares: a server of its own, a victim beside the attackers, measuring, and the verdict.

An attack is a program: functions that attack, and one call of `run`. The report's last line is JSON. Exit status: 0
the server stood it, 1 it did not, 77 it cannot be tried here.
"""

import argparse
import dataclasses
import json
import multiprocessing
import os
import pathlib
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

import http2
import proxied
import toolchains
import verdict
from processes import reap, spawn
from victim import VictimProcess

from server import Server, Usage, held

SKIPPED = 77
SHORT_SECONDS = 1.2
FULL_SECONDS = 10
SAMPLE_SECONDS = 0.02
# An attack that has made its point by then is ended, before the machine suffers.
MOST_RSS_MIB = int(os.environ.get("OPSERVE_HOSTILE_MOST_RSS_MIB", "3072"))


@dataclasses.dataclass
class Target:
    """What an attacker is told, and where it counts what it sends."""

    address: str
    pid: int  # of the server
    seconds: float  # that the attack is to take
    folder: pathlib.Path
    index: int  # of this attacker
    counters: object
    notes: object

    def source(self, number: int | None = None) -> str:
        """An address of this machine's that is not the victim's."""
        return f"127.0.0.{2 + (self.index if number is None else number) % 250}"

    def connect(self, source: int = 0, **how) -> http2.Connection:
        """All from one address unless told otherwise."""
        local = None if self.address.startswith("unix:") else self.source(source)
        return http2.Connection(self.address, local, sent=self.count, **how)

    def count(self, sent: int) -> None:
        self.counters[self.index] += sent

    def note(self, text: str) -> None:
        """For the report: how far it came."""
        self.notes.put(text)

    def blame(self, text: str) -> None:
        """A reason against the server."""
        self.notes.put(verdict.BLAME + text)


Attacker = Callable[[Target], None]


@dataclasses.dataclass
class Attack:
    """`attackers` run side by side, each in a process of its own, again and again until the time is over. `flags`: of
    the server; None: a flag without a value. `rss_mib`: how much more memory the server may take, its pools'
    included. `prepare` runs before the attack, `check` after it: each gives reasons against the server. `limits`: of
    its process.
    """

    attackers: Sequence[Attacker]
    flags: dict[str, str | None] = dataclasses.field(default_factory=dict)
    rss_mib: int = 400
    prepare: Callable[[Target], list[str]] | None = None
    check: Callable[[Target], list[str]] | None = None
    limits: dict[int, int] = dataclasses.field(default_factory=dict)
    # Of what the verdict judges, what does not apply: newcomers (during the attack), latency, medium, rss after, cpu after;
    # backlog: under sanitizers gRPC works off what it took long after the attack, before it answers anybody.
    spares: Sequence[str] = ()
    # A log of more than so many bytes for each byte that was sent is too much.
    log_per_byte: float = 1.0


def one_after_the_other(*attackers: Attacker) -> Attacker:
    """Each for its part of the time."""

    def attack(target: Target) -> None:
        for each in attackers:
            until = time.monotonic() + target.seconds / len(attackers)
            pid = spawn(repeat, each, dataclasses.replace(target, seconds=target.seconds / len(attackers)))
            time.sleep(max(0, until - time.monotonic()))
            reap([pid])

    return attack


def repeat(attacker: Attacker, target: Target) -> None:
    """What an attacker's process does. A connection that the server ends is no reason to stop."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    while True:
        try:
            attacker(target)
        except (http2.Broken, OSError):
            pass
        except Exception as error:
            target.blame(f"the attacker failed: {error!r}")
            raise
        time.sleep(0.01)


class Samples:
    """The most that a server took."""

    def __init__(self, first: Usage):
        self.first, self.last, self.peak = first, first, dataclasses.replace(first)
        self.at = time.monotonic()  # of the last

    def add(self, usage: Usage) -> None:
        if usage.threads == 0:
            return  # the process is over
        self.last, self.at = usage, time.monotonic()
        for name in ("rss_mib", "threads", "fds", "cpu_seconds"):
            setattr(self.peak, name, max(getattr(self.peak, name), getattr(usage, name)))


class Trial:
    """One attack on one server."""

    def __init__(
        self, name: str, attack: Attack, seconds: float, folder: pathlib.Path, make_server: type[Server] = Server
    ):
        self._make_server = make_server
        self.attack, self.seconds, self.folder = attack, seconds, folder
        self.is_full = seconds >= FULL_SECONDS
        self.drain_seconds = 2.0 if self.is_full else 1.0
        self.report: dict = {"attack": name, "seconds": seconds}
        self.reasons: list[str] = []
        self.counters = multiprocessing.RawArray("q", 64)
        self.notes = multiprocessing.get_context("fork").Queue()

    def run(self) -> dict:
        self.server = self._make_server(self.folder, self.attack.flags, self.drain_seconds, self.attack.limits)
        try:
            self._try()
        finally:
            self.server.kill()
        verdict.judge(self)
        return self.report

    def target(self, index: int = 0) -> Target:
        return Target(self.server.address, self.server.pid, self.seconds, self.folder, index, self.counters, self.notes)

    def _try(self) -> None:
        if self.attack.prepare is not None:
            self.reasons += self.attack.prepare(self.target())
        victim = VictimProcess(self.server.address, 10.0 if self.server.sanitized else 5.0 if self.is_full else 2.0)
        try:
            time.sleep(3.0 if self.is_full else 0.3)
            calm_start, self.calm_usage = time.monotonic(), self.server.usage()
            time.sleep(1.0 if self.is_full else 0.3)
            self._begin(victim, time.monotonic() - calm_start)
            self.samples = Samples(self.before)
            self._attack()
            self.report["victim"] = victim.next_phase("after")
            self._recover()
        finally:
            self.report["after"] = victim.stop()
        if self.server.alive():
            self._question()
            self._end_under_attack()

    def _begin(self, victim: VictimProcess, calm_seconds: float) -> None:
        self.before = self.server.usage()
        self.calm_cpu_rate = (self.before.cpu_seconds - self.calm_usage.cpu_seconds) / calm_seconds
        self.report["calm"] = victim.next_phase("attack")

    def _attack(self) -> None:
        children_before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pids = [spawn(repeat, attacker, self.target(i)) for i, attacker in enumerate(self.attack.attackers)]
        start = time.monotonic()
        until = start + self.seconds
        while time.monotonic() < until and self.server.alive():
            self.samples.add(self.server.usage())
            if self.samples.last.rss_mib > MOST_RSS_MIB:
                self.reasons.append(
                    f"the attack was ended after {time.monotonic() - start:.1f} s, at {MOST_RSS_MIB} MiB"
                )
                break
            time.sleep(SAMPLE_SECONDS)
        reap(pids)
        # What it took meanwhile belongs to the attack.
        if self.server.alive():
            self.samples.add(self.server.usage())
        self.report["attack_seconds"] = round(time.monotonic() - start, 2)
        self.report["server_cpu_s"] = round(self.samples.peak.cpu_seconds - self.before.cpu_seconds, 2)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.report["attacker_cpu_s"] = round(
            children.ru_utime + children.ru_stime - children_before.ru_utime - children_before.ru_stime, 2
        )
        self.report["sent_bytes"] = sum(self.counters)
        self.log_bytes = self.server.log.stat().st_size
        if isinstance(self.server, proxied.ProxiedServer):
            self.report["proxy"] = self.server.passed()
        self.report["notes"] = verdict.drained(self.notes)

    def _recover(self) -> None:
        """Until the server is as it was, or for so long."""
        start, end_of_attack = time.monotonic(), self.samples.peak.cpu_seconds
        # The server gives memory back that was not used for some seconds. With sanitizers, what it answers within a tenth of
        # a core takes it longer.
        patience = 40.0 if self.server.sanitized and not self.is_slowed_by_backlog() else 10.0
        while self.server.alive():
            last, since = self.samples.last, self.samples.at
            time.sleep(0.25)
            usage = self.server.usage()
            self.samples.add(usage)
            rate = (usage.cpu_seconds - last.cpu_seconds) / (self.samples.at - since)
            self.left = verdict.leftovers(self, rate)
            if not self.left or time.monotonic() - start > patience:
                break
        if not self.server.alive():
            return
        if self.is_slowed_by_backlog():
            self.left = []
        took = time.monotonic() - start
        self.report["recovered_s"] = round(took, 2)
        own = self.calm_cpu_rate * took
        self.report["cpu_after_s"] = round(max(0.0, self.samples.peak.cpu_seconds - end_of_attack - own), 2)
        self.reasons += self.left

    def is_slowed_by_backlog(self) -> bool:
        return self.server.sanitized and "backlog" in self.attack.spares

    def _question(self) -> None:
        if self.is_slowed_by_backlog():
            return
        if not self.server.is_serving():
            self.reasons.append("health is not SERVING")
        if left := self._held():
            self.reasons.append(f"still under way: {left}")
        if self.attack.check is not None:
            self.reasons += self.attack.check(self.target())

    def _held(self) -> dict[str, int]:
        """What should be nothing: the victim is gone, too, a moment ago."""
        until = time.monotonic() + 3.0
        while True:
            statistics = self.server.statistics()
            if statistics is None:
                return {"answers to GetStatistics": 0}
            left = {what: count for what, count in held(statistics).items() if count and what != "warm bytes"}
            if not left or time.monotonic() > until:
                return left
            time.sleep(0.1)

    def _end_under_attack(self) -> None:
        pids = [spawn(repeat, attacker, self.target(i)) for i, attacker in enumerate(self.attack.attackers)]
        time.sleep(1.5 if self.is_full else 0.3)
        start = time.monotonic()
        if self.server.alive():
            self.server.terminate()
        patience = self.drain_seconds + (30.0 if self.is_full else 4.0)
        while self.server.alive() and time.monotonic() - start < patience:
            if self.server.usage().rss_mib > MOST_RSS_MIB + 1024:
                break
            self.server.await_exit(0.02)
        took = time.monotonic() - start
        reap(pids)
        self.report["exit_s"] = round(took, 2) if not self.server.alive() else None
        if self.server.alive():
            self.reasons.append(f"SIGTERM under attack: still there after {took:.1f} s")
        elif took > self.drain_seconds + (4.0 if self.server.sanitized else 1.0):
            self.reasons.append(f"SIGTERM under attack: {took:.1f} s, want {self.drain_seconds + 1:g}")
        # Sanitizers make all of it so slow that the watchdog may have to end it.
        ended_by_watchdog = self.server.sanitized and "ended by the watchdog" in self.server.log_text()
        if not self.server.alive() and self.server.ended_how() != "exit status 0" and not ended_by_watchdog:
            self.reasons.append(f"SIGTERM under attack: {self.server.ended_how()}")


def skip(reason: str) -> None:
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def has_more_addresses() -> bool:
    try:
        with socket.create_server(("127.0.0.2", 0)):
            return True
    except OSError:
        return False


def name_of_program() -> str:
    return pathlib.Path(sys.argv[0]).stem


def attack_only(attack: Attack, address: str, seconds: float) -> None:
    """On a server that runs already."""
    with tempfile.TemporaryDirectory() as folder:
        counters = multiprocessing.RawArray("q", 64)
        notes = multiprocessing.get_context("fork").Queue()
        targets = [
            Target(address, 0, seconds, pathlib.Path(folder), i, counters, notes) for i in range(len(attack.attackers))
        ]
        pids = [spawn(repeat, attacker, target) for attacker, target in zip(attack.attackers, targets, strict=True)]
        time.sleep(seconds)
        reap(pids)
    print(f"{sum(counters)} bytes sent")


def try_once(attack: Attack, seconds: float, make_server: type[Server]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Trial(name_of_program(), attack, seconds, pathlib.Path(folder), make_server).run()
    for reason in report["reasons"]:
        print(f"{report['attack']}: {reason}")
    return report


def run(attack: Attack) -> None:
    """The whole of an attack's program."""
    parser = argparse.ArgumentParser(
        description=sys.modules["__main__"].__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seconds",
        type=float,
        default=SHORT_SECONDS,
        help="of the attack itself (default: %(default)s, the short form; in full 30)",
    )
    parser.add_argument("--bin", help="folder of opserve-server; default $OPSERVE_BIN_DIR")
    parser.add_argument("--attack-only", metavar="HOST:PORT", help="attack this server, measure nothing")
    parser.add_argument("--proxy", action="store_true", help="through HAProxy, as deploy/proxy/haproxy.cfg has it")
    options = parser.parse_args()
    if options.bin:
        os.environ["OPSERVE_BIN_DIR"] = options.bin
    if not has_more_addresses():
        skip("attackers need addresses beside the victim's, such as 127.0.0.2: Linux has them")
    if options.attack_only:
        return attack_only(attack, options.attack_only, options.seconds)
    if options.proxy and not proxied.is_possible():
        toolchains.lacking("haproxy")
    make_server = proxied.ProxiedServer if options.proxy else Server
    report = try_once(attack, options.seconds, make_server)
    if report["verdict"] == "fell" and not report["is_certain"] and options.seconds < FULL_SECONDS:
        # In the short form something else on the machine weighs much.
        print("tried again")
        report = try_once(attack, options.seconds, make_server)
    print(json.dumps(report))
    sys.exit(0 if report["verdict"] == "stood" else 1)
