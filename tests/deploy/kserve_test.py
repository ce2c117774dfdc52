"""Holds deploy/kserve to KServe's definitions, and to the server that it starts.

Usage: kserve_test.py api|server      (the programs are in $OPSERVE_BIN_DIR)

api: kubeconform takes both objects by the schemas of KServe's own definitions (a Go module), and refuses spoilt ones.
server: opserve-server starts with the runtime's command and arguments, answers its probes, and computes a gradient by
both protocols that the runtime names.
"""

import json
import pathlib
import re
import sys
import tempfile
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import kube_schemas
import running_server
import toolchains
from helm_test import KUBECONFORM, expect, program, run, yaml_of_debian

FOLDER = ROOT / "deploy/kserve"
RUNTIME, SERVICE = FOLDER / "serving_runtime.yaml", FOLDER / "inference_service.yaml"
SPOILT = {  # of these files: a right line, and one that must be refused
    RUNTIME: [("protocolVersions:", "protocolVersion:"), ("multiModel: false", "multiModel: no-thanks"),
              ("readinessProbe:", "readynessProbe:")],
    SERVICE: [("minReplicas: 3", "minReplicas: three"), ("modelFormat:", "format:"), ("scaleTarget:", "scaleTargets:")],
}
MODEL = "SmoothL1LossBackward"
CALL = {
    "parameters": {"reduction": "none", "beta": 1.0},
    "inputs": [
        {"name": "grad_out", "shape": [2], "datatype": "FP32", "data": [1, 1]},
        {"name": "self", "shape": [2], "datatype": "FP32", "data": [0, 3]},
        {"name": "target", "shape": [2], "datatype": "FP32", "data": [1, 1]},
    ],
}
READY = b"\x08\x01"  # ServerReadyResponse, and ModelReadyResponse: field 1 is true


def load(file):
    return yaml_of_debian().safe_load(file.read_text(encoding="utf-8"))


def check_api(folder):
    location = kube_schemas.write_kserve(yaml_of_debian(), folder / "kserve")
    if location is None:
        toolchains.lacking("KServe's definitions, a Go module")
    words = [program("kubeconform", KUBECONFORM), "-strict", "-summary", "-schema-location", location]
    status, told = run(*words, RUNTIME, SERVICE)
    expect(status == 0 and "2 resources found" in told, f"kubeconform, {kube_schemas.KSERVE}:\n{told}")
    print(told.strip())
    spoilt = folder / "spoilt.yaml"
    for file, lines in SPOILT.items():
        text = file.read_text(encoding="utf-8")
        for right, wrong in lines:
            expect(right in text, f"{file.name}: want '{right}' in it")
            spoilt.write_text(text.replace(right, wrong), encoding="utf-8")
            status, told = run(*words, spoilt)
            expect(status != 0, f"kubeconform takes '{wrong}':\n{told}")


def check_names(runtime, predictor):
    """What names something else names what there is."""
    model = predictor["model"]
    expect(model["runtime"] == runtime["metadata"]["name"], f"the service names the runtime {model['runtime']}")
    formats = {each["name"]: each["version"] for each in runtime["spec"]["supportedModelFormats"]}
    wanted = model["modelFormat"]
    expect(formats.get(wanted["name"]) == wanted["version"], f"the runtime has {formats}, the service wants {wanted}")
    versions = runtime["spec"]["protocolVersions"]
    expect(model["protocolVersion"] in versions, f"{model['protocolVersion']} is not among {versions}")


def seconds(flags, name):
    return int(flags[name].removesuffix("s"))


def check_bounds(container, predictor):
    flags = dict(word.removeprefix("--").split("=", 1) for word in container["args"] if "=" in word)
    drain = seconds(flags, "grace-period") + seconds(flags, "drain-timeout")
    expect(predictor["terminationGracePeriodSeconds"] > drain, "the pod is killed before its server has drained")
    memory = int(re.fullmatch(r"(\d+)Gi", container["resources"]["limits"]["memory"])[1])
    expect(flags["memory-limit"] == f"{memory // 2}GiB", f"of {memory}Gi, got --memory-limit={flags['memory-limit']}")
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    listening = {"h2c": flags["listen"], "http1": flags["http"]}
    for name, address in listening.items():
        expect(address == f"0.0.0.0:{ports[name]}", f"port {name} is {ports[name]}, the server listens on {address}")


def check_rest(url):
    request = urllib.request.Request(f"{url}/v2/models/{MODEL}/infer", json.dumps(CALL).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        outputs = json.loads(answer.read())["outputs"]
    expect([each["data"] for each in outputs] == [[-1, 1]], f"v2: want the gradient -1, 1, got {outputs}")


def check_grpc(address):
    try:
        import grpc
    except ImportError:
        toolchains.lacking("python3-grpcio")
    name = MODEL.encode()
    with grpc.insecure_channel(address) as channel:
        for method, request in (("ServerReady", b""), ("ModelReady", b"\x0a" + bytes([len(name)]) + name)):
            answer = channel.unary_unary(f"/inference.GRPCInferenceService/{method}")(request, timeout=20)
            expect(answer == READY, f"grpc-v2: {method}: want true, got {answer!r}")


def check_server(folder):
    runtime, predictor = load(RUNTIME), load(SERVICE)["spec"]["predictor"]
    container = runtime["spec"]["containers"][0]
    check_names(runtime, predictor)
    check_bounds(container, predictor)
    expect(container["command"] == ["/usr/local/bin/opserve-server"], f"the image has no {container['command']}")
    places = {"0.0.0.0:8500": "127.0.0.1:0", "0.0.0.0:8600": "127.0.0.1:0", "--grace-period=5s": "--grace-period=0s"}
    flags = [re.sub("|".join(map(re.escape, places)), lambda found: places[found[0]], word) for word in container["args"]]
    with running_server.running_process(folder, *flags, listen=()) as (address, _):
        url = (folder / "address").read_text(encoding="utf-8").split()[-1]
        paths = [container[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")]
        for path in [*paths, runtime["spec"]["annotations"]["prometheus.kserve.io/path"]]:
            with urllib.request.urlopen(url + path, timeout=20) as answer:
                expect(answer.status == 200, f"{path}: {answer.status}")
        check_rest(url)
        check_grpc(address)


def main():
    checks = {"api": check_api, "server": check_server}
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        checks[sys.argv[1]](pathlib.Path(folder))


if __name__ == "__main__":
    main()
