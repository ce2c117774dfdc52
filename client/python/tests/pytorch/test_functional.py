"""opserve.torch.functional beside torch.nn.functional: results, gradients, and torch's own gradcheck."""

import functools
import inspect
import re

import pytest
import torch
from torch.utils import checkpoint

import opserve
import opserve.torch
import opserve.torch.functional as remote

local = torch.nn.functional
pytestmark = pytest.mark.usefixtures("used")
SEED = 20240229


def tensor(*shape, low=-3.0, high=3.0, whole=None):
    """Random numbers of which no two, and none and a kink, are within what gradcheck moves them by."""
    if whole is not None:
        return torch.randint(0, whole, shape)
    count = 1
    for extent in shape:
        count *= extent
    steps = torch.linspace(low, high, max(count, 2))[:count] if count > 1 else torch.tensor([low + 0.61 * (high - low)])
    return steps[torch.randperm(count)].reshape(shape) + 0.0137


def case(name, *inputs, differentiable=1, place=None, **options):
    """A function by name, its tensors, of which the first are differentiated, and its options."""
    return pytest.param(name, inputs, differentiable, options, id=place or f"{name}-{'-'.join(map(str, options.values()))}")


torch.manual_seed(SEED)
X, Y = tensor(3, 4), tensor(3, 4, low=-2, high=2.5)
PLANES = tensor(2, 3, 6, 5)
SHARES = torch.rand(3, 4) * 0.8 + 0.1

ACTIVATIONS = [
    case("elu", X, alpha=0.7), case("gelu", X), case("gelu", X, approximate="tanh"), case("glu", X, dim=1), case("hardshrink", X),
    case("hardsigmoid", X * 1.7), case("hardswish", X * 1.7), case("hardtanh", X, min_val=-1.1, max_val=0.9), case("relu6", X * 3),
    case("leaky_relu", X, negative_slope=0.2), case("logsigmoid", X), case("mish", X), case("relu", X), case("selu", X),
    case("sigmoid", X), case("silu", X), case("softplus", X, beta=2, threshold=3), case("softshrink", X), case("tanh", X),
    case("threshold", X, threshold=0.3, value=-2.0), case("prelu", tensor(2, 3, 4), torch.tensor([0.1, 0.25, 0.4]), differentiable=2),
    case("prelu", X, torch.tensor([0.25]), differentiable=2, place="prelu-one"), case("softmax", X, dim=1),
    case("softmax", X, dim=0, place="softmax-0"), case("log_softmax", X, dim=-1), case("softmax", X, dim=None)]

LOSSES = [case(name, X, Y, reduction=reduction) for reduction in ("none", "mean", "sum")
          for name in ("l1_loss", "mse_loss", "smooth_l1_loss")]
LOSSES += [
    case("smooth_l1_loss", X, Y[:1], beta=0.5, place="smooth_l1_loss-broadcast"),
    case("mse_loss", X, Y, size_average=False, place="mse_loss-legacy"),
    case("soft_margin_loss", X, torch.sign(Y)), case("kl_div", X, SHARES, reduction="batchmean"),
    case("kl_div", X, SHARES.log(), reduction="sum", log_target=True),
    case("binary_cross_entropy", SHARES, SHARES.flip(0), weight=SHARES + 1, place="binary_cross_entropy"),
    case("binary_cross_entropy_with_logits", X, SHARES, weight=SHARES + 1, pos_weight=torch.rand(4) + 0.5, place="bce_with_logits"),
    case("nll_loss", tensor(5, 4), tensor(5, whole=4), weight=torch.rand(4) + 0.5, place="nll_loss"),
    case("nll_loss", tensor(5, 4), torch.tensor([0, 3, -100, 1, 2]), reduction="none"),
    case("nll_loss", tensor(2, 4, 3, 5), tensor(2, 3, 5, whole=4), reduction="none", place="nll_loss-pixels"),
    case("nll_loss", tensor(2, 4, 3), tensor(2, 3, whole=4), place="nll_loss-rows"),
    case("cross_entropy", tensor(5, 4), tensor(5, whole=4), label_smoothing=0.1), case("cross_entropy", tensor(4), torch.tensor(2)),
    case("cross_entropy", tensor(2, 4, 3), tensor(2, 3, whole=4), reduction="none", place="cross_entropy-rows"),
    case("cross_entropy", tensor(5, 4), tensor(5, whole=4), weight=torch.rand(4) + 0.5, place="cross_entropy-weight")]

