"""What notebooks show."""

from __future__ import annotations

import html
from typing import Iterable, Sequence


def escaped(text: object) -> str:
    return html.escape(str(text))


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of plain text."""
    lines = "".join("<tr>" + "".join(f"<td>{escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{escaped(cell)}</th>' for cell in header)}</tr>{lines}</table>"
