"""Large tensors of calls to a server on this host, in shared memory by themselves."""

import fcntl
import gc
import os
import socket
import threading
import time

import grpc
import numpy as np
import pytest

import opserve
from opserve import _local_memory
from opserve._proto import shared_memory_pb2 as messages
from opserve._shared_memory import Regions

COUNT = _local_memory.LARGE_BYTES // 4


def relu(client, value, count=COUNT, **options):
    """The result of Relu for so many of `value`, checked."""
    out = client.execute("Relu", {"self": np.full(count, value, np.float32)}, **options)["out"]
    assert out.shape == (count,) and (out == max(value, 0)).all()
    return out


def lies_in_memory(client, array):
    return client._memory.regions.locate(array) is not None


def test_outputs_lie_there_from_the_second_call_on(client):
    first, second, third = (relu(client, value) for value in (1, -2, 3))
    assert not lies_in_memory(client, first)
    assert lies_in_memory(client, second) and lies_in_memory(client, third)
    assert not second.flags.writeable
    assert (second == 0).all() and (third == 3).all()


def test_memory_is_used_again_when_no_array_looks_into_it(client):
    relu(client, 1)
    held = [relu(client, value) for value in (1, 2)]
    places = {array.ctypes.data for array in held}
    part = held[0][5:7].view(np.int32)
    assert len(places) == 2
    del held
    gc.collect()
    again = [relu(client, value) for value in (3, 4, 5)]
    assert part.tolist() == np.ones(2, np.float32).view(np.int32).tolist()  # it keeps its place
    assert len(places & {array.ctypes.data for array in again}) == 1


def test_a_result_outlives_its_client_and_its_server(tmp_path):
    with opserve.server("--allow-shared-memory", f"unix:{tmp_path}/socket") as running:
        with running.connect() as client:
            relu(client, 1)
            kept = relu(client, 7)
            assert lies_in_memory(client, kept)
        assert (kept == 7).all()
    assert (kept == 7).all()


def test_results_are_inputs_without_a_copy(client):
    relu(client, 1)
    chain = relu(client, 2)
    for _ in range(3):
        chain = client.execute("Relu", {"self": chain})["out"]
        assert (chain == 2).all()


def test_arrays_of_the_other_order_of_bytes(client):
    value = np.arange(COUNT, dtype=">f4")
    for _ in range(2):
        np.testing.assert_array_equal(client.execute("Relu", {"self": value})["out"], value)
    with client.shared_memory(4 * _local_memory.LARGE_BYTES) as memory:
        for count in (4, COUNT):
            given, out = memory.array((count,), ">f4"), memory.array((count,), ">f4")
            given[:] = value[:count]
            assert client.execute("Relu", {"self": given}, out={"out": out})["out"] is out
            np.testing.assert_array_equal(out, value[:count])


def test_what_is_small_goes_by_bytes(client):
    for _ in range(3):
        assert not lies_in_memory(client, relu(client, 1, COUNT - 1))


def test_what_is_not_dense_goes_as_it_did(client):
    one = np.broadcast_to(np.float32(-3), (16 << 20,))
    transposed = np.arange(2 * COUNT, dtype=np.float32).reshape(2, COUNT).T
    for value in (one[:COUNT], transposed):
        for _ in range(2):
            out = client.execute("Relu", {"self": value})["out"]
            assert (out == np.maximum(value, 0)).all() and not lies_in_memory(client, out)
    assert client._memory._held_bytes == 0


def test_a_socket_that_says_nothing_costs_a_moment(tmp_path, monkeypatch):
    with opserve.server() as running, running.connect() as client, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as silent:
        silent.bind(str(tmp_path / "silent"))
        silent.listen()
        monkeypatch.setattr(client._memory, "_socket_of_server", lambda: str(tmp_path / "silent"))
        begin = time.monotonic()
        relu(client, 1)
        assert time.monotonic() - begin < 5


