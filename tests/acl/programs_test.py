"""Builds programs against the C interface's headers and CANN's library names, and runs them.

Usage: programs_test.py headers|samples|field|exit|no_memory     (the library is in $OPSERVE_BIN_DIR/../lib)

headers: each header alone is C99 and C++11 without a warning. samples: the programs of client/acl/samples print what they
expect, with memory that the host can follow and without, and leave nothing behind. field: so does a program that was written
for the vendor's libraries, unchanged: the sample of the page aclnnSmoothL1LossBackward.txt in $OPSERVE_SEEDS (default:
../shared/seeds beside the tree); a skip where that is not there. exit: functions may be called until the process is no more.
no_memory: nothing is thrown out of the library where the host has no memory.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/support"))

import outside_build
import toolchains

BUILD = pathlib.Path(os.environ["OPSERVE_BIN_DIR"]).parent
INCLUDES = [ROOT / "client/acl/include", BUILD / "include"]
SAMPLES = ROOT / "client/acl/samples"
NAMES = ["-lascendcl", "-lnnopbase", "-lopapi"]
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STANDARDS = {".c": ("CC", "-std=c99"), ".cc": ("CXX", "-std=c++11")}
PAGE = "aclnnSmoothL1LossBackward.txt"
RESULT = [f"result[{i}] is: {value:f}" for i, value in enumerate([-1, 0, 1, 1, 1, 1, 1, 1])]
NO_LEAKS = "opserve_acl: aclFinalize: everything was destroyed\n"


def run(command, env, **options):
    print("$", *command)
    result = subprocess.run([str(word) for word in command], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=240, check=False, **options)
    if result.returncode != 0:
        sys.exit(f"status {result.returncode}:\n{result.stdout}{result.stderr}")
    return result


class Builder:
    """Compiles as the build under test does, in a folder of its own."""

    def __init__(self, name):
        self.build = BUILD
        self.env = outside_build.environment(self.build)
        self.folder = self.build / "acl_programs" / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def compiler(self, suffix):
        tool, standard = STANDARDS[suffix]
        return [self.env[tool], standard, *shlex.split(self.env["CXXFLAGS"]),
                *(f"-I{include}" for include in INCLUDES)]

    def check_syntax(self, source):
        run([*self.compiler(source.suffix), *STRICT, "-fsyntax-only", source], self.env)

    def program(self, source, *flags):
        library = self.build / "lib"
        binary = self.folder / source.stem
        # The link names come from the folder that stands for the vendor's; the loader needs the library alone.
        run([*self.compiler(source.suffix), *flags, source, "-o", binary, "-L", library / "opserve/ascend", *NAMES,
             f"-Wl,-rpath,{library}", f"-Wl,-rpath-link,{library}"], self.env)
        return binary

    def run_both_ways(self, binary):
        """What the program prints, which is the same with memory that the host cannot follow."""
        printed = set()
        for guard in ("0", "1"):
            env = {**self.env, "OPSERVE_ACL_GUARD_MEMORY": guard, "OPSERVE_ACL_REPORT_LEAKS": "1"}
            result = run([binary], env)
            if result.stderr != NO_LEAKS:
                sys.exit(f"want {NO_LEAKS!r} on stderr, got {result.stderr!r}")
            printed.add(result.stdout)
        if len(printed) != 1:
            sys.exit(f"not the same twice: {printed!r}")
        return printed.pop()


def check_headers():
    builder = Builder("headers")
    headers = sorted(header.relative_to(include).as_posix() for include in INCLUDES for header in include.rglob("*.h"))
    if len(headers) < 16:
        sys.exit(f"want at least 16 headers, got {headers}")
    for suffix in STANDARDS:
        for header in headers:
            source = builder.folder / (header.replace("/", "_") + suffix)
            source.write_text(f'#include "{header}"\n#include "{header}"\nint main(void) {{ return 0; }}\n',
                              encoding="utf-8")
            builder.check_syntax(source)


def check_samples():
    builder = Builder("samples")
    sources = sorted(source for source in SAMPLES.iterdir() if source.suffix in STANDARDS)
    backward = [source for source in sources if source.stem.endswith("_backward")]
    if len(backward) != 5:
        sys.exit(f"want a sample for each of five backward operators, got {sources}")
    for source in sources:
        print(builder.run_both_ways(builder.program(source, *STRICT)))


def field_program():
    """The page's program, byte for byte."""
    folder = pathlib.Path(os.environ.get("OPSERVE_SEEDS", ROOT.parent / "shared/seeds"))
    page = folder / PAGE
    if not page.is_file():
        toolchains.skip(f"no {page}, whose sample program this test builds")
    text = page.read_bytes()
    return text[text.index(b"#include"):]


def check_field():
    program = field_program()
    builder = Builder("field")
    source = builder.folder / "field_program.cc"
    source.write_bytes(program)
    printed = re.findall(r"^result\[.*", builder.run_both_ways(builder.program(source)), re.MULTILINE)
    if printed != RESULT:
        sys.exit(f"want {RESULT}, got {printed}")


def check_program(name):
    builder = Builder(name)
    run([builder.program(HERE / f"{name}_program.cc")], builder.env)


if __name__ == "__main__":
    {"headers": check_headers, "samples": check_samples, "field": check_field, "exit": lambda: check_program("exit"),
     "no_memory": lambda: check_program("no_memory")}[sys.argv[1]]()
