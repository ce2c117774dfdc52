"""Checks the #include lines of core/, server/ and client/ against the layers of ARCHITECTURE.md.

Usage: layering.py ROOT. Prints each offence as `file:line: reason` and exits 1 if there is one.
"""

import pathlib
import re
import sys

# What each folder may include of ours, besides itself. A folder stands for its files and those of its subfolders that
# have no row. Operators (core/ops) are in nobody's list: they are reached only through core/op/builtin_ops.inc.
BELOW_BACKENDS = ["core/base", "core/workers", "core/tensor", "core/op", "core/device"]
ENGINE = ["core/program", "core/engine/load", "core/engine/plan", "core/engine/run", "core/engine"]
BELOW_SERVER = BELOW_BACKENDS + ENGINE
BELOW_CLIENT = ["core/base", "core/tensor"]
MAY_INCLUDE = {
    "core/base": [],
    "core/workers": ["core/base"],
    "core/tensor": ["core/base"],
    "core/op": ["core/base", "core/tensor"],
    "core/ops": ["core/base", "core/tensor", "core/op"],
    "core/aclnn": ["core/base", "core/tensor", "core/op"],
    "core/program": ["core/base", "core/tensor", "core/op"],
    "core/device": ["core/base", "core/workers", "core/tensor", "core/op"],
    "core/backends": [],
    "core/backends/ascend": BELOW_BACKENDS,
    "core/backends/cpu": BELOW_BACKENDS,
    "core/batch": BELOW_BACKENDS,
    "core/engine/plan": BELOW_BACKENDS + ["core/program"],
    "core/engine/load": BELOW_BACKENDS + ["core/program"],
    "core/engine/run": BELOW_BACKENDS + ["core/batch", "core/program", "core/engine/load", "core/engine/plan"],
    "core/engine": BELOW_BACKENDS + ["core/backends", "core/program", "core/engine/load", "core/engine/plan", "core/engine/run"],
    "server/log": ["core/base"],
    "server/counters": ["core/base"],
    "server/identity": ["core/base", "server/log"],
    "server/connections": ["core/base", "server/log"],
    "server/codec": BELOW_SERVER + ["proto", "server/counters"],
    "server/open_inference": BELOW_SERVER + ["proto", "server/codec"],
    "server/tracing": ["core/base", "server/codec", "server/counters", "server/log"],
    "server/shared_memory": ["core/base", "proto", "server/codec"],
    "server/calls": BELOW_SERVER
    + ["proto", "server/codec", "server/counters", "server/open_inference", "server/shared_memory"],
    "server/session": BELOW_SERVER + ["proto", "server/calls", "server/codec", "server/counters"],
    "server/rest": BELOW_SERVER + ["proto", "server/calls", "server/codec", "server/open_inference"],
    "server/transport/messages": ["core/base", "server/codec", "server/session"],
    "server/transport/unary": BELOW_SERVER
    + ["proto", "server/calls", "server/codec", "server/connections", "server/counters", "server/identity"]
    + ["server/open_inference", "server/session", "server/shared_memory", "server/tracing", "server/transport/messages"],
    "server/transport/services": BELOW_SERVER
    + ["proto", "server/calls", "server/codec", "server/connections", "server/counters", "server/identity", "server/session"]
    + ["server/open_inference", "server/shared_memory", "server/tracing", "server/transport/messages"]
    + ["server/transport/unary"],
    "server/transport/process": ["core/base", "server/connections", "server/identity", "server/log"],
    "server/flags": ["core/base", "core/engine", "server/connections", "server/counters", "server/identity", "server/log"]
    + ["server/session", "server/tracing"],
    "server/http/port": ["core/base", "server/connections"],
    "server/http/views": BELOW_SERVER
    + ["server/calls", "server/connections", "server/counters", "server/flags", "server/identity", "server/session"]
    + ["server/shared_memory"],
    "server/http/playground": BELOW_SERVER + ["server/http/port", "server/http/views"],
    "server/http/inference": BELOW_SERVER
    + ["proto", "server/calls", "server/codec", "server/connections", "server/counters", "server/http/port", "server/identity"]
    + ["server/open_inference", "server/rest", "server/session", "server/shared_memory", "server/tracing"],
    "server/http": ["core/base", "server/connections", "server/http/playground", "server/http/port"]
    + ["server/http/views"],
    "server": ["core/base"]
    + ["server/connections", "server/counters", "server/flags", "server/http", "server/http/inference", "server/http/port"]
    + ["server/http/views", "server/identity", "server/log", "server/shared_memory"]
    + ["server/tracing", "server/transport/process", "server/transport/services", "server/transport/unary"],
    "client/cpp/include": BELOW_CLIENT,
    "client/cpp/example": ["client/cpp/include"],
    "client/cpp/values": BELOW_CLIENT + ["client/cpp/include"],
    "client/cpp/wire": BELOW_CLIENT + ["proto", "client/cpp/include", "client/cpp/values"],
    "client/cpp/transport": ["core/base", "client/cpp/include", "client/cpp/values", "client/cpp/wire"],
    "client/cpp/memory": BELOW_CLIENT
    + ["client/cpp/include", "client/cpp/transport", "client/cpp/values", "client/cpp/wire"],
    "client/cpp/session": BELOW_CLIENT
    + ["proto", "client/cpp/include", "client/cpp/transport", "client/cpp/values", "client/cpp/wire"],
    "client/cpp": BELOW_CLIENT
    + ["client/cpp/include", "client/cpp/memory", "client/cpp/transport", "client/cpp/values", "client/cpp/wire"],
    "client/cli/formats": BELOW_CLIENT,
    "client/cli/files": BELOW_CLIENT + ["client/cli/formats", "client/cpp/include", "client/cpp/values"],
    "client/cli/output": BELOW_CLIENT + ["client/cli/formats", "client/cpp/include", "client/cpp/values"],
    "client/cli/commands": BELOW_CLIENT
    + ["client/cli/files", "client/cli/formats", "client/cli/output", "client/cpp/include", "client/cpp/values"]
    + ["client/loadtest/calls", "client/loadtest/figures", "client/loadtest/load", "client/loadtest/report"]
    + ["client/loadtest/scenario"],
    "client/cli/tutorial": ["core/base", "client/cli/commands", "client/cli/files", "client/cli/output"],
    "client/cli": ["core/base", "client/cli/commands", "client/cli/files", "client/cli/output", "client/cli/tutorial"],
    "client/loadtest/figures": ["core/base"],
    "client/loadtest/transport": ["core/base", "client/cpp/include", "client/cpp/transport", "client/cpp/wire"],
    "client/loadtest/load": ["core/base", "client/loadtest/figures"],
    "client/loadtest/calls": BELOW_CLIENT
    + ["proto", "client/cpp/include", "client/cpp/values", "client/cpp/wire"]
    + ["client/loadtest/figures", "client/loadtest/load", "client/loadtest/transport"],
    "client/loadtest/scenario": ["core/base", "client/loadtest/calls", "client/loadtest/figures"],
    "client/loadtest/report": ["core/base", "client/loadtest/figures", "client/loadtest/load"],
    "client/acl/include": [],
    "client/acl/samples": ["client/acl/include"],
    "client/acl/provider": BELOW_CLIENT + ["core/op"],
    "client/acl/local": BELOW_BACKENDS + ["core/engine", "client/acl/provider"],
    "client/acl/remote": BELOW_CLIENT + ["client/acl/provider", "client/cpp/include", "client/cpp/values"],
    "client/acl/objects": BELOW_CLIENT + ["core/op", "client/acl/include", "client/acl/provider"],
    "client/acl/abi": BELOW_CLIENT
    + ["core/op", "core/engine", "client/acl/include", "client/acl/local", "client/acl/objects", "client/acl/provider"],
}

