"""Draws docs/drawings/NAME.svg of each docs/drawings/NAME.txt: boxes, lines and arrows of characters become shapes, all else text.

Usage: draw.py [--check]     (--check: only says which drawings are not those of their texts)

A drawing is readable as text, too. Its colours are those of the reader's system, light or dark.
"""

import html
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
WIDTH, HEIGHT, MARGIN = 9, 20, 8  # of a character, and around all
# Where a line goes from the middle of its character: left, right, up, down.
LINES = {"─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "rud", "┤": "lud", "┬": "lrd", "┴": "lru", "┼": "lrud"}
ARROWS = {"▶": ("l", "-4,-4 4,0 -4,4"), "◀": ("r", "4,-4 -4,0 4,4"), "▼": ("u", "-4,-4 0,5 4,-4"), "▲": ("d", "-4,4 0,-5 4,4")}
ENDS = {"l": (-WIDTH / 2, 0), "r": (WIDTH / 2, 0), "u": (0, -HEIGHT / 2), "d": (0, HEIGHT / 2)}
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">
<title>{title}</title>
<style>
.l {{ stroke: #3f51b5; stroke-width: 1.5; stroke-linecap: round; }}
.a {{ fill: #3f51b5; }}
text {{ fill: #1f2330; font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }}
@media (prefers-color-scheme: dark) {{
.l {{ stroke: #9fa8da; }}
.a {{ fill: #9fa8da; }}
text {{ fill: #e4e6f0; }}
}}
</style>
"""


def words_of(line):
    """The texts of a line, each with its column; two spaces part them."""
    texts, start = [], None
    for column, character in enumerate(line + "  "):
        shape = character in LINES or character in ARROWS
        ended = shape or line[column:column + 2].strip() == "" and character == " "
        if start is not None and ended:
            texts.append((start, line[start:column]))
            start = None
        elif start is None and not ended and character != " ":
            start = column
    return texts


def shapes_of(row, line):
    for column, character in enumerate(line):
        x, y = MARGIN + (column + 0.5) * WIDTH, MARGIN + (row + 0.5) * HEIGHT
        tail, points = ARROWS.get(character, ("", ""))
        for end in LINES.get(character, tail):
            dx, dy = ENDS[end]
            yield f'<line class="l" x1="{x:g}" y1="{y:g}" x2="{x + dx:g}" y2="{y + dy:g}"/>'
        if points:
            yield f'<polygon class="a" points="{points}" transform="translate({x:g} {y:g})"/>'


def drawing_of(text):
    title, *lines = text.rstrip("\n").split("\n")
    width = max(map(len, lines)) * WIDTH + 2 * MARGIN
    parts = [HEAD.format(width=width, height=len(lines) * HEIGHT + 2 * MARGIN, title=html.escape(title))]
    for row, line in enumerate(lines):
        parts += [shape + "\n" for shape in shapes_of(row, line)]
        for column, word in words_of(line):
            x, y = MARGIN + column * WIDTH, MARGIN + row * HEIGHT + 15
            parts.append(f'<text x="{x}" y="{y}" textLength="{len(word) * WIDTH}">{html.escape(word)}</text>\n')
    return "".join(parts) + "</svg>\n"


def main():
    check, stale = sys.argv[1:] == ["--check"], []
    sources = sorted(FOLDER.glob("*.txt"))
    for source in sources:
        drawing, path = drawing_of(source.read_text(encoding="utf-8")), source.with_suffix(".svg")
        if not check:
            path.write_text(drawing, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != drawing:
            stale.append(f"docs/drawings/{path.name} is not that of {source.name}: run docs/drawings/draw.py")
    stale += [f"docs/drawings/{path.name} has no text" for path in sorted(FOLDER.glob("*.svg")) if not path.with_suffix(".txt").exists()]
    return "\n".join(stale) or (0 if sources else "docs/drawings has no texts")


if __name__ == "__main__":
    sys.exit(main())