LAYERS = [
    case("group_norm", tensor(2, 4, 3), num_groups=2),
    case("layer_norm", tensor(3, 4, 5), normalized_shape=[4, 5]), case("rms_norm", tensor(3, 5), normalized_shape=[5]),
    case("batch_norm", tensor(4, 3, 2), None, None, training=True),
    case("linear", tensor(2, 3, 5), tensor(4, 5), tensor(4), differentiable=3), case("linear", tensor(3, 5), tensor(4, 5), differentiable=2,
                                                                                place="linear-no-bias"),
    case("conv1d", tensor(2, 4, 9), tensor(6, 2, 3), tensor(6), differentiable=3, stride=2, padding=1, groups=2),
    case("conv2d", PLANES, tensor(4, 3, 3, 3), tensor(4), differentiable=3, padding="same"),
    case("conv2d", PLANES[0], tensor(4, 3, 2, 2), differentiable=2, dilation=(2, 1), place="conv2d-unbatched"),
    case("conv3d", tensor(1, 2, 3, 4, 3), tensor(2, 2, 2, 2, 2), tensor(2), differentiable=3, padding="valid"),
    case("conv_transpose1d", tensor(2, 3, 4), tensor(3, 2, 3), tensor(2), differentiable=3, stride=2, output_padding=1),
    case("conv_transpose2d", PLANES[:1], tensor(3, 2, 3, 3), tensor(2), differentiable=3, stride=(2, 1), padding=1),
    case("conv_transpose3d", tensor(1, 2, 2, 3, 2), tensor(2, 2, 2, 2, 2), differentiable=2),
    case("max_pool2d", PLANES, kernel_size=2), case("max_pool2d", PLANES, kernel_size=3, stride=1, padding=1, ceil_mode=True),
    case("avg_pool2d", PLANES, kernel_size=2), case("avg_pool2d", PLANES, kernel_size=(3, 2), stride=2, padding=1,
                                                    count_include_pad=False, divisor_override=5),
    case("adaptive_avg_pool2d", PLANES, output_size=(4, None)),
    case("pad", tensor(2, 3, 6), pad=(2, 1), mode="reflect"), case("pad", PLANES, pad=(1, 2, 2, 0), mode="reflect"),
    case("pad", tensor(2, 3, 6), pad=(2, 1), mode="replicate"), case("pad", PLANES, pad=(1, 2, 2, 0), mode="replicate"),
    case("interpolate", PLANES, size=(9, 4)), case("interpolate", PLANES, scale_factor=2, place="interpolate-twice"),
    case("interpolate", PLANES, size=(9, 4), mode="bilinear", align_corners=True),
    case("interpolate", PLANES, scale_factor=1.5, mode="bilinear", place="interpolate-bilinear-scale")]

ALL = ACTIVATIONS + LOSSES + LAYERS


def leaves(inputs, differentiable):
    return [value.clone().requires_grad_() if number < differentiable and value is not None else value
            for number, value in enumerate(inputs)]


def gradients(function, inputs, differentiable, options):
    given = leaves(inputs, differentiable)
    out = function(*given, **options)
    torch.manual_seed(SEED)
    out.backward(torch.randn_like(out))
    return out.detach(), [value.grad for value in given[:differentiable]]


@pytest.mark.parametrize("name, inputs, differentiable, options", ALL)
def test_results_and_gradients_are_pytorchs(name, inputs, differentiable, options):
    if not hasattr(local, name):
        pytest.skip(f"this PyTorch has no {name}")
    out, of_inputs = gradients(getattr(remote, name), inputs, differentiable, options)
    want, wanted = gradients(getattr(local, name), inputs, differentiable, options)
    torch.testing.assert_close(out, want, rtol=2e-5, atol=2e-6)
    for got, gradient in zip(of_inputs, wanted):
        torch.testing.assert_close(got, gradient, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name, inputs, differentiable, options", ALL)
@pytest.mark.filterwarnings("ignore:Input #")
def test_gradcheck(name, inputs, differentiable, options):
    """In float32, so the differences are coarse: the test before holds the gradients to PyTorch's."""
    function = functools.partial(getattr(remote, name), **options)
    assert torch.autograd.gradcheck(function, leaves(inputs, differentiable), eps=4e-3, atol=2e-2, rtol=2e-2, fast_mode=True)


@pytest.mark.parametrize("name", [name for name in remote.__all__ if hasattr(local, name)])
def test_signatures_are_pytorchs(name):
    try:
        wanted = list(inspect.signature(getattr(local, name)).parameters)
    except ValueError:
        pytest.skip("PyTorch does not tell the signature of this one")
    if wanted == ["args", "kwargs"]:
        pytest.skip("PyTorch does not tell the signature of this one")
    have = list(inspect.signature(getattr(remote, name)).parameters)
    assert have == [word for word in wanted if not (word == "weight" and word not in have)]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "matmul", "bmm", "addmm"])
