"""Writes src/opserve/_proto: what protoc makes of ../../proto, in a descriptor pool of the package's own.

Usage: generate_messages.py [--check]     (--check only tells whether the files are what it would write)

A pool of its own: a program may also use googleapis-common-protos, or stubs that it made of opserve's .proto files itself, and a
pool takes no file name twice. Needs protoc 3.20 or newer; what is checked in was made by the one of Debian 12.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PROTOS = HERE.parents[1] / "proto"
TARGET = HERE / "src/opserve/_proto"
FILES = ["google/rpc/error_details.proto", "google/rpc/status.proto", "opserve/v1/operator_service.proto",
         "opserve/v1/session.proto", "opserve/v1/shared_memory.proto", "opserve/v1/statistics.proto",
         "opserve/v1/types.proto"]
OWN_POOL = ("_descriptor_pool.Default()", "_POOL")
IMPORT_OF_POOL = ("from google.protobuf import descriptor_pool as _descriptor_pool\n", "from ._pool import POOL as _POOL\n")


def adapted(text):
    """A generated file, as a module of the package."""
    text = re.sub(r"^from (?:google\.rpc|opserve\.v1) import (\w+) as", r"from . import \1 as", text, flags=re.MULTILINE)
    return text.replace(*OWN_POOL).replace(*IMPORT_OF_POOL)


def generated():
    """The files by name."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["protoc", "-I", PROTOS, f"--python_out={folder}", f"--pyi_out={folder}", *FILES], check=True)
        made = sorted(path for path in pathlib.Path(folder).rglob("*_pb2.py*"))
        return {path.name: adapted(path.read_text(encoding="utf-8")) for path in made}


def main():
    files = generated()
    if "--check" not in sys.argv[1:]:
        for name, text in files.items():
            (TARGET / name).write_text(text, encoding="utf-8")
        return 0
    stale = [name for name, text in files.items()
             if not (TARGET / name).exists() or (TARGET / name).read_text(encoding="utf-8") != text]
    print(*(f"{name} is not what generate_messages.py makes" for name in stale), sep="\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
