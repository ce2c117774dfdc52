"""Programs and gradients, against NumPy and finite differences."""

import asyncio

import numpy as np
import pytest

import opserve
import opserve.aio
from opserve import _repeated, _requests
from opserve._dtypes import BFLOAT16


def random(*shape, seed=1):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def layer():
    p = opserve.Program()
    x, w, b, t = p.inputs("x", "w", "b", "t")
    h = p.call("Addmm", {"self": b, "mat1": x, "mat2": w}, {"beta": 1.0}, name="h")
    loss = p.call("MseLoss", {"self": h, "target": t}, {"reduction": "mean"}, name="loss")
    p.output(loss=loss)
    p.gradient(loss, ["w", b])
    return p


@pytest.fixture
def arrays():
    return {"x": random(5, 3), "w": random(3, 4), "b": random(4), "t": random(5, 4)}


def expected(x, w, b, t):
    error = x.astype(np.float64) @ w + b - t
    return {"loss": np.mean(error**2), "grad_w": x.T @ error * 2 / error.size, "grad_b": error.sum(0) * 2 / error.size}


def assert_close(got, want):
    assert sorted(got) == sorted(want)
    for name, array in want.items():
        np.testing.assert_allclose(np.asarray(got[name]), array, rtol=1e-5, atol=1e-6, err_msg=name)


def test_a_layer_and_its_gradients(client, arrays):
    assert_close(client.execute(layer(), arrays), expected(**arrays))


def test_as_text():
    assert str(layer()) == """\
h = Addmm(self=b, mat1=x, mat2=w, beta=1)
loss = MseLoss(self=h, target=t, reduction=mean)
gradient loss: w, b
return loss=loss"""
    p = opserve.Program()
    x = p.input("x")
    y = x.view((2, 3), (1, 2), 1) * 0.5 + np.array([1, 2, 3], np.float32)
    p.output(y=y.reshape(()))
    assert str(p) == """\
mul = Mul(self=x[2,3].strides(1,2).offset(1), other=0.5)
add = Add(self=mul, other=f32[3]{1,2,3})
permute = Permute(self=add[], dims=[])
return y=permute"""


@pytest.mark.parametrize("function", [
    lambda x, y: x + y, lambda x, y: 2 - x, lambda x, y: x - 3, lambda x, y: 2 * x * y, lambda x, y: x / (y * y + 1),
    lambda x, y: 1 / (x * x + 1), lambda x, y: -x, lambda x, y: x @ y.reshape(4, -1), lambda x, y: x.reshape((2, 6)),
    lambda x, y: np.ones((2, 3), np.float32) @ x, lambda x, y: np.ones(4, np.float32) * y, lambda x, y: np.float32(3) + x],
    ids=str)
def test_arithmetic_is_numpys(client, function):
    p = opserve.Program()
    p.output(z=function(*p.inputs("x", "y")))
    x, y = random(3, 4), random(3, 4, seed=2)
    np.testing.assert_allclose(client.execute(p, {"x": x, "y": y})["z"], function(x, y), rtol=1e-5, atol=1e-6)


def test_views_sums_and_means(client):
    p = opserve.Program()
    x = p.input("x")
    p.output(transposed=x.view((4, 3), (1, 4)), slice=x.view((2, 2), (4, 1), 5), sum=x.sum(0), kept=x.sum([0, 1], keep_dims=True),
             all=x.sum(), mean=x.mean(-1), permuted=x.permute(1, 0))
    x = random(3, 4)
    assert_close(client.execute(p, {"x": x}), {
        "transposed": x.T, "slice": x[1:, 1:3], "sum": x.sum(0), "kept": x.sum(keepdims=True), "all": x.sum(), "mean": x.mean(1),
        "permuted": x.T})


