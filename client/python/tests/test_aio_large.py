"""Large calls of the client for asyncio: by shared memory, and in pieces."""

import asyncio
import threading

import numpy as np
import pytest

import opserve
import opserve.aio
from opserve import _local_memory

COUNT = _local_memory.LARGE_BYTES // 4


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


async def relu(client, value, count=COUNT, **options):
    out = (await client.execute("Relu", {"self": np.full(count, value, np.float32)}, **options))["out"]
    assert out.shape == (count,) and (out == max(value, 0)).all()
    return out


def lies_in_memory(client, array):
    return client._memory.regions.locate(array) is not None


def test_large_arrays_lie_in_shared_memory(server):
    async def body():
        async with opserve.aio.connect(server.address) as client:
            assert not lies_in_memory(client, await relu(client, 1))  # what the output is was not known
            for out in await asyncio.gather(*(relu(client, value) for value in range(-8, 8))):
                assert lies_in_memory(client, out) and not out.flags.writeable
            assert not lies_in_memory(client, await relu(client, 1, COUNT - 1))

    run(body())


@pytest.mark.parametrize("how", ["argument", "environment", "server"])
def test_no_shared_memory(how, server, monkeypatch):
    if how == "environment":
        monkeypatch.setenv("OPSERVE_SHARED_MEMORY", "off")

    async def body(address, **more):
        async with opserve.aio.connect(address, **more) as client:
            for value in (1, 2):
                await relu(client, value)
            assert client._memory is None or client._memory._held_bytes == 0

    if how == "server":
        with opserve.server() as without:
            run(body(without.address))
    else:
        run(body(server.address, **({"shared_memory_bytes": 0} if how == "argument" else {})))


def test_a_call_that_is_cancelled_while_it_is_placed_keeps_no_memory(server, monkeypatch):
    placing, may_go_on = threading.Event(), threading.Event()
    place = _local_memory.LocalMemory.place

    def slow(self, call):
        placed = place(self, call)
        placing.set()
        may_go_on.wait(30)
        return placed

    async def body():
        async with opserve.aio.connect(server.address) as client:
            for value in (1, 2):
                await relu(client, value)
            held = client._memory._held_bytes
            monkeypatch.setattr(_local_memory.LocalMemory, "place", slow)
            call = asyncio.ensure_future(relu(client, 3))
            await asyncio.get_running_loop().run_in_executor(None, placing.wait, 30)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            monkeypatch.setattr(_local_memory.LocalMemory, "place", place)
            may_go_on.set()
            while client._memory._held_bytes > held - COUNT:
                await asyncio.sleep(0.01)
            await relu(client, 4)
            await relu(client, 5)

    run(body())


def test_threads_that_wait_for_calls_do_not_keep_them_from_memory(server):
    async def body():
        loop = asyncio.get_running_loop()
        async with opserve.aio.connect(server.address) as client:

            def wait():
                return asyncio.run_coroutine_threadsafe(relu(client, 1), loop).result(30)

            await asyncio.gather(*(loop.run_in_executor(None, wait) for _ in range(64)))

    run(body())


def test_a_server_that_forgets_its_memory(server, monkeypatch):
    """The call goes by bytes then, and memory is left alone for a while."""

    async def body():
        async with opserve.aio.connect(server.address) as client:
            await relu(client, 1)
            wrong = {"region": b"no such region", "offset_bytes": 0, "size_bytes": 4 * COUNT}
            monkeypatch.setattr(client._memory, "locate", lambda array: wrong if array.nbytes == 4 * COUNT else None)
            monkeypatch.setattr(client._memory.regions, "locate", lambda array: None)
            await relu(client, 2)
            assert client._memory._off_until > 0

    run(body())


def test_what_is_larger_than_a_message_goes_through_a_session():
    async def body(address):
        told = []
        async with opserve.aio.connect(address, timeout=60) as client:
            large = np.arange(1 << 20, dtype=np.float32) % 1000 - 5
            out = np.empty(large.shape, np.float16)
            result = await client.execute("Relu", {"self": large}, out={"out": out}, progress=lambda *done: told.append(done))
            assert result["out"] is out
            np.testing.assert_array_equal(out, np.maximum(large, 0).astype(np.float16))
            assert told[-1] == (6 << 20, 6 << 20) and len(told) > 6 and told == sorted(told)
            sizes = await asyncio.gather(*(relu(client, value, 1 << 19) for value in (1, 2, 3)))
            assert len(sizes) == 3
            with pytest.raises(opserve.OpserveError) as raised:
                await client.execute("SmoothL1Loss", {"self": large, "target": large[1:]}, reduction="none", beta=1.0)
            assert raised.value.parameter in ("self", "target")
            with pytest.raises(TimeoutError):
                await client.execute("Relu", {"self": large}, timeout=1e-3)
            await relu(client, 4, 1 << 19)

    with opserve.server("--max-message-bytes", "1MiB") as running:
        run(body(running.address))
