"""Builds and tests client/java with Maven: its own tests (vectors, sessions, the guide), javadoc, the examples, and what is generated.

Usage: java_test.py

Maven takes what it needs from this machine's repository, and fetches only what that lacks.
"""

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

PROJECT = ROOT / "client/java"
LEAST_JAVA = 17
# Two thirds of the time: each JVM lives for seconds.
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LACKING = re.compile(r"in offline mode|Could not transfer|Could not resolve dependencies|could not be resolved")
GRADIENT = "grad_input -1 0 1 1 1 1 1 1\n"
PROGRAMS = {  # module and class: what it prints first
    ("examples", "dev.opserve.examples.Gradient"): GRADIENT,
    ("examples", "dev.opserve.examples.Resident"): "out -1.342 -0.447 0.447 1.342 -1.342 -0.447 0.447 1.342\n",
    ("kotlin", "GradientKt"): GRADIENT + "beta: want >= 0, got -1\n",
}
TRAINING = "dev.opserve.examples.Training"


def check_tools():
    for tool in ("mvn", "java", "javac"):
        if not shutil.which(tool):
            toolchains.lacking(tool)
    told = subprocess.run(["javac", "-version"], capture_output=True, text=True, check=True).stdout
    if int(re.search(r"(\d+)", told).group(1)) < LEAST_JAVA:
        toolchains.lacking(f"Java {LEAST_JAVA} (it has {told.strip()})")


def maven(*words):
    """Runs Maven; gives its output and whether it ended well."""
    ended = subprocess.run(["mvn", "-B", "-ntp", *words], cwd=PROJECT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           check=False)
    return ended.stdout, ended.returncode == 0


def build():
    """All of it: the jars, the tests, the documentation."""
    # Kotlin's daemon would outlive the test.
    goals = ["-Prelease", "-Dproto.javadoc.skip=true", "-Dkotlin.compiler.daemon=false", "package"]
    told, well = maven("-o", *goals)
    if not well and LACKING.search(told):
        told, well = maven(*goals)
        if not well and LACKING.search(told):
            print(told)
            toolchains.lacking("what client/java needs from Maven Central, and cannot fetch it: is it offline?")
    if not well:
        sys.exit(told)
    print(*re.findall(r"Tests run: .*", told), sep="\n")


def printed_by(module, program, address):
    target = PROJECT / module / "target"
    path = f"{target / 'classes'}:{(target / 'classpath').read_text(encoding='utf-8')}"
    return subprocess.run(["java", "-cp", path, program, address], text=True, stdout=subprocess.PIPE, check=True).stdout


def run_programs():
    with tempfile.TemporaryDirectory() as folder, running_server.running_server(pathlib.Path(folder)) as address:
        training_losses.check(TRAINING, printed_by("examples", TRAINING, address))
        for (module, program), wanted in PROGRAMS.items():
            printed = printed_by(module, program, address)
            if not printed.startswith(wanted):
                sys.exit(f"{program}: want {wanted!r}, got {printed!r}")


def main():
    check_tools()
    os.environ.setdefault("JAVA_TOOL_OPTIONS", QUICK_JVM)
    build()
    run_programs()
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, PROJECT / "proto/generate.py", "--check"], env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
