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
