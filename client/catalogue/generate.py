"""Writes the typed helpers of the operators for the client libraries, each in its own language.

Usage: generate.py [--check] [LANGUAGE...]    (default: every language; --check only tells which files are not current)

`operators.json` is what `opserve ops --json` prints; a test compares the two. `languages/NAME.py` says how a language writes operators:
its render(operators) returns the texts of the files by their paths below client/NAME.
"""

import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CLIENTS = HERE.parent


def languages():
    """The names of the languages."""
    return sorted(path.stem for path in (HERE / "languages").glob("*.py"))


def files_of(language, operators):
    """The texts of a language's files by path."""
    rendered = importlib.import_module(f"languages.{language}").render(operators)
    return {CLIENTS / language / name: text for name, text in rendered.items()}


def is_current(path, text):
    return path.exists() and path.read_text(encoding="utf-8") == text


def main():
    wanted = [word for word in sys.argv[1:] if word != "--check"] or languages()
    unknown = sorted(set(wanted) - set(languages()))
    if unknown:
        sys.exit(f"generate.py: no such language: {' '.join(unknown)}; there are {' '.join(languages())}")
    operators = json.loads((HERE / "operators.json").read_text(encoding="utf-8"))["operators"]
    files = {path: text for language in wanted for path, text in files_of(language, operators).items()}
    stale = [path for path, text in files.items() if not is_current(path, text)]
    if "--check" in sys.argv[1:]:
        return "\n".join(f"{path.relative_to(CLIENTS)} is not what client/catalogue/generate.py writes" for path in stale) or 0
    for path in stale:
        path.write_text(files[path], encoding="utf-8")
        print(f"wrote client/{path.relative_to(CLIENTS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
