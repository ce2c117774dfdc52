"""What Prometheus makes of a server's metrics, and of the alerts and the dashboard that are made for them.

Usage: metrics_test.py metrics|rules|names

metrics: `promtool check metrics` takes /metrics. rules: `promtool check rules` takes the alerts. names: every metric that an
alert or the dashboard asks for is there. The first two are skipped where promtool is missing, which Debian has in
package prometheus.
"""

import json
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

ALERTS = ROOT / "deploy" / "dashboards" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "dashboards" / "opserve.json"
SKIPPED = 77
# Prometheus's own.
NOT_OURS = {"up"}
NAME = re.compile(r"\b(?:(?:opserve|process)_[a-z_]+|up)\b(?=\{|\[|\s|\)|,|$)")


def metrics_text():
    """/metrics of a server that has done a call of each kind."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        flags = ["--http", "127.0.0.1:0", "--allow-shared-memory", f"unix:{folder / 'memory'}", "--device", "cpu,threads=2"]
        with running_server.running_server(folder, *flags) as address:
            http = (folder / "address").read_text(encoding="utf-8").split()[-1]
            run_call(address, "f32[64]=1")
            run_call(address, "f32[1024,1024]=1")  # waits for a worker
            with urllib.request.urlopen(f"{http}/metrics", timeout=10) as response:
                return response.read().decode()


def run_call(address, tensor):
    inputs = [word for name in ("grad_out", "self", "target") for word in ("-i", f"{name}={tensor}")]
    command = [running_server.bin_folder() / "opserve", "run", "SmoothL1LossBackward", "--target", address, *inputs]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)


def promtool(*arguments, text=None):
    """What it says of a file, or of `text`; fails unless it is content."""
    if shutil.which("promtool") is None:
        print("promtool is not installed (Debian's package prometheus)")
        sys.exit(SKIPPED)
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    print(output)
    if done.returncode != 0:
        sys.exit(f"promtool {' '.join(arguments)}: status {done.returncode}")
    return output


def check_metrics():
    output = promtool("check", "metrics", text=metrics_text())
    if output.strip():
        sys.exit("promtool has something to say, which it does of what breaks its conventions")


def check_rules():
    if "SUCCESS" not in promtool("check", "rules", str(ALERTS)):
        sys.exit("promtool found no rules")


def queries():
    """Where each query is, and its text."""
    for number, line in enumerate(ALERTS.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.lstrip().startswith(("#", "summary:", "- alert:")):
            yield f"{ALERTS.name}:{number}", line.partition("expr:")[2] or line
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            yield f"{DASHBOARD.name}: {panel['title']}", target["expr"]
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            yield f"{DASHBOARD.name}: ${variable['name']}", variable["definition"]


def check_names():
    there = set(re.findall(r"^([a-z_]+)(?:\{| )", metrics_text(), re.MULTILINE))
    asked = {(where, name) for where, query in queries() for name in NAME.findall(query)}
    missing = sorted((where, name) for where, name in asked if name not in there | NOT_OURS)
    for where, name in missing:
        print(f"{where}: {name} is no metric of the server")
    print(f"{len(asked)} names asked for, {len(there)} there")
    if missing or len(asked) < 20:
        sys.exit(1)


if __name__ == "__main__":
    {"metrics": check_metrics, "rules": check_rules, "names": check_names}[sys.argv[1]]()
