"""Records docs/recordings/NAME.svg of each docs/recordings/NAME.txt: runs its commands on a server and draws what the terminal shows.

Usage: make.py [--check]     (the programs are in $OPSERVE_BIN_DIR; --check only says which recordings are out of date)

The first line of a text is the title; the others are commands, which run in this folder. Their output must be the same in every run. A
recording shows its commands one after the other, in the colours of the reader's system, light or dark.
"""

import html
import os
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests/support"))

import running_server

WIDTH, HEIGHT, MARGIN = 8.4, 19, 16  # of a character, of a line, around all
SECONDS_A_STEP = 1.5
HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img">
<title>{title}</title>
<style>
rect {{ fill: #f6f7fb; stroke: #c5cae9; }}
text {{ fill: #1f2330; font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; white-space: pre; }}
.c {{ fill: #3f51b5; font-weight: bold; }}
@media (prefers-color-scheme: dark) {{
rect {{ fill: #171a26; stroke: #3f51b5; }}
text {{ fill: #e4e6f0; }}
.c {{ fill: #9fa8da; }}
}}
@media (prefers-reduced-motion: no-preference) {{
g {{ animation: show 0.2s both; }}
@keyframes show {{ from {{ opacity: 0; }} }}
}}
</style>
<rect x="0.5" y="0.5" width="{inside_width:g}" height="{inside_height:g}" rx="8"/>
"""


def commands_of(text):
    """The commands, each with its lines."""
    commands = [[]]
    for line in text.rstrip("\n").split("\n"):
        commands[-1].append(line)
        if not line.endswith("\\"):
            commands.append([])
    return commands[:-1]


def printed_by(lines, target):
    """What the terminal shows of a command, standard error included."""
    environment = {**os.environ, "PATH": f"{running_server.bin_folder()}:{os.environ['PATH']}", "OPSERVE_TARGET": target}
    return subprocess.run(["bash", "-c", "\n".join(lines)], cwd=FOLDER, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=60, check=False).stdout.rstrip("\n").split("\n")


def text_of(row, line, kind):
    """A line of the terminal. Its length is given, so that columns are right in any font."""
    length = f'{len(line) * WIDTH:g}'
    return (f'<text{kind} x="{MARGIN}" y="{MARGIN + row * HEIGHT + 14:g}" textLength="{length}" xml:space="preserve">'
            f"{html.escape(line, quote=False)}</text>\n") if line else ""


def recording_of(source, target):
    title, _, text = source.partition("\n")
    steps = [(["$ " + lines[0], *lines[1:]], printed_by(lines, target)) for lines in commands_of(text)]
    columns = max(len(line) for command, printed in steps for line in command + printed)
    rows = sum(len(command) + len(printed) + 1 for command, printed in steps) - 1
    width, height = columns * WIDTH + 2 * MARGIN, rows * HEIGHT + 2 * MARGIN
    parts = [HEAD.format(width=width, height=height, inside_width=width - 1, inside_height=height - 1, title=html.escape(title))]
    row = 0
    for number, (command, printed) in enumerate(steps):
        parts.append(f'<g style="animation-delay: {number * SECONDS_A_STEP:g}s">\n')
        for line, kind in [*((line, ' class="c"') for line in command), *((line, "") for line in printed)]:
            parts.append(text_of(row, line, kind))
            row += 1
        parts.append("</g>\n")
        row += 1
    return "".join(parts) + "</svg>\n"


def main():
    check, stale = sys.argv[1:] == ["--check"], []
    with tempfile.TemporaryDirectory() as folder, running_server.running_server(pathlib.Path(folder)) as target:
        for source in sorted(FOLDER.glob("*.txt")):
            recording, path = recording_of(source.read_text(encoding="utf-8"), target), source.with_suffix(".svg")
            if not check:
                path.write_text(recording, encoding="utf-8")
            elif not path.exists() or path.read_text(encoding="utf-8") != recording:
                stale.append(f"docs/recordings/{path.name} is not what its commands print: run docs/recordings/make.py with OPSERVE_BIN_DIR set")
    return "\n".join(stale) or 0


if __name__ == "__main__":
    sys.exit(main())
