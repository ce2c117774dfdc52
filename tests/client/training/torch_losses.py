#!/usr/bin/env python3
"""Prints the losses of the same training as client/cpp/example/training.cc, by PyTorch, as JSON, and the time of a step.

Usage: torch_losses.py [STEPS]     (needs PyTorch 2; losses.json is what it printed)
"""

import json
import sys
import time

import torch
import torch.nn.functional as F

PICTURES, BATCH, SIDE, CLASSES, CHANNELS, GROUPS = 256, 64, 12, 4, 8, 2
LEARNING_RATE = 0.125


class Numbers:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state * 1664525 + 1013904223) % 2**32
        return self.state

    def below(self, bound):
        return (self.next() >> 16) % bound

    def uniform(self):
        return (self.next() >> 8) * 2.0**-23 - 1

    def uniforms(self, shape, scale):
        count = torch.Size(shape).numel()
        values = torch.tensor([self.uniform() for _ in range(count)], dtype=torch.float32)
        return (values * torch.tensor(scale, dtype=torch.float32)).reshape(shape)


def pictures(numbers):
    pixels, classes = [], []
    for _ in range(PICTURES):
        kind, shift = numbers.below(CLASSES), numbers.below(4)
        classes.append(kind)
        for p in range(SIDE * SIDE):
            row, column = p // SIDE + shift, p % SIDE + shift
            stripe = (row // 2, column // 2, (row + column) // 2, row // 2 + column // 2)[kind]
            pixels.append((0.5 if stripe % 2 == 0 else -0.5) + numbers.uniform())
    return torch.tensor(pixels, dtype=torch.float32).reshape(PICTURES, 1, SIDE, SIDE), torch.tensor(classes)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    torch.set_num_threads(2)
    pixels, classes = pictures(Numbers(1))
    numbers = Numbers(2)
    features = CHANNELS * (SIDE // 2) ** 2
    kernel = numbers.uniforms((CHANNELS, 1, 3, 3), 1 / 3)
    weight = numbers.uniforms((features, CLASSES), 1 / 17)
    parameters = [kernel, torch.ones(CHANNELS), torch.zeros(CHANNELS), weight, torch.zeros(1, CLASSES)]
    for parameter in parameters:
        parameter.requires_grad_()
    kernel, gamma, beta, weight, bias = parameters
    losses = {}
    start = time.perf_counter()
    for step in range(steps):
        first = step * BATCH % PICTURES
        x = F.conv2d(pixels[first:first + BATCH], kernel, padding=1)
        x = F.avg_pool2d(F.relu(F.group_norm(x, GROUPS, gamma, beta)), 2)
        loss = F.cross_entropy(torch.addmm(bias, x.reshape(BATCH, features), weight), classes[first:first + BATCH])
        gradients = torch.autograd.grad(loss, parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients):
                parameter -= LEARNING_RATE * gradient
        if step % 10 == 0 or step == steps - 1:
            losses[step] = loss.item()
    print(json.dumps(losses))
    print(f"{(time.perf_counter() - start) / steps * 1e3:.3f} ms a step, PyTorch {torch.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
