"""The job, and how each peer does it: a server in a process of its own, and a client that calls it.

The job is SmoothL1LossBackward in float32 without reduction: three tensors go, one comes back. Each client begins with NumPy arrays and ends
with one.

Usage: peers.py serve PEER ADDRESS     (until it is killed; says "ready")
       peers.py call PEER ADDRESS      (does what its standard input says, line by line: ELEMENTS IN_FLIGHT SECONDS; answers in JSON)
"""

import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

INPUTS = ("grad_out", "self", "target")
LARGE_BYTES = 1 << 30  # of a message
SERVER_THREADS = 16
START_SECONDS = 60
TOLERANCE = 1e-6


def gradient(grad_out, values, target):
    """The operator, by PyTorch: what each peer's server runs."""
    import torch

    return torch.ops.aten.smooth_l1_loss_backward(grad_out, values, target, 0, 1.0)


def expected(grad_out, values, target):
    """The formula, in float64."""
    difference = values.astype(np.float64) - target
    return np.clip(difference, -1, 1) * grad_out


# ---- opserve, by its Python client


@contextlib.contextmanager
def opserve_client(address, **options):
    import opserve

    with opserve.connect(address, timeout=60, **options) as client:
        yield lambda arrays: client.execute("SmoothL1LossBackward", dict(zip(INPUTS, arrays)), reduction="none", beta=1.0)["grad_input"]


@contextlib.contextmanager
def opserve_memory_client(address):
    """In memory that client and server share: what is called with lies there."""
    import opserve

    with opserve.connect(address, timeout=60) as client, contextlib.ExitStack() as kept:
        places = collections.defaultdict(list)  # of no call now, by size

        def make(arrays):
            memory = kept.enter_context(client.shared_memory(4 * (arrays[0].nbytes + 64)))
            inputs = [memory.array(array.shape) for array in arrays]
            for place, array in zip(inputs, arrays):
                place[...] = array
            return dict(zip(INPUTS, inputs)), memory.array(arrays[0].shape)

        def call(arrays):
            try:
                place = places[arrays[0].size].pop()
            except IndexError:
                place = make(arrays)
            client.execute("SmoothL1LossBackward", place[0], reduction="none", beta=1.0, out={"grad_input": place[1]})
            places[arrays[0].size].append(place)
            return place[1]

        yield call


# ---- gRPC and PyTorch by hand: bytes in, bytes out, no schema and no checks

METHOD = "/peer.Peer/Gradient"
GRPC_OPTIONS = [("grpc.max_receive_message_length", LARGE_BYTES), ("grpc.max_send_message_length", LARGE_BYTES)]


def grpc_server(address):
    import grpc
    import torch

    def answer(request, _):
        tensors = torch.frombuffer(bytearray(request), dtype=torch.float32).reshape(3, -1)
        return gradient(*tensors).numpy().tobytes()

    class Handler(grpc.GenericRpcHandler):
        def service(self, _):
            return grpc.unary_unary_rpc_method_handler(answer)

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(SERVER_THREADS), [Handler()], options=GRPC_OPTIONS)
    server.add_insecure_port(address)
    server.start()
    return server


@contextlib.contextmanager
def grpc_client(address):
    import grpc

    with grpc.insecure_channel(address, GRPC_OPTIONS) as channel:
        method = channel.unary_unary(METHOD)
        yield lambda arrays: np.frombuffer(method(b"".join(map(memoryview, arrays)), wait_for_ready=True), np.float32)


# ---- torch.distributed.rpc

RPC_WAYS = {"torch-rpc-tcp": {"_transports": ["uv"], "_channels": ["mpt_uv", "basic"]}, "torch-rpc-memory": {}}


def torch_rpc(peer, address, rank):
    import torch.distributed.rpc as rpc

    options = rpc.TensorPipeRpcBackendOptions(
        num_worker_threads=SERVER_THREADS, rpc_timeout=120, init_method=f"tcp://{address}", **RPC_WAYS[peer]
    )
    rpc.init_rpc("server" if rank == 0 else "client", rank=rank, world_size=2, rpc_backend_options=options)
    return rpc


@contextlib.contextmanager
def torch_rpc_client(peer, address):
    import torch

    # The server must find the function by this module's name.
    import peers

    rpc = torch_rpc(peer, address, 1)
    yield lambda arrays: rpc.rpc_sync("server", peers.gradient, args=tuple(map(torch.from_numpy, arrays))).numpy()
    os._exit(0)  # it would wait for the server


# ---- Ray: an actor, and its object store


