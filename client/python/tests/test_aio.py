"""The client for asyncio against a real server."""

import asyncio
import inspect

import numpy as np
import pytest

import opserve
import opserve.aio

X = np.arange(8, dtype=np.float32).reshape(4, 2)


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 60))


def test_calls_side_by_side(server, sample):
    op, inputs, attributes, gradient = sample

    async def body():
        async with opserve.aio.connect(server.address) as client:
            results = await asyncio.gather(*(client.execute(op, inputs, attributes) for _ in range(16)))
            assert "hardshrink" not in dir(client.ops)
            other = await client.ops.hardshrink(X, lambd=3.5)
            assert "hardshrink" in dir(client.ops) and "lambd" in inspect.signature(client.ops.hardshrink).parameters
            batch = await client.execute_batch([opserve.Call("Relu", {"self": -X}), opserve.Call("Relu", {})])
            plan = await client.plan("Relu", {"self": X})
            names = [device.name for device in await client.devices()]
            assert (await client.statistics()).uptime_ns > 0
        return results, other, batch, plan, names

    results, other, batch, plan, names = run(body())
    for result in results:
        np.testing.assert_array_equal(result["grad_input"], gradient)
    np.testing.assert_array_equal(other, np.where(X > 3.5, X, 0))
    assert not batch[0]["out"].any() and isinstance(batch[1], ValueError)
    assert plan.output_bytes == 32 and names == ["cpu:0"]


def test_names_of_operators(server):
    async def body(known):
        async with opserve.aio.connect(server.address) as client:
            if known:
                await client.operators()
                await client.ops.relu(X)
            await client.ops.hardshrnk(X, lambd=3.5)

    for known in (False, True):
        with pytest.raises(AttributeError, match="^the server has no operator 'hardshrnk'; did you mean .hardshrink"):
            run(body(known))


def test_errors(server):
    async def body():
        client = await opserve.aio.connect(server.address)
        try:
            with pytest.raises(LookupError):
                await client.execute("Rela", {"self": X})
            with pytest.raises(TimeoutError):
                await client.execute("Relu", {"self": X}, timeout=1e-9)
        finally:
            await client.close()
        with pytest.raises(ConnectionError):
            await opserve.aio.connect("localhost:1", timeout=2)

    run(body())


def test_shared_memory(server, sample):
    op, inputs, attributes, gradient = sample

    async def body():
        async with opserve.aio.connect(server.address) as client:
            memory = await client.shared_memory(1 << 16)
            out = memory.array((4, 2))
            await client.execute(op, inputs, attributes, out={"grad_input": out})
            return out.copy()

    np.testing.assert_array_equal(run(body()), gradient)


def test_a_cancelled_task_cancels_its_call(server):
    async def body():
        async with opserve.aio.connect(server.address, timeout=60) as client:
            a = np.ones((2000, 2000), np.float32)
            task = asyncio.ensure_future(client.execute("Matmul", {"self": a, "mat2": a}))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await client.execute("Relu", {"self": X})

    np.testing.assert_array_equal(run(body())["out"], X)
