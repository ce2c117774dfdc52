"""The vectors of proto/conformance, sent and read as the package sends and reads: the rules are in their README."""

import base64
import json
import pathlib

import grpc
import pytest
from google.protobuf import json_format

import opserve
from opserve._exchange import METHOD
from opserve._proto import operator_service_pb2 as api
from opserve._proto import session_pb2, statistics_pb2
from opserve._proto._pool import POOL
from opserve._requests import SERVICE
from opserve._wire import field, joined, taken_apart
from opserve.errors import error_of_rpc

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "proto/conformance"
UNARY = json.loads((FOLDER / "unary.json").read_text(encoding="utf-8"))["cases"]
SESSIONS = json.loads((FOLDER / "session.json").read_text(encoding="utf-8"))["cases"]
WORDS = ("operator", "parameter", "want", "got")


@pytest.fixture(scope="module")
def channel():
    """A channel to a server with the default flags."""
    with opserve.server() as server, server.connect() as client:
        yield client._channel.get().channel


def told(message):
    """A message as JSON, with the defaults of fields that have no presence."""
    options = {"descriptor_pool": POOL}
    try:
        return json_format.MessageToDict(message, always_print_fields_with_no_presence=True, **options)
    except TypeError:
        return json_format.MessageToDict(message, including_default_value_fields=True, **options)


def number(value):
    """What two numbers of JSON are compared by; strings that are none stay."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return value


def difference(got, want, place="it"):
    """Where something does not match; None where it does."""
    if isinstance(want, dict):
        if not isinstance(got, dict):
            return f"{place}: want {want}, got {got}"
        for name, value in want.items():
            default = [] if isinstance(value, list) else {} if isinstance(value, dict) else None
            found = got.get(name, default)
            if found is None and value in (0, "0", False, ""):
                continue
            problem = difference(found, value, f"{place}.{name}")
            if problem:
                return problem
        return None
    if isinstance(want, list):
        if len(got) != len(want):
            return f"{place}: want {want}, got {got}"
        return next(filter(None, (difference(one, other, f"{place}[{i}]") for i, (one, other) in enumerate(zip(got, want)))), None)
    same = got == want or (number(got) == number(want) and not isinstance(want, bool))
    return None if same else f"{place}: want {want!r}, got {got!r}"


def check_error(error, want):
    """An RPC's status against a vector's `error` or `end`."""
    found = error_of_rpc(error)
    metadata = {word: getattr(found, word) for word in WORDS}
    metadata["code"] = "" if found.aclnn_code is None else str(found.aclnn_code)
    got = {"code": found.code.name, "reason": found.reason, "metadata": metadata}
    assert difference(got, want) is None, difference(got, want)


def without_error(got, want):
    """What has no error in the vector must have none."""
    for one, other in zip(got.get("results", []), want.get("results", [])):
        assert "error" in other or "error" not in one, one


@pytest.mark.parametrize("case", UNARY, ids=[case["name"] for case in UNARY])
def test_unary(channel, case):
    module = statistics_pb2 if case["method"] == "GetStatistics" else api
    request = json_format.ParseDict(case["request"], getattr(module, case["method"] + "Request")(), descriptor_pool=POOL)
    call = channel.unary_unary(SERVICE + case["method"])
    if "error" in case:
        with pytest.raises(grpc.RpcError) as failed:
            call(request.SerializeToString(), timeout=30)
        check_error(failed.value, case["error"])
        return
    kind = getattr(module, case["method"] + "Response")
    answer = call(request.SerializeToString(), timeout=30)
    parts = taken_apart(answer)
    message = kind.FromString(joined([parts.header], parts.raw))
    assert message == kind.FromString(answer)
    got = told(message)
    assert difference(got, case["response"]) is None, difference(got, case["response"])
    without_error(got, case["response"])


class Entries:
    """The entries of `raw` that an answer names, numbered anew in the order in which it first names them."""

    def __init__(self, raw):
        self._raw = raw
        self.named = []
        self._numbers = {}

    def renumbered(self, index):
        if index not in self._numbers:
            self._numbers[index] = len(self.named)
            self.named.append(base64.b64encode(bytes(self._raw[index])).decode())
        return self._numbers[index]


def answers_of(response):
    """The answers of a SessionResponse as (id, JSON, raw)."""
    parts = taken_apart(response)
    for answer in session_pb2.SessionResponse.FromString(parts.header).answers:
        entries = Entries(parts.raw)
        if answer.HasField("chunk"):
            answer.chunk.raw_index = entries.renumbered(answer.chunk.raw_index)
        for tensor in answer.outputs.outputs if answer.HasField("outputs") else ():
            if tensor.HasField("raw_index"):
                tensor.raw_index = entries.renumbered(tensor.raw_index)
        yield answer.id, told(answer), entries.named


def message_of(text):
    request = json_format.ParseDict(text, session_pb2.SessionRequest(), descriptor_pool=POOL)
    header = [part for command in request.commands for part in field(b"\x0a", command.SerializeToString())]
    return joined(header, list(request.raw))


@pytest.mark.parametrize("case", SESSIONS, ids=[case["name"] for case in SESSIONS])
def test_session(channel, case):
    call = channel.stream_stream(METHOD)(iter([message_of(text) for text in case["messages"]]), timeout=30)
    came, ended = {}, None
    try:
        for response in call:
            for number_of_command, answer, raw in answers_of(response):
                came.setdefault(number_of_command, []).append((answer, raw))
    except grpc.RpcError as error:
        ended = error
    assert "info" in came.pop(0)[0][0]
    assert (ended is not None) == ("end" in case), ended
    if ended is not None:
        check_error(ended, case["end"])
    assert sorted(came) == sorted(map(int, case.get("answers", {})))
    for number_of_command, wanted in case.get("answers", {}).items():
        got = came[int(number_of_command)]
        assert len(got) == len(wanted)
        for (answer, raw), want in zip(got, wanted):
            want = dict(want)
            assert raw == want.pop("raw", [])
            assert difference(answer, want) is None, difference(answer, want)
            assert "error" in want or "error" not in answer
            assert bool(answer.get("more")) == bool(want.get("more"))
