"""What a run of scripts/test spent its time on: `slowest.py FILE BUILD_FOLDER...` writes the ten slowest compile steps and
the ten slowest tests of each build folder to FILE.

Reads ninja's log (.ninja_log: what each step took when it ran last, ccache's hits included) and ctest.xml.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree

COUNT = 10


def compile_steps(folder):
    """Seconds of each object file, and how many there are."""
    log = folder / ".ninja_log"
    if not log.exists():
        return {}
    seconds = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        fields = line.split("\t")
        if len(fields) == 5 and fields[3].endswith(".o"):
            seconds[fields[3]] = (int(fields[1]) - int(fields[0])) / 1000
    return seconds


def tests(folder):
    results = folder / "ctest.xml"
    if not results.exists():
        return {}
    entries = ElementTree.parse(results).getroot().iter("testcase")
    return {entry.get("name"): float(entry.get("time", 0)) for entry in entries}


def source_of(output):
    """tests/ops/CMakeFiles/contract_test.dir/contract_test.cc.o → tests/ops/contract_test.cc"""
    folder, found, file = output.partition("/CMakeFiles/")
    return f"{folder}/{file.partition('.dir/')[2]}".removesuffix(".o") if found else output


def table(title, seconds):
    lines = [f"{title}: {len(seconds)} in {sum(seconds.values()):.0f} s"]
    slowest = sorted(seconds.items(), key=lambda item: -item[1])[:COUNT]
    return lines + [f"  {time:7.1f} s  {name}" for name, time in slowest]


def main():
    lines = []
    for folder in map(pathlib.Path, sys.argv[2:]):
        steps = {source_of(output): time for output, time in compile_steps(folder).items()}
        for what, seconds in (("compile steps", steps), ("tests", tests(folder))):
            if seconds:
                lines += table(f"{folder.name}: {what}", seconds) + [""]
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
