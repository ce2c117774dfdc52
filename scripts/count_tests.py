"""Counts what a ctest run did: `count_tests.py BUILD_FOLDER` prints "PASSED FAILED SKIPPED" to stdout.

GoogleTest binaries count by their cases, scripts as one. Each failed or skipped test is named on stderr; failures.txt in
the build folder gets the failed ones with what they said. Reads ctest.xml (ctest --output-junit) and gtest/NAME.xml below
the build folder.
"""

import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

# A failure's text is cut to this many lines.
MAX_LINES = 40

SANITIZER_REPORT = re.compile(r"(WARNING|ERROR): \w+Sanitizer|: runtime error: ")

Result = collections.namedtuple("Result", "name outcome reason text", defaults=("",))


def last_line(text):
    lines = (text or "").strip().splitlines()
    return lines[-1].strip() if lines else ""


def of_entry(entry):
    """The result of one ctest entry, by ctest's own judgement."""
    status = entry.get("status")
    if status == "run":
        return Result(entry.get("name"), "passed", "")
    reason = last_line(entry.findtext("system-out"))
    skipped = entry.find("skipped")
    if status == "notrun" and skipped is not None and "SKIP_" in skipped.get("message", ""):
        return Result(entry.get("name"), "skipped", reason)
    if status == "disabled":
        return Result(entry.get("name"), "skipped", "disabled")
    return Result(entry.get("name"), "failed", reason or status, entry.findtext("system-out"))


def of_cases(entry, report):
    """The results of a GoogleTest binary's cases."""
    results = []
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{entry.get('name')}: {case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        failures = case.findall("failure")
        if failures:
            results.append(Result(name, "failed", "", "\n".join(failure.text or "" for failure in failures)))
        elif skipped is not None:
            results.append(Result(name, "skipped", last_line(skipped.get("message"))))
        elif case.get("result") == "suppressed":
            results.append(Result(name, "skipped", "disabled"))
        else:
            results.append(Result(name, "passed", ""))
    return results


def of_binary(entry, report):
    """The results of one ctest entry: its cases where it wrote a report, and itself where they do not explain it."""
    whole = of_entry(entry)
    if not report.exists():
        return [whole]
    results = of_cases(entry, report)
    explained = any(result.outcome == "failed" for result in results)
    return results + ([whole] if whole.outcome == "failed" and not explained else [])


def told(result):
    """A failed result and what says why, as lines: a sanitizer's first report, else the end of what it said."""
    lines = (result.text or "").strip().splitlines()
    report = next((at for at, line in enumerate(lines) if SANITIZER_REPORT.search(line)), None)
    begin = max(0, len(lines) - MAX_LINES) if report is None else report
    shown = lines[begin : begin + MAX_LINES]
    cut = [f"(lines {begin + 1} to {begin + len(shown)} of {len(lines)})"] if len(shown) < len(lines) else []
    return [f"failed: {result.name}"] + [f"    {line}" for line in cut + shown]


def main():
    build = pathlib.Path(sys.argv[1])
    results = []
    for entry in ElementTree.parse(build / "ctest.xml").iter("testcase"):
        results += of_binary(entry, build / "gtest" / f"{entry.get('name')}.xml")
    for result in results:
        if result.outcome != "passed":
            reason = f": {result.reason}" if result.reason else ""
            print(f"  {result.outcome}: {result.name}{reason}", file=sys.stderr)
    failed = [result for result in results if result.outcome == "failed"]
    (build / "failures.txt").write_text("".join(f"{line}\n" for result in failed for line in told(result)))
    counts = collections.Counter(result.outcome for result in results)
    print(counts["passed"], counts["failed"], counts["skipped"])


if __name__ == "__main__":
    main()
