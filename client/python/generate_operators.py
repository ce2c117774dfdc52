"""Writes src/opserve/_operators.pyi: the types of a server's operators, as functions.

Usage: generate_operators.py [--check] [TARGET]     (default: a server of its own; --check only tells whether the file is current)
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "src"))

import opserve
from opserve._schema import OPTIONS, signature

TARGET = HERE / "src/opserve/_operators.pyi"
HEAD = '''\
# Made by generate_operators.py from the operators of a server; do not edit.

from typing import Any, Awaitable, Callable, Literal, Mapping, Optional, Sequence

from ._arrays import Array
from ._requests import Result
from ._schema import Operator

class Operators:
    def __init__(self, operators: Mapping[str, Operator], call: Callable[..., Any]) -> None: ...
    def __getattr__(self, name: str) -> Callable[..., Any]: ...
'''
HEAD_OF_ASYNC = '''
class AsyncOperators(Operators):
    def __init__(self, operators: Callable[[], Awaitable[Mapping[str, Operator]]],
            call: Callable[..., Any]) -> None: ...
'''
TYPES_OF_OPTIONS = {"out": "Any", "device": "str", "timeout": "float"}
LINE = 118


def parameter(row):
    """One of a stub's parameters."""
    if row.annotation == "Optional[ArrayLike]":
        kind = "Optional[Any]"
    elif row.annotation == "ArrayLike":
        kind = "Any"
    elif row.name in OPTIONS:
        kind = f"Optional[{TYPES_OF_OPTIONS[row.name]}]"
    else:
        kind = row.annotation
    return f"{row.name}: {kind}" + ("" if row.default is row.empty else f" = {row.default!r}")


def method(operator, answer):
    """A method's stub; its own `self` is positional, as operators have a parameter of that name."""
    words, starred = ["_ops", "/"], False
    for row in signature(operator).parameters.values():
        if row.kind is row.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        words.append(parameter(row))
    lines, line = [], f"    def {operator.function_name}("
    for number, word in enumerate(words):
        piece = word + (", " if number < len(words) - 1 else f") -> {answer}:")
        if len(line) + len(piece.rstrip()) > LINE:
            lines.append(line.rstrip())
            line = " " * 12
        line += piece
    return "\n".join([*lines, line, f'        """{operator.summary}"""']) + "\n"


def answer_of(operator):
    return "Array" if len(operator.outputs) == 1 else "Result"


def stub(operators):
    """The file's text."""
    plain = [method(operator, answer_of(operator)) for operator in operators]
    awaited = [method(operator, f"Awaitable[{answer_of(operator)}]").replace("\n", "  # type: ignore[override]\n", 1)
               for operator in operators]
    return HEAD + "".join(plain) + HEAD_OF_ASYNC + "".join(awaited)


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if words:
        with opserve.connect(words[0]) as client:
            text = stub(client.operators().values())
    else:
        with opserve.server() as server, server.connect() as client:
            text = stub(client.operators().values())
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
    elif TARGET.read_text(encoding="utf-8") != text:
        sys.exit(f"{TARGET.name} is not what generate_operators.py makes")


if __name__ == "__main__":
    main()
