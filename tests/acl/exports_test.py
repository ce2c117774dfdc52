"""Checks what libopserve_acl.so shows and needs.

Usage: exports_test.py     (the library is in $OPSERVE_BIN_DIR/../lib)

Its dynamic symbols are those of exports.txt beside this file, one a line, and both phases of each operator of
core/op/builtin_ops.inc, and those are what the headers declare; it needs neither gRPC nor protobuf; CANN's names are
links to it.
"""

import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = pathlib.Path(os.environ["OPSERVE_BIN_DIR"]).parent
INCLUDES = [ROOT / "client/acl/include", BUILD / "include"]
LIBRARY = BUILD / "lib"
FIELD_NAMES = ["libascendcl.so", "libnnopbase.so", "libopapi.so", "libopapi_math.so", "libopapi_nn.so"]
DECLARATION = re.compile(r"^[\w*][\w *]*?\b((?:acl|opserveAcl)\w+)\(", re.MULTILINE)


def tool(*command):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True, check=True).stdout


def shown(library):
    return {line.split()[-1] for line in tool("nm", "-D", "--defined-only", library).splitlines()}


def declared():
    return {name for include in INCLUDES for header in include.rglob("*.h")
            for name in DECLARATION.findall(header.read_text(encoding="utf-8"))}


def operators():
    table = (ROOT / "core/op/builtin_ops.inc").read_text(encoding="utf-8")
    return re.findall(r"^OPSERVE_OP\(\w+, (\w+)\)$", table, re.MULTILINE)


def compare(what, got, want):
    return [f"{what}: {name} is there and should not be" for name in sorted(got - want)] + \
        [f"{what}: {name} is missing" for name in sorted(want - got)]


def needs(library):
    return [line for line in tool("readelf", "-d", library).splitlines()
            if "NEEDED" in line and re.search(r"grpc|protobuf|upb", line)]


def main():
    library = LIBRARY / "libopserve_acl.so"
    want = set((HERE / "exports.txt").read_text(encoding="utf-8").split())
    want |= {f"aclnn{name}{phase}" for name in operators() for phase in ("", "GetWorkspaceSize")}
    faults = compare("library", shown(library), want) + compare("headers", declared(), want) + needs(library)
    links = sorted((LIBRARY / "opserve/ascend").iterdir())
    if [link.name for link in links] != FIELD_NAMES or any(not link.samefile(library) for link in links):
        faults.append(f"want links {FIELD_NAMES} to {library}, got {links}")
    if len(want) < 60:
        faults.append(f"exports.txt: {len(want)} names cannot be all")
    print("\n".join(faults) or f"{len(want)} names")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