def test_functions_of_torch_itself(name):
    shapes = {"bmm": [(2, 3, 4), (2, 4, 5)], "addmm": [(5,), (3, 4), (4, 5)]}.get(name, [(2, 3, 4), (4, 5)])
    if name in ("add", "sub", "mul", "div"):
        shapes = [(2, 3, 4), (3, 1)]
    options = {"add": {"alpha": 2}, "sub": {"alpha": 0.5}, "addmm": {"beta": 0.5, "alpha": 2}}.get(name, {})
    inputs = [tensor(*shape) for shape in shapes]
    out, of_inputs = gradients(getattr(remote, name), inputs, len(inputs), options)
    want, wanted = gradients(getattr(torch, name), inputs, len(inputs), options)
    torch.testing.assert_close(out, want, rtol=2e-5, atol=1e-5)
    for got, gradient in zip(of_inputs, wanted):
        torch.testing.assert_close(got, gradient, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("options", [{}, {"dim": 1}, {"dim": (0, -1), "keepdim": True}, {"dim": -2, "dtype": torch.float32}])
def test_reductions(name, options):
    x = tensor(2, 3, 4)
    out, (gradient,) = gradients(getattr(remote, name), [x], 1, options)
    want, (wanted,) = gradients(getattr(torch, name), [x], 1, options)
    torch.testing.assert_close(out, want, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(gradient, wanted)
    scalar = torch.tensor(2.5, requires_grad=True)
    getattr(remote, name)(scalar).backward()
    assert scalar.grad == 1


@pytest.mark.parametrize("shapes", [[(4,), (4,)], [(4,), (4, 5)], [(3, 4), (4,)], [(2, 3, 4), (4,)], [(2, 1, 3, 4), (5, 4, 2)]])
def test_products_of_any_rank(shapes):
    inputs = [tensor(*shape) for shape in shapes]
    out, of_inputs = gradients(remote.matmul, inputs, 2, {})
    want, wanted = gradients(torch.matmul, inputs, 2, {})
    torch.testing.assert_close(out, want, rtol=2e-5, atol=1e-5)
    for got, gradient in zip(of_inputs, wanted):
        torch.testing.assert_close(got, gradient, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_ctc_loss(reduction, dtype):
    torch.manual_seed(SEED)
    logits = torch.randn(7, 2, 5, dtype=dtype)
    targets, lengths = torch.randint(1, 5, (2, 3)), (torch.tensor([7, 6]), torch.tensor([3, 2]))

    def loss(function, given):
        return function.ctc_loss(local.log_softmax(given, -1), targets, *lengths, reduction=reduction)

    out, of_inputs = gradients(lambda given: loss(remote, given), [logits], 1, {})
    want, wanted = gradients(lambda given: loss(local, given), [logits], 1, {})
    torch.testing.assert_close(out, want)
    torch.testing.assert_close(of_inputs[0], wanted[0], rtol=1e-4, atol=1e-5)
    if dtype is torch.float64:
        assert torch.autograd.gradcheck(lambda given: loss(remote, given), [logits.requires_grad_()])


def test_ctc_loss_of_what_is_impossible():
    log_probs = torch.randn(2, 1, 5).log_softmax(-1).requires_grad_()
    out = remote.ctc_loss(log_probs, torch.tensor([[1, 1]]), [2], [2], zero_infinity=True)
    out.backward()
    assert out == 0 and not log_probs.grad.any()


@pytest.mark.parametrize("name, shape, targets", [
    (name, shape, targets) for name in ("cross_entropy", "nll_loss")
    for shape, targets in [((2, 4, 3), [(3, 2), (6,), (1, 6), (2, 3, 1)]), ((6, 4), [(2, 3), (6, 1), (1, 6)]), ((4,), [(4,), (1,)]),
                           ((2, 4, 3, 5), [(2, 5, 3), (2, 15)])]] + [
    (name, (3, 4), [(4,), (1, 4), (3, 1), (), (12,)]) for name in ("binary_cross_entropy", "binary_cross_entropy_with_logits")])
def test_targets_of_another_shape_are_refused(name, shape, targets):
    scores, dtype = torch.rand(shape), torch.int64 if name in ("cross_entropy", "nll_loss") else torch.float32
    for wrong in targets:
        with pytest.raises(ValueError, match=re.escape(f"{name}: target: want the shape")) as raised:
            getattr(remote, name)(scores, torch.zeros(wrong, dtype=dtype))
        assert str(raised.value).endswith(f"got {wrong}")


@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"padding_idx": -1, "scale_grad_by_freq": True}])
def test_embedding(options):
    indices = torch.tensor([[0, 1, 1], [4, 4, 4]])
    weight = tensor(5, 3)
    out, (gradient,) = gradients(lambda given: remote.embedding(indices, given, **options), [weight], 1, {})
    want, (wanted,) = gradients(lambda given: local.embedding(indices, given, **options), [weight], 1, {})
    torch.testing.assert_close(out, want)
    torch.testing.assert_close(gradient, wanted, rtol=1e-5, atol=1e-6)


