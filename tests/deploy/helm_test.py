"""Renders deploy/helm/opserve in several ways, and holds it to Kubernetes' API and to the server.

Usage: helm_test.py lint|api|server      (the programs are in $OPSERVE_BIN_DIR)

lint: helm takes the chart and refuses wrong values. api: kubeconform takes every object, by the schemas of two
versions of Kubernetes; names agree. server: opserve-server starts with the configuration that the chart makes,
answers the probes, and HAProxy takes the proxy's.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import kube_schemas
import running_proxy
import running_server
import toolchains

CHART = ROOT / "deploy/helm/opserve"
HELM = "helm.sh/helm/v3/cmd/helm@v3.22.0"
KUBECONFORM = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
CASES = {
    "default": {},
    "everything": {
        "proxy": {"enabled": True},
        "autoscaling": {"enabled": True, "expectedWait": "50m"},
        "serviceMonitor": {"enabled": True},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
        "podLabels": {"team": "a"},
        "podAnnotations": {"note": "1"},
        "imagePullSecrets": [{"name": "registry"}],
        "priorityClassName": "high",
        "flags": {"max-message-bytes": "64MiB", "load-reports": "always", "max-sessions": 2000000},
    },
    "npu": {
        "npu": {"resource": "huawei.com/Ascend910", "count": 2},
        "devices": ["ascend"],
        "nodeSelector": {"npu": "yes"},
        "tolerations": [{"key": "npu", "operator": "Exists"}],
        "seccomp": {"type": "Localhost"},
        "extraVolumes": [{"name": "driver", "hostPath": {"path": "/usr/local/Ascend"}}],
        "extraVolumeMounts": [{"name": "driver", "mountPath": "/usr/local/Ascend", "readOnly": True}],
    },
    "bare": {
        "probes": {"kind": "grpc"},
        "networkPolicy": {"enabled": False},
        "podDisruptionBudget": {"enabled": False},
        "topologySpread": {"enabled": False},
        "serviceAccount": {"create": False},
        "resources": {"requests": {"cpu": "1", "memory": "900M"}, "limits": {"cpu": "1", "memory": "900M"}},
    },
    "encrypted": {
        "probes": {"kind": "grpc"},
        "flags": {"tls-cert": "/run/tls/tls.crt", "tls-key": "/run/tls/tls.key"},
        "extraVolumes": [{"name": "tls", "secret": {"secretName": "opserve-tls"}}],
        "extraVolumeMounts": [{"name": "tls", "mountPath": "/run/tls", "readOnly": True}],
    },
    "closed": {"networkPolicy": {"clients": [], "watchers": []}},
}
REFUSED = {  # values that must not be taken, and what the error names
    "replicas=0": "replicas",
    "replica=3": "replica",
    "probes.kind=exec": "kind",
    "proxy.port=443": "port",
    "resources.limits.memory=1.5Gi": "whole number",
    "devices={gpu}": "devices",
    "autoscaling.expectedWait=50ms": "expectedWait",
}
CLUSTER = ["--kube-version", "1.33.0"]  # helm knows none when Go has installed it
FOREIGN = ["ServiceMonitor", "PrometheusRule"]  # Prometheus' operator's


def expect(condition, message):
    if not condition:
        sys.exit(message)


def yaml_of_debian():
    try:
        import yaml
    except ImportError:
        toolchains.lacking("python3-yaml")
    return yaml


def program(name, package):
    found = toolchains.go_program(name, package, running_server.build_folder() / "tools")
    return found or toolchains.skip(f"{name} is not installed (go install {package})")


def run(*command, env=None):
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout


def values_file(folder, name):
    file = folder / f"{name}.json"
    file.write_text(json.dumps(CASES[name]), encoding="utf-8")
    return file


def rendered(helm, folder, name):
    """A file of all objects."""
    status, text = run(
        helm, "template", "test", CHART, *CLUSTER, "--namespace", "space", "--values", values_file(folder, name)
    )
    expect(status == 0, f"helm template ({name}):\n{text}")
    file = folder / f"{name}.yaml"
    start = text.index("---\n")
    file.write_text(text[start:], encoding="utf-8")
    return file


def objects(file):
    """By kind."""
    return {each["kind"]: each for each in yaml_of_debian().safe_load_all(file.read_text(encoding="utf-8")) if each}


# ---- lint


def check_lint(helm, folder):
    for name in CASES:
        status, told = run(helm, "lint", "--strict", CHART, "--values", values_file(folder, name))
        expect(status == 0, f"helm lint ({name}):\n{told}")
    for words, named in REFUSED.items():
        status, told = run(helm, "template", "test", CHART, *CLUSTER, "--set", words)
        expect(
            status != 0 and named in told,
            f"--set {words}: want an error that names '{named}', got status {status}:\n{told}",
        )


# ---- api


def check_api(helm, folder):
    files = {name: rendered(helm, folder, name) for name in CASES}
    for name, file in files.items():
        check_names(name, objects(file))
        check_pod(name, objects(file)["Deployment"]["spec"]["template"]["spec"])
    kinds = {kind for file in files.values() for kind in objects(file)}
    expect(
        kinds
        >= {
            "Deployment",
            "Service",
            "ConfigMap",
            "ServiceAccount",
            "PodDisruptionBudget",
            "HorizontalPodAutoscaler",
            "NetworkPolicy",
            *FOREIGN,
        },
        f"want every kind of object in some case, got {kinds}",
    )
    alerts = yaml_of_debian().safe_load((ROOT / "deploy/dashboards/alerts.yml").read_text(encoding="utf-8"))
    expect(
        objects(files["everything"])["PrometheusRule"]["spec"] == alerts, "the PrometheusRule differs from alerts.yml"
    )
    conform = program("kubeconform", KUBECONFORM)
    for version in kube_schemas.VERSIONS:
        location = kube_schemas.write(version, folder) or toolchains.lacking(
            f"the API of Kubernetes {version}, a Go module"
        )
        words = [conform, "-strict", "-summary", "-schema-location", location, "-skip", ",".join(FOREIGN)]
        status, told = run(*words, *files.values())
        expect(status == 0, f"kubeconform, Kubernetes {version}:\n{told}")
        print(f"Kubernetes {version}: {told.strip()}")
        check_bites(words, files["default"], folder)


def check_bites(words, file, folder):
    """A misspelt field and a wrong type are found."""
    for right, wrong in (("readinessProbe:", "readynessProbe:"), ("replicas: 3", "replicas: three")):
        spoilt = folder / "spoilt.yaml"
        spoilt.write_text(file.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
        status, told = run(*words, spoilt)
        expect(status != 0, f"kubeconform takes '{wrong}':\n{told}")


def check_names(case, kinds):
    """What names something else names what there is."""
    pod = kinds["Deployment"]["spec"]["template"]
    labels = pod["metadata"]["labels"]
    ports = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
    service = kinds["Service"]["spec"]
    selectors = [kinds["Deployment"]["spec"]["selector"]["matchLabels"], service["selector"]]
    selectors += [
        kinds[kind]["spec"]["selector"]["matchLabels"]
        for kind in ("PodDisruptionBudget", "ServiceMonitor")
        if kind in kinds
    ]
    named = {port["targetPort"] for port in service["ports"]}
    if "NetworkPolicy" in kinds:
        policy = kinds["NetworkPolicy"]["spec"]
        selectors.append(policy["podSelector"]["matchLabels"])
        named |= {port["port"] for rule in policy["ingress"] for port in rule["ports"]}
        peers = [peer for rule in policy["ingress"] for peer in rule["from"]]
        expect({"namespaceSelector": {}} not in peers, f"{case}: pods of every namespace can connect")
    if "ServiceMonitor" in kinds:
        expect(
            {each["port"] for each in kinds["ServiceMonitor"]["spec"]["endpoints"]}
            <= {port["name"] for port in service["ports"]},
            f"{case}: the ServiceMonitor names a port that the Service lacks",
        )
    for selector in selectors:
        expect(selector.items() <= labels.items(), f"{case}: {selector} selects no pod with {labels}")
    expect(named <= ports, f"{case}: ports {named - ports} are named, the containers have {ports}")
    if "HorizontalPodAutoscaler" in kinds:
        expect(
            "replicas" not in kinds["Deployment"]["spec"],
            f"{case}: the Deployment and its autoscaler both say how many pods",
        )


def check_pod(case, pod):
    """As Pod Security's level `restricted` wants it, and with time to end."""
    inner = [container["securityContext"] for container in pod["containers"]]
    for context in inner:
        expect(
            context["allowPrivilegeEscalation"] is False
            and context["capabilities"] == {"drop": ["ALL"]}
            and context["readOnlyRootFilesystem"] is True
            and context.get("runAsUser", 1) != 0,
            f"{case}: {context}",
        )
    expect(
        pod["securityContext"]["runAsNonRoot"] is True and "seccompProfile" in pod["securityContext"],
        f"{case}: a pod as root",
    )
    expect(pod["automountServiceAccountToken"] is False, f"{case}: the pod is given a token for the API")
    for container in pod["containers"]:
        expect(
            case != "encrypted" or "grpc" not in container["readinessProbe"],
            f"{case}: the kubelet's gRPC probes know no TLS",
        )
        expect(
            container["name"] != "proxy" or container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "10"],
            f"{case}: the proxy stops before clients know",
        )
        expect(
            "memory" in container["resources"]["limits"] and "readinessProbe" in container,
            f"{case}: {container['name']}",
        )


