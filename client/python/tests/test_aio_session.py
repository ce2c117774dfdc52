"""Sessions of the client for asyncio against a real server: test_session.py, awaited."""

import asyncio
import functools
import gc
import inspect

import numpy as np
import pytest

import opserve
import opserve.aio

X = np.arange(8, dtype=np.float32).reshape(4, 2)


def awaited(test):
    """Runs a test's coroutine with a session of its own."""
    @functools.wraps(test)
    def run(server):
        async def body():
            async with opserve.aio.connect(server.address, timeout=30) as client, client.session(timeout=60) as session:
                await test(session)
        asyncio.run(asyncio.wait_for(body(), 90))
    run.__signature__ = inspect.Signature([inspect.Parameter("server", inspect.Parameter.POSITIONAL_OR_KEYWORD)])
    return run


def here():
    """The place of the caller's line, as errors name it."""
    return f"test_aio_session.py:{inspect.currentframe().f_back.f_lineno}"


@awaited
async def test_a_plan_runs_again_and_again(session):
    x, y = await session.tensor(X), await session.empty((4, 2))
    plan = await session.plan("Hardshrink", {"self": x}, out={"out": y}, lambd=3.5)
    assert (await plan.run())["out"] is y and plan.inputs["self"] is x
    np.testing.assert_array_equal(await y.numpy(), np.where(X > 3.5, X, 0))
    await x.upload(-2 * X)
    await plan.run()
    np.testing.assert_array_equal(await y.numpy(), np.where(X > 1.75, -2 * X, 0))


@awaited
async def test_what_a_forward_call_leaves_stays_there(session):
    sizes = dict(N=1, C=4, HxW=2, group=2)
    x, gamma = await session.tensor(X.reshape(1, 4, 2)), await session.full(4, 1.0)
    forward = await session.execute("GroupNorm", {"self": x, "gamma": gamma}, **sizes, eps=1e-5)
    grad = np.array([1, 0, 0, 0, 0, 2, 0, 0], np.float32).reshape(1, 4, 2)
    backward = await session.execute("GroupNormBackward", {"grad_out": grad, "input": x, "mean": forward["mean"],
                                                           "rstd": forward["rstd"], "gamma": gamma}, **sizes)
    np.testing.assert_allclose(await backward["grad_beta"].numpy(), [1, 0, 2, 0], atol=1e-6)
    np.testing.assert_allclose((await backward["grad_input"].numpy()).ravel(),
                               [.268, -.358, -.089, .179, -.716, 1.252, -.358, -.179], atol=1e-3)


@awaited
async def test_a_program(session):
    p = opserve.Program()
    x, w = p.inputs("x", "w")
    loss = p.call("MseLoss", {"self": x @ w, "target": np.zeros((4, 1), np.float32)}, reduction="sum")
    p.output(loss=loss)
    p.gradient(loss, ["w"])
    results = await session.execute(p, {"x": X, "w": np.ones((2, 1), np.float32)})
    np.testing.assert_allclose(await results["grad_w"].numpy(), 2 * X.T @ X @ np.ones((2, 1)))


@awaited
async def test_tensors_larger_than_a_chunk(session):
    large = np.random.default_rng(1).normal(size=(3 << 20)).astype(np.float32)
    sent, received = [], []
    tensor, copy = await session.empty(large.shape), await session.empty(large.shape)
    await tensor.upload(large, progress=lambda *done: sent.append(done))
    await copy.copy_from(tensor)
    await tensor.fill(7)
    np.testing.assert_array_equal(await copy.numpy(progress=lambda *done: received.append(done)), large)
    assert (await tensor.numpy() == 7).all()
    assert sent[-1] == received[-1] == (large.nbytes, large.nbytes) and len(sent) > 1


@awaited
async def test_kinds_of_tensors(session):
    assert (await (await session.empty(3)).numpy()).tolist() == [0, 0, 0]
    assert (await session.tensor([[1.5, 2]])).dtype == np.float32
    assert (await (await session.tensor(X.T)).numpy()).tolist() == X.T.tolist()
    assert await (await session.tensor(2.5)).numpy() == 2.5
    assert (await session.tensor([1, 2], "float16")).dtype == np.float16
    with pytest.raises(ValueError, match="shape"):
        await (await session.empty(3)).upload(X)
    with pytest.raises(TypeError, match="out: want a tensor"):
        await session.plan("Relu", {"self": X}, out={"out": np.empty((4, 2), np.float32)})


@awaited
async def test_no_more_plans_are_remembered_than_is_bounded(session):
    for number in range(2 * opserve._session.MAX_PLANS):
        session._session._plans[b"%d" % number] = None
    for count in (1, 2, 1):
        assert (await session.execute("Relu", {"self": np.ones(count, np.float32)}))["out"].shape == (count,)
        assert len(session._session._plans) <= 2


