"""Builds the container image and runs it as it is meant to be run: read-only, without privileges. Takes minutes.

$OPSERVE_CONTAINER_BASE is what the image is built on, as deploy/container/build --base takes it, or the word `debootstrap`:
then a Debian 12 is made first, which takes root, debootstrap and the network. Without it the test is skipped. The sample call
comes from the opserve command in $OPSERVE_BIN_DIR.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server
import toolchains

IMAGE = f"opserve-test-{os.getpid()}"
CONTAINER = IMAGE
MOST_BYTES = 60_000_000
STARTS = 5
START_SECONDS = 60
STOP_SECONDS = 20
HARDENED = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges",
            f"--security-opt=seccomp={ROOT}/deploy/container/seccomp.json"]
# How containers run: the usual way, or where a machine has neither a network of its own for them nor systemd.
WAYS = [
    ["--publish=127.0.0.1::8500"],
    ["--network=host"],
    ["--network=host", "--runtime=runc", "--cgroup-manager=cgroupfs", "--ulimit=nofile=1024:1024",
     "--ulimit=nproc=1024:1024"],
]
SAMPLE = ["run", "SmoothL1LossBackward", "-i", "grad_out=f32[4,2]=1", "-i", "self=f32[4,2]{0,1,2,3,4,5,6,7}", "-i",
          "target=f32[4,2]=1", "-a", "reduction=0", "-a", "beta=1"]
GRADIENT = "grad_input f32[4,2]\n[[-1  0]\n [ 1  1]\n [ 1  1]\n [ 1  1]]\n"


def attempt(*command, timeout=120):
    """Exit status and output, both streams together."""
    result = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=timeout, check=False)
    return result.returncode, result.stdout


def output_of(*command, timeout=120):
    status, output = attempt(*command, timeout=timeout)
    if status != 0:
        sys.exit(f"{' '.join(map(str, command))}: status {status}:\n{output}")
    return output


def expect(condition, message):
    if not condition:
        sys.exit(message)


def opserve(*arguments):
    return attempt(running_server.bin_folder() / "opserve", *arguments)


def choose_engine():
    for engine in ("podman", "docker"):
        if shutil.which(engine) and attempt(engine, "info")[0] == 0:
            return engine
    return toolchains.lacking("a working podman or docker")


@contextlib.contextmanager
def base_image():
    """What to build on."""
    base = os.environ.get("OPSERVE_CONTAINER_BASE", "")
    if not base:
        toolchains.skip("set OPSERVE_CONTAINER_BASE to a Debian 12 image, folder or tar, or to `debootstrap`: takes minutes")
    if base != "debootstrap":
        yield base
        return
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        toolchains.lacking("debootstrap, or root to run it")
    with tempfile.TemporaryDirectory(prefix="opserve-base-") as folder:
        output_of("debootstrap", "--variant=minbase", "bookworm", folder, timeout=600)
        yield folder


@contextlib.contextmanager
def built_image(engine, base):
    if os.geteuid() == 0:  # works wherever root does, also inside a container
        os.environ.setdefault("BUILDAH_ISOLATION", "chroot")
    os.environ.setdefault("BUILDAH_LAYERS", "false")  # leaves no images behind
    output_of(ROOT / "deploy/container/build", "--base", base, "--tag", IMAGE, "--engine", engine, timeout=1500)
    try:
        yield
    finally:
        attempt(engine, "rmi", IMAGE)


def way_to_run(engine):
    """The first of WAYS that runs a container here."""
    for flags in WAYS:
        status, output = attempt(engine, "run", "--rm", *flags, "--entrypoint=/usr/local/bin/opserve", IMAGE, "--version")
        if status == 0:
            return flags
    return toolchains.lacking(f"a {engine} that runs containers: {output.strip().splitlines()[-1]}")


@contextlib.contextmanager
def running_container(engine, flags):
    """A hardened container; gives the server's address."""
    if "--network=host" in flags:
        with socket.socket() as probe:
            expect(probe.connect_ex(("127.0.0.1", 8500)) != 0, "port 8500 is taken, and containers share the host's network here")
    output_of(engine, "run", "--detach", "--name", CONTAINER, *HARDENED, *flags, IMAGE)
    try:
        yield "127.0.0.1:8500" if "--network=host" in flags else output_of(engine, "port", CONTAINER, "8500").split()[0]
    finally:
        attempt(engine, "rm", "--force", CONTAINER)


def wait_for_answer(engine, address):
    deadline = time.monotonic() + START_SECONDS
    while True:
        status, output = opserve("info", "--target", address, "--timeout", "1s")
        if status == 0:
            return
        if time.monotonic() > deadline:
            sys.exit(f"no answer within {START_SECONDS} s: {output}\n{attempt(engine, 'logs', CONTAINER)[1]}")


