"""System shared memory of the Open Inference Protocol by HTTP: its paths, its errors and its metrics.

Usage: infer_memory_http_test.py [unittest's arguments]
"""

import json
import os
import unittest
import urllib.error
import urllib.request

from infer_memory import FLAG, TIMEOUT_SECONDS, MemoryTest

from protobuf_wire import field, fields, floats


class HttpTest(MemoryTest):
    def serve(self, *flags):
        super().serve("--http", "0", *flags)
        self.http = (self.folder / "address").read_text(encoding="utf-8").split()[-1]

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.http + path, data), timeout=TIMEOUT_SECONDS) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)["error"]

    def metrics(self, prefix):
        with urllib.request.urlopen(self.http + "/metrics", timeout=TIMEOUT_SECONDS) as answer:
            lines = [line.split() for line in answer.read().decode().splitlines() if line.startswith(prefix)]
        return {name.removeprefix(prefix): float(value) for name, value in lines}

    def test_metrics_of_sparse_objects(self):
        """Their sizes may add up to more than 64 bits hold."""
        self.serve(FLAG)
        path, huge = self.object(b"x"), (1 << 63) - 4096
        self.assertEqual(self.metrics("opserve_registered_memory_"), {"regions": 0, "bytes": 0})
        os.truncate(path, huge)
        for i in range(5):
            self.register(f"r{i}", path.name, huge)
        for regions in (5, 4):
            metrics = self.metrics("opserve_registered_memory_")
            self.assertEqual(metrics["regions"], regions)
            self.assertAlmostEqual(metrics["bytes"] / huge, regions, places=9)
            self.call("SystemSharedMemoryUnregister", field(1, "r0"))

    def test_by_http(self):
        self.serve(FLAG)
        path = self.object(floats(-1.0, 2.0) + bytes(8))
        memory = "/v2/systemsharedmemory"
        key = {"key": f"/{path.name}", "offset": 0, "byte_size": 16}
        self.assertEqual(self.ask(f"{memory}/region/r/register", key), (200, {}))
        status = [{"name": "r", "key": f"/{path.name}", "offset": 0, "byte_size": 16}]
        for shown in (memory + "/status", memory + "/region/r/status"):
            self.assertEqual([{**each, "offset": each.get("offset", 0)} for each in self.ask(shown)[1]], status)
        self.assertEqual(self.regions(), ["r"])  # one user, however it comes
        tensor = {"name": "self", "shape": [2], "datatype": "FP32",
                  "parameters": {"shared_memory_region": "r", "shared_memory_byte_size": 8}}
        shared = {"shared_memory_region": "r", "shared_memory_byte_size": 8, "shared_memory_offset": 8}
        body = {"inputs": [tensor], "outputs": [{"name": "out", "parameters": shared}]}
        status, answer = self.ask("/v2/models/Relu/infer", body)
        self.assertEqual((status, answer["outputs"]), (200, [{"name": "out", "datatype": "FP32", "shape": [2]}]))
        self.assertEqual(path.read_bytes()[8:], floats(0.0, 2.0))
        self.assertEqual(self.metrics("opserve_registered_memory_"), {"regions": 1, "bytes": 16})
        self.assertEqual(self.ask("/v2/models/Relu/infer", {"inputs": [tensor]})[1]["outputs"][0]["data"], [0, 2])
        both = {"inputs": [{**tensor, "data": [1, 2]}]}
        status, error = self.ask("/v2/models/Relu/infer", both)
        self.assertEqual(status, 400)
        self.assertIn("self: want data or shared memory, got both", error)
        status, error = self.ask(f"{memory}/region/r/register", key)
        self.assertEqual(status, 409)
        self.assertIn("name: want a name that no region of the client has", error)
        self.assertEqual(self.ask(f"{memory}/region/r/unregister", {}), (200, {}))
        status, error = self.ask("/v2/models/Relu/infer", {"inputs": [tensor]})
        self.assertEqual(status, 400)
        self.assertIn("want a region of shared memory", error)

    def test_bodies_of_registrations(self):
        self.serve(FLAG)
        for words, body in (
            ("body: want key, offset and byte_size", {"key": "k", "size": 1}),
            ("byte_size: want a whole number >= 0", {"key": "k", "byte_size": -1}),
            ("offset: want a whole number >= 0", {"key": "k", "offset": 0.5}),
            ("key: want the name of a shared memory object", {"byte_size": 1}),
            ("want", {"key": 1}),
        ):
            status, error = self.ask("/v2/systemsharedmemory/region/r/register", body)
            self.assertEqual(status, 400)
            self.assertIn(words, error)
        self.assertEqual(self.ask("/v2/systemsharedmemory/register", {})[0], 400)  # no name
        self.assertEqual(self.ask("/v2/systemsharedmemory/region/r/s/register", {})[0], 404)
        self.assertEqual(self.ask("/v2/cudasharedmemory/status"), (200, []))
        status, error = self.ask("/v2/cudasharedmemory/region/r/register", {})
        self.assertEqual(status, 501)
        self.assertIn("want system shared memory", error)

    def test_without_the_flag(self):
        self.serve()
        self.assertEqual(self.metrics("opserve_registered_memory_"), {})
        self.assertEqual(self.ask("/v2/systemsharedmemory/status"), (200, []))
        self.assertEqual(self.ask("/v2/systemsharedmemory/unregister", {}), (200, {}))
        status, error = self.ask("/v2/systemsharedmemory/region/r/register", {"key": "k", "byte_size": 1})
        self.assertEqual(status, 501)
        self.assertIn(FLAG, error)


if __name__ == "__main__":
    unittest.main()
