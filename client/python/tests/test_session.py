"""Sessions against a real server."""

import gc
import sys

import numpy as np
import pytest

import opserve

X = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.fixture
def session(client):
    with client.session(timeout=60) as opened:
        yield opened


def test_a_plan_runs_again_and_again(session):
    x, y = session.tensor(X), session.empty((4, 2))
    plan = session.plan("Hardshrink", {"self": x}, out={"out": y}, lambd=3.5)
    plan.run()
    np.testing.assert_array_equal(y.numpy(), np.where(X > 3.5, X, 0))
    x.upload(-2 * X)
    plan.run()
    np.testing.assert_array_equal(y.numpy(), np.where(X > 1.75, -2 * X, 0))


def test_what_a_forward_call_leaves_stays_there(session):
    """GroupNorm, then its gradient, whose mean and rstd never come here."""
    x = session.tensor(X.reshape(1, 4, 2))
    sizes = dict(N=1, C=4, HxW=2, group=2)
    gamma = session.full(4, 1.0)
    forward = session.execute("GroupNorm", {"self": x, "gamma": gamma}, **sizes, eps=1e-5)
    grad = np.array([1, 0, 0, 0, 0, 2, 0, 0], np.float32).reshape(1, 4, 2)
    backward = session.execute("GroupNormBackward", {"grad_out": grad, "input": x, "mean": forward["mean"],
                                                     "rstd": forward["rstd"], "gamma": gamma}, **sizes)
    np.testing.assert_allclose(np.ravel(forward["out"]), [-1.342, -.447, .447, 1.342] * 2, atol=1e-3)
    np.testing.assert_allclose(backward["grad_beta"].numpy(), [1, 0, 2, 0], atol=1e-6)
    np.testing.assert_allclose(backward["grad_input"].numpy().ravel(),
                               [.268, -.358, -.089, .179, -.716, 1.252, -.358, -.179], atol=1e-3)


def test_tensors_larger_than_a_chunk(session):
    large = np.random.default_rng(1).normal(size=(3 << 20)).astype(np.float32)
    tensor = session.tensor(large)
    copy = session.empty(large.shape)
    copy.copy_from(tensor)
    tensor.fill(7)
    np.testing.assert_array_equal(copy.numpy(), large)
    assert (tensor.numpy() == 7).all()


def test_kinds_of_tensors(session):
    assert session.empty(3).numpy().tolist() == [0, 0, 0]
    assert session.tensor([[1.5, 2]]).dtype == np.float32
    assert session.tensor([1, 2]).numpy().dtype == np.int64
    assert session.tensor(X.T).numpy().tolist() == X.T.tolist()
    assert session.tensor(2.5).numpy() == 2.5
    assert session.tensor(np.empty((0, 3), "f4")).numpy().shape == (0, 3)
    assert session.full((2,), True, bool).numpy().tolist() == [True, True]
    with pytest.raises(ValueError, match="shape"):
        session.empty(3).upload(X)


def test_no_more_plans_are_remembered_than_is_bounded(session, monkeypatch):
    monkeypatch.setattr("opserve._session.MAX_PLANS", 3)
    for count in (1, 2, 3, 4, 5, 1, 2):
        assert session.execute("Relu", {"self": np.ones(count, np.float32)})["out"].shape == (count,)
        assert len(session._plans) <= 3


def test_bfloat16_of_numbers(session):
    filled = session.empty(2, "bfloat16")
    filled.fill(1.5)
    for tensor in (session.tensor([1.5, 1.5], "bfloat16"), session.full(2, 1.5, "bfloat16"), filled):
        assert tensor.numpy().view(np.uint16).tolist() == [0x3FC0, 0x3FC0]
    filled.upload(np.array([0.5, -1], np.float32))
    assert filled.numpy().view(np.uint16).tolist() == [0x3F00, 0xBF80]