def check_image(engine):
    """What the image says about itself; prints its size."""
    image = json.loads(output_of(engine, "image", "inspect", IMAGE))[0]
    config = image["Config"]
    labels = config["Labels"]
    expect(config["User"].split(":")[0] not in ("", "0", "root"), f"want a user other than root, got '{config['User']}'")
    expect(config["Entrypoint"][0] == "/usr/local/bin/opserve-server", f"want the server itself, got {config['Entrypoint']}")
    expect(labels.get("org.opencontainers.image.licenses") == "Apache-2.0", f"want the licence among {labels}")
    expect(labels.get("org.opencontainers.image.version", "unknown") != "unknown", f"want a version among {labels}")
    expect("Healthcheck" in config or "Healthcheck" in image or "HealthCheck" in image, "want a HEALTHCHECK")
    print(f"image: {image['Size'] / 1e6:.1f} MB")
    expect(image["Size"] <= MOST_BYTES, f"want at most {MOST_BYTES / 1e6:.0f} MB, got {image['Size'] / 1e6:.1f}")


def run_healthcheck(engine):
    """Exit status of the image's HEALTHCHECK command in the running container."""
    image = json.loads(output_of(engine, "image", "inspect", IMAGE))[0]
    check = image["Config"].get("Healthcheck") or image.get("Healthcheck") or image["HealthCheck"]
    expect(check["Test"][0] == "CMD", f"want an exec-form HEALTHCHECK, got {check}")
    return attempt(engine, "exec", CONTAINER, *check["Test"][1:])[0]


def check_health(engine):
    """Healthy while the server answers, not while it stands still."""
    expect(run_healthcheck(engine) == 0, "the server answers, and HEALTHCHECK fails")
    server = int(output_of(engine, "inspect", "--format={{.State.Pid}}", CONTAINER))
    try:
        os.kill(server, signal.SIGSTOP)
    except PermissionError:
        print("not checked, for want of root: HEALTHCHECK while the server stands still")
        return
    try:
        expect(run_healthcheck(engine) != 0, "the server stands still, and HEALTHCHECK succeeds")
    finally:
        os.kill(server, signal.SIGCONT)


def check_contents(engine):
    """It runs as a user without rights on a root that cannot be written to, and holds no program but its own."""
    pid = output_of(engine, "inspect", "--format={{.State.Pid}}", CONTAINER).strip()
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    expect("\nUid:\t0\t" not in status, f"the server runs as root:\n{status}")
    written, told = attempt(engine, "exec", CONTAINER, "/usr/local/bin/opserve", *SAMPLE, "-o", "grad_input=/gradient.npy")
    expect(written != 0 and ("Read-only" in told or "Permission denied" in told), f"the root file system can be written to: status {written}:\n{told}")
    for tool in ("sh", "/bin/sh", "dpkg", "g++"):
        expect(attempt(engine, "exec", CONTAINER, tool, "--version")[0] != 0, f"the image holds {tool}")


def check_stop(engine):
    """SIGTERM reaches the server, which drains and exits 0."""
    start = time.monotonic()
    output_of(engine, "stop", "--time", str(STOP_SECONDS), CONTAINER)
    seconds = time.monotonic() - start
    code = output_of(engine, "inspect", "--format={{.State.ExitCode}}", CONTAINER).strip().splitlines()[-1]
    log = output_of(engine, "logs", CONTAINER)
    expect(code == "0" and seconds < STOP_SECONDS and "draining" in log,
           f"want a drained server that exits 0, got {code} after {seconds:.1f} s:\n{log}")


def check_container(engine, flags):
    seconds = []
    for turn in range(STARTS):
        start = time.monotonic()
        with running_container(engine, flags) as address:
            wait_for_answer(engine, address)
            seconds.append(time.monotonic() - start)
            if turn > 0:
                continue
            status, output = opserve(*SAMPLE, "--target", address)
            expect(status == 0 and output == GRADIENT, f"want the sample's gradient, got {status}:\n{output}")
            check_contents(engine)
            check_health(engine)
            check_stop(engine)
    print(f"from `{engine} run` to the first answer: median {statistics.median(seconds):.2f} s of {STARTS}, "
          f"{min(seconds):.2f} to {max(seconds):.2f} s")


def main():
    with base_image() as base:
        engine = choose_engine()
        with built_image(engine, base):
            check_image(engine)
            check_container(engine, way_to_run(engine))


if __name__ == "__main__":
    main()
