"""tritonclient.http, also by asyncio, against a server of ours. Usage: triton_http.py HTTP_ADDRESS"""

import asyncio
import json
import os
import sys
import unittest
import urllib.request

import numpy as np
import tritonclient.http as triton
import tritonclient.http.aio as triton_aio
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException

ADDRESS = sys.argv.pop(1)
SELF = np.arange(8, dtype=np.float32).reshape(4, 2)
ONES = np.ones((4, 2), dtype=np.float32)
GRADIENT = np.array([-1, 0, 1, 1, 1, 1, 1, 1], dtype=np.float32).reshape(4, 2)
NONE = {"reduction": "none"}


def tensor(name, array, datatype="FP32", client=triton, binary=True):
    made = client.InferInput(name, array.shape, datatype)
    made.set_data_from_numpy(array, binary_data=binary)
    return made


def sample(client=triton, binary=True):
    arrays = {"grad_out": ONES, "self": SELF, "target": ONES}
    return [tensor(name, array, client=client, binary=binary) for name, array in arrays.items()]


class TritonHttpTest(unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(ADDRESS, concurrency=4)
        self.addCleanup(self.client.close)

    def refused(self, *arguments, **keywords):
        with self.assertRaises(InferenceServerException) as raised:
            self.client.infer(*arguments, **keywords)
        return raised.exception

    def test_health_and_metadata(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("GroupNormBackward", "1"))
        self.assertFalse(self.client.is_model_ready("GroupNormBackwards"))
        self.assertEqual(self.client.get_server_metadata()["name"], "opserve")
        metadata = self.client.get_model_metadata("CtcLoss")
        self.assertEqual([each["name"] for each in metadata["inputs"]], ["log_probs", "targets"])
        self.assertEqual(metadata["inputs"][0]["shape"], [-1, -1, -1])
        self.assertEqual(self.client.get_model_config("CtcLoss")["max_batch_size"], 0)
        index = self.client.get_model_repository_index()
        self.assertIn("CtcLoss", [model["name"] for model in index if model["state"] == "READY"])

    def test_infer_with_every_way_of_data(self):
        for binary_inputs in (True, False):
            for binary_output in (True, False, None):
                outputs = None
                if binary_output is not None:
                    outputs = [triton.InferRequestedOutput("grad_input", binary_data=binary_output)]
                with self.subTest(f"{binary_inputs} {binary_output}"):
                    answer = self.client.infer(
                        "SmoothL1LossBackward",
                        sample(binary=binary_inputs),
                        "1",
                        outputs,
                        request_id="abc",
                        parameters=NONE,
                        priority=1,
                        timeout=60000000,
                    )
                    np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)
                    self.assertEqual(answer.get_response()["id"], "abc")

    def test_parameters_of_every_kind(self):
        array = tensor("self", SELF)
        np.testing.assert_array_equal(
            self.client.infer("Permute", [array], parameters={"dims": [1, 0]}).as_numpy("out"), SELF.T
        )
        parameters = {"reduction": 0, "beta": 1.0}
        answer = self.client.infer("SmoothL1LossBackward", sample(), parameters=parameters)
        np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)

    def test_datatypes(self):
        for binary in (True, False):
            with self.subTest(binary):
                inputs = [
                    tensor("log_probs", np.log(np.full((2, 1, 3), 1 / 3)), "FP64", binary=binary),
                    tensor("targets", np.array([[1]], np.int64), "INT64", binary=binary),
                    tensor("input_lengths", np.array([2], np.int32), "INT32", binary=binary),
                    tensor("zero_infinity", np.array([True]), "BOOL", binary=binary),
                ]
                outputs = [triton.InferRequestedOutput("neg_log_likelihood", binary_data=binary)]
                answer = self.client.infer("CtcLoss", inputs, outputs=outputs, parameters={"target_lengths": [1]})
                np.testing.assert_allclose(answer.as_numpy("neg_log_likelihood"), [np.log(3)])

    def test_half_types_in_and_out(self):
        given = tensor("self", SELF.astype(np.float16), "FP16")
        for binary in (True, False):
            outputs = [triton.InferRequestedOutput("out", binary_data=binary)]
            got = self.client.infer("Permute", [given], outputs=outputs, parameters={"dims": [1, 0]}).as_numpy("out")
            self.assertEqual(got.dtype, np.float16)
            np.testing.assert_array_equal(got, SELF.T)

    def test_large_and_empty(self):
        array = np.random.default_rng(7).standard_normal(4 << 20).astype(np.float32)
        answer = self.client.infer("Relu", [tensor("self", array)])
        np.testing.assert_array_equal(answer.as_numpy("out"), np.maximum(array, 0))
        for binary in (True, False):
            empty = tensor("self", np.zeros((0, 3), np.float32), binary=binary)
            self.assertEqual(self.client.infer("Relu", [empty]).as_numpy("out").shape, (0, 3))
        special = np.array([np.nan, np.inf, 1], np.float32)
        asked = [triton.InferRequestedOutput("out", binary_data=False)]
        answer = self.client.infer("Relu", [tensor("self", special)], outputs=asked)
        np.testing.assert_array_equal(answer.as_numpy("out"), special)

    def test_errors_say_what_was_wanted(self):
        error = self.refused("SmoothL1LossBackward", sample(), parameters={"reducton": "none"})
        self.assertEqual(error.status(), "400")
        self.assertIn('did you mean "reduction"', error.message())
        self.assertEqual(self.refused("SmoothL1LosBackward", sample()).status(), "404")
        self.assertEqual(self.refused("SmoothL1LossBackward", sample(), "2").status(), "404")
        self.assertIn("target", self.refused("SmoothL1LossBackward", sample()[:2]).message())
        self.assertEqual(self.refused("Relu", [tensor("self", SELF)], request_compression_algorithm="gzip").status(), "415")

    def test_asynchronous_calls(self):
        calls = [self.client.async_infer("SmoothL1LossBackward", sample(), parameters=NONE) for _ in range(20)]
        for call in calls:
            np.testing.assert_array_equal(call.get_result().as_numpy("grad_input"), GRADIENT)

    def test_asyncio(self):
        async def call():
            async with triton_aio.InferenceServerClient(ADDRESS) as client:
                self.assertTrue(await client.is_server_ready())
                inputs = sample(triton_aio)
                calls = [client.infer("SmoothL1LossBackward", inputs, parameters=NONE) for _ in range(20)]
                return await asyncio.gather(*calls)

        for answer in asyncio.run(call()):
            np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)

    def test_statistics(self):
        def counted():
            of = self.client.get_inference_statistics("Silu")["model_stats"][0]
            self.assertEqual(of["version"], "1")
            return of["inference_stats"]["queue"]["count"]

        before = counted()
        self.client.infer("Silu", [tensor("self", ONES)])
        self.assertEqual(counted(), before + 1)

    def test_shared_memory(self):
        key = f"/opserve-triton-http-{os.getpid()}"
        handle = shm.create_shared_memory_region("tensors", key, 4 * 32)
        self.addCleanup(shm.destroy_shared_memory_region, handle)
        shm.set_shared_memory_region(handle, [ONES, SELF, ONES])
        self.client.register_system_shared_memory("tensors", key, 4 * 32)
        self.addCleanup(self.client.unregister_system_shared_memory)
        self.assertEqual([each["key"] for each in self.client.get_system_shared_memory_status()], [key])
        inputs = [triton.InferInput(name, (4, 2), "FP32") for name in ("grad_out", "self", "target")]
        for i, each in enumerate(inputs):
            each.set_shared_memory("tensors", 32, 32 * i)
        output = triton.InferRequestedOutput("grad_input")
        output.set_shared_memory("tensors", 32, 96)
        answer = self.client.infer("SmoothL1LossBackward", inputs, outputs=[output], parameters=NONE)
        self.assertEqual(answer.get_output("grad_input")["shape"], [4, 2])
        np.testing.assert_array_equal(shm.get_contents_as_numpy(handle, np.float32, [4, 2], 96), GRADIENT)
        mixed = [inputs[0], tensor("self", SELF), inputs[2]]
        answer = self.client.infer("SmoothL1LossBackward", mixed, parameters=NONE)
        np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)
        self.client.unregister_system_shared_memory("tensors")
        self.assertEqual(self.client.get_system_shared_memory_status(), [])

    def test_what_is_not_there(self):
        for call in (
            lambda: self.client.load_model("Relu"),
            lambda: self.client.unload_model("Relu"),
            self.client.get_trace_settings,
            self.client.get_log_settings,
        ):
            with self.assertRaises(InferenceServerException) as raised:
                call()
            self.assertEqual(raised.exception.status(), "501")
        with self.assertRaises(InferenceServerException) as raised:
            self.client.register_cuda_shared_memory("r", b"", 0, 8)
        self.assertEqual(raised.exception.status(), "501")

    def test_plain_json(self):
        body = {"inputs": [{"name": "self", "shape": [2, 2], "datatype": "FP32", "data": [[-1, 2], [3, -4]]}]}
        request = urllib.request.Request(f"http://{ADDRESS}/v2/models/Relu/infer", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=60) as answer:
            self.assertEqual(json.load(answer)["outputs"][0]["data"], [0, 2, 3, 0])


if __name__ == "__main__":
    unittest.main()
