"""What opserve-server and opserve make of odd surroundings at their start: closed standard files, an open umask, addresses that
other machines reach.

Usage: start_test.py closed_files|socket_modes|open_addresses
"""

import os
import pathlib
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_server

PATIENCE_SECONDS = 60
WARNING = 'level=warning msg="listening beyond this machine without TLS"'


def expect(condition, message):
    if not condition:
        sys.exit(message)


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        expect(time.monotonic() < deadline, f"{what}: not within {PATIENCE_SECONDS} s")
        time.sleep(0.02)


def start(folder, *flags, **options):
    """The server, when it has bound all of its addresses."""
    port_file = folder / "addresses"
    port_file.unlink(missing_ok=True)
    command = [running_server.bin_folder() / "opserve-server", "--port-file", port_file, "--device", "cpu,threads=1", *flags]
    server = subprocess.Popen(command, **options)
    wait_until(lambda: port_file.exists() or server.poll() is not None, "the port file")
    expect(server.poll() is None, f"{flags}: the server ended with status {server.returncode}")
    return server


def stop(server):
    server.send_signal(signal.SIGTERM)
    status = server.wait(PATIENCE_SECONDS)
    expect(status == 0, f"the server stopped with status {status}")


def close_standard_files():
    for number in range(3):
        os.close(number)


def check_standard_files(process, program):
    for number in range(3):
        link = os.readlink(f"/proc/{process.pid}/fd/{number}")
        expect(link == "/dev/null", f"{program}, started without descriptor {number}, has {link} there")


def check_closed_files(folder):
    server = start(folder, "--listen", f"unix:{folder}/socket", preexec_fn=close_standard_files)
    check_standard_files(server, "opserve-server")
    with socket.socket() as silent:  # takes connections and says nothing
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        target = f"127.0.0.1:{silent.getsockname()[1]}"
        command = [running_server.bin_folder() / "opserve", "info", "--timeout", "60s", "--target", target]
        opserve = subprocess.Popen(command, preexec_fn=close_standard_files)
        silent.accept()
        check_standard_files(opserve, "opserve")
        opserve.kill()
        opserve.wait()
    # Its answer goes nowhere, and it ends well.
    status = subprocess.run([*command[:-1], f"unix:{folder}/socket"], preexec_fn=close_standard_files, check=False).returncode
    expect(status == 0, f"opserve, started without standard files, ended with status {status}")
    stop(server)


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def check_socket_modes(folder):
    for umask in (0, 0o777):
        for flags, wanted in (([], 0o600), (["--unix-socket-mode", "0660"], 0o660), (["--unix-socket-mode=666"], 0o666)):
            files = {"--listen": folder / "socket", "--allow-shared-memory": folder / "memory"}
            addresses = [word for flag, path in files.items() for word in (flag, f"unix:{path}")]
            server = start(folder, *addresses, *flags, preexec_fn=lambda: os.umask(umask), stderr=subprocess.DEVNULL)
            for flag, path in files.items():
                mode = mode_of(path)
                expect(mode == wanted, f"{flag} with {flags}: want mode {wanted:o}, got {mode:o}")
            # What else it makes has the umask that it came with.
            expect(mode_of(folder / "addresses") == 0o666 & ~umask, "the port file does not follow the umask")
            stop(server)


def log_of(folder, *listen, flags=()):
    with open(folder / "log", "w", encoding="utf-8") as log:
        server = start(folder, *[word for address in listen for word in ("--listen", address)], *flags, stderr=log)
    addresses = (folder / "addresses").read_text(encoding="utf-8").split()
    stop(server)
    return (folder / "log").read_text(encoding="utf-8"), addresses


def check_open_address_is_refused():
    command = [running_server.bin_folder() / "opserve-server", "--listen", "localhost:0", "--listen", "0.0.0.0:0"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    expect(ended.returncode == 1, f"want status 1 for an open address without --insecure, got {ended.returncode}")
    for part in ("--listen: want loopback addresses", "--insecure", "got 0.0.0.0:"):
        expect(part in ended.stderr, f"want '{part}' in the error, got:\n{ended.stderr}")


def check_open_addresses(folder):
    log, _ = log_of(folder, "localhost:0", "127.0.0.1:0", f"unix:{folder}/socket")
    expect(WARNING not in log, f"a warning about addresses of this machine:\n{log}")
    check_open_address_is_refused()
    log, addresses = log_of(folder, "localhost:0", "0.0.0.0:0", flags=["--insecure"])
    expect(log.count(WARNING) == 1, f"want one warning about 0.0.0.0:\n{log}")
    line = next(line for line in log.splitlines() if WARNING in line)
    for part in (f"addresses={addresses[1]} ", "docs/security.md"):
        expect(part in line, f"want '{part}' in the warning, got:\n{line}")


def main():
    checks = {"closed_files": check_closed_files, "socket_modes": check_socket_modes,
              "open_addresses": check_open_addresses}
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        checks[sys.argv[1]](pathlib.Path(folder))


if __name__ == "__main__":
    main()
