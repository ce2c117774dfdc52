"""The manual pages: what --help says, every option of it, and roff that man shows without a warning.

Usage: man_test.py     (the programs are in $OPSERVE_BIN_DIR)
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "tests/support")]

import make_man_pages
import toolchains
from make_flags_page import help_of

PAGES = {"opserve.1": "opserve", "opserve-server.8": "opserve-server"}


def shown(page):
    """What a reader sees on a wide terminal, and what man warns of."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANWIDTH": "500", "MANROFFSEQ": ""}
    result = subprocess.run(["man", "--warnings", "--encoding=UTF-8", "--local-file", page], env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, check=True)
    return result.stdout, result.stderr


def problems():
    for name, program in PAGES.items():
        text, warnings = shown(make_man_pages.FOLDER / name)
        if warnings:
            yield f"docs/man/{name}: {warnings}"
        options = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", help_of(program), re.MULTILINE))
        lacking = sorted(option for option in options if not re.search(rf"(?m)^ +(?:-\w,)?{option}\b", text))
        if lacking or len(options) < 10:
            yield f"docs/man/{name} lacks {lacking} of {len(options)} options of {program} --help"


def main():
    outdated = make_man_pages.check()
    if outdated:
        return outdated
    if not shutil.which("man"):
        toolchains.skip("there is no man")
    found = list(problems())
    print(f"{len(PAGES)} pages, {len(found)} problems")
    return "\n".join(found) or 0


if __name__ == "__main__":
    sys.exit(main())
