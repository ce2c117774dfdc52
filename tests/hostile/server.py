"""A server of the test's own, and what the system says about its process."""

import contextlib
import dataclasses
import functools
import mmap
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time

import http2
import wire

START_SECONDS = 60
DEFAULT_FLAGS = {"--device": "cpu,threads=2", "--memory-limit": "256MiB", "--max-message-bytes": "16MiB"}


def bin_folder() -> pathlib.Path:
    folder = os.environ.get("OPSERVE_BIN_DIR")
    if not folder:
        sys.exit("where are the programs? --bin FOLDER, or OPSERVE_BIN_DIR")
    return pathlib.Path(folder)


@functools.cache
def known_flags() -> str:
    return subprocess.run(
        [bin_folder() / "opserve-server", "--help"], capture_output=True, check=True, text=True
    ).stdout


def flag_words(flags: dict[str, str | None], drain_seconds: float) -> list[str]:
    """Those that this server knows, as words: a flag that an older one lacks is left out. None: a flag without a
    value, or one of the defaults that is not wanted.
    """
    wanted = {**DEFAULT_FLAGS, "--drain-timeout": f"{drain_seconds}s", **flags}
    words = []
    for name, value in wanted.items():
        if name not in known_flags() or (value is None and name in DEFAULT_FLAGS):
            continue
        words += [name] if value is None else [name, value]
    return words


@dataclasses.dataclass
class Usage:
    """Of a process, now."""

    rss_mib: int
    threads: int
    fds: int
    cpu_seconds: float


def usage_of(pid: int) -> Usage:
    """All 0 when the process is over."""
    root = pathlib.Path(f"/proc/{pid}")
    try:
        numbers = (root / "stat").read_text().rpartition(")")[2].split()
        pages = int((root / "statm").read_text().split()[1])
        fds = len(os.listdir(root / "fd"))
    except (OSError, IndexError):
        return Usage(0, 0, 0, 0.0)
    ticks = int(numbers[11]) + int(numbers[12])
    return Usage(pages * resource.getpagesize() >> 20, int(numbers[17]), fds, ticks / os.sysconf("SC_CLK_TCK"))


class Server:
    def __init__(
        self,
        folder: pathlib.Path,
        flags: dict[str, str | None],
        drain_seconds: float = 2.0,
        limits: dict[int, int] | None = None,
    ):
        """`limits`: of the process, by resource.RLIMIT_…"""
        self.log = folder / "server.log"
        port_file = folder / "address"
        port_file.unlink(missing_ok=True)
        command = [
            bin_folder() / "opserve-server",
            "--listen",
            "127.0.0.1:0",
            "--port-file",
            port_file,
            *flag_words(flags, drain_seconds),
        ]
        with open(self.log, "w", encoding="utf-8") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                preexec_fn=lambda: set_limits(limits or {}),
            )
        self.pid = self._process.pid
        self.direct_address = self._await_address(port_file)
        self.address = self.direct_address  # where clients connect

    def _await_address(self, port_file: pathlib.Path) -> str:
        until = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if not self.alive() or time.monotonic() > until:
                self.kill()
                raise RuntimeError(f"the server did not start:\n{self.log_text()}")
            time.sleep(0.01)
        return port_file.read_text(encoding="utf-8").split()[0]

    def alive(self) -> bool:
        return self._process.poll() is None

    def ended_how(self) -> str:
        """In words, of a process that is over."""
        code = self._process.returncode
        if code is not None and code < 0:
            return f"killed by {signal.Signals(-code).name}"
        return f"exit status {code}"

    def log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def usage(self) -> Usage:
        return usage_of(self.pid)

    @functools.cached_property
    def sanitized(self) -> bool:
        """Whether sanitizers watch it: its memory and its times say little then."""
        with contextlib.suppress(OSError):
            with open(f"/proc/{self.pid}/exe", "rb") as program:
                with mmap.mmap(program.fileno(), 0, access=mmap.ACCESS_READ) as code:
                    return code.find(b"__asan_init") >= 0 or code.find(b"__tsan_init") >= 0
        return False

    def sanitizer_report(self) -> str:
        """Its first line and the functions of its first stack, or nothing."""
        text = self.log_text()
        found = re.search(r"\w*Sanitizer.*|.*runtime error:.*", text)
        if found is None:
            return ""
        stack = re.search(r"(?:^ +#\d+ .*\n)+", text[found.end() :], re.MULTILINE)
        functions = re.findall(r"#\d+ 0x\w+ (?:in )?(.*)", stack[0]) if stack else []
        return " < ".join([found[0].strip()[:300], *(each[:120] for each in functions[:24])])

    # ---- asking it, as any client would

    def statistics(self, seconds: float = 5.0) -> bytes | None:
        """A GetStatisticsResponse; None where no answer comes."""
        try:
            connection = http2.Connection(self.direct_address)
            answer = connection.unary("GetStatistics", seconds=seconds)
            connection.close()
        except http2.Broken:
            return None
        return answer.messages[0] if answer.status == 0 else None

    def is_serving(self, seconds: float = 5.0) -> bool:
        try:
            connection = http2.Connection(self.direct_address)
            answer = connection.unary(http2.HEALTH_CHECK, seconds=seconds)
            connection.close()
        except http2.Broken:
            return False
        return answer.status == 0 and answer.messages == [wire.field(1, 1)]

    # ---- the end

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def await_exit(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        if self.alive():
            self._process.kill()
        self._process.wait()


def set_limits(limits: dict[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for kind, value in limits.items():
        most = resource.getrlimit(kind)[1]
        value = value if most == resource.RLIM_INFINITY else min(value, most)
        resource.setrlimit(kind, (value, value))


def held(statistics: bytes) -> dict[str, int]:
    """Numbers that are 0 when nothing is under way; and the bytes that pools keep warm, which need not be."""
    engine = wire.first(statistics, 6) or b""
    sessions = wire.first(statistics, 4 + 1) or b""
    devices = wire.fields(statistics).get(7, [])
    methods = wire.fields(statistics).get(2, [])
    return {
        "calls of Execute": sum(
            wire.first(each, 3) or 0 for each in methods if (wire.first(each, 1) or b"")[:7] == b"Execute"
        ),
        "sessions": wire.first(sessions, 1) or 0,
        "admitted calls": wire.first(engine, 13) or 0,
        "admitted bytes": wire.first(engine, 14) or 0,
        "bytes of pools": sum(wire.first(each, 2, 2) or 0 for each in devices),
        "warm bytes": sum(wire.first(each, 2, 3) or 0 for each in devices),
    }
