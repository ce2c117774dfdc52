"""Writes the typed helpers of the operators for the client libraries, each in its own language.

Usage: generate.py [--check | --ask] [LANGUAGE...]    (default: every language)

--check  only tells which files are not current
--ask    first writes `operators.json` anew, by the programs of $OPSERVE_BIN_DIR

`operators.json` is what `opserve ops --json` prints; a test compares the two. `languages/NAME.py` says how a language writes operators:
its render(operators) returns the texts of the files by their paths below client/NAME.
"""

import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

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


def ask():
    """Writes what a server of the programs in $OPSERVE_BIN_DIR has."""
    sys.path.insert(0, str(CLIENTS.parent / "tests/support"))
    import running_server

    if "OPSERVE_BIN_DIR" not in os.environ:
        sys.exit("generate.py: --ask: want OPSERVE_BIN_DIR, the folder of opserve and opserve-server, got none")
    with tempfile.TemporaryDirectory() as folder, running_server.running_server(pathlib.Path(folder)) as address:
        command = [running_server.bin_folder() / "opserve", "ops", "--json", "--target", address]
        told = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    (HERE / "operators.json").write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main():
    wanted = [word for word in sys.argv[1:] if word not in ("--check", "--ask")] or languages()
    unknown = sorted(set(wanted) - set(languages()))
    if unknown:
        sys.exit(f"generate.py: no such language: {' '.join(unknown)}; there are {' '.join(languages())}")
    if "--ask" in sys.argv[1:]:
        ask()
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
