"""Writes docs/flags.md: what --help of opserve-server, opserve and each of its commands prints.

Usage: make_flags_page.py [--check]     (the programs are in $OPSERVE_BIN_DIR; --check only says whether the page is up to date)
"""

import os
import pathlib
import re
import subprocess
import sys

PAGE = pathlib.Path(__file__).resolve().parent / "flags.md"
HEAD = """# Flags and commands

<!-- Made by docs/make_flags_page.py; do not edit. -->

What `--help` prints. [Operating a server](operations.md) explains the server's flags, [the command line](command_line.md) the commands.
"""


def help_of(*command):
    program = pathlib.Path(os.environ["OPSERVE_BIN_DIR"]) / command[0]
    # The defaults of a machine with much memory and of nobody's home; nothing of the caller's.
    environment = {"PATH": os.environ["PATH"], "HOME": "~", **{name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name}}
    return subprocess.run([program, *command[1:], "--help"], env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout.rstrip()


def subcommands(text):
    """The names below "Subcommands:"."""
    listed = re.search(r"^Subcommands:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return re.findall(r"^  (\w+)", listed.group(1), re.MULTILINE) if listed else []


def sections(command, level):
    text = help_of(*command)
    yield f"\n{'#' * level} {' '.join(command)}\n\n```text\n{text}\n```\n"
    for name in subcommands(text):
        yield from sections([*command, name], min(level + 1, 3))


def main():
    page = "".join([HEAD, *sections(["opserve-server"], 2), *sections(["opserve"], 2)])
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if PAGE.read_text(encoding="utf-8") == page:
        return 0
    return "docs/flags.md is not what --help prints: run docs/make_flags_page.py with OPSERVE_BIN_DIR set"


if __name__ == "__main__":
    sys.exit(main())
