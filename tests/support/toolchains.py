"""Tools of other languages, and how a test that lacks one ends."""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
# Half the time of a cold build: a test reads no debug information, and runs a program once.
QUICK_GO = "'-gcflags=all=-N -l -dwarf=false' '-ldflags=-s -w'"
GRPCURL = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3"


def all_required():
    return os.environ.get("OPSERVE_REQUIRE_TOOLCHAINS") == "1"


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def lacking(what):
    """Ends a test that this machine has no tools for: a skip, or a failure where all tools are required."""
    if all_required():
        sys.exit(f"OPSERVE_REQUIRE_TOOLCHAINS=1, and this machine lacks {what}")
    skip(f"this machine lacks {what}")


@contextlib.contextmanager
def in_turn(path):
    """Of the tests that run at the same time one is in such a block; `path` is the file that they lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def go_program(name, package, folder):
    """The path of a program that Debian has no package of, or None: installed, or, where all tools are required and there is a
    Go, built into `folder`, by one test for all that run at the same time."""
    if installed := shutil.which(name):
        return installed
    if all_required() and shutil.which("go"):
        with in_turn(folder / f"{name}.lock"):
            if not shutil.which(name, path=folder):
                environment = {**os.environ, "GOBIN": str(folder), "GOFLAGS": QUICK_GO}
                subprocess.run(["go", "install", package], env=environment, timeout=1200, check=False)
    return shutil.which(name, path=folder)


def grpcurl(folder):
    """The path of grpcurl; the test is skipped without it."""
    return go_program("grpcurl", GRPCURL, folder) or skip("grpcurl is not installed (languages_json sends the same texts)")
