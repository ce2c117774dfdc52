"""A real API server of Kubernetes with its etcd, both built from their Go modules, for tests that ask whether it takes objects."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request

import kube_schemas

VERSION = "1.33"
PROGRAMS = {"kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver", "etcd": "go.etcd.io/etcd/server/v3"}
TOKEN = "token-of-the-test"
START_SECONDS = 120
GO = {**os.environ, "GOFLAGS": "-mod=mod", "CGO_ENABLED": "0"}


def write_module(source, folder):
    """A module that needs Kubernetes as it needs itself, with its staging modules as they are published."""
    version = kube_schemas.VERSIONS[VERSION][0].partition("@v1")[2]
    text = (source / "go.mod").read_text(encoding="utf-8").replace("module k8s.io/kubernetes", "module apiserver", 1)
    text = re.sub(r"(k8s\.io/\S+) => \./staging/\S+", rf"\1 => \1 v0{version}", text)
    (folder / "go.mod").write_text(f"{text}\nrequire k8s.io/kubernetes v1{version}\n", encoding="utf-8")


def programs(folder, build):
    """Their paths by name; None where they are not installed and `build` is false, or the modules cannot be had."""
    found = {name: shutil.which(name) or shutil.which(name, path=folder) for name in PROGRAMS}
    if all(found.values()):
        return found
    source = kube_schemas.download(kube_schemas.VERSIONS[VERSION][0]) if build and shutil.which("go") else None
    if source is None:
        return None
    work = folder / "apiserver"
    work.mkdir(parents=True, exist_ok=True)
    write_module(source, work)
    for name, package in PROGRAMS.items():
        subprocess.run(["go", "build", "-ldflags=-s -w", "-o", folder / name, package], cwd=work, env=GO, timeout=1500, check=True)
    return {name: str(folder / name) for name in PROGRAMS}


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def running(folder, *command):
    """A process while the block runs, and the file of its log."""
    log = folder / f"{pathlib.Path(command[0]).name}.log"
    with open(log, "w", encoding="utf-8") as output:
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield process, log
    finally:
        process.kill()
        process.wait()


class ApiServer:
    """One that answers."""

    def __init__(self, port, certificate):
        self._url = f"https://127.0.0.1:{port}"
        self._certificate = certificate
        self.trouble = None  # why it was not ready
        self._plurals = {}

    def request(self, method, path, body=None):
        """Status and answer, as JSON where it is."""
        trust = ssl.create_default_context(cafile=self._certificate)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self._url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=60, context=trust) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        return status, json.loads(text) if text.startswith(b"{") else text.decode()

    def ready(self):
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError as error:  # no certificate yet, no connection
            self.trouble = error
            return False

    def path(self, thing, namespace):
        """Where objects of this kind are created, which the server says."""
        version = thing["apiVersion"]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if root not in self._plurals:
            self._plurals[root] = self.request("GET", root)[1].get("resources", [])
        for resource in self._plurals[root]:
            if resource["kind"] == thing["kind"] and "/" not in resource["name"]:
                return f"{root}/namespaces/{namespace}/{resource['name']}" if resource["namespaced"] else f"{root}/{resource['name']}"
        return sys.exit(f"the API server has no {thing['kind']} of {version}")

    def create(self, thing, namespace="", dry=False):
        """Status and answer. A field that the server does not know is an error."""
        query = "?fieldValidation=Strict" + ("&dryRun=All" if dry else "")
        return self.request("POST", self.path(thing, namespace) + query, thing)

    def define(self, definition):
        """Creates a CustomResourceDefinition, and waits until its objects can be created."""
        status, told = self.create(definition)
        if status != 201:
            sys.exit(f"{definition['metadata']['name']}: status {status}: {told}")
        spec = definition["spec"]
        root = f"/apis/{spec['group']}/{next(each['name'] for each in spec['versions'] if each['served'])}"
        deadline = time.monotonic() + START_SECONDS
        while spec["names"]["plural"] not in {each["name"] for each in self.resources(root)}:
            if time.monotonic() > deadline:
                sys.exit(f"{definition['metadata']['name']} was created, and is not served")
            time.sleep(0.2)

    def resources(self, root):
        answer = self.request("GET", root)[1]
        return answer.get("resources", []) if isinstance(answer, dict) else []


def etcd_words(program, folder, client, peer):
    return [program, "--data-dir", folder / "etcd", "--unsafe-no-fsync", "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]


def api_words(program, folder, port, etcd):
    key = folder / "service-account.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], stderr=subprocess.DEVNULL, check=True)
    tokens = folder / "tokens.csv"
    tokens.write_text(f"{TOKEN},test,test,system:masters\n", encoding="utf-8")
    # No controller makes a namespace's service account, for which that plugin would wait.
    return [program, "--etcd-servers", etcd, "--bind-address", "127.0.0.1", "--secure-port", port, "--cert-dir", folder,
            "--token-auth-file", tokens, "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24",
            "--service-account-issuer", "https://kubernetes.default.svc", "--service-account-key-file", key,
            "--service-account-signing-key-file", key, "--disable-admission-plugins", "ServiceAccount"]


@contextlib.contextmanager
def api_server(found, folder):
    """Runs both while the block runs."""
    port, client, peer = free_ports(3)
    address = f"http://127.0.0.1:{client}"
    with running(folder, *etcd_words(found["etcd"], folder, address, f"http://127.0.0.1:{peer}")) as (etcd, etcd_log):
        with running(folder, *api_words(found["kube-apiserver"], folder, port, address)) as (server, log):
            api, deadline = ApiServer(port, folder / "apiserver.crt"), time.monotonic() + START_SECONDS
            while not api.ready():
                if etcd.poll() is not None or server.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"the API server did not start: {api.trouble}\n{etcd_log.read_text()[-2000:]}\n{log.read_text()[-4000:]}")
                time.sleep(0.2)
            yield api
