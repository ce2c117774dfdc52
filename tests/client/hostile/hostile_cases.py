"""Every attack on the command line: what is run, what the server does, how it may end.

OPSERVE_TEST_SEED and OPSERVE_HOSTILE_DAMAGES say which answers are damaged at random, and how many.
"""

import dataclasses
import os

import hostile_attacks as does
from hostile_server import PING, SETTINGS, WINDOW_UPDATE
from hostile_wire import (CREATE_EXECUTOR, EXECUTE_CHUNKED, INT8, PLAN, RESULT, RUN_EXECUTOR, VALID, answer, chunk,
                          chunk_answer, error, error_info, field, honestly, joined, retry_info, schema, session, session_info,
                          tensor)

ESCAPES = "\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202e\x7f\n"
MANY = 1 << 20
INPUTS = ("grad_output=f32[8]=1", "self=f32[8]=1", "target=f32[8]=1")
LARGE = ("grad_output=f32[4096]=1", "self=f32[4096]=1", "target=f32[4096]=1")
HUGE = ("grad_output=f32[8388608]=1", "self=f32[8]=1", "target=f32[8]=1")


def call_of(command, inputs=INPUTS, *more):
    return (command, "L1LossBackward", *(word for text in inputs for word in ("-i", text)), *more)


DEVICES, OPS, INFO, STATS = ("devices",), ("ops",), ("info",), ("stats",)
PLAN_IT, RUN, RUN_ON_SESSION = call_of("plan"), call_of("run"), call_of("run", INPUTS, "--session")
RUN_IN_CHUNKS = call_of("run", LARGE, "--session")
EXAMPLE = ("gradient_example",)  # a call of eight floats, with a time-out of its own of 5 s


@dataclasses.dataclass
class Case:
    name: str
    words: tuple
    meet: object
    codes: tuple = (1,)  # exit codes
    says: str = ""  # part of the error
    timeout: float = 10  # the command's
    mebibytes: int = 64  # more than an honest server takes
    quiet: bool = True  # nothing on standard output


UNREACHABLE = dict(codes=(3,))
IN_TIME = dict(codes=(3,), timeout=1)


def transport_cases():
    yield Case("says nothing", DEVICES, does.says_nothing, says="no answer within 1s", **IN_TIME)
    yield Case("hangs up", DEVICES, does.hangs_up, **UNREACHABLE)
    yield Case("HTTP/1.1", DEVICES, does.speaks_http1, **UNREACHABLE)
    yield Case("TLS", DEVICES, does.speaks_tls, **UNREACHABLE)
    yield Case("noise", DEVICES, does.speaks_noise, **UNREACHABLE)
    yield Case("GOAWAY at once", DEVICES, does.goes_away_at_once, **UNREACHABLE)
    yield Case("GOAWAY for ever", RUN, does.goes_away_for_ever, codes=(1, 3), timeout=2)
    for code in (0, 1, 2, 7, 8, 11, 999):
        yield Case(f"RST_STREAM {code}", DEVICES, does.resets(code), codes=(1, 3))
    yield Case("SETTINGS flood", DEVICES, does.floods(SETTINGS, b""), **IN_TIME)
    yield Case("PING flood", DEVICES, does.floods(PING, b"12345678"), **IN_TIME)
    yield Case("WINDOW_UPDATE flood", DEVICES, does.floods(WINDOW_UPDATE, b"\0\0\0\1"), **IN_TIME)
    yield Case("empty DATA for ever", DEVICES, does.empty_frames, **IN_TIME)
    yield Case("bad SETTINGS", DEVICES, does.bad_settings, **UNREACHABLE)
    yield Case("too much window", DEVICES, does.too_much_window, codes=(1, 3), timeout=2)
    yield Case("unknown streams", DEVICES, does.unknown_streams, codes=(1, 3), timeout=2)
    yield Case("DATA before HEADERS", DEVICES, does.data_first, codes=(1, 3), timeout=2)
    yield Case("headers without end", DEVICES, does.headers_without_end, codes=(1, 3), timeout=2)
    yield Case("a long header", DEVICES, does.a_long_header, codes=(1, 3), timeout=2)
    for count in (0, 5, 9, 20, 50, 80, 100, 120):
        yield Case(f"end behind byte {count}", DEVICES, does.cut_off(count), codes=(1, 3), timeout=2)
    yield Case("stalls", call_of("run", HUGE), does.stalls, timeout=5, mebibytes=800, codes=(3,))
    yield Case("stalls on a session", call_of("run", HUGE, "--session"), does.stalls, timeout=5, mebibytes=800, codes=(3,))