def test_streams_and_events(session):
    first, second = session.stream(), session.stream()
    x, y = session.empty((1000, 1000)), session.empty((1000, 1000))
    start = session.event().record(first)
    x.fill(3, stream=first)
    done = session.event().record(first)
    second.wait(done)
    y.copy_from(x, stream=second)
    assert (y.numpy(stream=second) == 3).all()
    done.synchronize()
    assert done.reached() and done.seconds_since(start) >= 0
    first.synchronize()
    assert first.idle()


def test_queries_wait_for_no_work(session):
    first, second = session.stream(), session.stream()
    x, y = session.full((1 << 22,), 2.0), session.empty((1 << 22,))
    session.synchronize()
    for _ in range(100):
        y.copy_from(x, stream=first)
        x.fill(3, stream=first)
    done = session.event().record(first)
    assert second.idle() and not first.idle() and not done.reached()
    assert session.memory().used_bytes >= 2 << 24
    done.synchronize()
    assert first.idle() and done.reached()


def here():
    """The place of the caller's line, as errors name it."""
    import inspect
    frame = inspect.currentframe().f_back
    return f"test_session.py:{frame.f_lineno}"


def test_a_refused_command_raises_where_it_is_told_with_its_place(session):
    x = session.tensor(X)
    plan, place = session.plan("Hardshrink", {"self": x}, lambd=1.0), None
    x.copy_from(session.empty(3)); place = here()
    plan.run()
    with pytest.raises(opserve.InvalidArgumentError) as told:
        plan.outputs["out"].numpy()
    assert told.value.place == place and place in str(told.value) and told.value.command
    np.testing.assert_array_equal(plan.run()["out"].numpy(), np.where(X > 1, X, 0))  # and the session goes on


def test_a_failure_in_its_turn_stops_what_follows_until_it_is_told(session):
    """A class that is none is seen only when the kernel looks at it."""
    classes = session.tensor(np.array([0, 9], np.int64))
    loss = session.plan("NLLLoss", {"self": np.zeros((2, 3), "f4"), "target": classes}, reduction="none")
    y, z = session.empty(2), session.tensor([1.0, 2.0])
    loss.run(); place = here()
    y.fill(5)
    z.fill(6)
    with pytest.raises(opserve.OpserveError) as told:
        y.numpy()
    assert told.value.place == place and told.value.reason != "STREAM_FAILED"
    for never_written in (z, loss.outputs["out"]):
        with pytest.raises(opserve.OpserveError):
            never_written.numpy()
    z.fill(7)
    assert z.numpy().tolist() == [7, 7]
    y.fill(5)
    assert y.numpy().tolist() == [5, 5]
    classes.upload(np.array([0, 1], np.int64))
    assert loss.run()["out"].numpy().tolist() == [0, 0]


def test_the_end_tells_what_was_not_told(client):
    with pytest.raises(opserve.InvalidArgumentError) as told:
        with client.session() as session:
            session.empty(3).copy_from(session.empty(4)); place = here()
    assert told.value.place == place
    with pytest.raises(ZeroDivisionError):
        with client.session() as session:
            session.empty(3).copy_from(session.empty(4))
            1 / 0


def test_memory_is_freed_by_del(session):
    tensor = session.empty(1 << 20)
    assert session.memory().used_bytes >= 4 << 20
    del tensor
    gc.collect()
    session.synchronize()
    assert session.memory().used_bytes < 1 << 20
    tensor = session.empty(1 << 20)
    tensor.free()
    session.synchronize()
    assert session.memory().used_bytes < 1 << 20


def test_more_commands_than_the_server_lets_wait(session):
    tensor = session.empty(4)
    for number in range(3 * session.info.max_queued_commands if session.info.max_queued_commands < 5000 else 5000):
        tensor.fill(number)
    assert tensor.numpy()[0] == number


def test_more_memory_than_a_session_may_have(session):
    with pytest.raises(opserve.ResourceError):
        session.empty(1 << 50)
        session.synchronize()


