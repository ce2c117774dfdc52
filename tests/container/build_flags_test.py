"""deploy/container/build says what is wrong before it builds anything."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "deploy/container/build"

# Arguments → exit status and what the output says.
MISTAKES = [
    (["--bas", "x"], 2, "unknown argument '--bas'"),
    (["--base"], 2, "--base: want a value, got none"),
    (["--tag="], 2, "--tag: want a value, got none"),
    (["--engine", "make"], 2, "--engine: want buildah, podman or docker, got 'make'"),
]
BASE_MISTAKES = [
    (["--base", "./nothing"], 1, "--base: no such folder or file: ./nothing"),
    (["--base", "."], 1, "--base: want a Debian root file system, got a folder without etc/debian_version"),
]


def output_of(arguments, folder, environment=None):
    result = subprocess.run([BUILD, *arguments], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    return result.returncode, result.stdout


def problems(folder):
    status, text = output_of(["--help"], folder)
    flags = {"--base", "--tag", "--engine"}
    if status != 0 or not flags <= set(re.findall(r"--\w+", text)):
        yield f"--help ended with {status} and does not tell {flags}:\n{text}"
    # A PATH of the shell's own tools alone: no engine.
    for tool in ("bash", "dirname", "mktemp", "cat", "rm"):
        (folder / tool).symlink_to(shutil.which(tool))
    status, text = output_of([], folder, {"PATH": str(folder)})
    if status != 1 or "no engine that works" not in text or "podman: not installed" not in text:
        yield f"without an engine: ended with {status}:\n{text}"
    engine = any(output_of(["--base", "./nothing", "--engine", name], folder)[1].count("no such folder")
                 for name in ("buildah", "podman", "docker"))
    for arguments, wanted_status, wanted in MISTAKES + (BASE_MISTAKES if engine else []):
        status, text = output_of(arguments, folder)
        if status != wanted_status or wanted not in text:
            yield f"{arguments}: want status {wanted_status} and '{wanted}', got {status}:\n{text}"


def context_problems():
    """The build context lets in what the Dockerfile needs, folder by folder, and names nothing that is not there."""
    ignore = (ROOT / "deploy/container/Dockerfile.dockerignore").read_text(encoding="utf-8").split("\n")
    let_in = [line[1:] for line in ignore if line.startswith("!")]
    if "*" not in ignore or not let_in:
        yield "Dockerfile.dockerignore: want '*' and what is let in"
    for name in let_in:
        if not (ROOT / name).exists():
            yield f"Dockerfile.dockerignore: no such file: {name}"
    script = (pathlib.Path(os.environ["OPSERVE_BIN_DIR"]).parent / "cmake_install.cmake").read_text(encoding="utf-8")
    parts = re.findall(r'^if\(CMAKE_INSTALL_COMPONENT STREQUAL "runtime".*?^endif\(\)', script, re.MULTILINE | re.DOTALL)
    installed = {name for part in parts for name in re.findall(rf'"{re.escape(str(ROOT))}/([^"]+)"', part) if not name.startswith("build/")}
    if not installed:
        yield "cmake_install.cmake: want files of the tree that the component `runtime` installs"
    for name in installed:
        if not any(name == each or name.startswith(f"{each}/") for each in let_in):
            yield f"Dockerfile.dockerignore: {name}, which is installed, is not let in"


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = [*problems(pathlib.Path(folder)), *context_problems()]
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
