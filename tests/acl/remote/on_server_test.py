"""Does with OPSERVE_TARGET, on a server of its own that listens on a unix socket, what is done without.

Usage: on_server_test.py interface|samples|field|exports ACL_TEST

interface: ACL_TEST, the tests of the C interface, but for those of what only this process's devices have. samples, field: the
programs that programs_test.py builds print what they print on this process's devices, and leave nothing behind. exports: the
library shows the one function that is looked up, and has gRPC as the system has it.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "support")]

import programs_test
import running_server

LIBRARY = pathlib.Path(os.environ["OPSERVE_BIN_DIR"]).parent / "lib/libopserve_acl_remote.so"

# Tests that set variables which OPSERVE_TARGET overrides, or that have a provider of their own; and one that wants this process
# to be quicker than the server.
LOCAL = ["AclProvider*", "AclTwoDevicesTest.*", "AclProfileTest.*", "AclLifeTest.VariablesThatMakeNoSenseFailInit",
         "AclLifeTest.DevicesAreThoseOfTheEnvironment", "AclLifeTest.RemoteDevicesNeedTheirLibrary",
         "AclStreamTest.AWaitMayTimeOut"]


def run_interface(acl_test, env):
    result = subprocess.run([acl_test, "--gtest_filter=-" + ":".join(LOCAL)], env=env, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=280, check=False)
    print(result.stdout)
    passed = re.search(r"\[  PASSED  \] (\d+) tests?\.", result.stdout)
    if result.returncode != 0 or passed is None or int(passed.group(1)) < 70:
        sys.exit(f"want 70 tests at least, all passing; status {result.returncode}")


def run_sample(builder, source, env, *flags):
    """Its output, which is the same on the server and here."""
    binary = builder.program(source, *flags)
    here = programs_test.run([binary], builder.env)
    there = programs_test.run([binary], {**builder.env, **env, "OPSERVE_ACL_REPORT_LEAKS": "1"})
    if there.stderr != programs_test.NO_LEAKS:
        sys.exit(f"want {programs_test.NO_LEAKS!r} on stderr, got {there.stderr!r}")
    if there.stdout != here.stdout:
        sys.exit(f"here {here.stdout!r}, on the server {there.stdout!r}")
    print(there.stdout)
    return there.stdout


def run_samples(env):
    builder = programs_test.Builder("remote_samples")
    sources = sorted(source for source in programs_test.SAMPLES.iterdir() if source.suffix in programs_test.STANDARDS)
    if len(sources) < 5:
        sys.exit(f"want five samples at least, got {sources}")
    for source in sources:
        run_sample(builder, source, env, *programs_test.STRICT)


def run_field(env):
    program = programs_test.field_program()
    builder = programs_test.Builder("remote_field")
    source = builder.folder / "field_program.cc"
    source.write_bytes(program)
    printed = re.findall(r"^result\[.*", run_sample(builder, source, env), re.MULTILINE)
    if printed != programs_test.RESULT:
        sys.exit(f"want {programs_test.RESULT}, got {printed}")


def check_exports():
    shown = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = [line.split()[-1] for line in shown.splitlines()]
    if names != ["opserve_acl_open_provider"]:
        sys.exit(f"want opserve_acl_open_provider alone, got {names}")
    needs = subprocess.run(["readelf", "-d", LIBRARY], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not re.search(r"NEEDED.*libgrpc\+\+\.so", needs):
        sys.exit(f"want the system's libgrpc++, got\n{needs}")


def main():
    what, acl_test = sys.argv[1:]
    if what == "exports":
        return check_exports()
    with tempfile.TemporaryDirectory() as work:
        with running_server.running_server(pathlib.Path(work), "--listen", f"unix:{work}/socket"):
            env = {**os.environ, "OPSERVE_TARGET": f"unix:{work}/socket"}
            if what == "interface":
                run_interface(acl_test, env)
            else:
                {"samples": run_samples, "field": run_field}[what](env)


if __name__ == "__main__":
    main()
