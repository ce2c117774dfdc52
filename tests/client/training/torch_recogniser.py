#!/usr/bin/env python3
"""Prints the losses of the same training as client/go/examples/recogniser, by PyTorch, as Python, and the time of a step.

Usage: torch_recogniser.py     (needs PyTorch 2; training_losses.RECOGNISER is what it printed)
"""

import math
import sys
import time

import torch
import torch.nn.functional as F

CHARACTERS, LENGTH, EACH_LASTS = 6, 5, 4
BATCH, FEATURES, FRAMES = 16, 8, LENGTH * EACH_LASTS
CHANNELS, CLASSES = 32, 1 + CHARACTERS
STEPS, RATE, NOISE = 50, 0.1, 0.3


class XorShift:
    def __init__(self, seed):
        self.state = seed

    def uniform(self):
        self.state ^= self.state << 13 & 0xFFFFFFFF
        self.state ^= self.state >> 17
        self.state ^= self.state << 5 & 0xFFFFFFFF
        return self.state / 2**32

    def normal(self):
        return sum((self.uniform() for _ in range(12)), -6.0)

    def normals(self, *shape, scale=1.0):
        return torch.tensor([self.normal() * scale for _ in range(math.prod(shape))], dtype=torch.float32).reshape(shape)


def samples(numbers, patterns):
    x, strings = torch.empty(BATCH, FEATURES, FRAMES), torch.empty(BATCH, LENGTH, dtype=torch.int64)
    for n in range(BATCH):
        for i in range(LENGTH):
            strings[n, i] = 1 + int(numbers.uniform() * CHARACTERS)
            for frame in range(i * EACH_LASTS, (i + 1) * EACH_LASTS):
                noise = torch.tensor([NOISE * numbers.normal() for _ in range(FEATURES)], dtype=torch.float32)
                x[n, :, frame] = patterns[strings[n, i]] + noise
    return x, strings


def main():
    torch.set_num_threads(2)
    numbers = XorShift(1)
    patterns = numbers.normals(CLASSES, FEATURES)
    kernel = numbers.normals(CHANNELS, FEATURES, 5, scale=1 / math.sqrt(FEATURES * 5))
    last_kernel = numbers.normals(CLASSES, CHANNELS, 3, scale=1 / math.sqrt(CHANNELS * 3))
    bias, gamma, beta, last_bias = torch.zeros(CHANNELS), torch.ones(CHANNELS), torch.zeros(CHANNELS), torch.zeros(CLASSES)
    learned = [kernel, bias, gamma, beta, last_kernel, last_bias]
    for each in learned:
        each.requires_grad_()
    losses, seconds = {}, []
    for step in range(STEPS):
        x, strings = samples(numbers, patterns)
        start = time.perf_counter()
        hidden = F.relu(F.group_norm(F.conv1d(x, kernel, bias, padding=2), 4, gamma, beta))
        log_probs = F.log_softmax(F.conv1d(hidden, last_kernel, last_bias, padding=1).permute(2, 0, 1), dim=2)
        loss = F.ctc_loss(log_probs, strings, [FRAMES] * BATCH, [LENGTH] * BATCH, reduction="none").mean()
        for each, gradient in zip(learned, torch.autograd.grad(loss, learned)):
            each.data -= RATE * gradient
        seconds.append(time.perf_counter() - start)
        if step % 10 == 0 or step == STEPS - 1:
            losses[step] = round(loss.item(), 4)
    print(losses)
    print(f"{sorted(seconds)[STEPS // 2] * 1e3:.3f} ms a step, PyTorch {torch.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()