def status_cases():
    yield Case("HTTP 500", DEVICES, does.trailers((":status", "500")), codes=(1, 3))
    yield Case("no status", DEVICES, does.trailers((":status", "200"), ("content-type", "text/html\x1b[2J")), codes=(1, 3))
    for code in ("0", "99", "-1", "x", "4294967296"):
        yield Case(f"status {code}", DEVICES, does.status(code, "no"), codes=(1,))
    yield Case("escapes in the status", DEVICES, does.status("3", "".join(f"%{b:02x}" for b in ESCAPES.encode())),
               says="\\x1b[2J")
    yield Case("a long status", DEVICES, does.status("3", "x" * 7000), says="…")
    yield Case("a status of 1 MiB", DEVICES, does.status("3", "x" * MANY), codes=(1, 3), timeout=2)
    yield Case("details that are none", DEVICES, does.status("3", "no", ("grpc-status-details-bin", "//79")), says="no")
    yield Case("no message", DEVICES, does.answering(ListDevices=does.no_message))
    yield Case("two messages", DEVICES, does.answering(ListDevices=does.two_messages), codes=(1, 3), timeout=1)
    yield Case("half a message", DEVICES, does.answering(ListDevices=does.half_a_message))
    yield Case("an answer that never ends", DEVICES, does.answering(ListDevices=does.never_ends), **IN_TIME)
    yield Case("no answer", RUN, does.answering(Execute=does.never_answers), **IN_TIME)
    for size in (16384, 100, 1):
        yield Case(f"an endless message in frames of {size}", ("devices", "--max-answer-bytes", "16MiB"),
                   does.answering(ListDevices=does.endless_message(size)), says="max_answer_bytes", timeout=30, mebibytes=448)
    yield Case("a large message", ("devices", "--max-answer-bytes", "1MiB"),
               does.answering(ListDevices=field(99, bytes(2 << 20))), says="max_answer_bytes")
    for encoding in ("gzip", "deflate"):
        yield Case(f"a bomb of {encoding}", DEVICES, does.answering(ListDevices=does.bomb(encoding, 300)),
                   says="compression")
    yield Case("compressed, somehow", DEVICES, does.answering(ListDevices=does.flagged))


