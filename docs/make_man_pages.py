"""Writes docs/man: manual pages of opserve-server and opserve, made of what --help prints.

Usage: make_man_pages.py [--check]     (the programs are in $OPSERVE_BIN_DIR; --check only says whether the pages are up to date)
"""

import collections
import pathlib
import re
import sys

from make_flags_page import help_of, subcommands

FOLDER = pathlib.Path(__file__).resolve().parent / "man"
VERSION = (FOLDER.parents[1] / "VERSION").read_text(encoding="utf-8").strip()
DESCRIPTION_COLUMN = 30
# How a term goes on that is longer than its column.
MORE_OF_TERM = re.compile(r"\.\.\.|\[|\(Env:|Excludes:|Needs:|REQUIRED|- ")
# What several commands explain; a section of its own.
VALUES = re.compile(r"VALUE is one of\n.*?`opserve --help`\.\n?", re.DOTALL)

SERVER_DESCRIPTION = """opserve-server computes neural-network operators and their gradients for clients in any language, over gRPC. It holds the
devices of its machine: CPU cores, and NPUs through the libraries of their vendor. It listens on localhost unless a flag says otherwise."""
COMMAND_DESCRIPTION = """opserve is a client for shells. It runs operators on an opserve server, describes them, loads a server and shows what the
server does. `opserve tutorial` shows the commands at work, on a server that it starts."""
SERVER_SIGNALS = [
    ("SIGTERM, SIGINT", "After --grace-period, accept no more calls, finish the calls in flight, and exit with status 0. A second signal ends the "
                        "process at once."),
    ("SIGUSR1", "Write the slow calls to the file of --slow-calls-file."),
]
SERVER_FILES = [("/etc/default/opserve", "The flags of the service, where the server is installed from Debian packages.")]

Row = collections.namedtuple("Row", "term text")  # an option, argument or command, and what it is for
Help = collections.namedtuple("Help", "summary usage groups footer")  # groups: name → rows


def row_of(line):
    """The row that a line of --help begins. A long term has the line to itself; its text follows."""
    apart = re.fullmatch(r"  (\S.*?)  +(\S.*)", line)
    if apart:
        return Row(*apart.groups())
    # A term that fills its column.
    term, text = line[:DESCRIPTION_COLUMN], line[DESCRIPTION_COLUMN:]
    return Row(term.strip(), text) if term.endswith(" ") and not MORE_OF_TERM.match(text) else Row(line.strip(), "")


def parsed(text):
    """What --help printed, in parts."""
    head, _, rest = text.partition("\n\n")
    summary, usage = head.split("\nUsage: ")
    groups, rows, footer = {}, None, []
    for line in rest.split("\n"):
        heading = re.fullmatch(r"([A-Z][\w ,]*):", line)
        if footer or not line.strip():
            footer += [line] if footer else []
        elif heading and heading.group(1) != "Exit status":
            rows = groups[heading.group(1)] = []
        elif rows is not None and line.startswith("  ") and line[2] != " ":
            rows.append(row_of(line))
        elif rows and line.startswith(" " * DESCRIPTION_COLUMN):
            rows[-1] = Row(rows[-1].term, f"{rows[-1].text} {line.strip()}".strip())
        else:
            footer.append(line)
    return Help(summary, usage, groups, "\n".join(footer).strip("\n"))


def roff(text):
    """Text as it is, whatever troff would make of it."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("≥", ">=")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def paragraph(text):
    return f".PP\n{roff(text)}\n"


def as_it_is(text):
    return f".PP\n.nf\n{roff(text)}\n.fi\n"


def rows_of(rows):
    return "".join(f".TP\n.B {roff(row.term)}\n{roff(row.text)}\n" for row in rows)


def section(title, body):
    return f".SH {title}\n{body}"


def head(name, number, summary):
    return (f'.\\" Made by docs/make_man_pages.py; do not edit.\n.TH {name.upper().replace("-", chr(92) + "-")} {number} "" "opserve {VERSION}" '
            f'"opserve"\n' + section("NAME", f"{roff(name)} \\- {roff(summary[0].lower() + summary[1:].rstrip('.'))}\n"))


def server_page():
    help_text = parsed(help_of("opserve-server"))
    options = "".join(f".SS {name}\n{rows_of(rows)}" for name, rows in help_text.groups.items())
    return (head("opserve-server", 8, help_text.summary) + section("SYNOPSIS", paragraph(help_text.usage))
            + section("DESCRIPTION", paragraph(SERVER_DESCRIPTION)) + section("OPTIONS", options)
            + section("SIGNALS", rows_of(Row(*row) for row in SERVER_SIGNALS)) + section("FILES", rows_of(Row(*row) for row in SERVER_FILES))
            + section('"SEE ALSO"', paragraph("opserve(1). The package opserve-doc has the guides: operations.md, security.md, observability.md.")))


def commands_below(command):
    """The help of each command, in order; commands of commands take the place of their own."""
    for name in subcommands(help_of(*command)):
        below = [*command, name]
        if subcommands(help_of(*below)):
            yield from commands_below(below)
        else:
            yield parsed(help_of(*below))


def command_section(help_text, common_footer):
    body = f".SS {roff(help_text.usage)}\n{roff(help_text.summary)}.\n"
    for rows in help_text.groups.values():
        body += rows_of(row for row in rows if not row.term.startswith("-h,"))
    footer = VALUES.sub("VALUE and the attributes are described under VALUES.\n", help_text.footer).strip("\n")
    return body + (as_it_is(footer) if footer and footer != common_footer else "")


def environment_of(rows):
    """The variables that stand for options."""
    found = [(re.search(r"\(Env:(\w+)\)", row.term), row) for row in rows]
    return [Row(match.group(1), f"As {row.term.split()[0].split('=')[0]}, which comes first.") for match, row in found if match]


def command_page():
    main_help = parsed(help_of("opserve"))
    commands = list(commands_below(["opserve"]))
    values = next(VALUES.search(command.footer).group(0) for command in commands if VALUES.search(command.footer))
    exit_status, _, notes = main_help.footer.partition("\n\n")
    statuses = [Row(*line.split(None, 1)) for line in exit_status.split("\n")[1:]]
    contexts = next(row for row in main_help.groups["Options"] if row.term.startswith("--contexts"))
    return (head("opserve", 1, main_help.summary) + section("SYNOPSIS", paragraph(main_help.usage))
            + section("DESCRIPTION", paragraph(COMMAND_DESCRIPTION) + paragraph(notes))
            + section("OPTIONS", rows_of(main_help.groups["Options"]))
            + section("COMMANDS", "".join(command_section(command, main_help.footer) for command in commands))
            + section("VALUES", as_it_is(values)) + section('"EXIT STATUS"', rows_of(statuses))
            + section("ENVIRONMENT", rows_of(environment_of(main_help.groups["Options"])))
            + section("FILES", rows_of([Row(contexts.term.partition("=")[2], contexts.text)]))
            + section('"SEE ALSO"', paragraph("opserve-server(8). The package opserve-doc has the guides, command_line.md among them.")))


def pages():
    return {"opserve.1": command_page(), "opserve-server.8": server_page()}


def check():
    """What is out of date, and what to do then; empty if nothing is."""
    outdated = [name for name, text in pages().items() if (FOLDER / name).read_text(encoding="utf-8") != text]
    return f"docs/man: {outdated} are not what --help prints: run docs/make_man_pages.py with OPSERVE_BIN_DIR set" if outdated else ""


def main():
    if sys.argv[1:] == ["--check"]:
        return check() or 0
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