# Headers of others: what they are called, a pattern of their names, and the files that may include them.
RESTRICTED = [
    (
        "gRPC",
        r"(grpc|grpcpp|grpc\+\+)/|.*\.grpc\.pb\.h$",
        r"server/transport/|server/server\.cc|client/(cpp|loadtest)/transport/",
    ),
    (
        "protobuf",
        r"google/protobuf/|.*\.pb\.h$",
        r"server/(calls|codec|http/inference|open_inference|rest|session|shared_memory|transport)/|client/cli/main\.|client/cpp/(session|wire)/|client/loadtest/calls/",
    ),
    ("OpenSSL", r"openssl/", r"server/identity/"),
    ("oneTBB", r"(tbb|oneapi)/", r"core/workers/thread_arena\.cc"),
]

SOURCES = {".h", ".hpp", ".inc", ".c", ".cc", ".cpp"}
# Public headers, as programs include them: the C++ library's and the C interface's.
PUBLIC = re.compile(r"opserve/[a-z_]+\.h$")
PUBLIC_C = re.compile(r"(acl|aclnn|aclnnop)/")
INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')


def layer_of(path):
    """The row of MAY_INCLUDE that a file of ours belongs to; None when it has none."""
    if path.endswith(".pb.h"):
        return "proto"
    if PUBLIC.match(path):
        return "client/cpp/include"
    if PUBLIC_C.match(path):
        return "client/acl/include"
    rows = [row for row in MAY_INCLUDE if path.startswith(row + "/")]
    return max(rows, key=len, default=None)


def offences(path, quote, header):
    """Why the file `path` must not include `header`, as a list of reasons."""
    reasons = [
        f"{name} headers are not for this file"
        for name, pattern, allowed in RESTRICTED
        if re.match(pattern, header) and not re.match(allowed, path)
    ]
    ours = re.match(r"(core|server|client|tests)/|\.\.?/", header) or PUBLIC.match(header)
    ours = ours or PUBLIC_C.match(header) or header.endswith(".pb.h")
    # Samples are for other trees: they include what lies beside them.
    bare = quote == '"' and "/" not in header and "/samples/" not in path
    if header.startswith(".") or bare:
        reasons.append("write the path from the repository's root")
    elif quote == '"' and PUBLIC.match(header) or header.startswith("client/cpp/include/"):
        reasons.append("write a public header as programs do: <opserve/...>")
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