# ---- server


def config_of(kinds):
    return kinds["ConfigMap"]["data"]["server.ini"]


def flag(config, name):
    found = re.search(rf"^{name} = (.*)$", config, re.MULTILINE)
    return json.loads(found.group(1)) if found else None


def check_known_flags(case, config):
    known = run(running_server.bin_folder() / "opserve-server", "--help")[1]
    names = re.findall(r"^([a-z-]+) = ", config, re.MULTILINE)
    lines = [line for line in config.splitlines() if line.strip()]
    expect(len(names) == len(lines) >= 6, f"{case}: want a flag a line, got:\n{config}")
    for name in names:
        expect(re.search(rf"^  --{name}\b", known, re.MULTILINE), f"{case}: opserve-server has no --{name}")


def check_times_and_memory(case, kinds):
    pod = kinds["Deployment"]["spec"]["template"]["spec"]
    config = config_of(kinds)
    seconds = sum(int(flag(config, name).removesuffix("s")) for name in ("grace-period", "drain-timeout"))
    expect(pod["terminationGracePeriodSeconds"] > seconds, f"{case}: the pod is killed before its server has drained")
    memory = pod["containers"][0]["resources"]["limits"]["memory"]
    mebibytes = {"4Gi": 4096, "900M": 858}[memory]
    expect(
        flag(config, "memory-limit") == f"{mebibytes // 2}MiB",
        f"{case}: of {memory}, got {flag(config, 'memory-limit')}",
    )


