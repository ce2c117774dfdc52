"""What Prometheus makes of a server's metrics, and of the alerts and the dashboard that are made for them.

Usage: metrics_test.py metrics|rules|names|exemplars

metrics: `promtool check metrics` takes /metrics. rules: `promtool check rules` takes the alerts. names: every metric that an
alert or the dashboard asks for is there. exemplars: Prometheus scrapes a server, and finds the traces of its calls. Those
that need promtool or Prometheus are skipped where Debian's package prometheus is missing.
"""

import contextlib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import running_server  # noqa: E402

ALERTS = ROOT / "deploy" / "dashboards" / "alerts.yml"
DASHBOARD = ROOT / "deploy" / "dashboards" / "opserve.json"
SKIPPED = 77
PATIENCE_SECONDS = 60
TRACE_ID, SPAN_ID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
# Prometheus's own, and what only servers with TLS have (tests/server/identity/tls_test.py).
NOT_OURS = {"up", "opserve_tls_certificate_expiration_timestamp_seconds"}
NAME = re.compile(r"\b(?:(?:opserve|process)_[a-z_]+|up)\b(?=\{|\[|\s|\)|,|$)")


@contextlib.contextmanager
def busy_server(folder, *call_flags):
    """The URL of a server that has done a call of each kind."""
    flags = ["--http", "127.0.0.1:0", "--allow-shared-memory", f"unix:{folder / 'memory'}", "--device", "cpu,threads=2"]
    with running_server.running_server(folder, *flags) as address:
        run_call(address, "f32[64]=1", *call_flags)
        run_call(address, "f32[1024,1024]=1", *call_flags)  # waits for a worker
        yield (folder / "address").read_text(encoding="utf-8").split()[-1]


def metrics_text():
    with tempfile.TemporaryDirectory() as name, busy_server(pathlib.Path(name)) as http:
        with urllib.request.urlopen(f"{http}/metrics", timeout=10) as response:
            return response.read().decode()


def run_call(address, tensor, *flags):
    inputs = [word for name in ("grad_out", "self", "target") for word in ("-i", f"{name}={tensor}")]
    command = [running_server.bin_folder() / "opserve", "run", "SmoothL1LossBackward", "--target", address, *inputs, *flags]
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


@contextlib.contextmanager
def running_prometheus(folder, http):
    """The URL of a Prometheus that scrapes that server all the time."""
    if shutil.which("prometheus") is None:
        print("prometheus is not installed (Debian's package prometheus)")
        sys.exit(SKIPPED)
    configuration, log = folder / "prometheus.yml", folder / "prometheus.log"
    target = http.removeprefix("http://")
    configuration.write_text(
        "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
        f"scrape_configs: [{{job_name: opserve, static_configs: [{{targets: ['{target}']}}]}}]\n",
        encoding="utf-8",
    )
    flags = ["--enable-feature=exemplar-storage", "--web.listen-address=127.0.0.1:0"]
    command = ["prometheus", f"--config.file={configuration}", f"--storage.tsdb.path={folder / 'data'}", *flags]
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        # Either comes first; until both are there it answers 503.
        awaited(lambda: "Server is ready" in log.read_text(encoding="utf-8"), log)
        listens = awaited(lambda: re.search(r'"?Listening on"? address=(\S+)', log.read_text(encoding="utf-8")), log)
        yield f"http://{listens.group(1)}"
    finally:
        process.kill()
        process.wait()


def awaited(found, log):
    """What `found` gives, once it gives something."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not (result := found()):
        if time.monotonic() > until:
            sys.exit(f"nothing in {PATIENCE_SECONDS} s; Prometheus says:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.1)
    return result


def asked(prometheus, path, **arguments):
    query = urllib.parse.urlencode(arguments)
    with urllib.request.urlopen(f"{prometheus}/api/v1/{path}?{query}", timeout=10) as response:
        return json.load(response)["data"]


def exemplars_of(prometheus, metric):
    """As labels of the series and the exemplar."""
    now = time.time()
    answer = asked(prometheus, "query_exemplars", query=metric, start=now - 600, end=now + 600)
    return [(one["seriesLabels"], exemplar) for one in answer for exemplar in one["exemplars"]]


def check_exemplars():
    series = {
        'opserve_rpc_duration_seconds_bucket{method="Execute"}',
        'opserve_call_execution_seconds_bucket{operator="SmoothL1LossBackward"}',
        'opserve_call_queue_seconds_bucket{operator="SmoothL1LossBackward"}',
    }
    traced = ("--traceparent", f"00-{TRACE_ID}-{SPAN_ID}-01")
    with tempfile.TemporaryDirectory() as name, busy_server(folder := pathlib.Path(name), *traced) as http:
        with running_prometheus(folder, http) as prometheus:
            log = folder / "prometheus.log"
            for metric in sorted(series):
                for labels, exemplar in awaited(lambda m=metric: exemplars_of(prometheus, m), log):
                    print(labels, exemplar)
                    if exemplar["labels"] != {"trace_id": TRACE_ID, "span_id": SPAN_ID}:
                        sys.exit(f"{metric}: want the call's trace, got {exemplar}")
                    if not 0 < float(exemplar["value"]) <= float(labels["le"]):
                        sys.exit(f"{metric}: {exemplar['value']} is not in the bucket up to {labels['le']}")
            # The last scrape may have been too slow; one that is not follows, unless the metrics cannot be read.
            awaited(lambda: all(not target["lastError"] for target in asked(prometheus, "targets")["activeTargets"]), log)
            kinds = {name: one[0]["type"] for name, one in asked(prometheus, "metadata").items()}
            wanted = {"opserve_rpcs": "counter", "opserve_rpc_duration_seconds": "histogram", "opserve_build": "info"}
            if not wanted.items() <= kinds.items():
                sys.exit(f"want the types {wanted}, got {kinds}")


if __name__ == "__main__":
    checks = {"metrics": check_metrics, "rules": check_rules, "names": check_names, "exemplars": check_exemplars}
    checks[sys.argv[1]]()
