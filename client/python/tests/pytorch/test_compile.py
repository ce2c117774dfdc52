"""Calls in the graphs of torch.compile, once opserve.torch.register() was called."""

import sys

import pytest
import torch

import opserve.torch
import opserve.torch.functional as remote

local = torch.nn.functional
pytestmark = [pytest.mark.usefixtures("used"), pytest.mark.skipif(
    not hasattr(torch.library, "custom_op") or sys.version_info >= (3, 14), reason="this PyTorch compiles nothing here")]


@pytest.fixture(autouse=True)
def registered():
    opserve.torch.register()


def model(functional, x, weight, bias):
    hidden = functional.layer_norm(x * 2, [4], weight, bias)
    return functional.smooth_l1_loss(functional.tanh(hidden), torch.zeros_like(x), beta=0.5) + functional.gelu(hidden).sum()


def arguments():
    torch.manual_seed(3)
    return torch.randn(3, 4), torch.randn(4, requires_grad=True), torch.randn(4, requires_grad=True)


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_compiled_model_is_one_graph(backend):
    torch.compiler.reset()
    x, weight, bias = arguments()
    compiled = torch.compile(lambda *given: model(remote, *given), backend=backend, fullgraph=True)
    loss = compiled(x, weight, bias)
    got = torch.autograd.grad(loss, (weight, bias))
    beside = model(local, x, weight, bias)
    torch.testing.assert_close(loss, beside, rtol=1e-4, atol=1e-4)
    for gradient, want in zip(got, torch.autograd.grad(beside, (weight, bias))):
        torch.testing.assert_close(gradient, want, rtol=1e-3, atol=1e-4)


def test_the_graphs_have_the_calls():
    from torch._dynamo.backends.common import aot_autograd
    from torch._functorch.aot_autograd import make_boxed_func
    torch.compiler.reset()
    called = []

    def collect(graph, _):
        called.append([node.args[0] for node in graph.graph.nodes if "opserve.execute" in str(node.target)])
        return make_boxed_func(graph.forward)

    x, weight, bias = arguments()
    torch.compile(lambda *given: model(remote, *given), backend=aot_autograd(fw_compiler=collect), fullgraph=True)(
        x, weight, bias).backward()
    forward, backward = called
    assert forward == ["LayerNorm", "Tanh", "SmoothL1Loss", "GeluV2"]
    assert sorted(backward) == ["GeluBackwardV2", "LayerNormBackward", "SmoothL1LossBackward", "TanhBackward"]


@pytest.mark.parametrize("op, inputs, attributes", [
    ("Tanh", {"self": torch.randn(3, 4)}, "{}"),
    ("LogSoftmax", {"self": torch.randn(3, 4)}, '{"dim": 1}'),
    ("MseLoss", {"self": torch.randn(5), "target": torch.ones(5)}, '{"reduction": "sum"}')])
def test_what_pytorch_checks_of_an_operator(op, inputs, attributes):
    tensors = [tensor.clone().requires_grad_(name == "self") for name, tensor in inputs.items()]
    torch.library.opcheck(torch.ops.opserve.execute.default, (op, list(inputs), tensors, attributes))


def test_errors_come_when_it_is_compiled():
    torch.compiler.reset()
    function = torch.compile(lambda x: remote.smooth_l1_loss(x, x, beta=-1.0), backend="aot_eager", fullgraph=True)
    with pytest.raises(Exception, match="beta: want >= 0, got -1"):
        function(torch.randn(3))
