#!/usr/bin/env python3
"""What a training step of a small network costs: its loss and the gradients of all weights, in five ways, interleaved.

    here       PyTorch in this process
    program    one call of a program; weights and batch go with it, loss and gradients come back
    session    the program in a session: weights stay on the server, the batch goes, the loss comes back
    calls      the same operators as calls by themselves, by opserve.torch and autograd
    commands   the same as commands of a session

The networks are the classifier and the recogniser of the examples (docs/programs.md). Prints for each the time of a step as the median of
rounds and as the median of the rounds' ratios to PyTorch, the greatest difference of a gradient from PyTorch's relative to that gradient's
largest element, and what the results between the steps take with and without planning ahead.

Needs PyTorch and the package of client/python. Starts a server of its own (opserve-server on the PATH or in $OPSERVE_BIN_DIR) with as many
threads as PyTorch uses.
"""

import argparse
import contextlib
import os
import statistics
import time

import numpy as np
import torch

import opserve
import opserve.torch
import opserve.torch.functional
import opserve.torch.nn

BATCH = 32
UNTIMED_STEPS = 5


class Classifier:
    """Convolution, group normalisation, rectifier, pool, layer, cross-entropy, on pictures of 12 x 12."""

    name = "classifier, batch 32"
    size, channels, classes = 12, 8, 4

    def __init__(self, rng):
        features = self.channels * (self.size // 2) ** 2
        self.weights = {"kernel": rng.normal(0, 1 / 3, (self.channels, 1, 3, 3)), "gamma": np.ones(self.channels),
                        "beta": np.zeros(self.channels), "w": rng.normal(0, features ** -0.5, (features, self.classes)),
                        "b": np.zeros(self.classes)}
        self.batch = {"x": rng.normal(0, 1, (BATCH, 1, self.size, self.size)), "classes": rng.integers(0, self.classes, BATCH)}
        self.features = features

    def value(self, x, classes, kernel, gamma, beta, w, b):
        """The loss, in a program."""
        maps = opserve.apply("Convolution", {"input": x, "weight": kernel}, stride=[1, 1], padding=[1, 1], dilation=[1, 1],
                             transposed=False, output_padding=[0, 0], groups=1)
        norm = opserve.apply("GroupNorm", {"self": maps, "gamma": gamma, "beta": beta}, N=BATCH, C=self.channels,
                             HxW=self.size ** 2, group=2, eps=1e-5)
        pooled = opserve.apply("AvgPool2d", {"self": opserve.apply("Relu", {"self": norm})}, kernel_size=[2, 2], stride=[2, 2],
                               padding=[0, 0])
        scores = opserve.apply("Addmm", {"self": b, "mat1": pooled.reshape(-1, self.features), "mat2": w})
        return opserve.apply("CrossEntropyLoss", {"self": scores, "target": classes})

    def loss(self, f, x, classes, kernel, gamma, beta, w, b):
        """The loss by the functions of torch or of opserve.torch."""
        norm = f.group_norm(f.conv2d(x, kernel, padding=1), 2, gamma, beta)
        pooled = f.avg_pool2d(f.relu(norm), 2)
        return f.cross_entropy(f.linear(pooled.reshape(-1, self.features), w.t(), b), classes)


class Recogniser:
    """Two convolutions over time with a group normalisation between, log-softmax, CTC."""

    name = "CTC recogniser, batch 32"
    features, hidden, frames, length, characters = 8, 32, 20, 5, 7

    def __init__(self, rng):
        self.weights = {"first": rng.normal(0, 0.15, (self.hidden, self.features, 5)), "gamma": np.ones(self.hidden),
                        "beta": np.zeros(self.hidden), "second": rng.normal(0, 0.1, (self.characters, self.hidden, 3))}
        self.batch = {"x": rng.normal(0, 1, (BATCH, self.features, self.frames)),
                      "strings": rng.integers(1, self.characters, (BATCH, self.length))}
        self.lengths = {"input_lengths": [self.frames] * BATCH, "target_lengths": [self.length] * BATCH}

    def value(self, x, strings, first, gamma, beta, second):
        """The loss, in a program."""
        one = {"dilation": [1], "transposed": False, "output_padding": [0], "groups": 1, "stride": [1]}
        maps = opserve.apply("Convolution", {"input": x, "weight": first}, padding=[2], **one)
        norm = opserve.apply("GroupNorm", {"self": maps, "gamma": gamma, "beta": beta}, N=BATCH, C=self.hidden, HxW=self.frames,
                             group=4, eps=1e-5)
        scores = opserve.apply("Convolution", {"input": opserve.apply("Relu", {"self": norm}), "weight": second}, padding=[1], **one)
        log_probs = opserve.apply("LogSoftmax", {"self": scores.permute(2, 0, 1)}, dim=-1)
        return opserve.apply("CtcLoss", {"log_probs": log_probs, "targets": strings}, blank=0, zero_infinity=False,
                             **self.lengths).mean()

    def loss(self, f, x, strings, first, gamma, beta, second):
        """The loss by the functions of torch or of opserve.torch."""
        norm = f.group_norm(f.conv1d(x, first, padding=2), 4, gamma, beta)
        scores = f.conv1d(f.relu(norm), second, padding=1).permute(2, 0, 1)
        return f.ctc_loss(f.log_softmax(scores, dim=-1), strings, self.lengths["input_lengths"], self.lengths["target_lengths"],
                          reduction="none").mean()


def by_autograd(model, functional):
    """A step by the functions of torch or of opserve.torch."""
    weights = {name: torch.tensor(array, requires_grad=True) for name, array in model.weights.items()}
    batch = {name: torch.from_numpy(array) for name, array in model.batch.items()}

    def step():
        loss = model.loss(functional, **batch, **weights)
        gradients = torch.autograd.grad(loss, list(weights.values()))
        return loss.item(), dict(zip(weights, gradients))
    return step


def by_program(model, client, program):
    """A step in one call."""
    inputs = {**model.batch, **model.weights}

    def step():
        result = client.execute(program, inputs)
        return result["loss"], {name: result[f"grad_{name}"] for name in model.weights}
    return step


def by_session(model, session, program):
    """A step in a session."""
    kept = {name: session.tensor(array) for name, array in {**model.batch, **model.weights}.items()}
    plan = session.plan(program, kept)

    def step():
        for name, array in model.batch.items():
            kept[name].upload(array)
        result = plan.run()
        return result["loss"].numpy(), {name: result[f"grad_{name}"] for name in model.weights}
    return step


def program_of(model):
    program = opserve.Program()
    loss = model.value(**{name: program.input(name) for name in {**model.batch, **model.weights}})
    program.output(loss=loss)
    program.gradient(loss, list(model.weights))
    return program


def as_array(gradient):
    return gradient.detach().numpy() if isinstance(gradient, torch.Tensor) else np.asarray(
        gradient.numpy() if hasattr(gradient, "numpy") else gradient)


def greatest_difference(gradients, expected):
    """Of any element, relative to the largest of its tensor."""
    return max(np.abs(as_array(gradients[name]) - as_array(wanted)).max() / max(np.abs(as_array(wanted)).max(), 1e-30)
               for name, wanted in expected.items())


def seconds_of(step, use, count):
    """Of a step, once the threads of what ran before have gone to sleep: PyTorch's look for work for a while."""
    with use():
        for _ in range(UNTIMED_STEPS):
            step()
        start = time.perf_counter()
        for _ in range(count):
            step()
        return (time.perf_counter() - start) / count


def measure(model, client, rounds, count):
    model.weights = {name: array.astype(np.float32) for name, array in model.weights.items()}
    model.batch["x"] = model.batch["x"].astype(np.float32)
    program = program_of(model)
    plan = client.plan(program, {**model.batch, **model.weights})
    print(f"{model.name}: results between the steps take {plan.intermediate_bytes / 1024:.0f} KiB if each has memory of its own, "
          f"{plan.workspace_bytes / 1024:.0f} KiB with all workspaces as planned ahead")
    with client.session() as session:
        nothing = contextlib.nullcontext
        ways = {"here": (by_autograd(model, torch.nn.functional), nothing),
                "program": (by_program(model, client, program), nothing),
                "session": (by_session(model, session, program), nothing),
                "calls": (by_autograd(model, opserve.torch.functional), lambda: opserve.torch.use(client)),
                "commands": (by_autograd(model, opserve.torch.functional), lambda: opserve.torch.use(client, session=session, resident_bytes=0))}
        answers = {}
        for name, (step, use) in ways.items():
            with use():
                answers[name] = step()
            seconds_of(step, use, count)
        times = {name: [] for name in ways}
        for _ in range(rounds):
            for name, (step, use) in ways.items():
                times[name].append(seconds_of(step, use, count))
        for name, seconds in times.items():
            ratio = statistics.median(own / here for own, here in zip(seconds, times["here"]))
            difference = greatest_difference(answers[name][1], answers["here"][1])
            print(f"  {name:9} {1e6 * statistics.median(seconds):7.0f} us a step, {ratio:5.2f} of PyTorch's; "
                  f"gradients differ by {difference:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=40, help="steps a round (default 40)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of PyTorch and of the server")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    with opserve.server("--device", f"cpu,threads={arguments.threads}") as server, server.connect() as client:
        for model in (Classifier, Recogniser):
            measure(model(np.random.default_rng(1)), client, arguments.rounds, arguments.count)


if __name__ == "__main__":
    main()
