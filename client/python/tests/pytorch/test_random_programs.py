"""Random programs beside PyTorch's autograd: values, and the gradients of all inputs.

$OPSERVE_TEST_PROGRAMS says how many; 200 where it says nothing.
"""

import os

import numpy as np
import torch
import torch.nn.functional as F

import opserve

PROGRAMS = int(os.environ.get("OPSERVE_TEST_PROGRAMS", "200"))
SHAPES = [(3, 4), (4,), (4, 3), (2, 3, 4), (2, 4, 6, 6), (1, 4), ()]
# What both compute of each element.
MAPS = {
    "Tanh": (torch.tanh, {}),
    "Sigmoid": (torch.sigmoid, {}),
    "Gelu": (F.gelu, {}),
    "Silu": (F.silu, {}),
    "Mish": (F.mish, {}),
    "Softplus": (F.softplus, {}),
    "Elu": (F.elu, {}),
    "LeakyRelu": (lambda x: F.leaky_relu(x, 0.2), {"negative_slope": 0.2}),
}


class Pair:
    """A value of the program, and what PyTorch has for it, in float64."""

    def __init__(self, value, tensor):
        self.value, self.tensor = value, tensor

    @property
    def shape(self):
        return tuple(self.tensor.shape)


class Generator:
    """A program that grows by steps which fit what is there, and the same in PyTorch."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.program = opserve.Program()
        self.inputs, self.pairs = {}, []
        for _ in range(self.rng.integers(2, 5)):
            self.input(SHAPES[self.rng.integers(len(SHAPES))])
        kinds = [self.map, self.map, self.arithmetic, self.arithmetic, self.product, self.reduction, self.along_dimension, self.view,
                 self.planes, self.normalized]
        steps = int(self.rng.integers(3, 12))
        while steps > 0:
            made = kinds[self.rng.integers(len(kinds))](self.any())
            if made is not None:
                self.pairs.append(made)
                steps -= 1

    def input(self, shape, scale=0.7):
        array = (scale * self.rng.standard_normal(shape)).astype(np.float32)
        name = f"x{len(self.inputs)}"
        self.inputs[name] = (array, torch.tensor(array, dtype=torch.float64, requires_grad=True))
        pair = Pair(self.program.input(name), self.inputs[name][1])
        self.pairs.append(pair)
        return pair

    def any(self):
        return self.pairs[self.rng.integers(len(self.pairs))]

    def step(self, op, inputs, tensor, **attributes):
        return Pair(self.program.call(op, {name: pair.value for name, pair in inputs.items()}, attributes), tensor)

    def map(self, a):
        name = list(MAPS)[self.rng.integers(len(MAPS))]
        function, attributes = MAPS[name]
        return self.step(name, {"self": a}, function(a.tensor), **attributes)

    def arithmetic(self, a):
        b = self.any()
        try:
            torch.broadcast_shapes(a.shape, b.shape)
        except RuntimeError:
            return None
        kind = self.rng.integers(4)
        if kind == 0:
            return Pair(a.value + b.value, a.tensor + b.tensor)
        if kind == 1:
            return Pair(a.value - b.value, a.tensor - b.tensor)
        if kind == 2:
            return Pair(a.value * b.value, a.tensor * b.tensor)
        return Pair(a.value / (b.value * b.value + 1.0), a.tensor / (b.tensor * b.tensor + 1))

    def product(self, a):
        if not a.shape:
            return None
        b = self.input((a.shape[-1], int(self.rng.integers(1, 5))), 0.5)
        return Pair(a.value @ b.value, a.tensor @ b.tensor)

    def reduction(self, a):
        if not a.shape:
            return None
        dim, keep = int(self.rng.integers(len(a.shape))), bool(self.rng.integers(2))
        if self.rng.integers(2):
            return Pair(a.value.sum([dim], keep_dims=keep), a.tensor.sum(dim, keepdim=keep))
        return Pair(a.value.mean([dim], keep_dims=keep), a.tensor.mean(dim, keepdim=keep))

    def along_dimension(self, a):
        if not a.shape:
            return None
        dim = int(self.rng.integers(len(a.shape)))
        if self.rng.integers(2):
            return self.step("Softmax", {"self": a}, a.tensor.softmax(dim), dim=dim)
        return self.step("LogSoftmax", {"self": a}, a.tensor.log_softmax(dim), dim=dim)

    def view(self, a):
        if len(a.shape) < 2:
            return None
        if self.rng.integers(2):
            return self.step("Tanh", {"self": Pair(a.value.reshape(-1), a.tensor)}, a.tensor.reshape(-1).tanh())
        dims = [int(dim) for dim in self.rng.permutation(len(a.shape))]
        return Pair(a.value.permute(dims), a.tensor.permute(dims))

    def planes(self, a):
        if len(a.shape) != 4 or min(a.shape[2:]) < 3:
            return None
        kind = self.rng.integers(3)
        if kind == 0:
            kernel = self.input((3, a.shape[1], 3, 3), 0.3)
            geometry = {"stride": [1, 1], "padding": [1, 1], "dilation": [1, 1], "transposed": False, "output_padding": [0, 0],
                        "groups": 1}
            return self.step("Convolution", {"input": a, "weight": kernel}, F.conv2d(a.tensor, kernel.tensor, padding=1), **geometry)
        if kind == 1:
            return self.step("AvgPool2d", {"self": a}, F.avg_pool2d(a.tensor, 2, 1), kernel_size=[2, 2], stride=[1, 1],
                             padding=[0, 0])
        return self.step("UpsampleNearest2d", {"self": a}, F.interpolate(a.tensor, scale_factor=2, mode="nearest"),
                         output_size=[2 * extent for extent in a.shape[2:]])

    def normalized(self, a):
        if not a.shape or a.shape[-1] < 3:
            return None
        gamma, beta = self.input(a.shape[-1:]), self.input(a.shape[-1:])
        return self.step("LayerNorm", {"input": a, "weight": gamma, "bias": beta},
                         F.layer_norm(a.tensor, a.shape[-1:], gamma.tensor, beta.tensor, 0.1), normalized_shape=[a.shape[-1]], eps=0.1)

    def finish(self):
        """The loss, the mean of the last value's squares; its gradients are asked for."""
        last = self.pairs[-1]
        loss = Pair((last.value * last.value).mean(), (last.tensor * last.tensor).mean())
        self.program.output(loss=loss.value)
        self.program.gradient(loss.value, list(self.inputs))
        return loss.tensor


def check(client, seed):
    generator = Generator(seed)
    loss = generator.finish()
    leaves = [tensor for _, tensor in generator.inputs.values()]
    wanted = torch.autograd.grad(loss, leaves, allow_unused=True)
    results = client.execute(generator.program, {name: array for name, (array, _) in generator.inputs.items()})
    text = f"program {seed}:\n{generator.program}"
    np.testing.assert_allclose(results["loss"], loss.detach().numpy(), rtol=1e-3, atol=1e-4, err_msg=text)
    for (name, (array, _)), gradient in zip(generator.inputs.items(), wanted):
        want = np.zeros(array.shape) if gradient is None else gradient.numpy()
        assert results[f"grad_{name}"].shape == array.shape, text
        # What cancels leaves the rounding errors of what it was made of.
        tolerance = 2e-3 * max(1e-2, np.abs(want).max(initial=0))
        np.testing.assert_allclose(results[f"grad_{name}"], want, rtol=0, atol=tolerance, err_msg=f"grad_{name} of {text}")


def test_random_programs_have_the_gradients_of_autograd(torch_client):
    for seed in range(PROGRAMS):
        check(torch_client, seed)
