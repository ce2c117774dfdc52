"""The servers under measurement and the client that loads them."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile
import time

START_SECONDS = 60
STOP_SECONDS = 60
CLIENT_GRACE_SECONDS = 60  # beyond the client's own deadlines: starting, connecting, a busy machine
NO_SUCH_METHOD = 77

ECHOES = ("zero-copy", "gather")
PEERS = ("opserve",) + ECHOES
BEFORE = "before"  # opserve-server of another commit


class NotServed(Exception):
    """The server lacks the method that a mode calls."""


class BadRun(Exception):
    """A program failed or hung: what it said."""


def _pin_to(core):
    return None if core is None else lambda: os.sched_setaffinity(0, {core})


class Server:
    """A server that runs on a TCP port and a unix socket; stop() it."""

    def __init__(self, name, command, folder, core):
        self.name = name
        self.kind = "echo" if name in ECHOES else "opserve"
        self._log = folder / f"{name}.log"
        port_file = folder / f"{name}.addresses"
        port_file.unlink(missing_ok=True)
        self._command = [str(word) for word in command] + [
            "--listen", "127.0.0.1:0", "--listen", f"unix:{folder}/{name}.sock", "--port-file", str(port_file)]
        with open(self._log, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                             preexec_fn=_pin_to(core))
        self.tcp, self.unix = self._wait_for(port_file)
        self.pid = self._process.pid

    def _wait_for(self, port_file):
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise BadRun(f"{self.name} did not start:\n{self._log.read_text(encoding='utf-8')}")
            time.sleep(0.01)
        return port_file.read_text(encoding="utf-8").split()

    def check_alive(self):
        if self._process.poll() is not None:
            raise BadRun(f"{self.name} ended with status {self._process.returncode}:\n"
                         f"{self._log.read_text(encoding='utf-8')}")

    def stop(self):
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()


class Bench:
    """Where the programs are and how runs are made."""

    def __init__(self, bin_folder, before, pin, freed_memory, warm_up, timeout):
        self.bin = pathlib.Path(bin_folder)
        self.before = before
        self.freed_memory = freed_memory
        self.warm_up = warm_up
        self.timeout = timeout
        self.server_core, self.client_core = (0, 1) if pin else (None, None)

    @contextlib.contextmanager
    def servers(self, names, flags=()):
        """These servers, fresh, by name; `flags` are opserve-server's."""
        with contextlib.ExitStack() as stack:
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            running = {}
            for name in names:
                running[name] = Server(name, self._command(name, folder, flags), folder, self.server_core)
                stack.callback(running[name].stop)
            yield running
            for server in running.values():
                server.check_alive()

    def _command(self, name, folder, flags):
        if name in ECHOES:
            return [self.bin / "opserve-bench-echo", "--answer", name, "--freed-memory", self.freed_memory]
        program = self.before if name == BEFORE else self.bin / "opserve-server"
        return [program, "--allow-shared-memory", f"unix:{folder}/{name}-memory.sock", "--shared-memory-limit", "1GiB",
                *flags]

    def start(self, server, arguments, seconds, socket="tcp", warm_up=None, timeout=None):
        """A run of the client under way; finish() gives its report. `timeout`: of each call, in seconds."""
        timeout = self.timeout if timeout is None else timeout
        warm_up = self.warm_up if warm_up is None else warm_up
        command = [self.bin / "opserve-bench-client", "--target", getattr(server, socket), "--peer", server.kind,
                   "--server-pid", server.pid, "--duration", f"{seconds}s", "--warm-up", f"{warm_up}s",
                   "--timeout", f"{timeout}s", *arguments]
        command = [str(word) for word in command]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=_pin_to(self.client_core))
        return ClientRun(process, command, seconds + warm_up + timeout + CLIENT_GRACE_SECONDS)

    def measure(self, server, arguments, seconds, **options):
        return self.start(server, arguments, seconds, **options).finish()


class ClientRun:
    def __init__(self, process, command, timeout):
        self._process, self._command, self._timeout = process, command, timeout

    def finish(self):
        try:
            output, errors = self._process.communicate(timeout=self._timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise BadRun(f"no end after {self._timeout} s: {' '.join(self._command)}") from None
        if self._process.returncode == NO_SUCH_METHOD:
            raise NotServed
        if self._process.returncode != 0:
            raise BadRun(f"status {self._process.returncode}: {' '.join(self._command)}\n{errors}")
        return json.loads(output)

    def kill(self):
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
