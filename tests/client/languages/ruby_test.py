"""Runs the Ruby of docs/other_languages.md as it stands there, against the server under test."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

PAGE = ROOT / "docs/other_languages.md"


def block(section, language):
    """The only block of a language below a heading of the page."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        sys.exit(f"{PAGE.name}: want one block of {language} below Ruby, got {len(found)}")
    return found[0]


def output_of(command, folder, **environment):
    ended = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True, timeout=120, check=False)
    if ended.returncode != 0:
        sys.exit(f"{command} ended with status {ended.returncode}")
    return ended.stdout


def main():
    for tool in ("ruby", "grpc_tools_ruby_protoc"):
        shutil.which(tool) or toolchains.lacking(tool)
    section = re.search(r"^## Ruby\n(.*?)^## ", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL).group(1)
    wanted = re.search(r"^It prints `(.*)`\.$", section, re.MULTILINE).group(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shutil.copytree(ROOT / "proto", folder / "proto")
        output_of(["sh", "-c", block(section, "sh")], folder)
        (folder / "gradient.rb").write_text(block(section, "ruby"), encoding="utf-8")
        with running_server.running_server(folder) as address:
            got = output_of(["ruby", "gradient.rb"], folder, OPSERVE_TARGET=address).strip()
    if got != wanted:
        sys.exit(f"want {wanted!r}, got {got!r}")


if __name__ == "__main__":
    main()
