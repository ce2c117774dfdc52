"""A real opserve-server for tests in Python."""

import contextlib
import os
import pathlib
import subprocess
import sys
import time

START_SECONDS = 60
STOP_SECONDS = 60


def bin_folder():
    """Where the programs under test are."""
    return pathlib.Path(os.environ["OPSERVE_BIN_DIR"])


def build_folder():
    return bin_folder().parent


@contextlib.contextmanager
def running_server(folder, *flags):
    """Serves on a free port while the block runs; gives its address. It must stop with status 0 afterwards."""
    with running_process(folder, *flags) as (address, _):
        yield address


@contextlib.contextmanager
def running_process(folder, *flags, listen=("--listen", "127.0.0.1:0")):
    """The same; gives the address and the process's id. `listen`: flags, or none where a configuration file says where."""
    port_file, log = folder / "address", folder / "server.log"
    port_file.unlink(missing_ok=True)
    command = [bin_folder() / "opserve-server", *listen, "--port-file", port_file, *flags]
    with open(log, "w", encoding="utf-8") as output:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        yield _wait_for_address(server, port_file, log), server.pid
        server.terminate()
        if server.wait(STOP_SECONDS) != 0:
            sys.exit(f"the server stopped with status {server.returncode}:\n{log.read_text(encoding='utf-8')}")
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()


def _wait_for_address(server, port_file, log):
    deadline = time.monotonic() + START_SECONDS
    while not port_file.exists():  # it appears whole, once all addresses are bound
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit(f"the server did not start:\n{log.read_text(encoding='utf-8')}")
        time.sleep(0.02)
    return port_file.read_text(encoding="utf-8").split()[0]
