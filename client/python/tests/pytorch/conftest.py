"""A server whose operators PyTorch calls."""

import importlib.util

import pytest

import opserve

if importlib.util.find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]


@pytest.fixture(scope="session")
def torch_client():
    with opserve.server() as server, server.connect(timeout=60) as client:
        yield client


@pytest.fixture(scope="session", params=["calls", "session"])
def used(torch_client, request):
    """Tests that use it run twice: with calls by themselves, and in a session, which keeps tensors of any size."""
    import opserve.torch
    if request.param == "calls":
        with opserve.torch.use(torch_client) as client:
            yield client
    else:
        with torch_client.session() as session, opserve.torch.use(torch_client, session=session, resident_bytes=0) as client:
            yield client
