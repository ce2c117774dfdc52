"""Every package that names its version has that of VERSION.

Usage: versions_test.py
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A file, and what comes before the version there.
PLACES = [
    ("CHANGELOG.md", r"^## "),
    ("deploy/debian/changelog", r"^opserve \("),
    ("deploy/helm/opserve/Chart.yaml", r"^version: "),
    ("deploy/helm/opserve/Chart.yaml", r'^appVersion: "'),
    ("client/go/opserve/connect.go", r'^\tVersion = "'),
    ("client/python/pyproject.toml", r'^version = "'),
    ("client/python/pyproject.toml", r'^server = \["opserve-server=='),
    ("client/python/server/pyproject.toml", r'^version = "'),
    ("client/python/server/src/opserve_server/__init__.py", r'^__version__ = "'),
    ("client/python/src/opserve/__init__.py", r'^__version__ = "'),
    ("client/rust/Cargo.toml", r'^version = "'),
    ("client/node/package.json", r'^  "version": "'),
    ("client/node/package-lock.json", r'^  "version": "'),
    ("client/web/package.json", r'^  "version": "'),
    ("client/web/package-lock.json", r'^  "version": "'),
    ("docs/java.md", r"opserve-bom:"),
    ("docs/java.md", r"<artifactId>opserve-bom</artifactId>\s*<version>"),
    *((path.relative_to(ROOT).as_posix(), r"<artifactId>opserve-parent</artifactId>\s*<version>")
      for path in sorted(ROOT.glob("client/java/**/pom.xml"))),
]


def main():
    wanted = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    wrong = []
    for name, before in PLACES:
        found = re.search(before + r"([0-9][0-9.]*[0-9])", (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        got = found.group(1) if found else "none"
        if got != wanted:
            wrong.append(f"{name}: want the version {wanted} of VERSION, got {got}")
    return "\n".join(wrong) or 0


if __name__ == "__main__":
    sys.exit(main())
