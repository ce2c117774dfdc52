"""opserve-server and the opserve command, which lie beside this file."""

from __future__ import annotations

import os
import pathlib
import sys

__version__ = "0.1.0"
_BIN = pathlib.Path(__file__).resolve().parent / "bin"


def program(name: str = "opserve-server") -> str:
    """The path of "opserve-server" or "opserve"."""
    return str(_BIN / name)


def _become(name: str) -> None:
    os.execv(program(name), [name, *sys.argv[1:]])


def run_server() -> None:
    """Becomes opserve-server, with this process's arguments."""
    _become("opserve-server")


def run_command() -> None:
    """Becomes the opserve command, with this process's arguments."""
    _become("opserve")
