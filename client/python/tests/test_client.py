"""The synchronous client against a real server."""

import gc
import inspect
import pickle
import threading
import time
import weakref

import grpc
import numpy as np
import pytest

import opserve

X = np.arange(8, dtype=np.float32).reshape(4, 2)


def test_the_sample(client, sample):
    op, inputs, attributes, gradient = sample
    result = client.execute(op, inputs, **attributes)
    assert list(result) == ["grad_input"] and result.execution is None
    np.testing.assert_array_equal(result["grad_input"], gradient)
    assert not result["grad_input"].flags.writeable
    np.testing.assert_array_equal(client.execute(op, inputs, attributes)["grad_input"], gradient)
    with pytest.raises(KeyError, match="grad_input"):
        result["grad_output"]


def test_a_number_and_views(client, sample):
    op, inputs, attributes, gradient = sample
    views = {"grad_out": 1, "self": np.asfortranarray(X), "target": np.broadcast_to(np.float32(1), (4, 2))}
    np.testing.assert_array_equal(client.execute(op, views, **attributes)["grad_input"], gradient)


def test_report_and_out(client, sample):
    op, inputs, attributes, gradient = sample
    out = np.zeros((4, 2), np.float16)
    result = client.execute(op, inputs, attributes, out={"grad_input": out}, report=True, device="cpu:0")
    assert result["grad_input"] is out and result.execution.device == "cpu:0"
    np.testing.assert_array_equal(out, gradient)


@pytest.mark.parametrize("out, told", [
    (np.zeros(2, np.float32), "out: want a mapping of arrays by the names of outputs, got ndarray"), ([], "out: want a mapping.*got list"),
    ({"out": [0.0, 0.0]}, "out: out: want an array of NumPy to write to, got list"), ({"out": None}, "out: out: .*got NoneType")])
def test_what_is_no_out(client, out, told):
    with pytest.raises(TypeError, match=told):
        client.execute("Relu", {"self": X}, out=out)
    with pytest.raises(TypeError, match=told):
        client.execute_batch([opserve.Call("Relu", {"self": X}, {}, out)])


def test_bfloat16(client):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    result = client.execute("Relu", {"self": np.array([-1, 2.5], ml_dtypes.bfloat16)})["out"]
    assert result.dtype == ml_dtypes.bfloat16 and result.tolist() == [0, 2.5]


def test_calls_go_in_turn_to_all_addresses():
    with opserve.server() as first, opserve.server() as second, first.connect() as one, second.connect() as two:
        addresses = (f"127.0.0.1:{server.address.rpartition(':')[2]}" for server in (first, second))
        with opserve.connect("ipv4:" + ",".join(addresses), timeout=30) as client:
            deadline = time.monotonic() + 30
            while not all(direct.statistics().engine.inline_calls for direct in (one, two)):
                client.execute("Relu", {"self": X})
                assert time.monotonic() < deadline


def test_a_batch_has_each_its_own_result_or_error(client, sample):
    op, inputs, attributes, gradient = sample
    good, bad, other = client.execute_batch([
        opserve.Call(op, inputs, attributes), opserve.Call(op, inputs, {"beta": -1.0}), opserve.Call("Relu", {"self": -X})])
    np.testing.assert_array_equal(good["grad_input"], gradient)
    assert isinstance(bad, ValueError) and bad.parameter == "beta"
    np.testing.assert_array_equal(other["out"], np.zeros_like(X))
    assert client.execute_batch([]) == []


def test_plan(client):
    plan = client.plan("L1Loss", {"self": opserve.Spec((64, 1000)), "target": opserve.Spec((64, 1000), "f2")})
    assert plan.outputs["out"].shape == () and plan.outputs["out"].dtype == np.float32
    assert plan.input_bytes == 64 * 1000 * 6 and plan.device == "cpu:0" and plan.expected_seconds > 0
    with pytest.raises(opserve.InvalidArgumentError) as told:
        client.plan("L1Loss", {"self": opserve.Spec((3,)), "target": opserve.Spec((4,))})
    assert told.value.reason == "SHAPE_MISMATCH"


def test_discovery(client):
    operator = client.operators()["SmoothL1LossBackward"]
    assert operator.family == "Losses" and [row.name for row in operator.inputs] == ["grad_out", "self", "target"]
    assert "<b>SmoothL1LossBackward</b>" in operator._repr_html_()
    assert client.devices()[0].name == "cpu:0"
    assert client.info().version == opserve.__version__
    before = client.statistics().engine.inline_calls + client.statistics().engine.queued_calls
    client.execute("Relu", {"self": X})
    assert client.statistics().engine.inline_calls + client.statistics().engine.queued_calls == before + 1


def test_functions(client, sample):
    op, inputs, attributes, gradient = sample
    function = client.ops.smooth_l1_loss_backward
    np.testing.assert_array_equal(function(*inputs.values(), **attributes), gradient)
    np.testing.assert_array_equal(function(**inputs, **attributes), gradient)
    assert str(inspect.signature(function)).startswith("(grad_out: 'ArrayLike', self: 'ArrayLike', target: 'ArrayLike', *, reduction")
    assert "beta: where the loss turns" in function.__doc__
    assert "smooth_l1_loss_backward" in dir(client.ops) and len(dir(client.ops)) > 100
    out = np.empty((4, 2), np.float32)
    assert function(1.0, X, 1.0, **attributes, out=out) is out
    result = client.ops.group_norm(np.ones((1, 4, 2), "f4"), N=1, C=4, HxW=2, group=2)
    assert list(result) == ["out", "mean", "rstd"]
    with pytest.raises(TypeError, match="lambd"):
        client.ops.hardshrink(X)
    with pytest.raises(AttributeError, match='"smooth_l1_loss_backward"'):
        client.ops.SmoothL1LossBackwards  # noqa: B018
    with pytest.raises(TypeError, match='hardshrink: unexpected argument .lamda.; did you mean "lambd"'):
        client.ops.hardshrink(np.ones(3, np.float32), lamda=0.5)
    with pytest.raises(AttributeError, match="hardsink"):
        client.ops.hardsink