def test_what_a_message_cannot_hold_needs_no_session(tmp_path):
    flags = ["--allow-shared-memory", f"unix:{tmp_path}/socket", "--max-message-bytes", "1MiB"]
    with opserve.server(*flags) as running, running.connect() as client:
        relu(client, 1, 1 << 19)  # its answer goes through a session
        assert lies_in_memory(client, relu(client, 2, 1 << 19))


def test_a_wrong_call_has_its_own_error(client):
    wrong = {"self": np.ones((COUNT, 1), np.float32), "target": np.ones((COUNT, 3), np.float32), "grad_out": 1.0}
    for _ in range(2):
        with pytest.raises(opserve.OpserveError) as raised:
            client.execute("SmoothL1LossBackward", {**wrong, "self": np.ones((COUNT, 2), np.float32)}, reduction="none", beta=1.0)
        assert raised.value.parameter in ("self", "target")
    relu(client, 1)
    assert lies_in_memory(client, relu(client, 1))  # it was no fault of the memory's


def test_a_limit_or_a_flag_sends_bytes(server, monkeypatch):
    for options in ({"shared_memory_bytes": 0}, {"shared_memory_bytes": 1000}):
        with server.connect(**options) as client:
            for _ in range(2):
                relu(client, 1)
            assert client._memory is None or client._memory._held_bytes == 0
    monkeypatch.setenv("OPSERVE_SHARED_MEMORY", "off")
    with server.connect() as client:
        assert client._memory is None


def test_without_a_socket_bytes_go(tmp_path):
    with opserve.server() as running, running.connect() as client:
        for _ in range(2):
            relu(client, 1)
        assert client._memory._off_until > 0


def test_memory_that_the_server_does_not_know_any_more(tmp_path):
    with opserve.server("--allow-shared-memory", f"unix:{tmp_path}/socket") as running, running.connect() as client:
        relu(client, 1)
        relu(client, 1)
        gc.collect()
        with client._memory._lock:
            client._memory._collect()
        for idle in client._memory._idle:
            idle.region._socket.close()  # the server lets go of it; the client does not notice
        deadline = time.monotonic() + 60
        while client.statistics().shared_memory.regions > 0 and time.monotonic() < deadline:
            time.sleep(0.01)
        for value in (3, 4, 5):
            relu(client, value)
        assert client._memory._off_until > 0


def test_a_call_that_is_tried_again_goes_by_bytes(client, monkeypatch):
    """In memory it could meet the first try, which the server may not have ended."""
    relu(client, 1)
    kept = relu(client, 2)
    calls = []
    once, again = client._channel.call_once, client._channel.call_until

    def fail(request, timeout):
        calls.append("memory")
        once(request, timeout)
        raise opserve.UnavailableError("gone", code=grpc.StatusCode.UNAVAILABLE)

    def succeed(request, timeout):
        calls.append("bytes")
        return again(request, timeout)

    monkeypatch.setattr(client._execution._way, "call_once", fail)
    monkeypatch.setattr(client._execution._way, "call", succeed)
    result = relu(client, 3)
    assert calls == ["memory", "bytes"]
    assert not lies_in_memory(client, result) and (kept == 2).all()


def test_threads_have_regions_of_their_own(client):
    failures = []

    def work(value):
        try:
            for _ in range(20):
                relu(client, value)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(value,)) for value in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("seals, size", [(0, 1 << 20), (fcntl.F_SEAL_SHRINK, 1 << 10)])
def test_memory_that_may_go_away_is_refused(tmp_path, seals, size):
    """A server's file that it could shorten, or that is shorter than asked."""
    path = str(tmp_path / "socket")
    answer = messages.SharedMemoryResponse(region=messages.SharedRegion(id=b"region", size_bytes=1 << 20)).SerializeToString()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(path)
        listener.listen()

        def serve():
            with listener.accept()[0] as connection:
                connection.recv(1 << 10)
                file = os.memfd_create("memory", os.MFD_ALLOW_SEALING)
                os.ftruncate(file, size)
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, seals)
                socket.send_fds(connection, [answer], [file])
                os.close(file)

        server = threading.Thread(target=serve)
        server.start()
        with pytest.raises(opserve.OpserveError, match="memory that stays"):
            Regions().allocate(path, 1 << 20)
        server.join()
