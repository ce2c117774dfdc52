"""Runs attacks one after the other, each on a server of its own, and prints a table.

    scripts/hostile                                      # all, 30 s each: an hour
    scripts/hostile --seconds 5 rapid_reset header_flood
    scripts/hostile --bin OLD/bin --save before.json     # then, on another build:
    scripts/hostile --bin NEW/bin --beside before.json

Exit status 1 when a server fell. What makes a server fall is in tests/hostile/verdict.py.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
SKIPPED = 77
# Longer than any takes: calm, attack, recovery, questions, the end.
PATIENCE_SECONDS = 300.0


def programs() -> list[str]:
    """All attacks there are; control, which is none, first."""
    is_one = re.compile(r"^    +(attack\.)?run\(\s*(attack\.)?Attack\(", re.MULTILINE)
    names = [path.stem for path in sorted(FOLDER.glob("*.py")) if is_one.search(path.read_text(encoding="utf-8"))]
    return ["control"] + [name for name in names if name != "control"]


def default_bin() -> str:
    return os.environ.get("OPSERVE_BIN_DIR") or str(ROOT / "build" / "release" / "bin")


def run_one(name: str, seconds: float, bin_folder: str, more: list[str]) -> dict:
    command = [sys.executable, "-B", str(FOLDER / f"{name}.py"), "--seconds", str(seconds), "--bin", bin_folder, *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + PATIENCE_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"attack": name, "verdict": "error", "reasons": ["the attack did not end"]}
    lines = done.stdout.splitlines()
    if done.returncode == SKIPPED:
        return {"attack": name, "verdict": "skipped", "reasons": lines[-1:]}
    try:
        return json.loads(lines[-1])
    except (IndexError, ValueError):
        return {"attack": name, "verdict": "error", "reasons": [(done.stderr or done.stdout)[-500:]]}


def size(count: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1024
    return ""


HEADINGS = [
    "attack",
    "verdict",
    "sent",
    "CPU-s: server",
    "attackers",
    "after",
    "p99 ms",
    "echo",
    "calls failed",
    "newcomers",
    "medium ms",
    "refused",
    "MiB: before, peak, after",
    "threads",
    "descriptors",
    "log",
    "exit s",
]


def row(report: dict) -> list[str]:
    if "victim" not in report:
        return [report["attack"], report["verdict"]] + [""] * (len(HEADINGS) - 2)
    victim, after = report["victim"], report.get("after", {})
    return [
        report["attack"],
        report["verdict"],
        size(report.get("sent_bytes", 0)),
        str(report.get("server_cpu_s", "")),
        str(report.get("attacker_cpu_s", "")),
        str(report.get("cpu_after_s", "")),
        f"{victim['p99_ms']:.0f}",
        f"{victim['echo_p99_ms']:.0f}",
        f"{victim['failed']}+{after.get('failed', 0)}",
        f"{victim.get('turned_away', 0)}+{after.get('turned_away', 0)}",
        f"{victim['medium_max_ms']:.0f}",
        f"{victim['medium_refused']}/{victim['medium'] + victim['medium_refused']}",
        *("-".join(map(str, report.get(name, []))) for name in ("rss_mib", "threads", "fds")),
        size(report.get("log_bytes", 0)),
        str(report.get("exit_s", "")),
    ]


def table(rows: list[list[str]]) -> str:
    rows = [HEADINGS, ["-" * 3] * len(HEADINGS), *rows]
    widths = [max(len(line[i]) for line in rows) for i in range(len(HEADINGS))]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in rows
    )


def compare(reports: list[dict], before: dict[str, dict]) -> list[list[str]]:
    """Two lines an attack: before, and now."""
    rows = []
    for report in reports:
        if report["attack"] in before:
            rows.append(row(before[report["attack"]]))
            rows[-1][0] += " (before)"
        rows.append(row(report))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="scripts/hostile", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("attacks", nargs="*", metavar="ATTACK", help="default: all (--list)")
    parser.add_argument("--seconds", type=float, default=30.0, help="that each attack takes (%(default)s)")
    parser.add_argument("--bin", default=default_bin(), help="folder of opserve-server (%(default)s)")
    parser.add_argument("--save", metavar="FILE", help="write the reports, as JSON")
    parser.add_argument("--beside", metavar="FILE", help="show the reports that were saved there, too")
    parser.add_argument("--proxy", action="store_true", help="through HAProxy, as deploy/proxy/haproxy.cfg has it")
    parser.add_argument("--list", action="store_true", help="the attacks' names")
    options = parser.parse_args()
    if options.list:
        return print("\n".join(programs()))
    if unknown := set(options.attacks) - set(programs()):
        parser.error(f"no such attack: {', '.join(sorted(unknown))}")
    reports = []
    for name in options.attacks or programs():
        reports.append(run_one(name, options.seconds, options.bin, ["--proxy"] if options.proxy else []))
        print(f"{reports[-1]['verdict']:8} {name}", flush=True)
        for reason in reports[-1]["reasons"]:
            print(f"         {reason}", flush=True)
        if options.save:
            pathlib.Path(options.save).write_text(json.dumps(reports, indent=1) + "\n", encoding="utf-8")
    before = {}
    if options.beside:
        before = {each["attack"]: each for each in json.loads(pathlib.Path(options.beside).read_text(encoding="utf-8"))}
    print("\n" + table(compare(reports, before)))
    fell = [report["attack"] for report in reports if report["verdict"] not in ("stood", "skipped")]
    print(
        f"\n{len(reports) - len(fell)} stood or were skipped, {len(fell)} fell"
        + (f": {', '.join(fell)}" if fell else "")
    )
    sys.exit(1 if fell else 0)


if __name__ == "__main__":
    main()