def test_batch_norm_changes_its_running_statistics():
    x, given, wanted = tensor(4, 3, 2), [torch.zeros(3), torch.ones(3)], [torch.zeros(3), torch.ones(3)]
    remote.batch_norm(x, *given, training=True)
    local.batch_norm(x, *wanted, training=True)
    torch.testing.assert_close(given, wanted)
    torch.testing.assert_close(remote.batch_norm(x, *given), local.batch_norm(x, *wanted), rtol=1e-4, atol=1e-5)


def test_batch_norm_of_one_value_per_channel_is_refused():
    for shape in ((1, 3), (1, 3, 1, 1)):
        running = [torch.zeros(3), torch.ones(3)]
        for functional in (local, remote):
            with pytest.raises(ValueError, match="Expected more than 1 value per channel when training, got input size"):
                functional.batch_norm(tensor(*shape), *running, training=True)
        assert torch.equal(running[0], torch.zeros(3)) and torch.equal(running[1], torch.ones(3))
        assert remote.batch_norm(tensor(*shape), *running).shape == shape


def test_indices_of_a_pool():
    for got, want in zip(remote.max_pool2d(PLANES, 2, return_indices=True), local.max_pool2d(PLANES, 2, return_indices=True)):
        torch.testing.assert_close(got, want)


def test_bfloat16_and_scalars():
    x = X.to(torch.bfloat16).requires_grad_()
    out = remote.relu(x)
    out.sum().backward()
    assert out.dtype == x.grad.dtype == torch.bfloat16
    torch.testing.assert_close(out, local.relu(x))
    assert remote.tanh(torch.tensor(0.5)).shape == ()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("number", [1e5, 1e-8, 0.1, 3, True])
def test_numbers_beside_half_precision(dtype, number):
    """Beside PyTorch's in float32: PyTorch before 2 rounds the numbers."""
    for name in ("mul", "div"):
        for x in (X.to(dtype), torch.tensor([-60000.0, 1e4, 1e-4]).to(dtype)):
            out, (gradient,) = gradients(lambda given: getattr(remote, name)(given, number), [x], 1, {})
            want, (wanted,) = gradients(lambda given: getattr(torch, name)(given.float(), number).to(dtype), [x], 1, {})
            torch.testing.assert_close(out, want)
            torch.testing.assert_close(gradient, wanted)


@pytest.mark.parametrize("op, name, attributes", [("Swish", "self", {"beta": 1.5}), ("GeGlu", "self", {"dim": 1}), ("SwiGlu", "x", {})])
@pytest.mark.filterwarnings("ignore:Input #")
def test_operators_that_pytorch_lacks(op, name, attributes):
    function = lambda x: opserve.torch.apply(op, {name: x}, attributes)[0]
    assert torch.autograd.gradcheck(function, [X.clone().requires_grad_()], eps=4e-3, atol=2e-2, rtol=2e-2)


def test_the_arguments_of_apply_have_names():
    got = opserve.torch.apply(op="Hardshrink", inputs={"self": X}, attributes={"lambd": 0.7}, fetched=())[0]
    torch.testing.assert_close(got, local.hardshrink(X, 0.7))


