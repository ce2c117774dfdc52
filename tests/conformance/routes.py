"""The ways to make a call: one class a language. Each has run(call), which gives the outputs as arrays by name, and
refusal(call), which gives what a user reads when the server refuses the call."""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

import calls
import running_server
import toolchains

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "client/python/src"
SERVICE = "opserve.v1.OperatorService"
TIMEOUT_SECONDS = 120

DTYPES = {
    "DATA_TYPE_FLOAT32": np.dtype("<f4"), "DATA_TYPE_FLOAT16": np.dtype("<f2"), "DATA_TYPE_BFLOAT16": calls.BFLOAT16,
    "DATA_TYPE_INT32": np.dtype("<i4"),
}
NODE_DTYPES = {
    "DATA_TYPE_FLOAT32": "float32", "DATA_TYPE_FLOAT16": "float16", "DATA_TYPE_BFLOAT16": "bfloat16", "DATA_TYPE_INT32": "int32",
}


def dtype_name(array):
    wanted = (array.dtype.kind, array.dtype.itemsize)
    return next(name for name, dtype in DTYPES.items() if (dtype.kind, dtype.itemsize) == wanted)


def run_program(command, stdin="", environment=None):
    """The result of a program that must end by itself."""
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                          env={**os.environ, **(environment or {})})


def output_of(command, stdin=""):
    """The standard output of a program that must succeed."""
    result = run_program(command, stdin)
    if result.returncode != 0:
        sys.exit(f"{command} ended with status {result.returncode}:\n{result.stdout}{result.stderr}")
    return result.stdout


def make_stubs(folder, import_root, protos):
    """Python stubs, made by protoc."""
    plugin = shutil.which("grpc_python_plugin") or toolchains.lacking("grpc_python_plugin")
    folder.mkdir(parents=True, exist_ok=True)
    output_of(["protoc", "-I", import_root, f"--python_out={folder}", f"--plugin=protoc-gen-grpc_python={plugin}",
               f"--grpc_python_out={folder}", *protos])
    sys.path.insert(0, str(folder))


class Route:
    """What every way has; `program`, where there is a sample program, runs it on a target."""

    program = None

    def close(self):
        """Ends connections, so that the server need not wait for them."""


class Cli(Route):
    """The opserve command, from .npy file to .npy file: what the others are compared with."""

    def __init__(self, address, folder):
        self._command = [running_server.bin_folder() / "opserve", "--target", address]
        self._folder = folder

    def _words(self, call):
        words = ["run", call.operator]
        for name, array in call.inputs.items():
            file = self._folder / f"{name}.npy"
            np.save(file, array)
            words += ["-i", f"{name}={file}"]
        for name, value in call.attributes.items():
            words += ["-a", f"{name}={json.dumps(value)}"]
        return words

    def run(self, call):
        schema = json.loads(output_of([*self._command, "--json", "ops", call.operator]))["operators"][0]
        files = {output["name"]: self._folder / f"{output['name']}.npy" for output in schema["outputs"]}
        saves = [word for name, file in files.items() for word in ("-o", f"{name}={file}")]
        output_of([*self._command, *self._words(call), *saves])
        return {name: np.load(file) for name, file in files.items()}


class Python(Route):
    """The package of client/python, as it lies in the tree."""

    def __init__(self, address, folder):
        del folder
        sys.path.insert(0, str(PACKAGE))
        import opserve  # pylint: disable=import-outside-toplevel
        self._opserve = opserve
        self._client = opserve.connect(address, timeout=TIMEOUT_SECONDS)

    def run(self, call):
        return self._client.execute(call.operator, call.inputs, call.attributes)

    def refusal(self, call):
        try:
            self.run(call)
        except self._opserve.OpserveError as error:
            return str(error)
        return None

    def close(self):
        self._client.close()

    def program(self, target):
        return run_program([sys.executable, "-B", ROOT / "client/python/examples/gradient.py", target],
                           environment={"PYTHONPATH": str(PACKAGE)})


