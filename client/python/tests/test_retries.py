"""Retries, interrupts and answers that make no sense: against a server of the test's own."""

import asyncio
import concurrent.futures
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

import grpc
import pytest

import opserve
import opserve.aio
from opserve._channel import waits
from opserve._proto import error_details_pb2, operator_service_pb2, status_pb2
from opserve.errors import DETAILS_KEY, UnavailableError


class Answers(grpc.GenericRpcHandler):
    """Answers every method with what the next of `steps` does."""

    def __init__(self, steps):
        self.steps = list(steps)
        self.calls = []

    def service(self, details):
        def handle(request, context):
            self.calls.append((details.method, dict(details.invocation_metadata)))
            return self.steps.pop(0)(context)

        return grpc.unary_unary_rpc_method_handler(handle)


@contextlib.contextmanager
def serving(*steps):
    handler = Answers(steps)
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(4), handlers=[handler])
    port = server.add_insecure_port("localhost:0")
    server.start()
    try:
        yield f"localhost:{port}", handler
    finally:
        server.stop(0).wait()


def fine(context):
    del context
    return operator_service_pb2.GetServerInfoResponse(version="7").SerializeToString()


def unavailable(context):
    context.abort(grpc.StatusCode.UNAVAILABLE, "draining")


def busy(delay_ms):
    def step(context):
        status = status_pb2.Status(code=8, message="too busy")
        detail = status.details.add(type_url="type.googleapis.com/google.rpc.ErrorInfo")
        detail.value = error_details_pb2.ErrorInfo(reason="RESOURCE_LIMIT").SerializeToString()
        if delay_ms is not None:
            retry = error_details_pb2.RetryInfo()
            retry.retry_delay.seconds, retry.retry_delay.nanos = delay_ms // 1000, delay_ms % 1000 * 1000000
            status.details.add(type_url="type.googleapis.com/google.rpc.RetryInfo").value = retry.SerializeToString()
        context.set_trailing_metadata([(DETAILS_KEY, status.SerializeToString())])
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too busy")

    return step


def test_unavailable_is_tried_again():
    with serving(unavailable, unavailable, fine, fine) as (address, handler):
        with opserve.connect(address, timeout=20) as client:
            assert client.info().version == "7"
        assert len(handler.calls) == 4


def test_asyncio_tries_again():
    async def body(address):
        async with opserve.aio.connect(address, timeout=20) as client:
            return (await client.info()).version

    with serving(unavailable, fine, busy(100), fine) as (address, handler):
        assert asyncio.run(body(address)) == "7" and len(handler.calls) == 4


def test_the_server_says_how_long_to_wait():
    with serving(fine, busy(300), fine) as (address, handler), opserve.connect(address) as client:
        start = time.monotonic()
        client.info()
        assert time.monotonic() - start >= 0.3 and len(handler.calls) == 3


def test_what_no_waiting_changes_is_not_tried_again():
    with serving(fine, busy(None)) as (address, handler), opserve.connect(address) as client:
        with pytest.raises(opserve.ResourceError) as told:
            client.info()
        assert told.value.retry_after is None and told.value.reason == "RESOURCE_LIMIT" and len(handler.calls) == 2


def test_no_try_begins_behind_the_deadline():
    with serving(fine, busy(60500)) as (address, handler), opserve.connect(address, timeout=30) as client:
        start = time.monotonic()
        with pytest.raises(opserve.ResourceError) as told:
            client.info()
        assert told.value.retry_after == 60.5 and time.monotonic() - start < 20 and len(handler.calls) == 2


def test_waits_grow_and_end():
    error = UnavailableError("gone", code=grpc.StatusCode.UNAVAILABLE)
    first, second, third = waits(lambda: error, None, time.monotonic)
    assert first < second < third < 1


def test_a_token_goes_with_each_call():
    with serving(fine, fine) as (address, handler), opserve.connect(address, token="secret") as client:
        client.info()
        assert [metadata["authorization"] for _, metadata in handler.calls] == ["Bearer secret"] * 2


def test_an_answer_that_makes_no_sense():
    with serving(fine, lambda context: b"\x7a\xff") as (address, _), opserve.connect(address) as client:
        with pytest.raises(opserve.InternalError, match="makes no sense"):
            client.execute("Relu", {"self": 1.0})


INTERRUPTED = """
import sys, opserve
with opserve.connect(sys.argv[1], timeout=60) as client:
    print("calling", flush=True)
    try:
        client.execute("Relu", {"self": 1.0})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    sys.stdin.readline()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_an_interrupt_cancels_the_call():
    called, cancelled = threading.Event(), threading.Event()

    def slow(context):
        context.add_callback(cancelled.set)
        called.set()
        cancelled.wait(20)
        return b""

    with serving(fine, slow) as (address, _):
        program = subprocess.Popen([sys.executable, "-c", INTERRUPTED, address], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, env=os.environ)
        try:
            assert program.stdout.readline() == "calling\n" and called.wait(20)
            program.send_signal(signal.SIGINT)
            assert program.stdout.readline() == "interrupted\n"
            assert cancelled.wait(20)  # while the program and its connection live
        finally:
            program.communicate("\n", timeout=20)
