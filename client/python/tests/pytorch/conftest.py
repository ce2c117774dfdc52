"""A server whose operators PyTorch calls."""

import importlib.util

import pytest

import opserve

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def used():
    import opserve.torch
    with opserve.server() as server, server.connect(timeout=60) as client, opserve.torch.use(client):
        yield client