@contextlib.contextmanager
def ray_client(_):
    import ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)

    class Actor:
        def __init__(self):
            import torch

            self.torch = torch

        def gradient(self, *arrays):
            tensors = map(self.torch.from_numpy, arrays)
            return self.torch.ops.aten.smooth_l1_loss_backward(*tensors, 0, 1.0).numpy()

    actor = ray.remote(Actor).options(max_concurrency=SERVER_THREADS, num_cpus=1).remote()
    yield lambda arrays: ray.get(actor.gradient.remote(*arrays))
    ray.shutdown()


# ---- PyTriton: Triton, with a Python function


def pytriton_server(address):
    import torch
    from pytriton.model_config import ModelConfig, Tensor
    from pytriton.triton import Triton, TritonConfig

    def answer(requests):
        out = []
        for request in requests:
            tensors = [torch.from_numpy(request.data[name].copy()) for name in INPUTS]
            out.append({"grad_input": gradient(*tensors).numpy()})
        return out

    host, port = address.rsplit(":", 1)
    triton = Triton(config=TritonConfig(grpc_address=host, grpc_port=int(port), http_port=free_port(), allow_metrics=False))
    triton.bind("Gradient", answer, [Tensor(name=name, dtype=np.float32, shape=(-1,)) for name in INPUTS],
                [Tensor(name="grad_input", dtype=np.float32, shape=(-1,))], config=ModelConfig(batching=False))
    triton.run()
    return triton


# ---- MLServer, with a runtime of a few lines


