"""Schemas of Kubernetes' objects for kubeconform, made of the API's own description, which Go modules hold."""

import json
import os
import pathlib
import subprocess

# The oldest that the chart is for, and a newer one: module → the description in it.
VERSIONS = {
    "1.27": ("k8s.io/kube-openapi@v0.0.0-20260721132016-d427ff9ee9ad", "pkg/schemaconv/testdata/swagger.json"),
    "1.33": ("k8s.io/kubernetes@v1.33.4", "api/openapi-spec/swagger.json"),
}
LOCATION = "{{ .ResourceKind }}{{ .KindSuffix }}.json"
TYPES = {  # what a description calls strings, and may be numbers
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer"]},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"]},
}


def download(module):
    """The module's folder, or None."""
    done = subprocess.run(
        ["go", "mod", "download", "-json", module],
        cwd="/",
        env={**os.environ, "GOFLAGS": "-mod=mod"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
        check=False,
    )
    try:
        return pathlib.Path(json.loads(done.stdout)["Dir"])
    except (ValueError, KeyError):
        return None


def write(version, folder):
    """The location of that version's schemas, as kubeconform takes it; None where the module cannot be had."""
    module, path = VERSIONS[version]
    source = download(module)
    if source is None:
        return None
    folder = folder / version
    folder.mkdir(parents=True)
    definitions = json.loads((source / path).read_text(encoding="utf-8"))["definitions"]
    for definition in definitions.values():
        if "properties" in definition:
            definition.setdefault("additionalProperties", False)
    definitions.update(TYPES)
    (folder / "all.json").write_text(json.dumps({"definitions": definitions}), encoding="utf-8")
    for name, definition in definitions.items():
        for kind in definition.get("x-kubernetes-group-version-kind", []):
            words = [kind["kind"], *kind["group"].split(".")[:1], kind["version"]]
            file = folder / ("-".join(word.lower() for word in words if word) + ".json")
            file.write_text(json.dumps({"$ref": f"all.json#/definitions/{name}"}), encoding="utf-8")
    return f"{folder}/{LOCATION}"


# ---- KServe's, as its own definitions (CRDs) have them

KSERVE = "github.com/kserve/kserve@v0.15.2"
KSERVE_DEFINITIONS = "config/crd/full"


def strict(schema):
    """Refuses, as the API server prunes, what an object's schema does not know."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["string", "number"]}
    made = {name: strict(each) for name, each in schema.items()}
    closed = isinstance(schema.get("properties"), dict) and "type" in schema
    if closed and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
    return made


def write_kserve(yaml, folder):
    """The location of the schemas of KServe's objects; None where the module cannot be had."""
    source = download(KSERVE)
    if source is None:
        return None
    folder.mkdir(parents=True)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    for file in sorted((source / KSERVE_DEFINITIONS).glob("serving.kserve.io_*.yaml")):
        spec = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)["spec"]
        for version in spec["versions"]:
            schema = strict(version["schema"]["openAPIV3Schema"])
            schema["properties"]["metadata"] = {"type": "object"}  # the API's own, which the definition leaves out
            name = "-".join([spec["names"]["kind"], spec["group"].split(".")[0], version["name"]]).lower()
            (folder / f"{name}.json").write_text(json.dumps(schema), encoding="utf-8")
    return f"{folder}/{LOCATION}"
