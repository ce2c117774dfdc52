"""Shared memory objects that clients of the Open Inference Protocol register: objects that are cut short and made long
again while calls read and write them, sparse ones of almost 2^63 bytes, names registered over and over beyond what a
client may have, and regions that become other objects while calls on them are under way.

Attacker: a process of a user on this machine. Every answer must be one that such a call may have, no object longer
than its owner made it, and a call's tensor all of one object.
"""

import contextlib
import glob
import itertools
import os
import threading
import time

import http2
import wire
from attack import Attack, Target, run

PREFIX = f"opserve-hostile-{os.getpid()}"
OK, INVALID, EXISTS, EXHAUSTED = 0, 3, 6, 8
REGISTER, UNREGISTER, INFER = (
    http2.INFERENCE + name for name in ("SystemSharedMemoryRegister", "SystemSharedMemoryUnregister", "ModelInfer")
)
LARGE = 2 << 20  # elements
HUGE = (1 << 63) - 4096
FULL = 768  # regions: what one client may have while no other has any
MORE = 1100
IN_FLIGHT = 50
PATIENCE_SECONDS = 20.0
numbers = itertools.count()


def make_object(size: int) -> tuple[str, int]:
    """(its key, a descriptor of it)"""
    key = f"{PREFIX}-{os.getpid()}-{next(numbers)}"
    descriptor = os.open(f"/dev/shm/{key}", os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    os.truncate(descriptor, size)
    return key, descriptor


def parameter(name: str, kind: int, value: int | str) -> bytes:
    return wire.field(1, name) + wire.field(2, wire.field(kind, value))


def place(tag: int, region: str, size: int, offset: int = 0) -> bytes:
    parts = [parameter("shared_memory_region", 3, region), parameter("shared_memory_byte_size", 2, size)]
    parts += [parameter("shared_memory_offset", 2, offset)] if offset else []
    return b"".join(wire.field(tag, part) for part in parts)


def tensor(name: str, elements: int, where: bytes) -> bytes:
    return wire.field(5, wire.field(1, name) + wire.field(2, "FP32") + wire.packed(3, [elements]) + where)


def relu(elements: int, where: bytes, out: bytes = b"") -> bytes:
    outputs = wire.field(6, wire.field(1, "out") + out) if out else b""
    return wire.field(1, "Relu") + tensor("self", elements, where) + outputs


def registration(name: str, key: str, size: int) -> bytes:
    return wire.field(1, name) + wire.field(2, key) + wire.field(4, size)


def expect(target: Target, connection: http2.Connection, calls: list, allowed: set[int]) -> None:
    for call in calls:
        connection.await_end(call, PATIENCE_SECONDS)
        if call.status is not None and call.status not in allowed:
            target.blame(f"want a status of {sorted(allowed)}, got {call.status}: {call.text}")
        connection.forget(call)


def resize_again_and_again(target: Target) -> None:
    """While four calls at a time read it and four write it: copied while it is sparse, read where it is while it is whole."""
    connection, size = target.connect(), 4 * LARGE
    key, descriptor = make_object(size)
    name = f"resized{target.index}"

    def resize() -> None:
        for i in itertools.count():
            os.truncate(descriptor, 0)
            if i % 2:
                os.truncate(descriptor, size)
            else:
                os.posix_fallocate(descriptor, 0, size)
                time.sleep(0.01)  # for a call to begin

    threading.Thread(target=resize, daemon=True).start()
    while True:
        registering = connection.start(REGISTER, registration(name, key, size))
        expect(target, connection, [registering], {OK, INVALID, EXISTS, EXHAUSTED})
        requests = [relu(LARGE, place(4, name, size)), relu(LARGE, place(4, name, size), place(2, name, size))]
        calls = [connection.start(INFER, request) for request in requests * 4]
        expect(target, connection, calls, {OK, INVALID, EXHAUSTED})
        if os.fstat(descriptor).st_size > size:
            target.blame("the server made an object longer")


def use_sparse_objects(target: Target) -> None:
    connection = target.connect()
    key, _ = make_object(HUGE)
    end = HUGE - 8
    for i in itertools.count():
        name = f"sparse{target.index}.{i % 3}"
        expect(target, connection, [connection.start(REGISTER, registration(name, key, HUGE))], {OK, EXISTS, EXHAUSTED})
        last = connection.start(INFER, relu(2, place(4, name, 8, end), place(2, name, 8, end)))
        two = tensor("self", 1 << 45, place(4, name, 1 << 47)) + tensor("other", 1 << 45, place(4, name, 1 << 47))
        refused = [
            relu(2, place(4, name, HUGE)),
            relu(HUGE // 4, place(4, name, HUGE)),
            relu((1 << 62) + 2, place(4, name, 8)),
            relu(2, place(4, name, 8, HUGE)),
            relu(2, place(4, name, 8, (1 << 63) - 1)),
            relu(2, place(4, name, (1 << 64) - 8, 8)),
            relu(2, place(4, name, 8), place(2, name, HUGE, end)),
            relu(1 << 45, place(4, name, 1 << 47)),
            wire.field(1, "Mul") + two,
        ]
        expect(target, connection, [last], {OK, INVALID, EXHAUSTED})
        expect(target, connection, [connection.start(INFER, each) for each in refused], {INVALID, EXHAUSTED})


def register(target: Target, connection: http2.Connection, count: int) -> None:
    """So many names of one object, which is gone then, though its memory is not."""
    key, descriptor = make_object(64)
    for begin in range(0, count, IN_FLIGHT):
        names = range(begin, min(begin + IN_FLIGHT, count))
        calls = [connection.start(REGISTER, registration(f"many{i}", key, 64)) for i in names]
        expect(target, connection, calls, {OK, EXISTS, EXHAUSTED})
    os.unlink(f"/dev/shm/{key}")
    os.close(descriptor)


def register_too_many(target: Target) -> None:
    """All that there are for one client and more, twice, and then none. The other attackers lose theirs."""
    connection = target.connect()
    register(target, connection, MORE)
    register(target, connection, MORE)
    expect(target, connection, [connection.start(UNREGISTER, b"")], {OK})


def swap_in_flight(target: Target) -> None:
    """What a call has found stays its own, whatever the name means by then."""
    connection, elements = target.connect(window=8 << 20), 1 << 18
    contents = [wire.floats(value) * elements for value in (1.0, 2.0)]
    keys = []
    for content in contents:
        key, descriptor = make_object(0)
        os.pwrite(descriptor, content, 0)
        keys.append(key)
    name = f"swapped{target.index}"
    request = relu(elements, place(4, name, 4 * elements))
    for i in itertools.count():
        inferences = [connection.start(INFER, request)]
        others = [connection.start(UNREGISTER, wire.field(1, name))]
        others.append(connection.start(REGISTER, registration(name, keys[i % 2], 4 * elements)))
        inferences.append(connection.start(INFER, request))
        for call in inferences:
            connection.await_end(call, PATIENCE_SECONDS)
            got = wire.first(call.messages[0], 6) if call.status == OK and call.messages else None
            if got is not None and got not in contents:
                target.blame(f"want a tensor all of one object, got another one of {len(got)} bytes")
        expect(target, connection, others, {OK, EXISTS, EXHAUSTED})
        expect(target, connection, inferences, {OK, INVALID, EXHAUSTED})


def prepare(target: Target) -> list[str]:
    """As many regions as a client may have: their descriptors are no leftovers of the attack."""
    connection = target.connect()
    register(target, connection, FULL)
    connection.close()
    return []


def check(target: Target) -> list[str]:
    """The names are free again, all of them."""
    connection = target.connect()
    if connection.unary(UNREGISTER).status != OK:
        return ["regions cannot be unregistered afterwards"]
    register(target, connection, FULL)
    key, descriptor = make_object(64)
    beyond = connection.unary(REGISTER, registration("beyond", key, 64))
    os.close(descriptor)
    return [] if beyond.status == EXHAUSTED else [f"want one region too many refused afterwards, got {beyond.status}"]


if __name__ == "__main__":
    try:
        run(
            Attack(
                [resize_again_and_again, use_sparse_objects, register_too_many, swap_in_flight],
                {"--open-inference-shared-memory": None},
                prepare=prepare,
                check=check,
            )
        )
    finally:
        for left in glob.glob(f"/dev/shm/{PREFIX}-*"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(left)
