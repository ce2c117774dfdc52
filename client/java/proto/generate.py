"""Writes src/main/java: what protoc makes of the .proto files of opserve.v1.

Usage: generate.py [--check]     (--check only tells whether the files are what it would write)

protoc is the one of ${protobuf.version} of ../pom.xml, which Maven fetches into ../target, with protobuf's own .proto files.
"""

import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
JAVA = HERE.parent
PROTOS = JAVA.parents[1] / "proto"
TARGET = HERE / "src/main/java"
FILES = [f"opserve/v1/{name}.proto" for name in ("operator_service", "session", "statistics", "types")]
COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy"


def fetched(artifact, name):
    """The path of an artifact's file in ../target."""
    path = JAVA / "target" / name
    if not path.exists():
        subprocess.run(["mvn", "-q", "-B", "-N", COPY, f"-Dartifact={artifact}", f"-DoutputDirectory={path.parent}"], check=True,
                       cwd=JAVA)
    return path


def compiler():
    """The paths of protoc and of a jar with protobuf's own .proto files."""
    version = re.search(r"<protobuf.version>(.*?)<", (JAVA / "pom.xml").read_text(encoding="utf-8")).group(1)
    machine = {"x86_64": "x86_64", "aarch64": "aarch_64"}[platform.machine()]
    group = "com.google.protobuf"
    protoc = fetched(f"{group}:protoc:{version}:exe:linux-{machine}", f"protoc-{version}-linux-{machine}.exe")
    protoc.chmod(0o755)
    return protoc, fetched(f"{group}:protobuf-java:{version}:jar", f"protobuf-java-{version}.jar")


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.java"))}


def generated():
    """The files' texts by their paths below src/main/java."""
    protoc, jar = compiler()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with zipfile.ZipFile(jar) as files:
            files.extractall(folder / "known", [file for file in files.namelist() if file.endswith(".proto")])
        (folder / "made").mkdir()
        subprocess.run([protoc, "-I", PROTOS, "-I", folder / "known", f"--java_out={folder}/made", *FILES], check=True)
        return files_of(folder / "made")


def main():
    wanted, there = generated(), files_of(TARGET)
    if "--check" in sys.argv[1:]:
        stale = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        print(*(f"{name} is not what proto/generate.py makes" for name in stale), sep="\n", end="\n" if stale else "")
        return 1 if stale else 0
    for name in there.keys() - wanted.keys():
        (TARGET / name).unlink()
    for name, text in wanted.items():
        (TARGET / name).parent.mkdir(parents=True, exist_ok=True)
        (TARGET / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
