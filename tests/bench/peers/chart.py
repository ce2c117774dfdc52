"""Bars in SVG: a panel for each load, a bar for each peer, as long as what it reaches."""

from xml.sax.saxutils import escape

PANEL, BAR, GAP, NAMES, LENGTH, VALUES = 30, 18, 22, 310, 420, 110
STYLE = """<style>
.ours { fill: #3f51b5; }
.other { fill: #9aa0b8; }
text { fill: #1f2330; font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.load { font-weight: bold; }
@media (prefers-color-scheme: dark) {
.ours { fill: #9fa8da; }
.other { fill: #5b6078; }
text { fill: #e4e6f0; }
}
</style>"""


def bars(groups, loads, shown):
    """`groups`: title → peer → load → figure; the peer whose name begins with opserve is drawn as ours."""
    lines, y = [], 8
    rows = {name: figures for group in groups.values() for name, figures in group.items()}
    for load in loads:
        reached = {name: figures[load] for name, figures in rows.items() if load in figures}
        y += PANEL
        lines.append(f'<text class="load" x="8" y="{y - 8}">{escape(load[0])}</text>')
        for name, value in sorted(reached.items(), key=lambda row: -row[1]):
            kind = "ours" if name.startswith("opserve") else "other"
            length = max(1, round(LENGTH * value / max(reached.values())))
            lines.append(f'<text x="8" y="{y + BAR - 5}">{escape(name)}</text>')
            lines.append(f'<rect class="{kind}" x="{NAMES}" y="{y}" width="{length}" height="{BAR - 3}"/>')
            lines.append(f'<text x="{NAMES + length + 6}" y="{y + BAR - 5}">{escape(shown(load, value))}</text>')
            y += BAR
        y += GAP - BAR
    width, height = NAMES + LENGTH + VALUES, y + 8
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    title = "<title>What opserve and other ways to compute a gradient elsewhere reach, by load</title>"
    return "\n".join([head, title, STYLE, *lines, "</svg>", ""])
