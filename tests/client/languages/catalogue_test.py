"""Compares client/catalogue/operators.json with what the command prints, and every file made of it with what the generator makes."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server

CATALOGUE = ROOT / "client/catalogue"


def main():
    with tempfile.TemporaryDirectory() as folder, running_server.running_server(pathlib.Path(folder)) as address:
        command = [running_server.bin_folder() / "opserve", "--target", address, "ops", "--json"]
        told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    if told != json.loads((CATALOGUE / "operators.json").read_text(encoding="utf-8")):
        sys.exit("client/catalogue/operators.json is not what `opserve ops --json` prints; write it anew, then run generate.py")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, CATALOGUE / "generate.py", "--check"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
