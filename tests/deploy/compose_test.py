"""Holds deploy/compose to what can be known without containers: docker-compose takes it, files that it names are
there, its servers start with their flags, HAProxy and Prometheus take their configurations, and what they scrape is
what servers serve.

The programs are in $OPSERVE_BIN_DIR.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_proxy
import running_server
import toolchains

FOLDER = ROOT / "deploy/compose"
SERVERS = ["server-1", "server-2", "server-3"]


def expect(condition, message):
    if not condition:
        sys.exit(message)


def loaded(path):
    try:
        import yaml
    except ImportError:
        toolchains.lacking("python3-yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def run(*command, env=None):
    done = subprocess.run(
        [str(word) for word in command],
        cwd=FOLDER,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    expect(done.returncode == 0, f"{' '.join(map(str, command))}: status {done.returncode}:\n{done.stdout}")
    return done.stdout


def mounts(service):
    """Path here → path in the container, of files."""
    pairs = [volume.split(":")[:2] for volume in service.get("volumes", []) if volume.startswith(".")]
    return {(FOLDER / here).resolve(): there for here, there in pairs}


def check_safe(services):
    """Each is read-only and without capabilities; nothing is published but on this machine."""
    for name, service in services.items():
        expect(
            service["read_only"]
            and service["cap_drop"] == ["ALL"]
            and "no-new-privileges:true" in service["security_opt"],
            f"{name} may do more than it needs",
        )
        expect(
            all(port.startswith("127.0.0.1:") for port in service.get("ports", [])),
            f"{name} publishes {service.get('ports')}",
        )
        for here in mounts(service):
            expect(here.is_file(), f"{name} wants {here}, which is not there")
        if name in SERVERS:
            profile = next(
                word.removeprefix("seccomp:") for word in service["security_opt"] if word.startswith("seccomp:")
            )
            expect((FOLDER / profile).is_file(), f"{name}: no profile {profile}")
            expect(service["networks"] == ["inside"], f"{name} is in {service['networks']}")


def check_networks(document):
    """Servers connect to nothing outside; they are reached by the proxy and Prometheus only."""
    services = document["services"]
    expect(document["networks"]["inside"] == {"internal": True}, f"networks: {document['networks']}")
    inside = {name for name, service in services.items() if "inside" in service["networks"]}
    expect(inside == {*SERVERS, "proxy", "prometheus"}, f"the servers are reached by {sorted(inside)}")
    together = set(services["grafana"]["networks"]) & set(services["prometheus"]["networks"])
    expect(together, "Grafana does not reach Prometheus")


def seconds(text):
    return int(re.match(r"(\d+)s$", text).group(1))


def check_server(service, folder):
    """It starts with the flags, on other ports; and ends within its time."""
    flags = [flag.replace("0.0.0.0:8600", "localhost:0") for flag in service["command"]]
    with running_server.running_server(folder, *flags):
        url = (folder / "address").read_text(encoding="utf-8").split()[-1]
        expect(url.startswith("http://"), f"want a port for metrics, got {url}")
    grace = next(seconds(flag.partition("=")[2]) for flag in flags if flag.startswith("--grace-period="))
    helped = subprocess.run(
        [running_server.bin_folder() / "opserve-server", "--help"], capture_output=True, text=True, check=True
    )
    drain = seconds(re.search(r"--drain-timeout TIME=(\d+s)", helped.stdout).group(1))
    expect(seconds(service["stop_grace_period"]) > grace + drain, "a server is killed before it has drained")
    behind = {f"{name}={value}" for name, value in running_proxy.BEHIND.items()}
    expect(behind <= set(flags), f"behind a proxy want {behind}, got {flags}")


def check_proxy(services):
    environment = {name: value for name, value in services["proxy"]["environment"].items() if value is not None}
    expect(
        mounts(services["proxy"]).get(running_proxy.CONFIGURATION) == services["proxy"]["command"][-1],
        "the proxy is not given deploy/proxy/haproxy.cfg",
    )
    named = [environment[f"OPSERVE_SERVER_{i}"] for i in (1, 2, 3)]
    expect(named == [f"{server}:8500" for server in SERVERS], f"the proxy knows {named}")
    if running_proxy.program() is None:
        toolchains.lacking("haproxy")
    run(running_proxy.program(), "-c", "-f", running_proxy.CONFIGURATION, env=environment)


def check_prometheus(services, folder):
    """promtool takes it where the container has it; its job is the one of alerts and dashboard."""
    for here, there in mounts(services["prometheus"]).items():
        shutil.copy(here, folder / pathlib.Path(there).name)
    jobs = {
        job["job_name"]: job["static_configs"][0]["targets"]
        for job in loaded(folder / "prometheus.yml")["scrape_configs"]
    }
    expect(jobs["opserve"] == [f"{server}:8600" for server in SERVERS], f"Prometheus scrapes {jobs}")
    if not shutil.which("promtool"):
        toolchains.lacking("promtool (Debian's package prometheus)")
    run("promtool", "check", "config", folder / "prometheus.yml")


def check_grafana(services):
    dashboards = loaded(FOLDER / "grafana/dashboards.yml")["providers"][0]["options"]["path"]
    held = {here.name: there for here, there in mounts(services["grafana"]).items()}
    expect(
        pathlib.Path(held["opserve.json"]).parent == pathlib.Path(dashboards),
        f"Grafana looks in {dashboards}, it is given {held}",
    )
    json.loads((ROOT / "deploy/dashboards/opserve.json").read_text(encoding="utf-8"))
    source = loaded(FOLDER / "grafana/datasources.yml")["datasources"][0]
    expect(source["type"] == "prometheus" and source["url"] == "http://prometheus:9090", f"Grafana asks {source}")


def main():
    document = loaded(FOLDER / "compose.yaml")
    services = document["services"]
    expect(sorted(services) == sorted([*SERVERS, "proxy", "prometheus", "grafana"]), f"got services {sorted(services)}")
    with tempfile.TemporaryDirectory(prefix="opserve-") as name:
        folder = pathlib.Path(name)
        check_safe(services)
        check_networks(document)
        check_server(services["server-1"], folder)
        check_proxy(services)
        check_prometheus(services, folder)
        check_grafana(services)
    if shutil.which("docker-compose"):
        run("docker-compose", "--file", "compose.yaml", "config", "--quiet")
    else:
        toolchains.lacking("docker-compose")


if __name__ == "__main__":
    main()