def test_a_session_that_is_over(client):
    session = client.session()
    session.close()
    with pytest.raises(opserve.OpserveError, match="over"):
        session.empty(3)


def test_a_server_that_goes_away():
    with opserve.server() as running, running.connect() as client:
        session = client.session()
        tensor = session.tensor(X)
        running._process.kill()
        with pytest.raises(ConnectionError):
            for _ in range(1000):
                tensor.numpy()
        session.cancel()


def test_no_message_is_larger_than_the_server_takes():
    with opserve.server("--max-message-bytes", "1MiB") as running, running.connect() as client, client.session() as session:
        large = np.arange(1 << 20, dtype=np.float32)
        np.testing.assert_array_equal(session.tensor(large).numpy(), large)


@pytest.fixture(scope="module")
def narrow():
    """A client of a server that takes small messages only."""
    with opserve.server("--max-message-bytes", "1MiB") as running, running.connect(timeout=60) as client:
        yield client


def test_a_call_larger_than_a_message_goes_through_a_session(narrow):
    told = []
    large = np.arange(1 << 20, dtype=np.float32) % 1000 - 5
    out = np.empty(large.shape, np.float16)
    result = narrow.execute("Relu", {"self": large}, out={"out": out}, progress=lambda *done: told.append(done))
    assert result["out"] is out
    np.testing.assert_array_equal(out, np.maximum(large, 0).astype(np.float16))
    assert told[-1] == (6 << 20, 6 << 20) and len(told) > 6 and told == sorted(told)
    assert narrow.ops.relu(large)[7] == 2


@pytest.mark.parametrize("asked", [True, "tqdm"])
def test_a_bar_of_progress(narrow, asked, capfd):
    pytest.importorskip("tqdm")
    narrow.execute("Relu", {"self": X}, progress=asked)
    assert capfd.readouterr().err == ""  # a small call has none
    narrow.execute("Relu", {"self": np.ones(1 << 20, np.float32)}, progress=asked)
    shown = capfd.readouterr().err
    assert "8.00M/8.00M" in shown and shown.endswith("\n")


@pytest.mark.parametrize("failure", [KeyError("mine"), SystemExit(3)])
def test_what_progress_raises(client, failure):
    def fail(done, total):
        raise failure

    with client.session() as session:
        tensor = session.tensor(X)
        for call in (lambda: tensor.upload(X, progress=fail), lambda: tensor.numpy(progress=fail)):
            with pytest.raises(type(failure)) as raised:
                call()
            assert raised.value is failure
        np.testing.assert_array_equal(tensor.numpy(), X)


def test_a_bar_for_a_tensor(client, capfd):
    pytest.importorskip("tqdm")
    with client.session() as session:
        tensor = session.empty(1 << 20)
        tensor.upload(np.ones(1 << 20, np.float32), progress=True)
        assert "4.00M/4.00M" in capfd.readouterr().err
        tensor.numpy(progress="tqdm")
        assert "4.00M/4.00M" in capfd.readouterr().err


def test_a_bar_without_tqdm(client, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match="progress: a bar needs tqdm"):
        client.execute("Relu", {"self": X}, progress=True)
    with pytest.raises(ValueError, match="progress: want .* got 'bar'"):
        client.execute("Relu", {"self": X}, progress="bar")


def test_an_answer_larger_than_a_message_comes_through_a_session(narrow):
    a = np.arange(1000, dtype=np.float32)
    product = narrow.execute("Matmul", {"self": a[:, None], "mat2": a[None, :]})["out"]
    np.testing.assert_array_equal(product, np.outer(a, a))


def test_errors_of_a_large_call(narrow):
    large = np.zeros(1 << 20, np.float32)
    with pytest.raises(ValueError, match="beta"):
        narrow.execute("SmoothL1Loss", {"self": large, "target": large}, beta=-1.0)
    with pytest.raises(ValueError, match="7"):
        narrow.execute("NLLLoss", {"self": large.reshape(-1, 4), "target": np.full(1 << 18, 7)})
