"""Runs the tests of client/go against the server under test: format, vet, stubs, unit tests with the race detector, vectors, a few seconds of
fuzzing, the examples, and whether the code of docs/go.md is that of an example."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains
import training_losses

MODULE = ROOT / "client/go"
GO = (1, 26)
NO_PLUGINS = 75
GRADIENT = "grad_input -1 0 1 1 1 1 1 1\n"
SESSION = """out -1.342 -0.447 0.447 1.342 -1.342 -0.447 0.447 1.342
grad_input 0.268 -0.358 -0.089 0.179 -0.716 1.252 -0.358 -0.179
grad_gamma -1.342 0.000 -0.894 0.000
grad_beta 1.000 0.000 2.000 0.000
neg_log_likelihood 1.504
grad -0.167 0.333 -0.167 0.000 0.333 -0.333 -0.167 0.333 -0.167
"""


def go(*arguments, **options):
    """Runs go in the module; ends the test where it fails."""
    return run("go", *arguments, **options)


def run(*command, **options):
    result = subprocess.run(command, cwd=MODULE, stdout=subprocess.PIPE, text=True, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with status {result.returncode}:\n{result.stdout}")
    return result.stdout


def check_toolchain():
    if not shutil.which("go"):
        toolchains.lacking("go")
    told = subprocess.run(["go", "env", "GOVERSION"], stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT / "tests").stdout.strip()
    version = re.match(r"go(\d+)\.(\d+)", told)
    if not version or tuple(map(int, version.groups())) < GO:
        toolchains.lacking(f"go {GO[0]}.{GO[1]} or newer ({told})")
    if subprocess.run(["go", "mod", "download"], cwd=MODULE, check=False).returncode != 0:
        toolchains.lacking("the modules that client/go/go.sum names, and a way to fetch them")


def check_format():
    unformatted = run("gofmt", "-l", ".")
    if unformatted:
        sys.exit(f"gofmt would change\n{unformatted}")
    go("vet", "-race", "./...")  # all that is built with the race detector, so that nothing is built twice


def check_stubs(folder):
    """The stubs are those that generate_messages makes, where there is the protoc that made them."""
    if not shutil.which("protoc") or not run("protoc", "--version").startswith("libprotoc 3.21."):
        print("not checked: the stubs, which are made by protoc 3.21")
        return
    made = subprocess.run(["./generate_messages", folder], cwd=MODULE, check=False).returncode
    if made == NO_PLUGINS:
        toolchains.lacking("the plugins that client/go/generate_messages names, and a way to fetch them")
    if made != 0:
        sys.exit(f"client/go/generate_messages ended with status {made}")
    for made in sorted((folder / "opserve/v1").iterdir()):
        if made.read_bytes() != (MODULE / "opserve/v1" / made.name).read_bytes():
            sys.exit(f"client/go/opserve/v1/{made.name} is not what client/go/generate_messages writes")


def words(text):
    return " ".join(text.split())


def check_guide(told):
    """Each block of code of the guide is in its example, and what the guide says is printed was printed."""
    example = (MODULE / "examples/guide/main.go").read_text(encoding="utf-8")
    blocks = re.findall(r"^```go\n(.*?)^```", (ROOT / "docs/go.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if len(blocks) < 10:
        sys.exit(f"docs/go.md has {len(blocks)} blocks of code")
    for block in blocks:
        if words(block) not in words(example):
            sys.exit(f"docs/go.md has code that client/go/examples/guide has not:\n{block}")
    promised = [line for comment in re.findall(r"Println\(.*\) +// (.*)", example) for line in comment.split(", then ")]
    if told.splitlines() != promised:
        sys.exit(f"client/go/examples/guide prints\n{told}and not\n" + "\n".join(promised))


def check_examples(folder):
    with running_server.running_server(folder) as address:
        for name, wanted in (("gradient", GRADIENT), ("session", SESSION)):
            told = go("run", "-race", f"./examples/{name}", address)
            if told != wanted:
                sys.exit(f"client/go/examples/{name} prints\n{told}and not\n{wanted}")
        training_losses.check("client/go/examples/training", go("run", "-race", "./examples/training", address))
        recogniser = go("run", "-race", "./examples/recogniser", address)
        training_losses.check("client/go/examples/recogniser", recogniser, training_losses.RECOGNISER)
        check_guide(go("run", "-race", "./examples/guide", address))


def main():
    os.environ.setdefault("GOFLAGS", toolchains.QUICK_GO)
    check_toolchain()
    check_format()
    with tempfile.TemporaryDirectory() as folder:
        print(go("test", "-race", "./..."), end="")
        print(go("test", "-run", "^$", "-fuzz", "FuzzAnswer", "-fuzztime", "5s", "-fuzzminimizetime", "1x", "./opserve"), end="")
        check_examples(pathlib.Path(folder))
        check_stubs(pathlib.Path(folder))


if __name__ == "__main__":
    main()
