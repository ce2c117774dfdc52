"""A real server for the tests: $OPSERVE_SERVER, or opserve-server in $OPSERVE_BIN_DIR or $PATH."""

import numpy as np
import pytest

import opserve


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    memory = tmp_path_factory.mktemp("memory") / "socket"
    with opserve.server("--allow-shared-memory", f"unix:{memory}") as running:
        yield running


@pytest.fixture
def client(server):
    with server.connect(timeout=30) as connected:
        yield connected


@pytest.fixture
def sample():
    """The README's call: operator, inputs, attributes, and the gradient."""
    ones = np.ones((4, 2), np.float32)
    inputs = {"grad_out": ones, "self": np.arange(8, dtype=np.float32).reshape(4, 2), "target": ones}
    gradient = np.array([[-1, 0], [1, 1], [1, 1], [1, 1]], np.float32)
    return "SmoothL1LossBackward", inputs, {"reduction": "none", "beta": 1.0}, gradient
