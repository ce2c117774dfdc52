"""The .proto files under buf: its rules (proto/buf.yaml), and what was promised (proto/baseline.binpb)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import toolchains  # noqa: E402

BUF = "buf@1.75.0"
CHECKS = {
    "lint": ["lint", ROOT / "proto"],
    "breaking": ["breaking", ROOT / "proto", "--against", ROOT / "proto/baseline.binpb"],
}


def buf(folder):
    """The path of buf, which npm puts into `folder`."""
    for tool in ("node", "npm"):
        shutil.which(tool) or toolchains.lacking(tool)
    program = folder / BUF / "node_modules/.bin/buf"
    if not program.exists():
        program.parents[2].mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", program.parents[2], f"@bufbuild/{BUF}"]
        if subprocess.run(command, check=False).returncode != 0 or not program.exists():
            toolchains.lacking("buf, or the network to get it (npm, above)")
    return program


def main():
    program = buf(Path(os.environ["OPSERVE_BIN_DIR"]).parent / "proto_test")
    for name, words in CHECKS.items():
        result = subprocess.run([program, *words], capture_output=True, text=True, check=False)
        if result.returncode != 0:
            print(result.stdout + result.stderr)
            sys.exit(f"buf {name}: see above; CONTRIBUTING.md, Versions, says what may change")


if __name__ == "__main__":
    main()
