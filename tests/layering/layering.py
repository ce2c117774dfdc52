"""Checks the #include lines of core/, server/ and client/ against the layers of ARCHITECTURE.md.

Usage: layering.py ROOT. Prints each offence as `file:line: reason` and exits 1 if there is one.
"""

import pathlib
import re
import sys

# What each folder may include of ours, besides itself. A folder stands for its files and those of its subfolders that
# have no row. Operators (core/ops) are in nobody's list: they are reached only through core/op/builtin_ops.inc.
BELOW_BACKENDS = ["core/base", "core/tensor", "core/op", "core/device"]
BELOW_ENGINE = BELOW_BACKENDS + ["core/backends", "core/backends/ascend", "core/backends/cpu", "core/batch"]
MAY_INCLUDE = {
    "core/base": [],
    "core/tensor": ["core/base"],
    "core/op": ["core/base", "core/tensor"],
    "core/ops": ["core/base", "core/tensor", "core/op"],
    "core/device": ["core/base", "core/tensor", "core/op"],
    "core/backends": BELOW_BACKENDS,
    "core/backends/ascend": BELOW_BACKENDS + ["core/backends"],
    "core/backends/cpu": BELOW_BACKENDS + ["core/backends"],
    "core/batch": BELOW_BACKENDS + ["core/backends"],
    "core/engine": BELOW_ENGINE,
    "server": BELOW_ENGINE + ["core/engine", "proto"],
    "client/cpp": ["core/base", "core/tensor", "proto"],
    "client/cli": ["core/base", "core/tensor", "proto", "client/cpp"],
    "client/acl": BELOW_BACKENDS + ["core/engine", "client/cpp"],
}

# Headers of others: what they are called, a pattern of their names, and the files that may include them.
RESTRICTED = [
    ("gRPC", r"(grpc|grpcpp|grpc\+\+)/|.*\.grpc\.pb\.h$", r"(server|client)/"),
    ("protobuf", r"google/protobuf/|.*\.pb\.h$", r"(server|client)/"),
    ("oneTBB", r"(tbb|oneapi)/", r"core/backends/cpu/"),
]

SOURCES = {".h", ".hpp", ".inc", ".c", ".cc", ".cpp"}
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def layer_of(path):
    """The row of MAY_INCLUDE that a file of ours belongs to; None when it has none."""
    if path.endswith(".pb.h"):
        return "proto"
    rows = [row for row in MAY_INCLUDE if path.startswith(row + "/")]
    return max(rows, key=len, default=None)


def offences(path, quote, header):
    """Why the file `path` must not include `header`, as a list of reasons."""
    reasons = [
        f"{name} headers are not for this file"
        for name, pattern, allowed in RESTRICTED
        if re.match(pattern, header) and not re.match(allowed, path)
    ]
    ours = re.match(r"(core|server|client|tests)/|\.\.?/", header) or header.endswith(".pb.h")
    # Samples are for other trees: they include what lies beside them.
    bare = quote == '"' and "/" not in header and "/samples/" not in path
    if header.startswith(".") or bare:
        reasons.append("write the path from the repository's root")
    elif ours:
        layer, target = layer_of(path), layer_of(header)
        if target != layer and target not in MAY_INCLUDE[layer]:
            reasons.append(f"{layer} must not depend on {target or 'this'}")
    return reasons


def check_file(root, file):
    path = file.relative_to(root).as_posix()
    if layer_of(path) is None:
        yield f"{path}:1: this folder has no row in tests/layering/layering.py"
        return
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            for reason in offences(path, *match.groups()):
                yield f"{path}:{number}: {match.group(2)}: {reason}"


def check_tree(root):
    """All offences below `root`, and the number of files read."""
    files = [
        file
        for top in ("core", "server", "client")
        for file in sorted((root / top).rglob("*"))
        if file.suffix in SOURCES
    ]
    return [offence for file in files for offence in check_file(root, file)], len(files)


def main():
    found, files = check_tree(pathlib.Path(sys.argv[1]))
    for offence in found:
        print(offence)
    print(f"{files} files, {len(found)} offences")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