@awaited
async def test_streams_and_events(session):
    first, second = await session.stream(), await session.stream()
    x, y = await session.empty((1000, 1000)), await session.empty((1000, 1000))
    start = await (await session.event()).record(first)
    await x.fill(3, stream=first)
    done = await (await session.event()).record(first)
    await second.wait(done)
    await y.copy_from(x, stream=second)
    assert (await y.numpy(stream=second) == 3).all()
    await done.synchronize()
    assert await done.reached() and await done.seconds_since(start) >= 0
    await first.synchronize()
    assert await first.idle()


@awaited
async def test_many_tasks_use_a_session(session):
    async def relu_of(number):
        stream = await session.stream()
        tensor = await session.tensor(X - number, stream=stream)
        out = await session.execute("Relu", {"self": tensor}, stream=stream)
        return await out["out"].numpy(stream=stream)

    for number, result in enumerate(await asyncio.gather(*map(relu_of, range(16)))):
        np.testing.assert_array_equal(result, np.maximum(X - number, 0))


@awaited
async def test_the_loop_goes_on_while_a_result_is_waited_for(session):
    a = await session.full((1500, 1500), 1.0)
    waiting = asyncio.ensure_future((await session.execute("Matmul", {"self": a, "mat2": a}))["out"].numpy())
    assert not await session.default_stream.idle() and not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await a.numpy())[0, 0] == 1  # and the session goes on


@awaited
async def test_a_refused_command_raises_where_it_is_told_with_its_place(session):
    x = await session.tensor(X)
    plan, place = await session.plan("Hardshrink", {"self": x}, lambd=1.0), None
    await x.copy_from(await session.empty(3)); place = here()
    await plan.run()
    with pytest.raises(opserve.InvalidArgumentError) as told:
        await plan.outputs["out"].numpy()
    assert told.value.place == place and place in str(told.value) and told.value.command
    np.testing.assert_array_equal(await (await plan.run())["out"].numpy(), np.where(X > 1, X, 0))


@awaited
async def test_a_failure_in_its_turn_stops_what_follows_until_it_is_told(session):
    classes = await session.tensor(np.array([0, 9], np.int64))
    loss = await session.plan("NLLLoss", {"self": np.zeros((2, 3), "f4"), "target": classes}, reduction="none")
    y = await session.empty(2)
    await loss.run(); place = here()
    await y.fill(5)
    with pytest.raises(opserve.OpserveError) as told:
        await y.numpy()
    assert told.value.place == place and told.value.reason != "STREAM_FAILED"
    await y.fill(5)
    assert (await y.numpy()).tolist() == [5, 5]


@awaited
async def test_memory_is_freed_by_del(session):
    tensor = await session.empty(1 << 20)
    assert (await session.memory()).used_bytes >= 4 << 20
    del tensor
    gc.collect()
    await session.synchronize()
    assert (await session.memory()).used_bytes < 1 << 20
    tensor = await session.empty(1 << 20)
    tensor.free()
    await session.synchronize()
    assert (await session.memory()).used_bytes < 1 << 20


@awaited
async def test_more_commands_than_the_server_lets_wait(session):
    tensor = await session.empty(4)
    last = min(3 * session.info.max_queued_commands, 5000)
    for number in range(last + 1):
        await tensor.fill(number)
    assert (await tensor.numpy())[0] == last


@awaited
async def test_more_memory_than_a_session_may_have(session):
    with pytest.raises(opserve.ResourceError):
        await session.empty(1 << 50)
        await session.synchronize()


def test_the_end_tells_what_was_not_told(server):
    async def body():
        async with opserve.aio.connect(server.address) as client:
            with pytest.raises(opserve.InvalidArgumentError) as told:
                async with client.session() as session:
                    await (await session.empty(3)).copy_from(await session.empty(4)); place = here()
            assert told.value.place == place
            with pytest.raises(ZeroDivisionError):
                async with client.session() as session:
                    await (await session.empty(3)).copy_from(await session.empty(4))
                    1 / 0
            session = await client.session()
            await session.close()
            with pytest.raises(opserve.OpserveError, match="over"):
                await session.empty(3)

    asyncio.run(asyncio.wait_for(body(), 60))


def test_a_server_that_goes_away():
    async def body(running):
        async with opserve.aio.connect(running.address) as client:
            session = await client.session()
            tensor = await session.tensor(X)
            running._process.kill()
            with pytest.raises(ConnectionError):
                for _ in range(1000):
                    await tensor.numpy()
            await session.cancel()
            with pytest.raises(ConnectionError):
                await client.session()

    with opserve.server() as running:
        asyncio.run(asyncio.wait_for(body(running), 60))