class Node(Route):
    """The package of client/node, built in a copy of its folder, where npm puts what it needs."""

    def __init__(self, address, folder):
        for tool in ("node", "npm"):
            shutil.which(tool) or toolchains.lacking(tool)
        self._folder = folder / "client/node"
        shutil.copytree(ROOT / "client/node", self._folder, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("node_modules", "dist"))
        self._address = address
        self._install()
        output_of(["npm", "run", "build", "--prefix", self._folder])

    def _install(self):
        lock = (self._folder / "package-lock.json").read_bytes()
        installed = self._folder / "installed-lock.json"
        if installed.exists() and installed.read_bytes() == lock:
            return
        result = run_program(["npm", "ci", "--prefer-offline", "--prefix", self._folder])
        if result.returncode != 0:
            print(result.stderr)
            toolchains.lacking("the packages of client/node, or the network to get them (npm ci, above)")
        installed.write_bytes(lock)

    def _results(self, call):
        inputs = {
            name: {"dtype": NODE_DTYPES[dtype_name(array)], "shape": array.shape, "data": base64.b64encode(array.tobytes()).decode()}
            for name, array in call.inputs.items()
        }
        text = json.dumps([{"operator": call.operator, "inputs": inputs, "attributes": call.attributes}])
        driver = ROOT / "tests/conformance/node_route.mjs"
        return json.loads(output_of(["node", driver, self._folder / "dist/index.js", self._address], text))[0]

    def run(self, call):
        dtypes = {name: DTYPES[data_type] for data_type, name in NODE_DTYPES.items()}
        return {
            name: np.frombuffer(base64.b64decode(output["data"]), dtypes[output["dtype"]]).reshape(output["shape"])
            for name, output in self._results(call).items()
        }

    def refusal(self, call):
        return self._results(call)

    def program(self, target):
        return run_program(["node", self._folder / "examples/gradient.mjs", target])


def json_attributes(call):
    """The attributes as protobuf's JSON has them."""
    kinds = {bool: "bool", int: "int", float: "float"}
    for name, value in call.attributes.items():
        if isinstance(value, list):
            yield {"name": name, f"{kinds[type(value[0])]}_list": {"values": value}}
        else:
            yield {"name": name, f"{kinds[type(value)]}_value": value}


def json_number(number):
    """protobuf's JSON writes what JSON lacks as strings."""
    if isinstance(number, float) and np.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return number


def request_text(call):
    """An ExecuteRequest as a person writes it: typed values, in JSON."""
    inputs = []
    for name, array in call.inputs.items():
        kind = "ints" if array.dtype.kind == "i" else "floats"
        values = {kind: [json_number(number) for number in calls.numbers_of(array)]}
        inputs.append({"name": name, "dtype": dtype_name(array), "shape": array.shape, "values": values})
    message = {"op": call.operator, "inputs": inputs, "attributes": list(json_attributes(call))}
    return json.dumps({"call": message, "output_encoding": "TENSOR_ENCODING_VALUES"})


def outputs_of_text(text):
    """The outputs of an ExecuteResponse in JSON; all of them are floats."""
    outputs = json.loads(text, parse_int=float)["outputs"]  # -0 is a float, too
    return {
        output["name"]: calls.rounded(
            np.array([float(number) for number in output.get("values", {}).get("floats", [])]), DTYPES[output["dtype"]]
        ).reshape([int(extent) for extent in output.get("shape", [])])
        for output in outputs
    }


class Json(Route):
    """JSON through reflection: no stubs, no .proto."""

    def __init__(self, address, folder):
        make_stubs(folder / "stubs", ROOT / "proto/grpc/reflection/v1", ["reflection.proto"])
        import grpc  # pylint: disable=import-outside-toplevel
        import reflection  # pylint: disable=import-outside-toplevel
        self._grpc = grpc
        self._channel = grpc.insecure_channel(address)
        server = reflection.ReflectedServer(self._channel)
        if SERVICE not in server.services():
            sys.exit(f"reflection does not list {SERVICE}: {server.services()}")
        self._request, self._execute = server.method(SERVICE, "Execute")

    def close(self):
        self._channel.close()

    def send(self, text):
        from google.protobuf import json_format  # pylint: disable=import-outside-toplevel
        request = json_format.Parse(text, self._request())
        return json_format.MessageToJson(self._execute(request, timeout=TIMEOUT_SECONDS))

    def run(self, call):
        return outputs_of_text(self.send(request_text(call)))

    def refusal(self, call):
        try:
            self.run(call)
        except self._grpc.RpcError as error:
            return error.details()
        return None


class Grpcurl(Route):
    """grpcurl, which knows the service by reflection."""

    def __init__(self, address, folder):
        del folder
        program = toolchains.grpcurl(running_server.build_folder() / "tools")
        self._command = [program, "-plaintext", "-d", "@", address, f"{SERVICE}/Execute"]

    def run(self, call):
        return outputs_of_text(output_of(self._command, request_text(call)))

    def refusal(self, call):
        return run_program(self._command, request_text(call)).stderr


ROUTES = {"python": Python, "node": Node, "json": Json, "grpcurl": Grpcurl}
