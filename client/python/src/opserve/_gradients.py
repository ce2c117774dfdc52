"""value_and_grad: a function of values, and its gradients, as one call."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Awaitable, Callable, Dict, Sequence, Tuple, Union, overload

from ._arrays import Array
from ._program import Program, Value
from ._requests import Result

if TYPE_CHECKING:
    from . import aio
    from ._client import Client

ValueAndGradients = Tuple[Array, Dict[str, Array]]


class Step:
    """What value_and_grad() gives. `program` is the function as a program: its outputs are "value" and a gradient of each name."""

    def __init__(self, program: Program, with_respect_to: Tuple[str, ...]) -> None:
        self.program = program
        self.with_respect_to = with_respect_to

    @overload
    def __call__(self, client: "Client", /, **inputs: Any) -> ValueAndGradients: ...

    @overload
    def __call__(self, client: "aio.Client", /, **inputs: Any) -> Awaitable[ValueAndGradients]: ...

    def __call__(self, client: Union["Client", "aio.Client"], /, **inputs: Any) -> Union[ValueAndGradients,
                                                                                         Awaitable[ValueAndGradients]]:
        """The value, and the gradients by name, for these arrays: one message. With a client of opserve.aio it is awaited."""
        result = client.execute(self.program, inputs)
        return self._of(result) if isinstance(result, Result) else self._awaited(result)

    async def _awaited(self, result: Awaitable[Result]) -> ValueAndGradients:
        return self._of(await result)

    def _of(self, result: Result) -> ValueAndGradients:
        return result["value"], {name: result[f"grad_{name}"] for name in self.with_respect_to}


def value_and_grad(function: Callable[..., Any], wrt: Union[str, Sequence[str]]) -> Step:
    """A function's value and its gradients with respect to the parameters `wrt`, computed by a server.

        def loss(x, w, b, t):
            return opserve.apply("MseLoss", {"self": x @ w + b, "target": t}, reduction="mean")

        step = opserve.value_and_grad(loss, wrt=("w", "b"))
        value, gradients = step(client, x=x, w=w, b=b, t=t)

    The function is called once, here, with a Value for each of its parameters that has no default; it gives a value of one
    element. What it does in Python with other numbers is part of the program as they are now.
    """
    program = Program()
    values: Dict[str, Value] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ValueError(f"{name}: want parameters that have names, got {parameter.kind.description}")
        if parameter.default is parameter.empty:
            values[name] = program.input(name)
    value = function(**values)
    if not isinstance(value, Value):
        raise ValueError(f"function: want one that gives a value of its parameters, got {type(value).__name__}")
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    program.output(value=value)
    program.gradient(value, names)
    return Step(program, names)
