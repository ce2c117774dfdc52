"""System shared memory of the Open Inference Protocol by gRPC, by its own bytes: whose is what, and clients that mean harm.

Usage: infer_memory_test.py [unittest's arguments]
"""

import os
import pathlib
import socket
import struct
import subprocess
import sys
import unittest

import grpc

from infer_memory import FLAG, SERVICE, TIMEOUT_SECONDS, MemoryTest, number, place, relu, text

import toolchains
from protobuf_wire import field, fields, first, floats, packed

OTHER_USER = 65533
LARGE = 1 << 20  # elements: more than is read on a thread of the network
INVALID = grpc.StatusCode.INVALID_ARGUMENT


class GrpcTest(MemoryTest):
    def test_inputs_and_outputs_in_regions(self):
        self.serve(FLAG)
        self.assertIn(b"system_shared_memory", fields(self.call("ServerMetadata"))[3])
        path = self.object(bytes(8) + floats(-1.0, 2.0, -3.0, 4.0) + bytes(24))
        self.register("in", f"/{path.name}", 16, 8)
        self.register("out", path.name, 24, 24)
        self.assertEqual(self.regions(), ["in", "out"])
        answer = self.call("ModelInfer", relu(3, place(4, "in", 12, 4), place(2, "out", 20, 4)))
        self.assertEqual(fields(answer)[6], [b""])  # one entry for each output, always
        self.assertEqual(path.read_bytes()[24:], bytes(4) + floats(2.0, 0.0, 4.0) + bytes(8))
        # Inputs from regions, outputs in the message, and the other way round.
        self.assertEqual(fields(self.call("ModelInfer", relu(2, place(4, "in", 8))))[6], [floats(0.0, 2.0)])
        answer = self.call("ModelInfer", relu(2, out=place(2, "out", 8), raw=[floats(5.0, -5.0)]))
        self.assertEqual(fields(answer)[6], [b""])
        self.assertEqual(path.read_bytes()[24:32], floats(5.0, 0.0))

    def test_raw_entries_are_those_of_the_other_inputs(self):
        self.serve(FLAG)
        path = self.object(floats(3.0, 4.0))
        self.register("r", path.name, 8)

        def request(*raw):
            one = [field(1, name) + field(2, "FP32") + packed(3, [2]) for name in ("self", "other")]
            shared = one[0] + place(4, "r", 8)
            return field(1, "Mul") + field(5, shared) + field(5, one[1]) + b"".join(field(7, each) for each in raw)

        self.assertEqual(fields(self.call("ModelInfer", request(floats(2.0, -1.0))))[6], [floats(6.0, -4.0)])
        self.refused(INVALID, "want 1 entries, one for each input that is not in shared memory", "ModelInfer", request())
        two = request(floats(1.0, 1.0), floats(1.0, 1.0))
        self.refused(INVALID, "raw_input_contents", "ModelInfer", two)

    def test_a_plan_is_nobodys(self):
        """Requests that differ in their regions alone have one plan, and each its own bytes."""
        self.serve(FLAG)
        for name, value in (("a", 1.0), ("b", 2.0)):
            self.register(name, self.object(floats(value)).name, 4)
        for name, value in (("a", 1.0), ("b", 2.0)) * 3:
            self.assertEqual(fields(self.call("ModelInfer", relu(1, place(4, name, 4))))[6], [floats(value)])
        self.assertEqual(fields(self.call("ModelInfer", relu(1, raw=[floats(7.0)])))[6], [floats(7.0)])
        self.call("SystemSharedMemoryUnregister", field(1, "a"))
        self.refused(INVALID, "want a region of shared memory that the client registered, got \"a\"", "ModelInfer",
                     relu(1, place(4, "a", 4)))

    def test_large_tensors(self):
        self.serve(FLAG)
        path = self.object(struct.pack(f"<{LARGE}f", *([-1.0, 2.0] * (LARGE // 2))) + bytes(4 * LARGE))
        self.register("r", path.name, 8 * LARGE)
        request = relu(LARGE, place(4, "r", 4 * LARGE), place(2, "r", 4 * LARGE, 4 * LARGE))
        self.call("ModelInfer", request)
        self.assertEqual(path.read_bytes()[4 * LARGE:], struct.pack("<2f", 0.0, 2.0) * (LARGE // 2))
        stream = self.channel.stream_stream(SERVICE + "ModelStreamInfer")
        answers = list(stream(iter([request, relu(2, place(4, "r", 8))]), timeout=TIMEOUT_SECONDS))
        self.assertEqual([fields(first(each, 2))[6] for each in answers], [[b""], [floats(0.0, 2.0)]])

    def test_answers_in_regions_may_be_larger_than_messages(self):
        self.serve(FLAG, "--max-message-bytes", "1MiB")
        path = self.object(bytes(8 * LARGE))
        self.register("r", path.name, 8 * LARGE)
        answer = self.call("ModelInfer", relu(LARGE, place(4, "r", 4 * LARGE), place(2, "r", 4 * LARGE, 4 * LARGE)))
        self.assertEqual(fields(answer)[6], [b""])

    def test_what_is_wrong_with_a_request(self):
        self.serve(FLAG)
        path = self.object(bytes(64))
        self.register("r", path.name, 64)
        most = (1 << 63) - 1
        for words, where, out in (
            ("self: want a shared_memory_offset of at most 64", place(4, "r", 8, most), b""),
            ("self: want a shared_memory_byte_size of at most 60", place(4, "r", most, 4), b""),
            ("self", place(4, "r", 4), b""),  # fewer bytes than the tensor has
            ("self", place(4, "r", 12), b""),
            ("self: want shared_memory_byte_size", field(4, text("shared_memory_region", "r")), b""),
            ("self: want shared_memory_region", field(4, number("shared_memory_byte_size", 8)), b""),
            ("self: want shared_memory_offset >= 0, got -1", place(4, "r", 8, -1 & (1 << 64) - 1), b""),
            ("self: want shared_memory_region with the name", field(4, number("shared_memory_region", 1)) +
             field(4, number("shared_memory_byte_size", 8)), b""),
            ("got unknown parameter \"shared_memory_sizes\"", place(4, "r", 8) + field(4, number("shared_memory_sizes", 8)), b""),
            ("self: want no contents, as it is in shared memory", place(4, "r", 8) + field(5, packed(6, [])), b""),
            ("out: want a shared_memory_byte_size of at least 8, got 7", place(4, "r", 8), place(2, "r", 7)),
            ("out: want a shared_memory_offset of at most 64", place(4, "r", 8), place(2, "r", 8, 65)),
            ("out: want a region of shared memory", place(4, "r", 8), place(2, "\u00e9\x01", 8)),
        ):
            with self.subTest(words=words):
                self.refused(INVALID, words, "ModelInfer", relu(2, where, out))
        self.assertEqual(path.read_bytes(), bytes(64))

    def test_objects_larger_than_any_memory(self):
        """Their sizes count as they are, and do not add up to less than nothing."""
        self.serve(FLAG)
        path = self.object(floats(1.0, 2.0))
        huge = (1 << 63) - 4096
        os.truncate(path, huge)
        self.register("r", path.name, huge)
        inputs = [field(1, name) + field(2, "FP32") + packed(3, [2]) + place(4, "r", huge) for name in ("self", "other")]
        for request in (relu(2, place(4, "r", huge)), field(1, "Mul") + b"".join(field(5, each) for each in inputs)):
            self.refused(INVALID, "self: want a shared_memory_byte_size of at most", "ModelInfer", request)
        some = place(4, "r", 1 << 47)
        two = b"".join(field(5, field(1, name) + field(2, "FP32") + packed(3, [2]) + some) for name in ("self", "other"))
        self.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, "want", "ModelInfer", field(1, "Mul") + two)
        self.assertEqual(fields(self.call("ModelInfer", relu(2, place(4, "r", 8))))[6], [floats(1.0, 2.0)])

    def test_what_is_wrong_with_a_registration(self):
        self.serve(FLAG)
        path = self.object(bytes(64))
        denied = grpc.StatusCode.PERMISSION_DENIED
        most = (1 << 64) - 1
        for code, words, name, key, byte_size, offset in (
            (INVALID, "name: want 1 to 255 bytes, got 0", "", path.name, 8, 0),
            (INVALID, "name: want 1 to 255 bytes, got 256", "n" * 256, path.name, 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "", 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "/", 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "//" + path.name, 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "../etc/passwd", 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "/..", 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "sub/object", 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", path.name + "\0x", 8, 0),
            (INVALID, "key: want the name of a shared memory object", "r", "k" * 256, 8, 0),
            (INVALID, "key: want a shared memory object that exists", "r", path.name + "-not", 8, 0),
            (INVALID, "byte_size: want from 1 to 64", "r", path.name, 0, 0),
            (INVALID, "byte_size: want from 1 to 64", "r", path.name, 65, 0),
            (INVALID, "byte_size: want from 1 to 56", "r", path.name, most - 7, 8),
            (INVALID, "offset: want at most the object's 64 bytes", "r", path.name, 8, most),
        ):
            with self.subTest(words=words, key=key, name=name):
                self.register_refused(code, words, name, key, byte_size, offset)
        link = pathlib.Path("/dev/shm") / f"{path.name}-link"
        link.symlink_to("/etc/hostname")
        self.addCleanup(link.unlink)
        self.register_refused(INVALID, "key: want a shared memory object that can be opened", "r", link.name, 1)
        pipe = pathlib.Path("/dev/shm") / f"{path.name}-pipe"
        os.mkfifo(pipe)
        self.addCleanup(pipe.unlink)
        self.register_refused(INVALID, "key: want a shared memory object", "r", pipe.name, 1)
        if os.geteuid() == 0:
            os.chown(path, OTHER_USER, -1)
            self.register_refused(denied, "key: want an object of the client's user, 0, got one of user 65533", "r", path.name, 8)
            os.chown(path, 0, -1)
        self.register("\u00e9 \"\n", path.name, 8)  # any text is a name
        self.register_refused(grpc.StatusCode.ALREADY_EXISTS, "name: want a name that no region of the client has",
                              "\u00e9 \"\n", path.name, 8)
        self.assertEqual(self.regions(), ["\u00e9 \"\n"])
        self.refused(INVALID, "name: want a region", "SystemSharedMemoryStatus", field(1, "other"))

    def test_objects_that_change(self):
        self.serve(FLAG)
        path = self.object(floats(-1.0, 2.0) + bytes(8192))
        self.register("r", path.name, 8200)
        both = relu(2, place(4, "r", 8), place(2, "r", 8, 8192))
        self.call("ModelInfer", both)
        os.truncate(path, 8192)
        self.refused(INVALID, "out: want a shared memory object as long as when region \"r\" was registered", "ModelInfer", both)
        self.assertEqual(path.stat().st_size, 8192)  # it is not made longer
        os.truncate(path, 4)
        self.refused(INVALID, "self: want a shared memory object as long as", "ModelInfer", both)
        path.unlink()
        self.refused(INVALID, "a shorter one", "ModelInfer", both)
        unlinked = self.object(floats(-1.0, 2.0))
        self.register("u", unlinked.name, 8)
        unlinked.unlink()  # what was registered stays until it is unregistered
        self.assertEqual(fields(self.call("ModelInfer", relu(2, place(4, "u", 8))))[6], [floats(0.0, 2.0)])
        self.call("SystemSharedMemoryUnregister")
        self.assertEqual(self.regions(), [])

    def test_many_registrations(self):
        self.serve(FLAG)
        path = self.object(bytes(64))
        registered = 0
        for i in range(10_000):
            try:
                self.register(f"r{i}", path.name, 64)
                registered += 1
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
                self.assertIn("regions: want at most 1024, and of them 768 of one client now", error.details())
        self.assertEqual(registered, 768)
        self.assertEqual(fields(self.call("ModelInfer", relu(2, place(4, "r767", 8))))[6], [bytes(8)])
        self.call("SystemSharedMemoryUnregister")
        self.register("again", path.name, 64)
        self.assertEqual(self.regions(), ["again"])

    def test_without_the_flag(self):
        self.serve()
        self.assertNotIn(b"system_shared_memory", fields(self.call("ServerMetadata"))[3])
        path = self.object(bytes(64))
        self.register_refused(grpc.StatusCode.UNIMPLEMENTED, FLAG, "r", path.name, 8)
        self.assertEqual(self.regions(), [])
        self.call("SystemSharedMemoryUnregister")
        self.refused(grpc.StatusCode.FAILED_PRECONDITION, "self: want data in the message", "ModelInfer",
                     relu(2, place(4, "r", 8)))

    def test_other_machines(self):
        """An address that is not loopback is another machine's, even if it is this one's."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # nothing is sent
            except OSError:
                self.skipTest("this machine has no address but loopback")
            host = probe.getsockname()[0]
        self.serve(FLAG, "--insecure", listen=("--listen", "0.0.0.0:0"))
        path = self.object(floats(-1.0, 2.0))
        self.register("r", path.name, 8)
        self.channel = self.enterContext(grpc.insecure_channel(f"{host}:{self.address.rpartition(':')[2]}"))
        denied = grpc.StatusCode.PERMISSION_DENIED
        self.register_refused(denied, "shared memory: want a client on this machine", "other", path.name, 8)
        self.refused(denied, "shared memory: want a client on this machine", "ModelInfer", relu(2, place(4, "r", 8)))
        self.assertEqual(self.regions(), [])
        self.call("SystemSharedMemoryUnregister")  # takes nobody's away
        self.channel = self.enterContext(grpc.insecure_channel(self.address.replace("0.0.0.0", "127.0.0.1")))
        self.assertEqual(self.regions(), ["r"])

    def test_cuda(self):
        self.serve(FLAG)
        self.assertEqual(self.call("CudaSharedMemoryStatus"), b"")
        for method in ("CudaSharedMemoryRegister", "CudaSharedMemoryUnregister"):
            self.refused(grpc.StatusCode.UNIMPLEMENTED, "want system shared memory", method, b"")


# Another user's program: registers what it is told to, and asks for the first user's region.
OTHER = """
import os, sys
os.setgid(65533); os.setuid(65533)
import grpc
address, register, infer = sys.argv[1], bytes.fromhex(sys.argv[2]), bytes.fromhex(sys.argv[3])
channel = grpc.insecure_channel(address)
for method, request in (("SystemSharedMemoryRegister", register), ("SystemSharedMemoryStatus", b""), ("ModelInfer", infer)):
    try:
        answer = channel.unary_unary("/inference.GRPCInferenceService/" + method)(request, timeout=60)
        print("OK", answer.hex())
    except grpc.RpcError as error:
        print(error.code().name, error.details().splitlines()[0])
"""


class UsersTest(MemoryTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            toolchains.skip("only root can be two users")

    def as_other(self, key):
        register = field(1, "mine") + field(2, key) + field(4, 8)
        words = [sys.executable, "-c", OTHER, self.address, register.hex(), relu(2, place(4, "r", 8)).hex()]
        ran = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True)
        return ran.stdout.splitlines()

    def test_by_tcp(self):
        self.serve(FLAG)
        path = self.object(floats(1.0, 2.0))
        path.chmod(0o666)
        self.register("r", path.name, 8)
        register, status, infer = self.as_other(path.name)
        self.assertEqual(register, "PERMISSION_DENIED key: want an object of the client's user, 65533, got one of user 0")
        self.assertEqual(status, "OK ")
        self.assertRegex(infer, "INVALID_ARGUMENT self: want a region of shared memory that the client registered")
        own = self.object(floats(-3.0, 4.0))
        os.chown(own, OTHER_USER, OTHER_USER)
        register, status, infer = self.as_other(own.name)
        self.assertEqual(register, "OK ")
        self.assertIn(b"mine".hex(), status)
        self.assertRegex(infer, "INVALID_ARGUMENT")  # "r" is the first user's
        self.assertEqual(self.regions(), ["r"])

    def test_by_a_unix_socket(self):
        """One user has regions there; as soon as there are two that are not root, none has."""
        self.folder.chmod(0o755)
        listen = ("--listen", f"unix:{self.folder}/socket", "--unix-socket-mode", "0666")
        self.serve(FLAG, listen=listen)
        path = self.object(floats(1.0, 2.0))
        self.register("r", path.name, 8)
        self.assertEqual(self.regions(), ["r"])
        own = self.object(floats(-3.0, 4.0))
        os.chown(own, OTHER_USER, OTHER_USER)
        register, status, infer = self.as_other(path.name)
        self.assertRegex(register, "PERMISSION_DENIED key: want an object of the client's user, 65533")
        self.assertRegex(infer, "INVALID_ARGUMENT self: want a region")
        self.assertEqual(self.as_other(own.name)[0], "OK ")
        # Root is taken for the other one now, and has less for it, not more.
        self.register_refused(grpc.StatusCode.PERMISSION_DENIED, "of the client's user, 65533", "x", path.name, 8)


if __name__ == "__main__":
    unittest.main()
