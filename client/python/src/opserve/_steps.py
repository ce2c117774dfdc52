"""What opserve and opserve.aio do in the same steps, written once: a generator that yields what each step gives.

A step of the synchronous client gives its result; one of opserve.aio gives what is awaited for it, and whatever that raises is raised at the
`yield`. The generator cannot tell them apart.
"""

from __future__ import annotations

from typing import Any, Generator, TypeVar

T = TypeVar("T")
Steps = Generator[Any, Any, T]


def run(steps: Steps[T]) -> T:
    """The synchronous client's."""
    try:
        result = next(steps)
        while True:
            result = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value


async def run_awaited(steps: Steps[T]) -> T:
    """That of opserve.aio."""
    try:
        step = next(steps)
        while True:
            try:
                result = await step
            except BaseException as error:
                step = steps.throw(error)
            else:
                step = steps.send(result)
    except StopIteration as end:
        value: T = end.value
        return value
