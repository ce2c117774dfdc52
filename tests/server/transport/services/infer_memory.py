"""A server and clients that share memory with it by the Open Inference Protocol: what the tests of regions have in common."""

import itertools
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/server/tracing")]

import grpc  # noqa: E402

import running_server  # noqa: E402
from protobuf_wire import field, fields, first, packed  # noqa: E402

TIMEOUT_SECONDS = 60
SERVICE = "/inference.GRPCInferenceService/"
FLAG = "--open-inference-shared-memory"
OBJECTS = itertools.count()


def text(name, value):
    return field(1, name) + field(2, field(3, value))


def number(name, value):
    return field(1, name) + field(2, field(2, value))


def place(tag, region, byte_size, offset=0):
    """The parameters of a tensor that is in a region, as fields `tag`."""
    parameters = [text("shared_memory_region", region), number("shared_memory_byte_size", byte_size)]
    if offset:
        parameters.append(number("shared_memory_offset", offset))
    return b"".join(field(tag, each) for each in parameters)


def relu(elements, where=b"", out=b"", raw=()):
    tensor = field(1, "self") + field(2, "FP32") + packed(3, [elements]) + where
    outputs = field(6, field(1, "out") + out) if out else b""
    return field(1, "Relu") + field(5, tensor) + outputs + b"".join(field(7, each) for each in raw)


class MemoryTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="opserve-")))

    def serve(self, *flags, listen=("--listen", "127.0.0.1:0")):
        server = running_server.running_process(self.folder, "--device", "cpu,threads=2", *flags, listen=listen)
        address, _ = self.enterContext(server)
        self.address = address
        options = [("grpc.max_receive_message_length", -1)]
        self.channel = self.enterContext(grpc.insecure_channel(address, options=options))

    def call(self, method, request=b""):
        return self.channel.unary_unary(SERVICE + method)(request, timeout=TIMEOUT_SECONDS)

    def refused(self, code, words, method, request):
        with self.assertRaises(grpc.RpcError) as raised:
            self.call(method, request)
        self.assertEqual(raised.exception.code(), code, raised.exception.details())
        self.assertIn(words, raised.exception.details())

    def object(self, content):
        """A shared memory object, by the name that shm_open has for it, without the slash."""
        path = pathlib.Path("/dev/shm") / f"opserve-test-{os.getpid()}-{next(OBJECTS)}"
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
        self.addCleanup(path.unlink, missing_ok=True)
        os.write(descriptor, content)
        os.close(descriptor)
        return path

    def register(self, name, key, byte_size, offset=0):
        request = field(1, name) + field(2, key) + (field(3, offset) if offset else b"") + field(4, byte_size)
        return self.call("SystemSharedMemoryRegister", request)

    def register_refused(self, code, words, name, key, byte_size, offset=0):
        request = field(1, name) + field(2, key) + (field(3, offset) if offset else b"") + field(4, byte_size)
        self.refused(code, words, "SystemSharedMemoryRegister", request)

    def regions(self):
        entries = fields(self.call("SystemSharedMemoryStatus")).get(1, [])
        return sorted(first(entry, 1).decode() for entry in entries)