def test_no_parameter_is_hidden_by_an_option(client):
    names = [row.name for operator in client.operators().values() for row in (*operator.inputs, *operator.attributes)]
    assert not set(names) & {"out", "device", "timeout"}
    functions = [operator.function_name for operator in client.operators().values()]
    assert len(set(functions)) == len(functions)


@pytest.mark.parametrize("op, inputs, attributes, kind, fields", [
    ("SmoothL1Loss", {"self": X, "target": X}, {"beta": -1.0}, ValueError,
     dict(code=grpc.StatusCode.INVALID_ARGUMENT, reason="OUT_OF_RANGE", aclnn_code=161002, operator="SmoothL1Loss",
          parameter="beta", want=">= 0", got="-1")),
    ("SmoothL1Los", {"self": X}, {}, LookupError, dict(reason="OPERATOR_NOT_FOUND", aclnn_code=None)),
    ("L1Loss", {"self": X}, {}, ValueError, dict(reason="MISSING_PARAMETER", parameter="target", aclnn_code=161001)),
    ("Relu", {"self": X}, {"device": "cpu:77"}, LookupError, dict(reason="DEVICE_NOT_FOUND")),
    ("Matmul", {"self": np.ones((1 << 15, 1)), "mat2": np.ones((1, 1 << 15))}, {}, opserve.OpserveError, {}),
    ("Relu", {"self": X}, {"timeout": 1e-9}, TimeoutError, dict(code=grpc.StatusCode.DEADLINE_EXCEEDED))])
def test_errors(client, op, inputs, attributes, kind, fields):
    with pytest.raises(kind) as told:
        client.execute(op, inputs, **attributes)
    assert isinstance(told.value, opserve.OpserveError)
    assert {name: getattr(told.value, name) for name in fields} == fields
    again = pickle.loads(pickle.dumps(told.value))
    assert (type(again), str(again), again.reason) == (type(told.value), str(told.value), told.value.reason)


def test_an_error_says_why_in_one_line(client):
    with pytest.raises(ValueError) as told:
        client.execute("SmoothL1Loss", {"self": X, "target": X}, beta=-1.0)
    assert str(told.value) == "OUT_OF_RANGE 161002: SmoothL1Loss: beta: want >= 0, got -1"


def test_nobody_listens():
    with pytest.raises(ConnectionError) as told:
        opserve.connect("localhost:1", timeout=3)
    assert str(told.value).startswith("UNAVAILABLE: ")


def test_the_environment_names_the_server(server, monkeypatch):
    monkeypatch.setenv("OPSERVE_TARGET", server.address)
    with opserve.connect() as client:
        assert client.info().version
    with pytest.raises(ConnectionError):  # what is given counts
        opserve.connect("localhost:1", timeout=3)


def test_a_profile_that_lacks_an_operator():
    with opserve.server("--device", "cpu,profile=atlas-inference") as running, running.connect() as client:
        with pytest.raises(NotImplementedError):
            client.execute("CtcLoss", {"log_probs": np.zeros((2, 1, 2), "f4"), "targets": [[1]]}, input_lengths=[2],
                           target_lengths=[1])


def test_a_token_does_not_go_in_clear_text():
    with pytest.raises(ValueError, match="tls"):
        opserve.connect("example.org:8500", token="secret")


def test_threads(client):
    failures = []

    def work(number):
        for step in range(20):
            x = np.full(100, number * 100 + step, np.float32)
            if not np.array_equal(client.execute("Relu", {"self": x})["out"], x):
                failures.append((number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_after_close(server):
    client = server.connect()
    client.close()
    client.close()
    with pytest.raises(ValueError, match="closed"):
        client.devices()


def test_a_client_that_is_dropped_leaves_nothing(server):
    channel = weakref.ref(server.connect()._channel)
    gc.collect()
    assert channel() is None


def test_shared_memory(sample, tmp_path):
    op, inputs, attributes, gradient = sample
    with opserve.server("--allow-shared-memory", f"unix:{tmp_path}/socket") as running, running.connect() as client:
        with client.shared_memory(1 << 20) as memory:
            shared = {name: memory.array((4, 2)) for name in inputs}
            for name, array in inputs.items():
                shared[name][:] = array
            out = memory.array((4, 2))
            large = memory.array(100000, "f4")
            large[:] = -1
            result = client.execute(op, shared, attributes, out={"grad_input": out})
            assert result["grad_input"] is out
            np.testing.assert_array_equal(out, gradient)
            assert not client.execute("Relu", {"self": large})["out"].any()
            with pytest.raises(MemoryError, match="at most"):
                memory.array(1 << 20)
        sent = next(method for method in client.statistics().methods if method.method == "Execute").request_bytes
        assert sent < 2000
        # What is released is an ordinary array, of zeros sooner or later.
        assert client.execute("Relu", {"self": out})["out"].shape == (4, 2)


def test_shared_memory_that_is_not_allowed():
    with opserve.server() as running, running.connect() as client:
        with pytest.raises(opserve.UnsupportedError, match="--allow-shared-memory"):
            client.shared_memory(4096)
