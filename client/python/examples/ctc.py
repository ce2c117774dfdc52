"""Trains a recogniser of character strings with CTC on the same generated data in several ways: with every operator on an opserve server, in
calls by themselves and in a session, and with PyTorch alone. Prints the losses of each step, and how long a step took.

Usage: ctc.py [TARGET [STEPS [BATCH]]]     (default localhost:8500, 50 steps of 16 strings)

The calls by themselves are made twice: as the client makes them, which puts tensors of 64 KiB and more into shared memory if the server is on
this host and allows it, and by messages alone. From batches of 32 on there are such tensors.
"""

import sys
import time

import torch

import opserve
import opserve.torch
import opserve.torch.functional
import opserve.torch.nn

CHARACTERS, FEATURES, FRAMES_A_CHARACTER, LENGTH = 6, 8, 4, 5
SEED = 1


def data(generator, batch):
    """Strings, each character drawn as four noisy frames of its pattern: (N, features, frames), and the strings, (N, length)."""
    patterns = torch.randn(CHARACTERS + 1, FEATURES, generator=torch.Generator().manual_seed(SEED))
    strings = torch.randint(1, CHARACTERS + 1, (batch, LENGTH), generator=generator)
    frames = patterns[strings].repeat_interleave(FRAMES_A_CHARACTER, dim=1)
    return (frames + 0.3 * torch.randn(frames.shape, generator=generator)).transpose(1, 2), strings


def training(nn, functional, steps, batch):
    """Loss and seconds of each step, with modules and functions of PyTorch or of opserve."""
    torch.manual_seed(SEED)
    generator = torch.Generator().manual_seed(SEED)
    model = nn.Sequential(nn.Conv1d(FEATURES, 32, 5, padding=2), nn.GroupNorm(4, 32), nn.ReLU(),
                          nn.Conv1d(32, CHARACTERS + 1, 3, padding=1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    lengths = [LENGTH * FRAMES_A_CHARACTER] * batch, [LENGTH] * batch
    for _ in range(steps):
        inputs, strings = data(generator, batch)
        start = time.perf_counter()
        optimizer.zero_grad()
        log_probs = functional.log_softmax(model(inputs).permute(2, 0, 1), dim=-1)
        loss = functional.ctc_loss(log_probs, strings, *lengths)
        loss.backward()
        optimizer.step()
        yield loss.item(), time.perf_counter() - start


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    batch = int(sys.argv[3]) if len(sys.argv) > 3 else 16
    remote = (opserve.torch.nn, opserve.torch.functional, steps, batch)
    runs = {}
    try:
        with opserve.connect(target, timeout=60) as client:
            with opserve.torch.use(client):
                runs["calls"] = list(training(*remote))
            with client.session() as session, opserve.torch.use(client, session=session):
                runs["session"] = list(training(*remote))
        with opserve.connect(target, timeout=60, shared_memory_bytes=0) as client, opserve.torch.use(client):
            runs["messages"] = list(training(*remote))
    except opserve.OpserveError as error:
        sys.exit(str(error))
    runs["here"] = list(training(torch.nn, torch.nn.functional, steps, batch))
    for step in range(steps):
        print(f"step {step:3}", *(f"{name} {losses[step][0]:.5f}" for name, losses in runs.items()))
    for name, losses in runs.items():
        print(f"{name}: {1000 * sorted(seconds for _, seconds in losses)[steps // 2]:.2f} ms a step")


if __name__ == "__main__":
    main()
