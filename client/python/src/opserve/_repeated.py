"""Calls that a program makes again and again: of their messages and answers only the tensors' bytes change, and only those are
written and read anew.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._arrays import Array, bytes_of, floating_dtype
from ._program import Program, op_of
from ._wire import RAW_TAG, Buffer, joined, varint

MAX_FORMS = 512
MAX_ANSWER_BYTES = 1 << 16  # of larger ones the bytes take the time

Key = Tuple[Any, ...]


class _Answer(NamedTuple):
    """An answer: its size, what lies between tensors' bytes, and where those lie."""

    size: int
    gaps: List[Tuple[int, bytes]]
    tensors: List[Tuple[str, "np.dtype[Any]", Tuple[int, ...], int, int]]  # its name, dtype and shape; from where, and elements

    def arrays(self, answer: bytes) -> Optional[Dict[str, Array]]:
        if len(answer) != self.size:
            return None
        for at, gap in self.gaps:
            if not answer.startswith(gap, at):
                return None
        return {name: np.frombuffer(answer, dtype, count, at).reshape(shape) for name, dtype, shape, at, count in self.tensors}


class Form:
    """What the calls of a key have in common."""

    def __init__(self, inputs: Mapping[str, Any], header: Sequence[Buffer], raw: Sequence[Buffer]) -> None:
        """Of the first one: its inputs, and what joined() took for it."""
        number = functools.partial(np.asarray, dtype=floating_dtype(value.dtype for value in inputs.values() if type(value) is np.ndarray))
        gap = b"".join(header)
        self._inputs: List[Tuple[bytes, str, Optional[Callable[[Any], Any]]]] = []
        given = ((name, value) for name, value in inputs.items() if value is not None)
        for (name, value), data in zip(given, raw):
            bytes_from = number if type(value) is not np.ndarray else None if value.dtype.isbuiltin == 1 else _bytes_of
            self._inputs.append((gap + RAW_TAG + varint(len(data)), name, bytes_from))
            gap = b""
        self._answer: Optional[_Answer] = None

    def message(self, inputs: Mapping[str, Any]) -> bytes:
        parts: List[Any] = []
        for gap, name, bytes_from in self._inputs:
            value = inputs[name]
            parts += gap, value if bytes_from is None else bytes_from(value)
        return b"".join(parts)

    def arrays(self, answer: bytes) -> Optional[Dict[str, Array]]:
        """Those of an answer that differs from the last one in tensors' bytes alone; None of another one."""
        return None if self._answer is None else self._answer.arrays(answer)

    def learn(self, answer: bytes, header: bytes, raw: Sequence[memoryview], arrays: Mapping[str, Array]) -> None:
        """Keeps how an answer lies that was read, whose outputs have the entries of `raw` in order."""
        self._answer = None
        is_plain = len(raw) == len(arrays) and all(len(entry) == array.nbytes > 0 for entry, array in zip(raw, arrays.values()))
        if not is_plain or len(answer) > MAX_ANSWER_BYTES or joined([header], raw) != answer:
            return
        gaps, tensors, at, gap = [], [], 0, header
        for (name, array), entry in zip(arrays.items(), raw):
            gap += RAW_TAG + varint(len(entry))
            gaps.append((at, gap))
            at += len(gap)
            tensors.append((name, array.dtype, array.shape, at, math.prod(array.shape)))
            at, gap = at + len(entry), b""
        self._answer = _Answer(len(answer), gaps, tensors)


def _bytes_of(array: Array) -> memoryview:
    return bytes_of(array.reshape(-1))


def key_of(op: Union[str, Program], options: Sequence[Any], inputs: Mapping[str, Any], attributes: Mapping[str, Any]) -> Optional[Key]:
    """What decides about the message, tensors' bytes apart; None where that cannot be told in short."""
    if sys.byteorder != "little":
        return None
    parts: List[Any] = [*options]
    dtypes = []
    for name, value in inputs.items():
        kind = type(value)
        if kind is np.ndarray:
            dtype = value.dtype
            if not value.flags.c_contiguous or dtype.byteorder == ">":
                return None
            dtypes.append(dtype)
            parts += name, dtype, value.shape
        elif kind is float or kind is int:
            parts += name, kind
        elif value is not None:
            return None
    parts.append(op_of(op, dtypes))
    for name, value in attributes.items():
        if type(value) not in (int, float, bool, str):
            return None
        parts += name, repr(value)  # 1, 1.0 and True are equal, and so are 0.0 and -0.0
    return tuple(parts)


_forms: Dict[Key, Form] = {}


def find(key: Optional[Key]) -> Optional[Form]:
    return None if key is None else _forms.get(key)


def keep(key: Key, form: Form) -> Form:
    if len(_forms) >= MAX_FORMS:
        _forms.clear()
    _forms[key] = form
    return form
