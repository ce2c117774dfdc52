"""Which object files of a build folder depend on given files: `targets_of.py BUILD_FOLDER FILE...` prints the targets, one a
line. FILE is relative to the repository's root.

A header counts through the headers that include it. Reads compile_commands.json and the sources' #include "..." lines.
"""

import json
import pathlib
import re
import subprocess
import sys

OUTPUT = re.compile(r" -o (\S+) ")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def sources(folder, file):
    """What is compiled as `file`: itself, or what CMake put together there (CMAKE_UNITY_BUILD)."""
    path = pathlib.Path(file)
    together = path.is_relative_to(folder.resolve()) and path.stem.startswith("unity_")
    return set(INCLUDE.findall(path.read_text(encoding="utf-8"))) if together else {file}


def includes():
    """For each of the repository's C++ files, those that include it."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", "*.cc", "*.h"],
        capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    includers = {}
    for name in listed:
        path = pathlib.Path(name)
        if not path.is_file():
            continue
        for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
            includers.setdefault(included, set()).add(name)
    return includers


def dependents(files):
    includers = includes()
    found = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        waiting += includers.get(file, ())
    return found


def main():
    folder = pathlib.Path(sys.argv[1])
    root = pathlib.Path.cwd()
    wanted = {str(root / file) for file in dependents(sys.argv[2:])}
    commands = json.loads((folder / "compile_commands.json").read_text(encoding="utf-8"))
    for each in commands:
        if wanted & sources(folder, each["file"]):
            print(OUTPUT.search(each["command"])[1])


if __name__ == "__main__":
    main()
