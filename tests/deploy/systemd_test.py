"""Holds deploy/systemd/opserve.service to what systemd says of it: nothing that it does not understand, and an
exposure of at most 2.0 (systemd-analyze security). The server takes the flags of deploy/debian/opserve.default.

The programs are in $OPSERVE_BIN_DIR.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

UNIT = ROOT / "deploy/systemd/opserve.service"
DEFAULT = ROOT / "deploy/debian/opserve.default"
MOST_EXPOSURE = 2.0
FIRST_VERSION = 252  # that has --offline


def expect(condition, message):
    if not condition:
        sys.exit(message)


def analyze(*words):
    done = subprocess.run(
        ["systemd-analyze", "--no-pager", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout


def check_exposure(unit):
    status, table = analyze("security", "--offline=true", f"--threshold={MOST_EXPOSURE * 10:.0f}", str(unit))
    overall = re.search(r"exposure level for \S+: (\d+\.\d)", table)
    expect(overall, f"systemd-analyze security says:\n{table}")
    expect(status == 0 and float(overall.group(1)) <= MOST_EXPOSURE, f"want at most {MOST_EXPOSURE}:\n{table}")
    print(f"exposure {overall.group(1)}")


def check_understood(unit):
    status, told = analyze("verify", "--man=no", "--recursive-errors=no", str(unit))
    expect(status == 0 and unit.name not in told, f"systemd-analyze verify says:\n{told}")


def check_flags(folder):
    """A server starts with them, but for the places; and with each that the comment offers."""
    text = DEFAULT.read_text(encoding="utf-8").replace("/run/opserve", str(folder))
    flags = shlex.split(re.search(r'^OPSERVE_FLAGS="(.*)"$', text, re.MULTILINE).group(1))
    offered = [word for line in re.findall(r"^#     (--.*?)   ", text, re.MULTILINE) for word in line.split()]
    expect(len(offered) >= 6, f"want flags in the comment of {DEFAULT.name}, got {offered}")
    flags = [word.replace("localhost:8500", "localhost:0") for word in flags]
    offered = [word.replace("8GiB", "64MiB").replace("8600", "0") for word in offered]
    for words in (flags, [*flags, *offered]):
        with running_server.running_server(folder, *words):
            expect((folder / "grpc").is_socket(), f"want a socket, got {list(folder.iterdir())}")


def main():
    if not shutil.which("systemd-analyze"):
        toolchains.lacking("systemd-analyze")
    version = int(re.match(r"systemd (\d+)", analyze("--version")[1]).group(1))
    if version < FIRST_VERSION:
        toolchains.lacking(f"systemd {FIRST_VERSION} or newer: it has {version}")
    with tempfile.TemporaryDirectory(prefix="opserve-") as name:
        folder = pathlib.Path(name)
        unit = folder / UNIT.name  # beside a program that there is
        program = str(running_server.bin_folder() / "opserve-server")
        unit.write_text(
            UNIT.read_text(encoding="utf-8").replace("/usr/local/bin/opserve-server", program), encoding="utf-8"
        )
        check_exposure(unit)
        check_understood(unit)
        check_flags(folder)


if __name__ == "__main__":
    main()
