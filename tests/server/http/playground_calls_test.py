"""What the playground shows to be copied: each text, run as it stands, makes the call.

Usage: playground_calls_test.py      (without Go, its texts are left out)
"""

import html
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import running_server  # noqa: E402
import toolchains  # noqa: E402

TITLES = ["Python", "Go", "Command line", "grpcurl"]
PLAYED = ["op=SmoothL1Loss&a.beta=0.5", "op=Sigmoid", "op=Softplus", "op=Hardtanh", "op=BinaryCrossEntropy&from=0.1&to=0.9"]


def texts(page):
    """Title and text of each, in the page's order."""
    found = re.findall(r"<summary>(.*?)</summary><pre>(.*?)</pre>", page, re.DOTALL)
    return [(title, html.unescape(text)) for title, text in found]


def run_go(text):
    """In the module of the package."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "main.go"
        program.write_text(text, encoding="utf-8")
        command = ["go", "run", "-race", program]
        environment = {**os.environ, "GOFLAGS": toolchains.QUICK_GO}
        return subprocess.run(command, cwd=ROOT / "client/go", env=environment, capture_output=True, text=True, timeout=240, check=False)


def run(title, text):
    if title == "Go":
        return run_go(text)
    environment = dict(os.environ, PATH=f"{running_server.bin_folder()}:{os.environ['PATH']}")
    if title == "Command line":
        return subprocess.run(["bash", "-ec", text], env=environment, capture_output=True, text=True, timeout=60, check=False)
    environment["PYTHONPATH"] = str(ROOT / "client" / "python" / "src")
    command = ["/usr/bin/python3", "-B", "-c", text]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def main():
    has_go = shutil.which("go") and subprocess.run(["go", "mod", "download"], cwd=ROOT / "client/go", check=False).returncode == 0
    runs = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with running_server.running_server(folder, "--http", "127.0.0.1:0"):
            http = (folder / "address").read_text(encoding="utf-8").split()[-1]
            for played in PLAYED:
                with urllib.request.urlopen(f"{http}/playground?{played}", timeout=30) as response:
                    shown = texts(response.read().decode())
                assert [title for title, _ in shown] == TITLES * 2, shown
                for title, text in shown:
                    if title == "grpcurl" or (title == "Go" and not has_go):  # http_test reads grpcurl's JSON
                        continue
                    done = run(title, text)
                    assert done.returncode == 0, f"{played}: {title}:\n{text}\n{done.stdout}{done.stderr}"
                    assert done.stdout, f"{played}: {title} printed nothing"
                    runs += 1
    assert runs == (6 if has_go else 4) * len(PLAYED)
    if not has_go:
        toolchains.lacking("a go that builds client/go")


if __name__ == "__main__":
    main()