def test_another_output_of_a_step(client):
    p = opserve.Program()
    x = p.input("x")
    norm = p.call("LayerNorm", {"input": x}, {"normalized_shape": [4]})
    p.output(out=norm, mean=norm["mean"])
    x = random(3, 4)
    assert_close({"mean": client.execute(p, {"x": x})["mean"]}, {"mean": x.mean(1, keepdims=True)})


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_numbers_take_the_dtype_of_the_inputs(client, dtype):
    p = opserve.Program()
    x = p.input("x")
    p.output(y=x * 0.1 + 1)
    assert client.execute(p, {"x": np.ones(3, dtype)})["y"].dtype == dtype
    assert client.plan(p, {"x": opserve.Spec((3,), dtype)}).outputs["y"].dtype == dtype


def test_functions_of_operators_are_steps(client, arrays):
    def loss(x, w, b, t):
        norm = client.ops.layer_norm(client.ops.addmm(b, x, w), normalized_shape=[4])
        return client.ops.mse_loss(norm["out"], t)

    step = opserve.value_and_grad(loss, "b")
    assert str(step.program).startswith("addmm = Addmm(self=b, mat1=x, mat2=w)\nlayer_norm = LayerNorm(input=addmm")
    h = arrays["x"] @ arrays["w"] + arrays["b"]
    normal = (h - h.mean(1, keepdims=True)) / np.sqrt(h.var(1, keepdims=True) + 1e-5)
    value, _ = step(client, **arrays)
    assert value == pytest.approx(np.mean((normal - arrays["t"]) ** 2), rel=1e-4)
    with pytest.raises(ValueError, match="Relu: want no device for a step of a program"):
        client.ops.relu(opserve.Program().input("x"), device="cpu:0")


@pytest.mark.parametrize("dtype, values", [("u1", [0, 255]), ("i2", [-5, 6]), ("u8", [0, 1 << 63]), ("?", [True, False])])
def test_constants_of_any_dtype_are_sent(dtype, values):
    p = opserve.Program()
    p.call("Embedding", {"weight": p.input("w"), "indices": np.array(values, dtype)})
    names = {"u1": "u8", "i2": "i16", "u8": "u64", "?": "b8"}
    assert f"indices={names[dtype]}[2]{{{','.join(map(str, values)).lower()}}}" in str(p)


def test_a_constant_of_bfloat16(client):
    raw = np.array([0x3F80, 0xC040], np.uint16).view(BFLOAT16)  # 1, -3
    p = opserve.Program()
    x = p.input("x")
    p.output(y=x * raw)
    assert "bf16[2]{1,-3}" in str(p)
    assert_close(client.execute(p, {"x": np.float32([2, 2])}), {"y": [2, -6]})


def test_constants_of_integers(client):
    p = opserve.Program()
    p.output(rows=p.call("Embedding", {"weight": p.input("w"), "indices": [[2, 0]]}))
    w = random(3, 4)
    assert_close(client.execute(p, {"w": w}), {"rows": w[[[2, 0]]]})


def network(x, w, v, b, t):
    hidden = opserve.apply("Tanh", {"self": x @ w + b})
    return opserve.apply("MseLoss", {"self": hidden @ v / 2, "target": t}, reduction="mean") + (w * w).mean() * 0.1


def test_gradients_are_those_of_finite_differences(client):
    inputs = {"x": random(5, 3), "w": random(3, 6), "v": random(6, 2), "b": random(6), "t": random(5, 2)}
    step = opserve.value_and_grad(network, wrt=("w", "v", "b"))
    _, gradients = step(client, **inputs)
    assert list(gradients) == ["w", "v", "b"]
    for name, gradient in gradients.items():
        direction = random(*gradient.shape, seed=7)
        ahead, behind = (step(client, **{**inputs, name: inputs[name] + np.float32(e) * direction})[0] for e in (1e-2, -1e-2))
        assert gradient.shape == inputs[name].shape
        assert np.sum(gradient * direction) == pytest.approx((float(ahead) - float(behind)) / 2e-2, rel=1e-2, abs=1e-3), name


