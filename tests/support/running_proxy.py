"""HAProxy with deploy/proxy/haproxy.cfg, for tests in Python."""

import grp
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "deploy/proxy/haproxy.cfg"
# As the configuration says that servers behind it run: what clients may is the proxy's to bound.
BEHIND = {"--client-share": "100%", "--max-resets-per-second": "0"}
START_SECONDS = 30


def program() -> str | None:
    """Debian has it in /usr/sbin, which is not on everybody's path."""
    return shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


class Proxy:
    """HAProxy before `servers`, on a free port of this machine: `address`. `certificate`: the PEM file with which it
    speaks TLS there. `server_ca`, `server_name`: the PEM file and the name by which the servers' certificates are known,
    where they have TLS. `sidecar`: as beside its one server in a pod. It has started once its first server is up, or else
    has the state `begins`.
    """

    def __init__(self, folder: pathlib.Path, *servers: str, certificate: pathlib.Path | None = None, sidecar=False,
                 calls_in_ten_seconds: int | None = None, server_ca: pathlib.Path | None = None, server_name: str = "",
                 begins: str = "UP"):
        self.log = folder / "haproxy.log"
        with (
            socket.create_server(("127.0.0.1", 0), backlog=1024) as calls,
            socket.create_server(("127.0.0.1", 0)) as watching,
        ):
            self.address = f"127.0.0.1:{calls.getsockname()[1]}"
            self._watched_at = f"http://127.0.0.1:{watching.getsockname()[1]}/metrics"
            places = {f"OPSERVE_SERVER_{i}": server for i, server in enumerate(servers, 1)}
            places["OPSERVE_PROXY_USER"] = pwd.getpwuid(os.geteuid()).pw_name
            places["OPSERVE_PROXY_GROUP"] = grp.getgrgid(os.getegid()).gr_name
            places["OPSERVE_PROXY_STATS"] = f"fd@{watching.fileno()}"
            places["OPSERVE_PROXY_TLS" if certificate else "OPSERVE_PROXY_PLAIN"] = f"fd@{calls.fileno()}"
            if calls_in_ten_seconds is not None:
                places["OPSERVE_PROXY_CALLS"] = str(calls_in_ten_seconds)
            if sidecar:
                places["OPSERVE_PROXY_SIDECAR"] = "1"
            if server_ca:
                places |= {"OPSERVE_PROXY_SERVER_CA": str(server_ca), "OPSERVE_PROXY_SERVER_NAME": server_name}
            if certificate:
                places["OPSERVE_PROXY_CERT"] = str(certificate)
            with open(self.log, "w", encoding="utf-8") as output:
                self._process = subprocess.Popen(
                    [str(program()), "-db", "-f", str(CONFIGURATION)],
                    env={**os.environ, **places},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    pass_fds=[calls.fileno(), watching.fileno()],
                )
        self.pid = self._process.pid
        try:
            self.await_state("one", begins, not sidecar)
        except BaseException:
            self.kill()
            raise

    def alive(self) -> bool:
        return self._process.poll() is None

    def log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def metric(self, start: str) -> float | None:
        """The value of the line of /metrics that begins so."""
        with urllib.request.urlopen(self._watched_at, timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(start):
                    return float(line.split()[-1])
        return None

    def await_state(self, server: str, state: str, is_checked: bool = True) -> None:
        """UP: as its health checks say; before the first of them it is taken for that anyway."""
        until = time.monotonic() + START_SECONDS
        labels = f'{{proxy="servers",server="{server}",state='
        lines = [f'haproxy_server_status{labels}"{state}"}}']
        lines += [f'haproxy_server_check_status{labels}"L7OK"}}'] if state == "UP" and is_checked else []
        while not (self._answers() and all(self.metric(line) == 1 for line in lines)):
            if not self.alive() or time.monotonic() > until:
                sys.exit(f"the proxy never took server {server} for {state}:\n{self.log_text()}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        try:
            return self.metric("haproxy_process_nbthread") is not None
        except OSError:
            return False

    def stop_softly(self) -> None:
        """What is under way goes on, nothing new is taken; ends within hard-stop-after."""
        self._process.send_signal(signal.SIGUSR1)

    def await_exit(self, seconds: float) -> int:
        return self._process.wait(seconds)

    def kill(self) -> None:
        if self.alive():
            self._process.kill()
        self._process.wait()