def make_certificate(folder):
    run(
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=x",
        "-keyout",
        folder / "tls.key",
        "-out",
        folder / "tls.crt",
    )


def check_starts(case, config, folder):
    """The server, but for its places, takes the configuration; and answers what the probes ask."""
    places = {"0.0.0.0:8500": "127.0.0.1:0", "0.0.0.0:8600": "127.0.0.1:0", "/run/opserve": str(folder), "/run/tls": str(folder)}
    if flag(config, "tls-cert") is not None:
        if not shutil.which("openssl"):
            toolchains.lacking("openssl")
        make_certificate(folder)
    for there, here in places.items():
        config = config.replace(there, here)
    file = folder / "server.ini"
    file.write_text(re.sub(r"^grace-period.*", "", config, flags=re.MULTILINE), encoding="utf-8")
    port_file = folder / "address"
    with running_server.running_process(folder, "--config", str(file), listen=()):
        url = port_file.read_text(encoding="utf-8").split()[-1]
        for path in ("/livez", "/readyz", "/metrics"):
            with urllib.request.urlopen(url + path, timeout=20) as answer:
                expect(answer.status == 200, f"{case}: {path}: {answer.status}")
        if "unix:" in config:
            expect((folder / "grpc").is_socket(), f"{case}: no socket for the proxy")


def check_proxy(kinds, folder):
    """HAProxy takes the chart's configuration, with what the container has in its environment."""
    text = kinds["ConfigMap"]["data"]["haproxy.cfg"]
    expect(
        text.strip() == running_proxy.CONFIGURATION.read_text(encoding="utf-8").strip(),
        "the chart's haproxy.cfg is another",
    )
    container = next(
        each for each in kinds["Deployment"]["spec"]["template"]["spec"]["containers"] if each["name"] == "proxy"
    )
    if running_proxy.program() is None or not shutil.which("openssl"):
        toolchains.lacking("haproxy and openssl")
    make_certificate(folder)
    env = {each["name"]: each["value"].replace("/etc/opserve-tls", str(folder)) for each in container["env"]}
    file = folder / "haproxy.cfg"
    file.write_text(text, encoding="utf-8")
    status, told = run(running_proxy.program(), "-c", "-f", file, env=env)
    expect(status == 0 and "WARNING" not in told, f"haproxy with the chart's configuration and {env}:\n{told}")


def check_server(helm, folder):
    for case in CASES:
        kinds = objects(rendered(helm, folder, case))
        check_known_flags(case, config_of(kinds))
        check_times_and_memory(case, kinds)
        if case != "npu":  # its device is not here
            check_starts(case, config_of(kinds), folder)
        if case == "everything":
            check_proxy(kinds, folder)


def main():
    helm = program("helm", HELM)
    checks = {"lint": check_lint, "api": check_api, "server": check_server}
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        checks[sys.argv[1]](helm, pathlib.Path(folder))


if __name__ == "__main__":
    main()