def test_gradients_in_less_memory(client):
    def deep(most):
        p = opserve.Program()
        x, w = p.inputs("x", "w")
        for _ in range(24):
            x = p.call("Tanh", {"self": x @ w})
        loss = x.mean()
        p.output(loss=loss)
        p.gradient(loss, ["x", "w"], max_workspace_bytes=most)
        return p

    inputs = {"x": random(32, 32), "w": random(32, 32, seed=2)}
    kept = client.plan(deep(0), inputs)
    bound = kept.workspace_bytes // 2
    plan = client.plan(deep(bound), inputs)
    assert plan.workspace_bytes <= bound
    assert "again_tanh = " in str(plan.program) and "again_" not in str(kept.program)
    assert f"gradient mean: x, w within {bound}" in str(deep(bound))
    want, got = client.execute(deep(0), inputs), client.execute(deep(bound), inputs)
    for name in ("loss", "grad_x", "grad_w"):
        assert got[name].tobytes() == want[name].tobytes()
    with pytest.raises(ValueError, match="gradient.max_workspace_bytes: want at least"):
        client.plan(deep(1), inputs)


def test_a_seed(client):
    p = opserve.Program()
    x, seed = p.inputs("x", "seed")
    y = x * x
    p.output(y=y)
    p.gradient(y, "x", seed=seed)
    x, seed = random(3), random(3, seed=2)
    assert_close(client.execute(p, {"x": x, "seed": seed}), {"y": x * x, "grad_x": 2 * x * seed})


def test_plan(client, arrays):
    plan = client.plan(layer(), {name: opserve.Spec(array.shape) for name, array in arrays.items()})
    assert {name: spec.shape for name, spec in plan.outputs.items()} == {"loss": (), "grad_w": (3, 4), "grad_b": (4,)}
    assert 0 < plan.workspace_bytes <= plan.intermediate_bytes + 1024
    assert "h = Addmm(self=b, mat1=x, mat2=w" in str(plan.program) and "MseLossBackward(" in str(plan.program)
    assert set(plan.program.input_names) == set(arrays)
    assert_close(client.execute(plan.program, arrays), expected(**arrays))
    assert client.plan("Relu", {"self": arrays["x"]}).program is None


def test_a_plan_s_numbers_are_short(client):
    p = opserve.Program()
    p.output(y=p.input("x") * 0.1)
    assert str(client.plan(p, {"x": opserve.Spec((3,))}).program) == "mul = Mul(self=x, other=f32[]{0.1})\nreturn y=mul.out"


def test_a_plan_s_program_takes_more_steps(client, arrays):
    whole = client.plan(layer(), arrays).program
    gradients = whole.outputs
    whole.output(**{f"new_{name}": whole.value(name) - 0.5 * gradients[f"grad_{name}"] for name in ("w", "b")})
    result = client.execute(whole, arrays)
    want = expected(**arrays)
    assert_close(result, {**want, "new_w": arrays["w"] - 0.5 * want["grad_w"], "new_b": arrays["b"] - 0.5 * want["grad_b"]})
    with pytest.raises(ValueError, match="name: want an input, a step or an output of one, got v.out"):
        whole.value("v.out")


def test_a_batch(client, arrays):
    calls = [opserve.Call(layer(), arrays), opserve.Call("Relu", {"self": arrays["x"]}),
             opserve.Call(layer(), {**arrays, "t": random(7, 4)})]
    program, relu, bad = client.execute_batch(calls)
    assert_close(program, expected(**arrays))
    assert_close(relu, {"out": np.maximum(arrays["x"], 0)})
    assert isinstance(bad, opserve.InvalidArgumentError) and bad.parameter == "loss.target"


