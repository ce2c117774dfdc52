"""Tools of other languages, and how a test that lacks one ends."""

import os
import shutil
import subprocess
import sys

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
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


def grpcurl(folder):
    """The path of grpcurl; the test is skipped without it. Debian has no package of it: where all tools are required and there
    is a Go, it is built into `folder`."""
    installed = shutil.which("grpcurl") or shutil.which("grpcurl", path=folder)
    if installed:
        return installed
    if all_required() and shutil.which("go"):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["go", "install", GRPCURL], env={**os.environ, "GOBIN": str(folder)}, timeout=240, check=False)
    return shutil.which("grpcurl", path=folder) or skip("grpcurl is not installed (languages_json sends the same texts)")
