"""What the examples of all languages that train the classifier of docs/programs.md print: they draw the same numbers."""

import re
import sys

CLASSIFIER = {0: 1.5516, 10: 0.4019, 20: 0.1525, 30: 0.0636, 39: 0.0453}
# Go's example that trains a recogniser with CTC, as tests/client/training/torch_recogniser.py prints them.
RECOGNISER = {0: 24.4964, 10: 2.6808, 20: 1.5451, 30: 0.8578, 40: 0.6466, 49: 0.5879}
# Kernels of other processors add in other orders, which forty steps make more of.
TOLERANCE = 0.005


def check(program, told, want=None):
    want = want or CLASSIFIER
    losses = {int(step): float(loss) for step, loss in re.findall(r"^step (\d+) loss (.*)$", told, re.MULTILINE)}
    if losses.keys() != want.keys() or any(abs(losses[step] - loss) > TOLERANCE for step, loss in want.items()):
        sys.exit(f"{program} prints\n{told}and not the losses {want}")