def test_second_derivatives_are_refused():
    x = X.clone().requires_grad_()
    for out in (remote.tanh(x), remote.mul(x, x), remote.matmul(x, x.mT)):
        with pytest.raises(NotImplementedError, match="second derivatives"):
            torch.autograd.grad(out.sum(), x, create_graph=True)


def test_an_input_without_a_gradient_is_refused():
    with pytest.raises(NotImplementedError, match="L1Loss has no gradient with respect to target"):
        remote.l1_loss(X, Y.clone().requires_grad_())
    with torch.no_grad():
        remote.l1_loss(X, Y.clone().requires_grad_())


def test_errors_are_those_of_the_server():
    with pytest.raises(ValueError, match="beta"):
        remote.smooth_l1_loss(X, Y, beta=-1.0)


def test_without_a_client(used, monkeypatch):
    monkeypatch.setattr("opserve.torch._client._used", [])
    monkeypatch.delenv("OPSERVE_TARGET", raising=False)
    with pytest.raises(RuntimeError, match="opserve.torch.use"):
        remote.relu(X)
    monkeypatch.setenv("OPSERVE_TARGET", used._channel.target.address)
    monkeypatch.setattr("opserve.torch._client._default", None)
    assert remote.relu(X).shape == X.shape
    opserve.torch.current().client.close()


@pytest.mark.parametrize("function", [
    lambda x: remote.matmul(x, x), lambda x: remote.addmm(x, x, x), lambda x: remote.add(x, 2), lambda x: remote.mul(x, x),
    lambda x: remote.div(x, x + 5), lambda x: remote.embedding(torch.tensor([1, 0]), x), remote.mean, remote.silu,
    lambda x: remote.interpolate(x[None, None], scale_factor=2)])
def test_a_gradient_is_of_the_client_of_its_forward_call(torch_client, function, monkeypatch):
    monkeypatch.setattr("opserve.torch._client._used", [])
    monkeypatch.delenv("OPSERVE_TARGET", raising=False)
    monkeypatch.setattr("opserve.torch._client._default", None)
    x = torch.rand(3, 3, requires_grad=True)
    with opserve.torch.use(torch_client):
        out = function(x).sum()
    out.backward()
    assert x.grad.any()


def test_a_session_keeps_what_is_large(torch_client):
    with torch_client.session() as session, opserve.torch.use(torch_client, session=session, resident_bytes=4096):
        for rows, kept in ((1, 0), (1024, 4 * 1024)):
            x = torch.randn(rows, requires_grad=True)
            y = remote.silu(x)
            assert session.memory().used_bytes >= kept and (kept or not session.memory().used_bytes)
            wanted, = torch.autograd.grad(local.silu(x).sum(), x)
            got, = torch.autograd.grad(y.sum(), x)
            torch.testing.assert_close(got, wanted)


def used_bytes(session):
    session.synchronize()
    return session.memory().used_bytes


def test_a_session_keeps_a_call_until_its_gradient_is_computed(torch_client):
    with torch_client.session() as session, opserve.torch.use(torch_client, session=session, resident_bytes=0):
        x = torch.randn(3, 8, requires_grad=True)
        loss = remote.layer_norm(remote.silu(x), [8]).sum()
        loss.backward(retain_graph=True)
        assert used_bytes(session)
        loss.backward()
        assert not used_bytes(session)
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        with torch.no_grad():
            remote.silu(x)
        remote.silu(x)
        assert not used_bytes(session)


@pytest.mark.parametrize("reentrant", [False, True])
def test_a_checkpoint_in_a_session(torch_client, reentrant):
    x = torch.randn(3, 8, requires_grad=True)
    wanted, = torch.autograd.grad(local.silu(local.silu(x)).sum(), x)
    with torch_client.session() as session, opserve.torch.use(torch_client, session=session, resident_bytes=0):
        loss = checkpoint.checkpoint(lambda given: remote.silu(remote.silu(given)), x, use_reentrant=reentrant).sum()
        assert not used_bytes(session)
        loss.backward()
        assert not used_bytes(session)
    torch.testing.assert_close(x.grad, wanted)


def test_what_copies_the_tensors_that_autograd_keeps(torch_client):
    with torch_client.session() as session, opserve.torch.use(torch_client, session=session, resident_bytes=0):
        x = torch.ones(3, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(torch.clone, lambda packed: packed):
            loss = remote.silu(x).sum()
        with pytest.raises(NotImplementedError, match="saved_tensors_hooks"):
            loss.backward()
