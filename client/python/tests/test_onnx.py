"""ONNX models, against the cases that the package onnx brings for each of its operators."""

import collections
import importlib

import numpy as np
import pytest

import opserve

onnx = pytest.importorskip("onnx", reason="no package onnx (python3-onnx)")

import opserve.onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402


def model_of(nodes, inputs, outputs, weights=(), opset=13):
    """Inputs and outputs are (name, shape); weights (name, array)."""
    graph = helper.make_graph(
        nodes, "net", [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in weights])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


@pytest.fixture(scope="module")
def cases():
    """ONNX's cases of single nodes. Those of 2022 call NumPy by names that it had then."""
    with pytest.MonkeyPatch.context() as patch:
        for name, kind in (("float", float), ("int", int), ("bool", bool), ("object", object)):
            if name not in vars(np):
                patch.setitem(vars(np), name, kind)
        node = importlib.import_module("onnx.backend.test.case.node")
        collected = node.collect_testcases(None) if node.collect_testcases.__code__.co_argcount else node.collect_testcases()
    return [case for case in collected if case.model.graph.node[0].op_type in opserve.onnx.OPERATORS]


def is_of_floats(model):
    values = [*model.graph.input[:1], *model.graph.output]
    return all(value.type.tensor_type.elem_type == TensorProto.FLOAT for value in values)


# Cases that the model or the server refuses: each for a reason that the words name.
REFUSALS = ("want the same padding before and after", "two spatial dimensions", "want one of", "a node of which no output beyond",
            "to be a constant of the model", "want rows of a matrix", "want matrices", "inference", "want the shape of",
            "want <= half of kernel_size")


def test_cases_of_onnx(client, cases):
    ran, refused = collections.Counter(), []
    for case in cases:
        if not is_of_floats(case.model) or "expanded" in case.name:
            continue
        op = case.model.graph.node[0].op_type
        for inputs, outputs in case.data_sets:
            # Shapes, axes and bounds are inputs of the cases: of models they are constants.
            model = onnx.ModelProto()
            model.CopyFrom(case.model)
            arrays = dict(zip((value.name for value in model.graph.input), inputs))
            node = model.graph.node[0]
            static = {node.input[i] for i in range(1, len(node.input)) if op in ("Reshape", "Clip", "ReduceSum", "Squeeze", "Unsqueeze")}
            for name in static & set(arrays):
                model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(arrays.pop(name)), name))
            kept = [value for value in model.graph.input if value.name not in static]
            del model.graph.input[:]
            model.graph.input.extend(kept)
            try:
                net = opserve.onnx.load(model)
                given = {name: array for name, array in zip(net.inputs, arrays.values())}
                result = client.execute(net.program, {**given, **net.weights})
            except (NotImplementedError, opserve.OpserveError) as error:
                refused.append(f"{case.name}: {error}")
                continue
            np.testing.assert_allclose(result[net.outputs[0]], outputs[0], rtol=1e-4, atol=1e-5, err_msg=case.name)
            ran[op] += 1
    unexpected = [words for words in refused if not any(reason in words for reason in REFUSALS)]
    assert not unexpected, "\n".join(unexpected)
    # Gelu, LayerNormalization and Mish came to ONNX later than the oldest package.
    missing = {case.model.graph.node[0].op_type for case in cases} - set(ran) - {"Constant", "Gather"}
    assert not missing, f"no case ran: {missing}; refused: {refused}"
    assert sum(ran.values()) >= 100, ran


def classifier(rng):
    weights = {"conv.weight": rng.normal(0, 0.3, (4, 1, 3, 3)), "conv.bias": np.zeros(4), "fc.weight": rng.normal(0, 0.1, (3, 64))}
    nodes = [helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["/conv"], pads=[1, 1, 1, 1]),
             helper.make_node("Tanh", ["/conv"], ["/tanh"]),
             helper.make_node("AveragePool", ["/tanh"], ["/pool"], kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Flatten", ["/pool"], ["/flat"]),
             helper.make_node("Gemm", ["/flat", "fc.weight"], ["scores"], transB=1)]
    arrays = [(name, array.astype(np.float32)) for name, array in weights.items()]
    return model_of(nodes, [("x", ["batch", 1, 8, 8])], [("scores", ["batch", 3])], arrays)


def test_weights_have_gradients(client, tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "net.onnx"
    onnx.save(classifier(rng), path)
    net = opserve.onnx.load(path, shapes={"x": (5, 1, 8, 8)})
    assert net.inputs == ("x",) and net.outputs == ("scores",)
    assert sorted(net.weights) == ["conv_bias", "conv_weight", "fc_weight"]
    classes = net.program.input("classes")
    loss = net.program.call("CrossEntropyLoss", {"self": net.program.outputs["scores"], "target": classes})
    net.program.output(loss=loss)
    net.program.gradient(loss, ["fc_weight", "conv_weight"])
    inputs = {"x": rng.normal(size=(5, 1, 8, 8)).astype(np.float32), "classes": rng.integers(0, 3, 5)}

    def value(weights):
        return float(client.execute(net.program, {**inputs, **weights})["loss"])

    result = client.execute(net.program, {**inputs, **net.weights})
    for name in ("fc_weight", "conv_weight"):
        along = rng.normal(size=net.weights[name].shape).astype(np.float32)
        step = 1e-2 / np.linalg.norm(along)
        there, back = ({**net.weights, name: net.weights[name] + sign * step * along} for sign in (1, -1))
        slope = (value(there) - value(back)) / (2 * step)
        assert slope == pytest.approx(float(np.sum(result[f"grad_{name}"] * along)), rel=2e-2, abs=2e-3)


def test_constants_are_part_of_the_program(client):
    half = helper.make_node("Constant", [], ["half"], value=onnx.numpy_helper.from_array(np.float32(0.5)))
    net = opserve.onnx.load(model_of([half, helper.make_node("Mul", ["x", "half"], ["y"])], [("x", [3])], [("y", [3])]))
    assert not net.weights
    assert client.execute(net.program, {"x": np.arange(3, dtype=np.float32)})["y"].tolist() == [0, 0.5, 1]


@pytest.mark.parametrize("node, words", [
    (helper.make_node("Erf", ["x"], ["y"], name="e"), r"node e \(Erf\): want one of Add, "),
    (helper.make_node("Conv", ["x", "w"], ["y"], pads=[0, 0, 1, 1]), r"node y \(Conv\): want the same padding before and after"),
    (helper.make_node("Clip", ["x", "w"], ["y"]), r"want w to be a constant of the model"),
])
def test_what_servers_do_not_have(node, words):
    with pytest.raises(NotImplementedError, match=words):
        opserve.onnx.load(model_of([node], [("x", [1, 1, 4, 4]), ("w", [1, 1, 2, 2])], [("y", [1, 1, "h", "w"])]))


def test_shapes_that_do_not_fit():
    model = model_of([helper.make_node("Relu", ["x"], ["y"])], [("x", ["n", 4])], [("y", ["n", 4])])
    for shapes, words in (({"z": (1,)}, "names of inputs"), ({"x": (1,)}, "want 2 extents"), ({"x": (1, 5)}, "want 4 as in the model")):
        with pytest.raises(ValueError, match=words):
            opserve.onnx.load(model, shapes=shapes)
    with pytest.raises(ValueError, match="model: "):
        opserve.onnx.load(model_of([helper.make_node("Relu", ["absent"], ["y"])], [("x", [1])], [("y", [1])]))