def test_asyncio(server, arrays):
    async def run():
        async with opserve.aio.connect(server.address, timeout=30) as c:
            result = await c.execute(layer(), arrays)
            plan = await c.plan(layer(), arrays)
            value, gradients = await opserve.value_and_grad(lambda x, w: (x @ w).mean(), "w")(c, x=arrays["x"], w=arrays["w"])
        return result, plan, value, gradients

    result, plan, value, gradients = asyncio.run(run())
    assert_close(result, expected(**arrays))
    assert plan.program is not None
    assert value == pytest.approx((arrays["x"] @ arrays["w"]).mean(), abs=1e-5) and gradients["w"].shape == (3, 4)


def test_outputs_into_arrays_and_the_device(client, arrays):
    gradient = np.empty((3, 4), np.float32)
    result = client.execute(layer(), arrays, out={"grad_w": gradient}, device="cpu:0", report=True)
    assert result["grad_w"] is gradient and result.execution.device == "cpu:0"
    np.testing.assert_allclose(gradient, expected(**arrays)["grad_w"], rtol=1e-5, atol=1e-6)


def test_a_session_trains(client, arrays):
    p = layer()
    losses = []
    with client.session(timeout=30) as s:
        tensors = {name: s.tensor(array) for name, array in arrays.items()}
        step = s.plan(p, tensors)
        updates = [s.plan("Add", {"self": tensors[name], "other": step.outputs[f"grad_{name}"]}, {"alpha": -0.5},
                          out={"out": s.empty(arrays[name].shape)}) for name in ("w", "b")]
        for _ in range(20):
            step.run()
            for name, update in zip(("w", "b"), updates):
                tensors[name].copy_from(update.run()["out"])
            losses.append(float(step.outputs["loss"].numpy()))
        w = tensors["w"].numpy()
    want = dict(arrays)
    for loss in losses:
        now = expected(**want)
        assert loss == pytest.approx(now["loss"], rel=1e-4)
        want.update({name: (want[name] - 0.5 * now[f"grad_{name}"]).astype(np.float32) for name in ("w", "b")})
    assert losses[-1] < losses[0] / 2
    np.testing.assert_allclose(w, want["w"], rtol=1e-4, atol=1e-5)


def test_a_session_runs_once_into_a_tensor(client, arrays):
    with client.session(timeout=30) as s:
        gradient = s.empty((3, 4))
        outputs = s.execute(layer(), arrays, out={"grad_w": gradient})
        assert outputs["grad_w"] is gradient
        assert_close({name: tensor.numpy() for name, tensor in outputs.items()}, expected(**arrays))


def test_arrays_in_shared_memory(client, arrays):
    with client.shared_memory(1 << 16) as memory:
        shared = {name: memory.array(array.shape) for name, array in arrays.items()}
        for name, array in arrays.items():
            shared[name][:] = array
        gradient = memory.array((3, 4))
        assert_close(client.execute(layer(), shared, out={"grad_w": gradient}), expected(**arrays))
        np.testing.assert_allclose(gradient, expected(**arrays)["grad_w"], rtol=1e-5, atol=1e-6)


def test_a_program_larger_than_a_message_goes_through_a_session(client):
    p = opserve.Program()
    x = p.input("x")
    y = x * x * 0.5
    p.output(sum=y.sum())
    p.gradient(p.outputs["sum"], "x")
    large = np.arange(1 << 20, dtype=np.float32) % 100
    with opserve.server("--max-message-bytes", "1MiB") as running, running.connect(timeout=60) as narrow:
        result = narrow.execute(p, {"x": large})
    assert_close(result, {"sum": np.sum(large * large * 0.5, dtype=np.float64), "grad_x": large})


def test_the_header_is_written_once(client, arrays, monkeypatch):
    p = layer()
    written = []
    whole = _requests._Message._written
    monkeypatch.setattr(_requests._Message, "_written", lambda *of: written.append(of) or whole(*of))
    _repeated._forms.clear()
    for _ in range(3):
        client.execute(p, arrays)
    assert len(written) == 1
    p.output(h=p.value("h"))
    assert "h" in client.execute(p, arrays) and len(written) == 2


