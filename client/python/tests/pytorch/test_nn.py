"""opserve.torch.nn beside torch.nn."""

import copy

import pytest
import torch

import opserve.torch.nn as remote

pytestmark = pytest.mark.usefixtures("used")
SEED = 20240229
PLANES = (2, 4, 6, 5)
MODULES = [
    ("ELU", (0.7,), (3, 4)), ("GELU", (), (3, 4)), ("GLU", (1,), (3, 4)), ("Hardshrink", (0.3,), (3, 4)), ("Hardsigmoid", (), (3, 4)),
    ("Hardswish", (), (3, 4)), ("Hardtanh", (-0.5, 0.7), (3, 4)), ("ReLU6", (), (3, 4)), ("LeakyReLU", (0.2,), (3, 4)),
    ("LogSigmoid", (), (3, 4)), ("Mish", (), (3, 4)), ("PReLU", (4,), (3, 4)), ("ReLU", (True,), (3, 4)), ("SELU", (), (3, 4)),
    ("Sigmoid", (), (3, 4)), ("SiLU", (), (3, 4)), ("Softplus", (2,), (3, 4)), ("Softshrink", (), (3, 4)), ("Tanh", (), (3, 4)),
    ("Threshold", (0.1, 7.0), (3, 4)), ("Softmax", (1,), (3, 4)), ("LogSoftmax", (-1,), (3, 4)), ("GroupNorm", (2, 4), PLANES),
    ("LayerNorm", ([6, 5],), PLANES), ("RMSNorm", (5,), PLANES), ("BatchNorm1d", (4,), (3, 4)), ("BatchNorm2d", (4,), PLANES),
    ("BatchNorm3d", (4, 1e-5, None), (2, 4, 2, 2, 2)), ("Linear", (5, 3), PLANES), ("Conv1d", (4, 6, 3), (2, 4, 7)),
    ("Conv2d", (4, 6, 3, 1, "same"), PLANES), ("Conv3d", (4, 2, 2), (1, 4, 3, 3, 3)), ("ConvTranspose1d", (4, 2, 3, 2), (2, 4, 7)),
    ("ConvTranspose2d", (4, 2, 3), PLANES), ("ConvTranspose3d", (4, 2, 2), (1, 4, 3, 3, 3)), ("MaxPool2d", (2,), PLANES),
    ("AvgPool2d", (2,), PLANES), ("AdaptiveAvgPool2d", ((2, 3),), PLANES), ("ReflectionPad1d", (2,), (2, 4, 7)),
    ("ReflectionPad2d", (2,), PLANES), ("ReplicationPad1d", (2,), (2, 4, 7)), ("ReplicationPad2d", (2,), PLANES),
    ("Upsample", (None, 2), PLANES), ("UpsamplingNearest2d", ((4, 9),), PLANES), ("UpsamplingBilinear2d", ((4, 9),), PLANES),
    ("Embedding", (7, 3), None)]
LOSSES = ["L1Loss", "MSELoss", "SmoothL1Loss", "SoftMarginLoss", "KLDivLoss", "BCELoss", "BCEWithLogitsLoss", "NLLLoss",
          "CrossEntropyLoss", "CTCLoss"]


def result_of(module, inputs):
    """What a module gives, the gradients of its parameters, and its state afterwards."""
    out = module(*inputs)
    torch.manual_seed(SEED)
    if out.requires_grad:
        out.backward(torch.randn_like(out))
    return [out.detach(), *(parameter.grad for parameter in module.parameters()), *(value.clone() for value in module.state_dict().values())]


def close(got, want):
    for one, other in zip(got, want):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name, arguments, shape", MODULES, ids=[name for name, _, _ in MODULES])
def test_modules(name, arguments, shape):
    if not hasattr(torch.nn, name):
        pytest.skip(f"this PyTorch has no {name}")
    torch.manual_seed(SEED)
    local = getattr(torch.nn, name)(*arguments)
    for parameter in local.parameters():
        torch.nn.init.uniform_(parameter, 0.1, 0.9)
    module = getattr(remote, name)(*arguments)
    module.load_state_dict(local.state_dict())
    x = torch.randint(0, 7, (2, 3)) if shape is None else torch.randn(shape)
    close(result_of(module, [x.clone()]), result_of(local, [x.clone()]))
    close(result_of(module.eval(), [x.clone()]), result_of(local.eval(), [x.clone()]))
    assert isinstance(copy.deepcopy(module), type(local)) and repr(module) == repr(local)


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses(name, reduction):
    torch.manual_seed(SEED)
    inputs = [torch.rand(5, 4) * 0.8 + 0.1, torch.rand(5, 4) * 0.8 + 0.1]
    if name in ("NLLLoss", "CrossEntropyLoss"):
        inputs[1] = torch.randint(0, 4, (5,))
    if name == "CTCLoss":
        inputs = [torch.randn(5, 1, 4).log_softmax(-1), torch.tensor([[1, 2]]), torch.tensor([5]), torch.tensor([2])]
    close([getattr(remote, name)(reduction=reduction)(*inputs)], [getattr(torch.nn, name)(reduction=reduction)(*inputs)])


def test_every_module_is_tested():
    assert {*(name for name, _, _ in MODULES), *LOSSES} == {*remote.__all__} - {*remote.LOCAL}


def test_what_no_server_computes_is_not_here():
    with pytest.raises(AttributeError, match="no server computes torch.nn.LSTM"):
        remote.LSTM(1, 2)
    with pytest.raises(NotImplementedError, match="padding_mode"):
        remote.Conv1d(1, 1, 3, padding=1, padding_mode="circular")(torch.randn(1, 1, 5))
    with pytest.raises(NotImplementedError, match="interpolate"):
        remote.Upsample(scale_factor=1.5, mode="bilinear", recompute_scale_factor=True)(torch.randn(PLANES))
    assert remote.Sequential is torch.nn.Sequential


def test_a_network_learns_as_pytorchs_does():
    """Ten steps of the same network on the same data: the same losses."""

    def losses(nn):
        torch.manual_seed(SEED)
        model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        x, y = torch.randn(16, 1, 8, 8), torch.randint(0, 3, (16,))
        for _ in range(10):
            optimizer.zero_grad()
            loss = nn.CrossEntropyLoss()(model(x), y)
            loss.backward()
            optimizer.step()
            yield loss.item()

    got, want = list(losses(remote)), list(losses(torch.nn))
    assert got == pytest.approx(want, rel=1e-4) and want[-1] < want[0] / 2
