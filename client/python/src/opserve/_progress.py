"""How far a large call is: `progress=` of Client.execute(), a function or a bar of tqdm."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Callable, Iterator, Optional, Union

Progress = Callable[[int, int], None]  # bytes done, of how many
Asked = Union[None, bool, str, Progress]


@contextmanager
def progress_of(asked: Asked) -> Iterator[Optional[Progress]]:
    """The function that is told. A bar appears when it is first told, and is closed at the end."""
    if not asked:
        yield None
    elif callable(asked):
        yield asked
    elif asked is True or asked == "tqdm":
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()
    else:
        raise ValueError(f'progress: want a function, True or "tqdm", got {asked!r}')


class _Bar:
    def __init__(self) -> None:
        try:
            from tqdm.auto import tqdm
        except ImportError:
            raise ImportError("progress: a bar needs tqdm; install it (pip install tqdm), or give a function") from None
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._tqdm(total=total, unit="B", unit_scale=True, unit_divisor=1024)
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