def mlserver_server(address):
    host, port = address.rsplit(":", 1)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="opserve-mlserver-"))
    settings = {"host": host, "grpc_port": int(port), "http_port": free_port(), "metrics_port": free_port(), "parallel_workers": 0,
                "grpc_max_message_length": LARGE_BYTES}
    (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    model = {"name": "Gradient", "implementation": "mlserver_runtime.Gradient"}
    (folder / "model-settings.json").write_text(json.dumps(model), encoding="utf-8")
    program = pathlib.Path(sys.executable).parent / "mlserver"
    process = subprocess.Popen([program, "start", folder], stdout=subprocess.DEVNULL)
    # It ends with this process.
    threading.Thread(target=lambda: os._exit(process.wait() or 1), daemon=True).start()
    return process


@contextlib.contextmanager
def inference_client(address):
    """Of the Open Inference Protocol: PyTriton's and MLServer's."""
    import tritonclient.grpc as protocol

    with protocol.InferenceServerClient(address) as client:
        deadline = time.monotonic() + START_SECONDS
        while not is_model_ready(client) and time.monotonic() < deadline:
            time.sleep(0.2)

        def call(arrays):
            inputs = []
            for name, array in zip(INPUTS, arrays):
                inputs.append(protocol.InferInput(name, array.shape, "FP32"))
                inputs[-1].set_data_from_numpy(array)
            return client.infer("Gradient", inputs).as_numpy("grad_input")

        yield call


# ---- hivemind: an expert whose forward pass is the gradient, found by its libp2p address

EXPERT = "gradient.0"


def hivemind_address(address):
    """Where the server writes its libp2p address, which has its key in it."""
    return pathlib.Path(tempfile.gettempdir(), "hivemind-" + address.rpartition(":")[2])


def hivemind_server(address):
    import torch
    import torch.nested._internal.nested_tensor  # noqa: F401
    import hivemind
    from hivemind.moe.server import ModuleBackend, Server
    from hivemind.utils.tensor_descr import BatchTensorDescriptor

    # hivemind forks while its threads run. If one of them holds the lock of an import or of tempfile just then, the child waits for
    # it for ever: so what takes these locks comes before, here and above.
    with tempfile.TemporaryDirectory():
        pass

    class Gradient(torch.nn.Module):
        def forward(self, *tensors):
            return gradient(*tensors)

    host, port = address.rsplit(":", 1)
    tensor = BatchTensorDescriptor()
    expert = ModuleBackend(EXPERT, Gradient(), args_schema=(tensor,) * len(INPUTS), outputs_schema=tensor, max_batch_size=LARGE_BYTES)
    dht = hivemind.DHT(start=True, host_maddrs=[f"/ip4/{host}/tcp/{port}"], use_ipfs=False)
    server = Server(dht, {EXPERT: expert}, num_connection_handlers=2, start=True)
    hivemind_address(address).write_text(str(dht.get_visible_maddrs()[0]), encoding="utf-8")
    return server


@contextlib.contextmanager
def hivemind_client(address):
    import torch
    import hivemind
    from hivemind.moe.client.expert import create_remote_experts
    from hivemind.moe.expert_uid import ExpertInfo
    from hivemind.p2p import PeerID

    deadline = time.monotonic() + START_SECONDS
    while not hivemind_address(address).exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    server = hivemind_address(address).read_text(encoding="utf-8")
    dht = hivemind.DHT(initial_peers=[server], start=True, client_mode=True)
    peer = PeerID.from_base58(server.rpartition("/")[2])
    (expert,) = create_remote_experts([ExpertInfo(EXPERT, peer)], dht)

    def call(arrays):
        with torch.no_grad():
            return expert(*map(torch.from_numpy, arrays)).numpy()

    yield call
    os._exit(0)  # it would wait for the processes of hivemind


def is_model_ready(client):
    from tritonclient.utils import InferenceServerException

    try:
        return client.is_model_ready("Gradient")
    except InferenceServerException:
        return False


# What moves tensors by sockets, and what shares memory: peer → (its words, the module that it needs).
SOCKETS = {
    "opserve": ("opserve, Python client", "opserve"),
    "opserve-messages": ("opserve, Python client without shared memory", "opserve"),
    "grpc": ("gRPC and PyTorch by hand", "grpc"),
    "torch-rpc-tcp": ("torch RPC over TCP", "torch.distributed.rpc"),
    "pytriton": ("PyTriton (Triton, Python backend)", "pytriton"),
    "mlserver": ("MLServer", "mlserver"),
    "hivemind": ("hivemind: a remote expert", "hivemind"),
}
MEMORY = {
    "opserve-memory": ("opserve, Python client, shared memory", "opserve"),
    "torch-rpc-memory": ("torch RPC, its default: shared memory", "torch.distributed.rpc"),
    "ray": ("Ray: an actor, the object store", "ray"),
}
# By cpp/client.cc, from C++: peer → (its words, the way it calls, over how many connections).
CPP = {
    "opserve-cpp": ("opserve, C++ client", "opserve", "1"),
    "opserve-cpp-messages": ("opserve, C++ client without shared memory", "opserve-messages", "1"),
    "grpc-cpp": ("gRPC and libtorch by hand", "by-hand", "1"),
    "opserve-cpp-4": ("opserve, C++ client, up to four connections", "opserve", "4"),
    "grpc-cpp-4": ("gRPC and libtorch by hand, four connections", "by-hand", "4"),
}
CLIENTS = {
    "opserve": opserve_client, "opserve-memory": opserve_memory_client, "grpc": grpc_client, "ray": ray_client,
    "opserve-messages": lambda address: opserve_client(address, shared_memory_bytes=0),
    "torch-rpc-tcp": lambda address: torch_rpc_client("torch-rpc-tcp", address),
    "torch-rpc-memory": lambda address: torch_rpc_client("torch-rpc-memory", address),
    "pytriton": inference_client, "mlserver": inference_client, "hivemind": hivemind_client,
}
SERVERS = {
    "grpc": grpc_server, "pytriton": pytriton_server, "mlserver": mlserver_server, "hivemind": hivemind_server,
    "torch-rpc-tcp": lambda address: torch_rpc("torch-rpc-tcp", address, 0),
    "torch-rpc-memory": lambda address: torch_rpc("torch-rpc-memory", address, 0),
}


def free_port():
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def arrays_of(elements):
    numbers = np.random.default_rng(1)
    return [numbers.uniform(-3, 3, elements).astype(np.float32) for _ in INPUTS]


def check(call, arrays):
    got = np.asarray(call(arrays)).reshape(-1)
    if not np.allclose(got, expected(*arrays), atol=TOLERANCE):
        sys.exit("the answer is wrong")


def measure(call, elements, in_flight, seconds):
    """Latencies in seconds of all calls, and how long they took together: as many threads as calls in flight, each of which makes a
    call before."""
    arrays = arrays_of(elements)
    check(call, arrays)
    latencies = [[] for _ in range(in_flight)]
    together = threading.Barrier(in_flight + 1)

    def work(own):
        call(arrays)
        together.wait()
        begin = now = time.perf_counter()
        while now - begin < seconds:
            call(arrays)
            before, now = now, time.perf_counter()
            own.append(now - before)

    threads = [threading.Thread(target=work, args=(own,)) for own in latencies]
    for thread in threads:
        thread.start()
    together.wait()
    begin = time.perf_counter()
    for thread in threads:
        thread.join()
    return sorted(latency for own in latencies for latency in own), time.perf_counter() - begin


def serve(peer, address):
    server = SERVERS[peer](address)
    print("ready", flush=True)
    while server is not None:
        time.sleep(3600)


def call_as_told(peer, address):
    with CLIENTS[peer](address) as call:
        check(call, arrays_of(64))
        print("ready", flush=True)
        for line in sys.stdin:
            elements, in_flight, seconds = line.split()
            latencies, took = measure(call, int(elements), int(in_flight), float(seconds))
            report = {"calls_per_second": len(latencies) / took, "p50": latencies[len(latencies) // 2],
                      "p99": latencies[len(latencies) * 99 // 100]}
            print(json.dumps(report), flush=True)


if __name__ == "__main__":
    {"serve": serve, "call": call_as_told}[sys.argv[1]](*sys.argv[2:])
