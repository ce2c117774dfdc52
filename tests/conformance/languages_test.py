"""One language against the opserve command: the same bits for the same call, and errors that say what is wrong.

Usage: languages_test.py python|node|json|grpcurl, with the programs in $OPSERVE_BIN_DIR
"""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))

import running_server
import toolchains

try:
    import grpc  # noqa: F401  (that it is there)
    import numpy as np

    import calls
    import routes
except ImportError as error:
    toolchains.lacking(f"a Python package: {error}")

REFUSED = "SmoothL1LossBackward: beta: want >= 0, got -1"
REASON = "OUT_OF_RANGE 161002: "
SAMPLE_LINE = "grad_input -1 0 1 1 1 1 1 1\n"
NOBODY = "localhost:1"


def difference(got, want):
    """How outputs differ from those of the command; None when they are the same bits."""
    if got.keys() != want.keys():
        return f"outputs {sorted(got)}, want {sorted(want)}"
    for name, array in want.items():
        one, other = ((a.dtype.kind, a.dtype.itemsize, a.shape, a.tobytes()) for a in (got[name], array))
        if one != other:
            return f"{name}: got {one}, want {other}"
    return None


def check_bits(route, cli):
    for call in calls.all_calls():
        problem = difference(route.run(call), cli.run(call))
        print(f"{'FAILED' if problem else 'ok'}: {call.name}")
        if problem:
            yield f"{call.name}: {problem}"


def check_refusal(route):
    sample = calls.sample()
    told = route.refusal(sample._replace(attributes={"reduction": 0, "beta": -1.0})) or "no error"
    if REFUSED not in told:
        yield f"beta = -1: want {REFUSED!r} in {told!r}"
    if route.program and told != REASON + REFUSED:
        yield f"beta = -1: want {REASON + REFUSED!r}, got {told!r}"


def check_documented_text(route):
    """The JSON of docs/protocol.md, as grpcurl gets it."""
    page = (routes.ROOT / "docs/protocol.md").read_text(encoding="utf-8")
    text = re.search(r"grpcurl .*? -d '(.*?)'", page, re.DOTALL).group(1)
    floats = json.loads(route.send(text))["outputs"][0]["values"]["floats"]
    shown = f'"floats": [{", ".join(f"{number:g}" for number in floats)}]'
    if shown not in page:
        yield f"docs/protocol.md does not show the answer to its request: {shown}"


def check_program(route, address):
    """The program as the README calls it, and without a server."""
    result = route.program(address)
    if (result.returncode, result.stdout) != (0, SAMPLE_LINE):
        yield f"want {SAMPLE_LINE!r} and status 0, got {result}"
    result = route.program(NOBODY)
    if result.returncode != 1 or not result.stderr.startswith("UNAVAILABLE: ") or result.stderr.count("\n") != 1:
        yield f"want one line about a server that is not there, and status 1, got {result}"


def main():
    language = sys.argv[1]
    folder = running_server.build_folder() / "conformance" / language
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {calls.SEED}")
    with running_server.running_server(folder) as address:
        route = routes.ROUTES[language](address, folder)
        problems = [*check_bits(route, routes.Cli(address, folder)), *check_refusal(route)]
        if route.program:
            problems += check_program(route, address)
        if language == "json":
            problems += check_documented_text(route)
        route.close()
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
