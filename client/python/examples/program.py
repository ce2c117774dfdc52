"""Trains a small convolutional classifier on an opserve server, one message a step: the program has the network and its loss, the
server derives the gradients. Images of 12 x 12 have horizontal bars, vertical bars or none; all are noisy.

Usage: program.py [TARGET]     (default localhost:8500)
"""

import sys

import numpy as np

import opserve

CLASSES, CHANNELS, SIZE, BATCH, STEPS = 3, 8, 12, 32, 60


def batch(rng):
    """Images and their classes."""
    images = rng.normal(0, 0.5, (BATCH, 1, SIZE, SIZE))
    classes = rng.integers(0, CLASSES, BATCH)
    bars = np.sign(np.sin(np.arange(SIZE) * 2 + rng.uniform(0, 6, (BATCH, 1))))
    images[classes == 0, 0] += bars[classes == 0, :, None]
    images[classes == 1, 0] += bars[classes == 1, None, :]
    return images.astype(np.float32), classes


def logits(x, filters, bias, w, b):
    """The network: a convolution, a rectifier, the mean over each half of either side, a layer."""
    maps = opserve.apply("Convolution", {"input": x, "weight": filters, "bias": bias}, name="conv", stride=[1, 1], padding=[1, 1],
                         dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1)
    half = SIZE // 2
    pooled = opserve.apply("AvgPool2d", {"self": opserve.apply("Relu", {"self": maps})}, kernel_size=[half, half],
                           stride=[half, half], padding=[0, 0])
    return pooled.reshape(BATCH, CHANNELS * 4) @ w + b


def loss(x, classes, filters, bias, w, b):
    return opserve.apply("CrossEntropyLoss", {"self": logits(x, filters, bias, w, b), "target": classes})


def train(client):
    rng = np.random.default_rng(0)
    weights = {"filters": rng.normal(0, 0.3, (CHANNELS, 1, 3, 3)), "bias": np.zeros(CHANNELS),
               "w": rng.normal(0, 0.2, (CHANNELS * 4, CLASSES)), "b": np.zeros(CLASSES)}
    weights = {name: array.astype(np.float32) for name, array in weights.items()}
    step = opserve.value_and_grad(loss, wrt=tuple(weights))
    for number in range(STEPS):
        x, classes = batch(rng)
        value, gradients = step(client, x=x, classes=classes, **weights)
        for name, gradient in gradients.items():
            weights[name] -= 0.3 * gradient
        if number % 20 == 0 or number == STEPS - 1:
            print(f"step {number:2} loss {value:.3f}")
    return weights


def accuracy(client, weights):
    """Of a batch that was not trained on."""
    program = opserve.Program()
    program.output(logits=logits(*program.inputs("x", *weights)))
    x, classes = batch(np.random.default_rng(1))
    return np.mean(client.execute(program, {"x": x, **weights})["logits"].argmax(1) == classes)


def main():
    target = sys.argv[1] if len(sys.argv) > 1 else "localhost:8500"
    try:
        with opserve.connect(target) as client:
            print(f"accuracy {accuracy(client, train(client)):.2f}")
    except opserve.OpserveError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
