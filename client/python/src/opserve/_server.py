"""A server of one's own, for tests and notebooks."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
from types import TracebackType
from typing import Any, Optional, Type

from ._client import Client, connect

PROGRAM = "opserve-server"
_POLL_SECONDS = 0.02


class server:
    """An opserve-server of this machine on a free port, for a `with` block:

        with opserve.server() as s, s.connect() as c: …

    program   the binary; unless given $OPSERVE_SERVER, or opserve-server in $OPSERVE_BIN_DIR, that of the package
              opserve-server (`pip install opserve[server]`), or opserve-server in $PATH
    flags     further flags of it: "--device", "cpu,threads=2"
    It serves on localhost only, and stops with the block. FileNotFoundError where there is no binary, RuntimeError with what it
    printed where it does not start within `timeout` seconds.
    """

    def __init__(self, *flags: str, program: "Optional[str | os.PathLike[str]]" = None, timeout: float = 60.0) -> None:
        self._command = [os.fspath(program) if program is not None else find(), *flags]
        self._timeout = timeout
        self._process: "Optional[subprocess.Popen[bytes]]" = None
        self._folder: "Optional[tempfile.TemporaryDirectory[str]]" = None
        self.address = ""

    def __enter__(self) -> "server":
        self._folder = tempfile.TemporaryDirectory(prefix="opserve-")
        folder = pathlib.Path(self._folder.name)
        command = [*self._command, "--listen", "localhost:0", "--port-file", str(folder / "address")]
        with open(folder / "log", "wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.address = self._wait_for_address(folder)
        except BaseException:
            self.stop()
            raise
        return self

    def _wait_for_address(self, folder: pathlib.Path) -> str:
        assert self._process is not None
        deadline = time.monotonic() + self._timeout
        while not (folder / "address").exists():  # it appears whole
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self._command[0]} did not start:\n{(folder / 'log').read_text(errors='replace')}")
            time.sleep(_POLL_SECONDS)
        return (folder / "address").read_text(encoding="utf-8").split()[0]

    def connect(self, **options: Any) -> Client:
        """A client of it; the arguments of opserve.connect()."""
        return connect(self.address, **options)

    def log(self) -> str:
        """What it printed so far."""
        return "" if self._folder is None else (pathlib.Path(self._folder.name) / "log").read_text(errors="replace")

    def stop(self) -> None:
        """Ends it, as the block's end does."""
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            try:
                process.wait(self._timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stop()


def find() -> str:
    """Where the server's program is."""
    found = os.environ.get("OPSERVE_SERVER") or _in_folder() or _in_package() or shutil.which(PROGRAM)
    if not found:
        raise FileNotFoundError(f"want {PROGRAM} in $OPSERVE_BIN_DIR, in the Python package opserve-server or in $PATH, got it in none: "
                                "name it in $OPSERVE_SERVER, such as build/release/bin/opserve-server after scripts/build release")
    return found


def _in_folder() -> Optional[str]:
    folder = os.environ.get("OPSERVE_BIN_DIR")
    return shutil.which(PROGRAM, path=folder) if folder else None


def _in_package() -> Optional[str]:
    try:
        import opserve_server
    except ImportError:
        return None
    path: str = opserve_server.program(PROGRAM)
    return path
