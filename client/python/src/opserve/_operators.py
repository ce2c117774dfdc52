"""Every operator of a server as a function. Type checkers read _operators.pyi, which has those of the shipped catalogue."""

from __future__ import annotations

from typing import Any, Awaitable, Callable, Dict, List, Mapping, Optional

from ._schema import Operator, closest, make_function


class Operators:
    """Every operator of a server as a function: c.ops.smooth_l1_loss_backward(...).

    Each takes its inputs by position or name, its attributes by name, and `out`, `device` and `timeout` as execute() does. It
    gives the output; where there are several, a Result.
    """

    def __init__(self, operators: Mapping[str, Operator], call: Callable[..., Any]) -> None:
        self._functions: Dict[str, Callable[..., Any]] = {
            operator.function_name: make_function(operator, call) for operator in operators.values()}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function: Optional[Callable[..., Any]] = self.__dict__.get("_functions", {}).get(name)
        if function is None:
            near = closest(name, self.__dict__.get("_functions", {}))
            raise AttributeError(f"the server has no operator {name!r}{near}")
        return function

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self._functions]


class AsyncOperators(Operators):
    """The same for opserve.aio: each function is awaited. The first asks for the server's operators; dir() and help() know them then."""

    def __init__(self, operators: Callable[[], Awaitable[Mapping[str, Operator]]], call: Callable[..., Any]) -> None:
        super().__init__({}, call)
        self._operators = operators
        self._call = call

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_") or self._functions:
            return super().__getattr__(name)

        async def function(*args: Any, **kwargs: Any) -> Any:
            Operators.__init__(self, await self._operators(), self._call)
            return await Operators.__getattr__(self, name)(*args, **kwargs)

        return function
