"""tritonclient.grpc against a server of ours. Usage: triton_grpc.py ADDRESS"""

import asyncio
import os
import queue
import sys
import unittest

import ml_dtypes
import numpy as np
import tritonclient.grpc as triton
import tritonclient.grpc.aio as triton_aio
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException

ADDRESS = sys.argv.pop(1)
DATATYPES = {
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "BOOL": np.bool_,
}
SELF = np.arange(8, dtype=np.float32).reshape(4, 2)
ONES = np.ones((4, 2), dtype=np.float32)
GRADIENT = np.array([-1, 0, 1, 1, 1, 1, 1, 1], dtype=np.float32).reshape(4, 2)


def tensor(name, array, datatype="FP32", client=triton):
    made = client.InferInput(name, array.shape, datatype)
    made.set_data_from_numpy(array)
    return made


def sample(client=triton):
    arrays = {"grad_out": ONES, "self": SELF, "target": ONES}
    return [tensor(name, array, client=client) for name, array in arrays.items()]


NONE = {"reduction": "none"}


class TritonTest(unittest.TestCase):
    def setUp(self):
        self.client = triton.InferenceServerClient(ADDRESS)
        self.addCleanup(self.client.close)

    def refused(self, *arguments, **keywords):
        with self.assertRaises(InferenceServerException) as raised:
            self.client.infer(*arguments, **keywords)
        return raised.exception

    def test_health_and_metadata(self):
        self.assertTrue(self.client.is_server_live())
        self.assertTrue(self.client.is_server_ready())
        self.assertTrue(self.client.is_model_ready("GroupNormBackward"))
        self.assertTrue(self.client.is_model_ready("GroupNormBackward", "1"))
        self.assertEqual(self.client.get_server_metadata().name, "opserve")
        metadata = self.client.get_model_metadata("CtcLoss")
        self.assertEqual([each.name for each in metadata.inputs], ["log_probs", "targets"])
        config = self.client.get_model_config("CtcLoss").config
        self.assertEqual(config.max_batch_size, 0)
        self.assertIn("required", config.parameters["input_lengths"].string_value)
        index = self.client.get_model_repository_index()
        self.assertIn("CtcLoss", [model.name for model in index.models if model.state == "READY"])

    def test_infer(self):
        answer = self.client.infer("SmoothL1LossBackward", sample(), request_id="abc", parameters=NONE)
        np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)
        self.assertEqual(answer.get_response().id, "abc")
        asked = [triton.InferRequestedOutput("grad_input")]
        reserved = {"priority": 1, "timeout": 5000000}
        answer = self.client.infer(
            "SmoothL1LossBackward", sample(), "1", asked, client_timeout=60, parameters={"reduction": 2}, **reserved
        )
        np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)

    def test_every_datatype(self):
        # No operator's tensors are of all of them; attributes may be.
        for datatype, dtype in DATATYPES.items():
            with self.subTest(datatype):
                if datatype == "BOOL":
                    self.check_ctc_loss()
                    continue
                name, value = ("beta", 1) if datatype.startswith("FP") else ("reduction", 0)
                attribute = tensor(name, np.array(value, dtype), datatype)
                parameters = NONE if name == "beta" else {}
                answer = self.client.infer("SmoothL1LossBackward", [*sample(), attribute], parameters=parameters)
                np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)

    def check_ctc_loss(self):
        inputs = [
            tensor("log_probs", np.log(np.full((2, 1, 3), 1 / 3)), "FP64"),
            tensor("targets", np.array([[1]], np.int64), "INT64"),
            tensor("input_lengths", np.array([2], np.int32), "INT32"),
            tensor("zero_infinity", np.array([True]), "BOOL"),
        ]
        answer = self.client.infer("CtcLoss", inputs, parameters={"target_lengths": "[1]"})
        np.testing.assert_allclose(answer.as_numpy("neg_log_likelihood"), [np.log(3)])

    def test_half_types(self):
        for dtype in (np.float16, np.float32):
            datatype = "FP16" if dtype is np.float16 else "FP32"
            given = tensor("self", SELF.astype(dtype), datatype)
            answer = self.client.infer("Permute", [given], parameters={"dims": "[1,0]"})
            got = answer.as_numpy("out")
            self.assertEqual(got.dtype, dtype)
            np.testing.assert_array_equal(got, SELF.T)

    def test_bfloat16(self):
        array = (SELF - 3).astype(ml_dtypes.bfloat16)
        got = self.client.infer("Relu", [tensor("self", array, "BF16")]).as_numpy("out")
        np.testing.assert_array_equal(got.astype(np.float32), np.maximum(SELF - 3, 0))

    def test_empty_and_scalar_tensors(self):
        answer = self.client.infer("Relu", [tensor("self", np.zeros((0, 3), np.float32))])
        self.assertEqual(answer.as_numpy("out").shape, (0, 3))
        answer = self.client.infer("Relu", [tensor("self", np.array(-2, np.float32))])
        self.assertEqual(answer.as_numpy("out").shape, ())

    def test_large(self):
        array = np.random.default_rng(7).standard_normal(4 << 20).astype(np.float32)
        answer = self.client.infer("Relu", [tensor("self", array)])
        np.testing.assert_array_equal(answer.as_numpy("out"), np.maximum(array, 0))

    def test_errors_say_what_was_wanted(self):
        error = self.refused("SmoothL1LossBackward", sample(), parameters={"reducton": "none"})
        self.assertEqual(error.status(), "StatusCode.INVALID_ARGUMENT")
        self.assertIn('did you mean "reduction"', error.message())
        self.assertEqual(self.refused("SmoothL1LosBackward", sample()).status(), "StatusCode.NOT_FOUND")
        self.assertEqual(self.refused("SmoothL1LossBackward", sample(), "2").status(), "StatusCode.NOT_FOUND")
        self.assertIn("target", self.refused("SmoothL1LossBackward", sample()[:2]).message())
        error = self.refused("SmoothL1LossBackward", sample(), parameters=NONE, sequence_id=5, sequence_start=True)
        self.assertIn("no sequence", error.message())
        text = triton.InferInput("self", [1], "BYTES")
        text.set_data_from_numpy(np.array([b"x"], dtype=object))
        self.assertIn("datatype", self.refused("Relu", [text]).message())

    def test_asynchronous_calls(self):
        answers = queue.Queue()
        for number in range(50):
            self.client.async_infer(
                "SmoothL1LossBackward",
                sample(),
                lambda result, error: answers.put((result, error)),
                request_id=str(number),
                parameters=NONE,
            )
        seen = set()
        for _ in range(50):
            result, error = answers.get(timeout=60)
            self.assertIsNone(error)
            np.testing.assert_array_equal(result.as_numpy("grad_input"), GRADIENT)
            seen.add(result.get_response().id)
        self.assertEqual(seen, {str(number) for number in range(50)})

    def test_stream(self):
        answers = queue.Queue()
        self.client.start_stream(lambda result, error: answers.put((result, error)))
        for number in range(50):
            model = "SmoothL1LosBackward" if number == 30 else "SmoothL1LossBackward"
            self.client.async_stream_infer(model, sample(), request_id=str(number), parameters=NONE)
        for number in range(50):
            result, error = answers.get(timeout=60)
            if number == 30:
                self.assertIn("did you mean", error.message())
                continue
            self.assertIsNone(error)
            np.testing.assert_array_equal(result.as_numpy("grad_input"), GRADIENT)
            response = result.get_response()
            self.assertEqual(response.id, str(number))
            self.assertTrue(response.parameters["triton_final_response"].bool_param)
        self.client.stop_stream()

    def test_stream_by_asyncio(self):
        async def requests():
            for number in range(20):
                yield {"model_name": "SmoothL1LossBackward", "inputs": sample(triton_aio), "request_id": str(number),
                       "parameters": NONE}

        async def call():
            async with triton_aio.InferenceServerClient(ADDRESS) as client:
                return [answer async for answer in client.stream_infer(requests())]

        answers = asyncio.run(call())
        self.assertEqual([result.get_response().id for result, _ in answers], [str(n) for n in range(20)])

    def test_asyncio(self):
        async def call():
            async with triton_aio.InferenceServerClient(ADDRESS) as client:
                inputs = sample(triton_aio)
                calls = [client.infer("SmoothL1LossBackward", inputs, parameters=NONE) for _ in range(20)]
                return await asyncio.gather(*calls)

        for answer in asyncio.run(call()):
            np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)

    def test_statistics(self):
        def counted():
            of = self.client.get_inference_statistics("Silu").model_stats[0]
            self.assertEqual(of.version, "1")
            return of.inference_stats.queue.count

        before = counted()
        self.client.infer("Silu", [tensor("self", ONES)])
        self.assertEqual(counted(), before + 1)

    def regions(self):
        return self.client.get_system_shared_memory_status().regions

    def test_shared_memory(self):
        handle = shm.create_shared_memory_region("tensors", f"/opserve-triton-{os.getpid()}", 4 * 32)
        self.addCleanup(shm.destroy_shared_memory_region, handle)
        shm.set_shared_memory_region(handle, [ONES, SELF, ONES])
        self.client.register_system_shared_memory("tensors", f"/opserve-triton-{os.getpid()}", 4 * 32)
        self.addCleanup(self.client.unregister_system_shared_memory)
        self.assertEqual(self.regions()["tensors"].byte_size, 4 * 32)
        inputs = [triton.InferInput(name, (4, 2), "FP32") for name in ("grad_out", "self", "target")]
        for i, each in enumerate(inputs):
            each.set_shared_memory("tensors", 32, 32 * i)
        output = triton.InferRequestedOutput("grad_input")
        output.set_shared_memory("tensors", 32, 96)
        answer = self.client.infer("SmoothL1LossBackward", inputs, outputs=[output], parameters=NONE)
        self.assertEqual(list(answer.get_output("grad_input").shape), [4, 2])
        np.testing.assert_array_equal(shm.get_contents_as_numpy(handle, np.float32, [4, 2], 96), GRADIENT)
        mixed = [inputs[0], tensor("self", SELF), inputs[2]]
        answer = self.client.infer("SmoothL1LossBackward", mixed, parameters=NONE)
        np.testing.assert_array_equal(answer.as_numpy("grad_input"), GRADIENT)
        asynchronous = queue.Queue()
        for _ in range(32):
            done = lambda result, error: asynchronous.put(error)  # noqa: E731
            self.client.async_infer("SmoothL1LossBackward", inputs, done, outputs=[output], parameters=NONE)
        self.assertEqual([asynchronous.get(timeout=60) for _ in range(32)], [None] * 32)
        self.client.unregister_system_shared_memory("tensors")
        self.assertEqual(len(self.regions()), 0)
        with self.assertRaisesRegex(InferenceServerException, "want a region of shared memory that the client registered"):
            self.client.infer("SmoothL1LossBackward", inputs, parameters=NONE)

    def test_large_shared_memory(self):
        count = 4 << 20
        key = f"/opserve-triton-large-{os.getpid()}"
        handle = shm.create_shared_memory_region("large", key, 8 * count)
        self.addCleanup(shm.destroy_shared_memory_region, handle)
        values = np.arange(-(count // 2), count // 2, dtype=np.float32)
        shm.set_shared_memory_region(handle, [values])
        self.client.register_system_shared_memory("large", key, 8 * count)
        self.addCleanup(self.client.unregister_system_shared_memory, "large")
        given = triton.InferInput("self", (count,), "FP32")
        given.set_shared_memory("large", 4 * count)
        output = triton.InferRequestedOutput("out")
        output.set_shared_memory("large", 4 * count, 4 * count)
        # The object's second half was never written before the first call, so that call copies its input; the second does not.
        for contents in (values, values[::-1]):
            shm.set_shared_memory_region(handle, [contents])
            self.client.infer("Relu", [given], outputs=[output])
            out = shm.get_contents_as_numpy(handle, np.float32, [count], 4 * count)
            np.testing.assert_array_equal(out, np.maximum(contents, 0))

    def test_what_is_not_there(self):
        for call in (
            lambda: self.client.load_model("Relu"),
            lambda: self.client.unload_model("Relu"),
            self.client.get_trace_settings,
            self.client.get_log_settings,
        ):
            with self.assertRaises(InferenceServerException) as raised:
                call()
            self.assertEqual(raised.exception.status(), "StatusCode.UNIMPLEMENTED")
        self.assertEqual(len(self.client.get_cuda_shared_memory_status().regions), 0)
        with self.assertRaises(InferenceServerException) as raised:
            self.client.register_cuda_shared_memory("r", b"", 0, 8)
        self.assertEqual(raised.exception.status(), "StatusCode.UNIMPLEMENTED")


if __name__ == "__main__":
    unittest.main()
