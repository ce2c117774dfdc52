"""Asks a real API server of Kubernetes whether it takes all that deploy/ has for it.

Usage: api_server_test.py      (the programs are in $OPSERVE_BIN_DIR)

kube-apiserver and etcd are installed, in the build folder, or built with Go where OPSERVE_KUBE_API_SERVER=build; else the test is
skipped, as building takes long.

Each object that the chart makes, in each way of helm_test.py, and each of deploy/kserve is created with dryRun=All and strict
field validation, in a namespace that enforces Pod Security's level `restricted`; so are the Deployment's pods. Objects of
Prometheus' operator and of KServe are held to their definitions (CRDs), which the server is given. Spoilt ones are refused.
"""

import copy
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import kube_api_server
import kube_schemas
import running_server
import toolchains
from helm_test import CASES, HELM, expect, program, rendered, yaml_of_debian
from kserve_test import RUNTIME, SERVICE

OPERATOR = "github.com/prometheus-operator/prometheus-operator@v0.80.1"
DEFINITIONS = {  # module → folder, and files in it
    OPERATOR: ("example/prometheus-operator-crd", ["monitoring.coreos.com_servicemonitors", "monitoring.coreos.com_prometheusrules"]),
    kube_schemas.KSERVE: (kube_schemas.KSERVE_DEFINITIONS, ["serving.kserve.io_servingruntimes", "serving.kserve.io_inferenceservices"]),
}
NAMESPACE = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"name": "space", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
}
PRIORITY = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
HOST_PATH = "npu"  # the case whose pods mount a folder of the node, which `restricted` refuses


def documents(file):
    yaml = yaml_of_debian()
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return [each for each in yaml.load_all(file.read_text(encoding="utf-8"), Loader=loader) if each]


def define(api):
    for module, (folder, names) in DEFINITIONS.items():
        source = kube_schemas.download(module)
        if source is None:
            toolchains.lacking(f"{module}, a Go module")
        for name in names:
            api.define(documents(source / folder / f"{name}.yaml")[0])


def check_taken(api, case, thing):
    status, told = api.create(thing, "space", dry=True)
    expect(status == 201, f"{case}: {thing['kind']} {thing['metadata']['name']}: status {status}: {told}")


def pod_of(deployment):
    template = deployment["spec"]["template"]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod", **template["metadata"]}, "spec": template["spec"]}


def check_pod(api, case, deployment):
    status, told = api.create(pod_of(deployment), "space", dry=True)
    if case == HOST_PATH:
        expect(status == 403 and "hostPath" in told["message"], f"{case}: want its pod refused for hostPath, got {status}: {told}")
    else:
        expect(status == 201, f"{case}: the Deployment's pod: status {status}: {told}")


def spoilt(deployment):
    """What is wrong with each → the object."""
    def changed(change):
        thing = copy.deepcopy(deployment)
        change(thing["spec"]["template"]["spec"]["containers"][0], thing)
        return thing

    return {
        "readynessProbe": changed(lambda container, _: container.update(readynessProbe=container.pop("readinessProbe"))),
        "replicas": changed(lambda _, thing: thing["spec"].update(replicas="three")),
        "selector": changed(lambda _, thing: thing["spec"]["selector"]["matchLabels"].update(other="label")),
        "cpu": changed(lambda container, _: container["resources"]["requests"].update(cpu="400")),
    }


def check_bites(api, deployment):
    for name, thing in spoilt(deployment).items():
        status, told = api.create(thing, "space", dry=True)
        expect(status in (400, 422) and name in told["message"], f"want an error that names {name}, got status {status}: {told}")
    pod = pod_of(deployment)
    pod["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    status, told = api.create(pod, "space", dry=True)
    expect(status == 403 and "restricted" in told["message"], f"want a pod with more rights refused, got status {status}: {told}")


def check_chart(api, folder):
    helm, count = program("helm", HELM), 0
    for case in CASES:
        things = documents(rendered(helm, folder, case))
        for thing in things:
            check_taken(api, case, thing)
        deployment = next(thing for thing in things if thing["kind"] == "Deployment")
        check_pod(api, case, deployment)
        if case == "default":
            check_bites(api, deployment)
        count += len(things)
    return count


def check_kserve(api):
    for file in (RUNTIME, SERVICE):
        thing = documents(file)[0]
        check_taken(api, file.name, thing)
        thing["spec"]["unknownToKServe"] = 1
        status, told = api.create(thing, "space", dry=True)
        expect(status == 400 and "unknownToKServe" in told["message"], f"{file.name}: an unknown field: status {status}: {told}")


def main():
    wanted = os.environ.get("OPSERVE_KUBE_API_SERVER") == "build"
    found = kube_api_server.programs(running_server.build_folder() / "tools", wanted)
    if found is None and wanted:
        toolchains.lacking("Go, or the modules of Kubernetes")
    if found is None:
        toolchains.skip("set OPSERVE_KUBE_API_SERVER=build to build kube-apiserver and etcd with Go: takes eleven minutes of a core")
    with tempfile.TemporaryDirectory(prefix="opserve-") as name:
        folder = pathlib.Path(name)
        with kube_api_server.api_server(found, folder) as api:
            for thing in (NAMESPACE, PRIORITY):
                status, told = api.create(thing)
                expect(status == 201, f"{thing['kind']}: status {status}: {told}")
            define(api)
            count = check_chart(api, folder)
            check_kserve(api)
    print(f"Kubernetes {kube_api_server.VERSION}'s API server takes the chart's {count} objects, the pods, and KServe's 2")


if __name__ == "__main__":
    main()
