"""Clients of the Open Inference Protocol, unchanged, against the server under test.

Usage: clients_test.py triton|triton_http|perf_analyzer

`triton` runs triton_grpc.py with NVIDIA's tritonclient, `triton_http` triton_http.py, `perf_analyzer` some loads with the
perf_analyzer of an older one. Both come from PyPI into a folder of the build; the test is skipped where they cannot be had.
"""

import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import venv
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

TRITON_CLIENT = ("tritonclient[grpc,http]==2.73.0", "ml-dtypes==0.5.4")
# The last wheel with the program in it, and the library of NVIDIA's that it is linked with.
PERF_ANALYZER = ("tritonclient==2.41.0", "nvidia-cuda-runtime-cu12==12.9.79")
INSTALL_SECONDS = 240
SHARED_MEMORY = "--open-inference-shared-memory"


def pip(folder, *words):
    """Calls pip in the virtual environment of that folder, which is made where there is none; tests do so in turn. False when it fails."""
    with toolchains.in_turn(folder.with_suffix(".lock")):
        python = folder / "bin/python"
        if not python.exists():
            venv.create(folder, with_pip=True, system_site_packages=False)
        command = [python, "-m", "pip", "-q", *words]
        return subprocess.run(command, timeout=INSTALL_SECONDS, check=False).returncode == 0


def python_with_client():
    folder = running_server.build_folder() / "open_inference_venv"
    if not pip(folder, "install", *TRITON_CLIENT):
        toolchains.lacking(f"{' and '.join(TRITON_CLIENT)}, or the network to get them")
    return folder / "bin/python"


def perf_analyzer():
    """The program, and an environment that says where its libraries are."""
    if platform.machine() != "x86_64":
        toolchains.skip("perf_analyzer is for x86-64")
    build = running_server.build_folder()
    folder = build / "open_inference_perf"
    program = folder / "tritonclient-2.41.0.data/data/bin/perf_analyzer"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        if not pip(build / "open_inference_venv", "download", "--no-deps", "--dest", folder, *PERF_ANALYZER):
            toolchains.lacking(f"{' and '.join(PERF_ANALYZER)}, or the network to get them")
        for wheel in folder.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(folder)
        program.chmod(0o755)
    libraries = {"LD_LIBRARY_PATH": str(folder / "nvidia/cuda_runtime/lib")}
    environment = {**os.environ, **libraries}
    started = subprocess.run([program, "--help"], env=environment, capture_output=True, text=True, check=False)
    if "error while loading shared libraries" in started.stderr:
        toolchains.lacking(f"what perf_analyzer takes (Debian's libb64-0d): {started.stderr.strip()}")
    return program, environment


def run_triton():
    python = python_with_client()
    with tempfile.TemporaryDirectory() as folder:
        with running_server.running_server(pathlib.Path(folder), SHARED_MEMORY) as address:
            return subprocess.run([python, "-B", HERE / "triton_grpc.py", address], check=False).returncode


def run_triton_http():
    python = python_with_client()
    with tempfile.TemporaryDirectory() as folder:
        with running_server.running_server(pathlib.Path(folder), "--http", "0", SHARED_MEMORY):
            http = (pathlib.Path(folder) / "address").read_text(encoding="utf-8").split()[-1]
            command = [python, "-B", HERE / "triton_http.py", http.removeprefix("http://")]
            return subprocess.run(command, check=False).returncode


# Loads, each of a few short windows; what they measure on a busy machine says nothing, so any spread is stable.
SHAPES = ["--shape", "grad_out:8", "--shape", "self:8", "--shape", "target:8"]
WINDOWS = ["--measurement-mode", "count_windows", "--measurement-request-count", "20", "-s", "100000"]
LOADS = {
    "concurrency": ["--concurrency-range", "1:2:1"],
    "asynchronous": ["--concurrency-range", "4", "--async"],
    "streaming": ["--concurrency-range", "1:4:3", "--async", "--streaming"],
    "rate": ["--request-rate-range", "40"],
    "search": ["--concurrency-range", "1:4:1", "--binary-search", "--latency-threshold", "60000"],
    "shared memory": ["--concurrency-range", "2", "--shared-memory", "system"],
    "shared memory, streaming": ["--concurrency-range", "2", "--async", "--streaming", "--shared-memory", "system"],
    "parameters": ["--concurrency-range", "1", "--request-parameter", "reduction:mean:string"],
}


def run_perf_analyzer():
    program, environment = perf_analyzer()
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        with running_server.running_server(pathlib.Path(folder), SHARED_MEMORY) as address:
            for name, words in LOADS.items():
                model = ["-m", "SmoothL1LossBackward", "-i", "grpc", "-u", address]
                command = [program, *model, *SHAPES, *WINDOWS, *words]
                ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
                good = ran.returncode == 0 and "Throughput:" in ran.stdout
                print(f"{name}: {'ok' if good else ran.stdout + ran.stderr}")
                if not good:
                    failed.append(name)
    return 1 if failed else 0


def main():
    return {"triton": run_triton, "triton_http": run_triton_http, "perf_analyzer": run_perf_analyzer}[sys.argv[1]]()


if __name__ == "__main__":
    sys.exit(main())
