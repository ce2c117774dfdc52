"""What a server can do to a client, one function an attack: attack(connection) or attack(socket), see hostile_server.py."""

import random
import struct
import time
import zlib

from hostile_server import (ACK, CONTINUATION, DATA, END_HEADERS, END_STREAM, FRAME_BYTES, GOAWAY, HEADERS, PREFACE,
                            RST_STREAM, SETTINGS, WINDOW_UPDATE, Connection, block, frame, framed, prefixed)
from hostile_wire import VALID, honestly, session

FOR_EVER_SECONDS = 600  # a test is over before


def serve(client, answers=None, first=None):
    """Calls of every method: answers[method](call), or the valid answer."""
    connection = Connection(client).start()
    while True:
        call = connection.next_call()
        if first is not None:
            first(connection, call)
        own = (answers or {}).get(call.method)
        if callable(own):
            own(call)
        else:
            call.answer(VALID[call.method] if own is None else own)


def answering(**answers):
    """Answers those methods so."""
    return lambda client: serve(client, answers)


# ---- no gRPC at all -----------------------------------------------------------------------------------------------------------


def says_nothing(client):
    time.sleep(FOR_EVER_SECONDS)


def hangs_up(client):
    client.recv(1)


def speaks_http1(client):
    client.recv(1)
    client.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    client.recv(1 << 16)


def speaks_tls(client):
    client.recv(1)
    client.sendall(b"\x15\x03\x01\x00\x02\x02\x46")
    client.recv(1 << 16)


def speaks_noise(client):
    client.recv(1)
    client.sendall(bytes(range(256)) * 64)
    client.recv(1 << 16)


# ---- HTTP/2, misused ----------------------------------------------------------------------------------------------------------


def goes_away_at_once(client):
    connection = Connection(client).start()
    connection.send(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 0) + b"\x1b[2J" * 1000))
    while True:
        connection.read_frame()


def goes_away_for_ever(client):
    connection = Connection(client).start()
    while True:
        connection.next_call()
        connection.send(frame(GOAWAY, 0, 0, struct.pack(">II", 0, 11)) * 100)


def resets(code):
    def attack(client):
        connection = Connection(client).start()
        while True:
            call = connection.next_call()
            connection.send(frame(RST_STREAM, 0, call.stream, struct.pack(">I", code)))

    return attack


def floods(kind, payload):
    def attack(client):
        connection = Connection(client).start()
        connection.next_call()
        while True:
            connection.send(frame(kind, 0, 0, payload) * 1000)

    return attack


def empty_frames(client):
    connection = Connection(client).start()
    call = connection.next_call()
    call.headers()
    while True:
        connection.send(frame(DATA, 0, call.stream) * 1000)


def bad_settings(client):
    client.recv(len(PREFACE), 0)
    client.sendall(frame(SETTINGS, 0, 0, struct.pack(">HIHI", 5, 1, 4, 0xFFFFFFFF)))
    client.recv(1 << 16)


def too_much_window(client):
    connection = Connection(client).start()
    while True:
        call = connection.next_call()
        connection.send(frame(WINDOW_UPDATE, 0, call.stream, struct.pack(">I", 0x7FFFFFFF)) * 4)


def unknown_streams(client):
    connection = Connection(client).start()
    while True:
        connection.next_call()
        connection.send(frame(DATA, END_STREAM, 2001, b"x") + frame(SETTINGS, ACK, 0) * 10)


def data_first(client):
    connection = Connection(client).start()
    while True:
        call = connection.next_call()
        connection.send(frame(DATA, END_STREAM, call.stream, framed(VALID[call.method])))


# ---- headers ------------------------------------------------------------------------------------------------------------------


def headers_without_end(client):
    connection = Connection(client).start()
    call = connection.next_call()
    connection.send(frame(HEADERS, 0, call.stream, block((":status", "200"))))
    while True:
        connection.send(frame(CONTINUATION, 0, call.stream, block(("a", "b" * 16000))))


def a_long_header(client):
    connection = Connection(client).start()
    call = connection.next_call()
    connection.send(frame(HEADERS, 0, call.stream, block((":status", "200")) + b"\0\1a" + prefixed(1 << 30, 7)))
    while True:
        connection.send(frame(CONTINUATION, 0, call.stream, b"b" * FRAME_BYTES))


def trailers(*headers):
    """Of an answer that has nothing else."""

    def attack(client):
        connection = Connection(client).start()
        while True:
            call = connection.next_call()
            connection.send(frame(HEADERS, END_HEADERS | END_STREAM, call.stream, block(*headers)))

    return attack


def status(code, text, *more):
    grpc = ((":status", "200"), ("content-type", "application/grpc"), ("grpc-status", code), ("grpc-message", text))
    return trailers(*grpc, *more)


# ---- messages -----------------------------------------------------------------------------------------------------------------


def no_message(call):
    call.headers()
    call.end()


def two_messages(call):
    call.headers()
    call.message(VALID[call.method])
    call.message(VALID[call.method])
    call.end()


def never_ends(call):
    call.headers()
    call.message(VALID[call.method])
    while True:
        call.wait()


def never_answers(call):
    while True:
        call.wait()


def half_a_message(call):
    call.headers()
    call.connection.send_data(call.stream, framed(VALID[call.method])[:-1])
    call.end()


def cut_off(count):
    """The connection ends behind so many bytes of a valid answer."""

    def attack(client):
        connection = Connection(client).start()
        call = connection.next_call()
        sent = []
        connection.send = sent.append
        call.answer(VALID[call.method])
        client.sendall(b"".join(sent)[:count])

    return attack


def damaged(seed):
    """Valid answers, frames and all, of whose bytes a few are others."""

    def attack(client):
        rng = random.Random(seed)
        connection = Connection(client).start()
        plain = connection.send

        def send(some):
            some = bytearray(some)
            for _ in range(rng.choice((0, 1, 1, 2, 8))):
                some[rng.randrange(len(some))] ^= rng.choice((1, 4, 16, 64, 128, 255))
            plain(bytes(some))

        connection.send = send
        while True:
            call = connection.next_call()
            if call.method == "Session":
                session(call, honestly)
            else:
                call.answer(VALID.get(call.method, b""))

    return attack


def endless_message(size):
    """4 GiB, in frames of that size."""

    def answer(call):
        call.headers()
        call.connection.send_data(call.stream, b"\0\xff\xff\xff\xff")
        piece = frame(DATA, 0, call.stream, bytes(size)) * max(1, 65536 // size)
        while True:
            call.connection.send_raw_data(call.stream, piece, size * max(1, 65536 // size))

    return answer


def bomb(encoding, megabytes):
    """Compressed zeros."""

    squeeze = zlib.compressobj(1, zlib.DEFLATED, 31 if encoding == "gzip" else 15)
    small = b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(megabytes)) + squeeze.flush()

    def answer(call):
        call.headers(("grpc-encoding", encoding))
        call.message(small, compressed=1)
        call.end()

    return answer


def flagged(call):
    """Compressed, it says; but not how."""
    call.headers()
    call.message(zlib.compress(bytes(1 << 20)), compressed=1)
    call.end()


def stalls(client):
    """Opens all windows, and then reads no more."""
    client.setsockopt(1, 8, 4096)  # SO_RCVBUF
    connection = Connection(client).start()
    call = connection.next_call()
    while call.method not in ("Execute", "Session"):
        call.answer(VALID[call.method])
        call = connection.next_call()
    if call.method == "Session":
        call.headers()
        call.message(VALID["Session"])
    time.sleep(FOR_EVER_SECONDS)