def discovery_cases():
    def bad(name, words, method, message, says="the server's answer", **more):
        return Case(f"{method}: {name}", words, does.answering(**{method: message}), says=says, **more)

    for words, method in ((DEVICES, "ListDevices"), (OPS, "ListOperators"), (INFO, "GetServerInfo"), (STATS, "GetStatistics"),
                          (PLAN_IT, "GetWorkspaceSize"), (RUN, "Execute")):
        yield bad("malformed", words, method, VALID[method] + b"\xff")
        yield bad("2 MiB of empty fields", words, method, (b"\x0a\0" + b"\x12\0" + b"\x3a\0") * (MANY // 3))
        yield bad("unknown fields", words, method, VALID[method] + b"\x98\x06\x01" * (MANY // 2),
                  codes=(0, 1), says="", quiet=False)
    yield bad("a negative count", DEVICES, "ListDevices", field(1, field(7, field(1, -1))))
    yield bad("a negative size", INFO, "GetServerInfo", field(2, -5))
    yield bad("a negative count", STATS, "GetStatistics", field(4, field(1, -1)))
    yield bad("a negative time", PLAN_IT, "GetWorkspaceSize", VALID["GetWorkspaceSize"] + field(6, field(3, -1)))
    yield bad("a negative workspace", PLAN_IT, "GetWorkspaceSize", VALID["GetWorkspaceSize"] + field(1, -64))
    yield bad("no outputs", PLAN_IT, "GetWorkspaceSize", field(1, 64))
    yield bad("another operator", RUN, "ListOperators", field(1, schema("Other")))
    yield bad("no operator", RUN, "ListOperators", b"")
    yield bad("no UTF-8", DEVICES, "ListDevices", field(1, field(1, b"\xff\xfe")))
    loud = dict(says="", codes=(0,), quiet=False)
    yield bad("escapes", DEVICES, "ListDevices",
              field(1, b"".join(field(i, ESCAPES) for i in (1, 2, 3, 4, 6, 9)) + field(8, 2)), **loud)
    text = field(1, schema(summary=ESCAPES, more=field(3, ESCAPES)))
    for words in (OPS, ("ops", "L1LossBackward"), ("ops", "--json")):
        yield bad(f"escapes ({words[-1]})", words, "ListOperators", text, **loud)
    yield bad("escapes", INFO, "GetServerInfo", field(1, ESCAPES), **loud)
    yield bad("escapes", STATS, "GetStatistics", field(2, field(1, ESCAPES)) + field(3, field(1, ESCAPES)), **loud)
    yield bad("counts that overflow", STATS, "GetStatistics",
              field(2, field(1, "m") + field(2, field(2, "OK") + field(3, (1 << 63) - 1)) * 3), **loud)
    names = b"".join(field(3, field(1, f"{i:x}")) for i in range(30000))
    yield bad("many names", ("stats", "--json"), "GetStatistics", names, **loud)
    long_name = field(1, schema(name="n" * 300000)) + field(1, field(1, "m")) * 10000
    yield bad("a long name among many", OPS, "ListOperators", long_name, **loud)
    many_lines = schema(more=field(5, field(1, "a" * 100000)) + field(5, field(1, "b") + field(2, "\n" * 100000)))
    yield bad("a long name beside many lines", ("ops", "L1LossBackward"), "ListOperators", field(1, many_lines), **loud)


def damaged_cases():
    seed = int(os.environ.get("OPSERVE_TEST_SEED", "1"))
    for i in range(int(os.environ.get("OPSERVE_HOSTILE_DAMAGES", "24"))):
        words = (RUN, RUN_ON_SESSION, STATS, PLAN_IT)[i % 4]
        yield Case(f"damaged ({seed + i})", words, does.damaged(seed + i), codes=(0, 1, 3), timeout=1, quiet=False)


def wrong_results():
    """What may be wrong with an answer to Execute."""
    raw = field(15, RESULT)
    own = field(6, 0)
    yield "no outputs", raw
    yield "no outputs at all", b""
    yield "another name", field(1, tensor("other", more=own)) + raw
    yield "a name of escapes", field(1, tensor(ESCAPES, more=own)) + raw
    yield "no name", field(1, tensor("", more=own)) + raw
    yield "one twice", field(1, tensor(more=own)) + field(1, tensor(more=field(6, 1))) + raw * 2
    yield "the same bytes twice", field(1, tensor(more=own)) + field(1, tensor("b", more=own)) + raw
    yield "bytes that are nobody's", VALID["Execute"] + field(15, b"more")
    yield "an index that is too large", field(1, tensor(more=field(6, 1))) + raw
    yield "an index of 2^32", field(1, tensor(more=field(6, (1 << 32) - 1))) + raw
    yield "no bytes", field(1, tensor())
    yield "few bytes", field(1, tensor(more=own)) + field(15, RESULT[:-1])
    yield "typed values", field(1, tensor(shape=(1 << 20,), more=field(7, field(1, 1.0))))
    yield "a session's buffer", field(1, tensor(more=field(8, field(1, 1))))
    yield "shared memory", field(1, tensor(more=field(10, field(1, b"0" * 16) + field(3, 32))))
    yield "strides", field(1, tensor(more=field(4, 1) + own)) + raw
    yield "many outputs", field(1, tensor(shape=(0,))) * 100
    yield "2 MiB of outputs", b"\x0a\0" * MANY
    yield "2 MiB of raw entries", b"\x7a\0" * MANY
    yield "a long description", field(1, tensor(more=own + field(99, bytes(5000)))) + raw
    yield "many dimensions of one", field(1, tensor(shape=(), more=field(3, b"\x01" * 1000) + own)) + field(15, b"four")
    for name, shape in (("a large shape", (1 << 40,)), ("a shape that overflows", (1 << 62, 1 << 62)),
                        ("a negative shape", (-8,)), ("nine dimensions", (8,) + (1,) * 8)):
        yield name, field(1, tensor(shape=shape, more=own)) + raw
    for dtype in (0, 99, -1):
        yield f"dtype {dtype}", field(1, tensor(dtype=dtype, more=own)) + raw


def output_cases():
    for name, message in wrong_results():
        for words in (RUN, EXAMPLE):
            yield Case(f"{words[0]}: {name}", words, does.answering(Execute=message), says="the server's answer")
    bytes_for_floats = field(1, tensor(dtype=INT8, shape=(32,), more=field(6, 0))) + field(15, RESULT)
    yield Case("example: another dtype", EXAMPLE, does.answering(Execute=bytes_for_floats), says="want float32, got int8")
    yield Case("run: another dtype", call_of("run", INPUTS, "--dtype", "grad_input=f32"),
               does.answering(Execute=bytes_for_floats), says="want float32")
    for name, attack in (("hangs up", does.hangs_up), ("HTTP/1.1", does.speaks_http1), ("resets", does.resets(8)),
                         ("no status", does.trailers((":status", "200"))),
                         ("never answers", does.answering(Execute=does.never_answers)),
                         ("escapes", does.status("3", "%1b[2J%0a"))):
        yield Case(f"example: {name}", EXAMPLE, attack)


def session_cases():
    def bad(name, kind, *replies, words=RUN_ON_SESSION, info=None, says="the server's answer", **more):
        def react(command, came):
            if came != kind:
                yield from honestly(command, came)
                return
            for reply in replies:
                yield reply(command) if callable(reply) else reply

        return Case(f"session: {name}", words, does.answering(Session=lambda call: session(call, react, info)), says=says,
                    **more)

    for name, limits in (("no limits", {"chunk": 0, "message": 0, "skew": 0, "window": 0, "queued": 0}),
                         ("negative limits", {"window": -1}), ("a chunk of 1 byte", {"chunk": 1}),
                         ("messages of 1 byte", {"message": 1}), ("a skew of 1 byte", {"skew": 1})):
        yield bad(name, 0, info=session_info(**limits), says="SessionInfo")
    most = (1 << 63) - 1
    yield bad("limits without bounds", 0, says="", codes=(0,), quiet=False,
              info=session_info(handles=most, queued=most, window=most, skew=most, chunk=most, message=most))
    yield bad("no limits, but an answer", 0, info=answer(1))
    yield bad("noise", 0, info=b"\xff\xff\xff")
    yield bad("2 MiB of answers", 0, info=b"\x0a\0" * MANY, timeout=30)
    yield bad("no first word", 0, words=RUN_ON_SESSION, info=answer(0), says="", **IN_TIME)
    yield from plan_cases(bad)
    yield from answer_cases(bad)
    yield from chunk_cases(bad)


def plan_cases(bad):
    plan = lambda *more: lambda command: answer(command, field(PLAN, b"".join(more)))
    yield bad("a plan of 2^60 bytes", CREATE_EXECUTOR, plan(field(2, tensor(shape=(1 << 58,)))), says="grad_input")
    yield bad("a plan of 2^40 bytes", CREATE_EXECUTOR, plan(field(2, tensor(shape=(1 << 38,)))), says="grad_input")
    yield bad("a plan that overflows", CREATE_EXECUTOR, plan(field(2, tensor(shape=(1 << 60,))),
                                                             field(2, tensor("b", shape=(1 << 60,)))))
    yield bad("a negative workspace", CREATE_EXECUTOR, plan(field(1, -64), field(2, tensor())))
    yield bad("a plan of nothing", CREATE_EXECUTOR, plan(field(1, 64)))
    yield bad("no plan", CREATE_EXECUTOR, answer)
    yield bad("two plans", CREATE_EXECUTOR, lambda command: answer(command, field(PLAN, field(2, tensor())), last=False))
    yield bad("results of another kind", CREATE_EXECUTOR, lambda command: answer(command, field(9, field(1, 1))))


def answer_cases(bad):
    yield bad("an error and results", CREATE_EXECUTOR,
              lambda command: answer(command, field(3, error()), field(PLAN, field(2, tensor()))))
    yield bad("an error that is none", CREATE_EXECUTOR, lambda command: answer(command, field(3, error(0))))
    yield bad("an error of escapes", CREATE_EXECUTOR,
              lambda command: answer(command, field(3, error(3, ESCAPES, error_info(want=ESCAPES, got="x" * MANY)))),
              says="\\x1b")
    yield bad("an error for ever later", CREATE_EXECUTOR,
              lambda command: answer(command, field(3, error(8, "later", error_info(reason="RESOURCE_LIMIT") +
                                                             retry_info(10**18, -1) + retry_info(10**18, 10**9)))),
              says="later")
    yield bad("a command that failed, but was not sent", CREATE_EXECUTOR,
              lambda command: answer(command, field(3, error()), field(4, 1 << 60)))
    yield bad("an answer to nothing", CREATE_EXECUTOR, lambda command: answer(command + 1000))
    yield bad("an answer to a quiet command", CREATE_EXECUTOR, answer(1))
    yield bad("an error told twice", CREATE_EXECUTOR, answer(1, field(3, error())), answer(1, field(3, error())))
    yield bad("an answer told twice in a message", CREATE_EXECUTOR,
              lambda command: answer(command, field(PLAN, field(2, tensor()))) * 2)
    yield bad("an answer in an answer", CREATE_EXECUTOR, lambda command: field(1, answer(command)), says="",
              codes=(1, 3), timeout=1)
    yield bad("no answer", CREATE_EXECUTOR, says="", **IN_TIME)


def chunk_cases(bad):
    part = lambda *more, raw=(): lambda command: answer(command, *more, last=False, raw=raw)
    piece = lambda *what: lambda command: chunk_answer(command, *what)
    chunks = {
        "backwards": (piece(0, RESULT[:16]), piece(0, RESULT[:16])),
        "beyond the end": (piece(0, RESULT + b"more"),),
        "a negative offset": (piece(-1, RESULT),),
        "a large offset": (piece(1 << 62, RESULT),),
        "of another output": (piece(0, RESULT, "other"),),
        "without bytes": (part(field(13, field(1, "grad_input"))),),
        "an index that is too large": (part(chunk(0, raw_index=1), raw=[RESULT]),),
        "an index of 2^32": (part(chunk(0, raw_index=(1 << 32) - 1), raw=[RESULT]),),
        "of nothing": (piece(0, b""),),
        "two entries": (part(chunk(0), raw=[RESULT, b"more"]),),
        "2 MiB of entries": (lambda command: answer(command, chunk(0), last=False) + field(15, b"") * MANY,),
        "too few": (piece(0, RESULT[:16]), answer),
        "none": (answer,),
        "more outputs": (part(field(12, field(1, tensor("b", shape=(1 << 30,))))),) * 3,
        "of another kind": (part(field(7, field(1, 1))),),
        "an error, and more": (part(field(3, error())),),
    }
    for name, replies in chunks.items():
        yield bad(f"chunks: {name}", RUN_EXECUTOR, *replies)
    small = session_info(message=4096, chunk=2048, skew=4096)
    described = lambda output: lambda command: answer(command, field(12, field(1, output)), last=False)
    yield bad("chunked: a large output", EXECUTE_CHUNKED, described(tensor(shape=(1 << 40,))), words=RUN_IN_CHUNKS, info=small)
    yield bad("chunked: described twice", EXECUTE_CHUNKED, described(tensor(shape=(4096,))), described(tensor(shape=(4096,))),
              words=RUN_IN_CHUNKS, info=small)
    yield bad("chunked: not described", EXECUTE_CHUNKED, piece(0, RESULT), words=RUN_IN_CHUNKS, info=small)
    yield bad("chunked: nothing", EXECUTE_CHUNKED, answer, words=RUN_IN_CHUNKS, info=small)


def honest_cases():
    for words in (DEVICES, OPS, ("ops", "L1LossBackward"), INFO, STATS, PLAN_IT, RUN, EXAMPLE):
        yield Case(f"honest: {' '.join(words[:2])}", words, does.answering(), codes=(0,), quiet=False)
    on_session = does.answering(Session=lambda call: session(call, honestly))
    yield Case("honest: session", RUN_ON_SESSION, on_session, codes=(0,), quiet=False)
    together = does.answering(Session=lambda call: session(call, honestly, send=joined))
    yield Case("honest: session, answers together", RUN_ON_SESSION, together, codes=(0,), quiet=False)
    in_chunks = does.answering(Session=lambda call: session(call, honestly, session_info(message=4096, chunk=2048)))
    yield Case("honest: chunks", RUN_IN_CHUNKS, in_chunks, codes=(0,), quiet=False)


def all_cases():
    for cases in (transport_cases, status_cases, discovery_cases, output_cases, session_cases, damaged_cases):
        yield from cases()


__all__ = ["EXAMPLE", "Case", "all_cases", "honest_cases"]