def test_a_program_may_change_after_a_call(client):
    p = opserve.Program()
    x = p.input("x")
    p.output(y=x * 2)
    loss = x.sum()
    x_array = random(3)
    assert list(client.execute(p, {"x": x_array})) == ["y"]
    p.gradient(loss, "x")
    assert list(client.execute(p, {"x": x_array})) == ["y", "grad_x"]
    p.call("NoSuchOperator", {"self": x})
    with pytest.raises(opserve.NotFoundError):
        client.execute(p, {"x": x_array})


def test_what_the_server_says(client, arrays):
    with pytest.raises(opserve.InvalidArgumentError) as caught:
        client.execute(layer(), {**arrays, "w": random(4, 4)})
    assert (caught.value.operator, caught.value.parameter) == ("Addmm", "h.mat2")
    p = layer()
    p.call("NoSuchOperator", {"self": p.input("z")})
    with pytest.raises(opserve.NotFoundError):
        client.execute(p, {**arrays, "z": random(2)})
    p = opserve.Program()
    x, t = p.inputs("x", "t")
    p.gradient(p.call("L1Loss", {"self": x, "target": t}, name="loss"), "t")
    with pytest.raises(opserve.InvalidArgumentError) as caught:
        client.plan(p, {"x": random(3), "t": random(3)})
    assert caught.value.parameter == "loss.target"


def other_value():
    return opserve.Program().input("stranger")


MISTAKES = {
    "other: want a value of this program, got stranger of another": lambda p, x: x + other_value(),
    "y: want a value of this program, got stranger of another": lambda p, x: p.output(y=other_value()),
    "y: want a value of this program, got float": lambda p, x: p.output(y=1.0),
    "y: want a name of its own among the outputs, got it twice": lambda p, x: [p.output(y=x) for _ in range(2)],
    "x: want a name of its own among inputs and steps, got it twice": lambda p, x: p.call("Relu", {"self": x}, name="x"),
    "with_respect_to: want one of the inputs x, got w": lambda p, x: p.gradient(x, ["w"]),
    "with_respect_to: want each input once, got x twice": lambda p, x: p.gradient(x, ["x", x]),
    "gradient: want one for each program, got one of x already": lambda p, x: [p.gradient(x, "x") for _ in range(2)],
    "x: want a step's value, got an input of the program": lambda p, x: x["out"],
    "strides: want 2, one for each extent, got 1": lambda p, x: x.view((2, 2), 1),
    "reshape: want a value whose elements lie in their order, got the view x[2].strides(2)":
        lambda p, x: x.view(2, 2).reshape(2),
    "name: want one of a letter or more, without a dot, got 'a.b'": lambda p, x: p.input("a.b"),
    "Relu: want a value of a program among the inputs, got self without one": lambda p, x: opserve.apply("Relu", {"self": 1.0}),
    "function: want one that gives a value of its parameters, got int": lambda p, x: opserve.value_and_grad(lambda a: 1, "a"),
    "with_respect_to: want one of the inputs a, got b": lambda p, x: opserve.value_and_grad(lambda a: a, "b"),
    "a: want parameters that have names, got variadic positional": lambda p, x: opserve.value_and_grad(lambda *a: a[0], "a"),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_mistakes(message):
    p = opserve.Program()
    with pytest.raises(ValueError) as caught:
        MISTAKES[message](p, p.input("x"))
    assert str(caught.value) == message


def test_a_value_has_no_number():
    x = opserve.Program().input("x")
    with pytest.raises(TypeError, match="before the program runs"):
        bool(x)
    with pytest.raises(TypeError, match="other: want an array"):
        x + object()
    with pytest.raises(TypeError, match="Add: want a value, an array or a number, got None"):
        x + None
    with pytest.raises(TypeError, match="want the name of an output of the step, got 0"):
        x[0]
