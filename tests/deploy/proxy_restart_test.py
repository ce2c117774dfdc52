"""Servers behind HAProxy that stop while calls come, none of which may fail.

Usage: proxy_restart_test.py restart|sidecar     (the programs are in $OPSERVE_BIN_DIR)

restart: three servers are stopped and started one after the other. sidecar: a server and its proxy end together, as a pod does.
"""

import contextlib
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

from proxy_test import BEHIND, EXECUTE, PATIENCE_SECONDS, expect, grpc_of_debian

import running_proxy
import running_server
import toolchains
import victim

GRACE_SECONDS = 4  # longer than two health checks


class Replica:
    """A server that can be started anew at the same address."""

    def __init__(self, folder, name):
        self.folder, self.name, self.address = folder, name, f"unix:{folder}/{name}"
        self.process = None

    def start(self):
        with open(self.folder / f"{self.name}.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [
                    running_server.bin_folder() / "opserve-server",
                    "--listen",
                    self.address,
                    "--grace-period",
                    f"{GRACE_SECONDS}s",
                    "--device",
                    "cpu,threads=1",
                    *BEHIND,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def await_start(self):
        until = time.monotonic() + PATIENCE_SECONDS
        while not (self.folder / self.name).exists():
            expect(self.process.poll() is None and time.monotonic() < until, f"server {self.name} did not start")
            time.sleep(0.02)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        expect(status == 0, f"server {self.name} ended with status {status}")


def call_until(channel, over, answered, failures):
    call = channel.unary_unary(EXECUTE)
    while not over.is_set():
        try:
            expect(
                victim.SMALL_ANSWER in call(victim.SMALL_REQUEST, timeout=PATIENCE_SECONDS),
                "want the result of an Execute",
            )
            answered.append(time.monotonic())
        except Exception as error:  # any at all is a failed call
            failures.append(f"{error!r}")
        time.sleep(0.002)


def restart_all(replicas, proxy):
    for replica in replicas:
        replica.stop()
        replica.start()
        proxy.await_state(replica.name, "UP")


class Callers:
    """Calls from four threads while the block runs; none may fail."""

    def __init__(self, channel):
        self._over, self.answered, self.failures = threading.Event(), [], []
        arguments = (channel, self._over, self.answered, self.failures)
        self._threads = [threading.Thread(target=call_until, args=arguments) for _ in range(4)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()

    def check(self, log):
        print(f"{len(self.answered)} calls answered, {len(self.failures)} failed")
        expect(len(self.answered) > 100, f"only {len(self.answered)} calls were answered: {self.failures[:3]}\n{log}")
        expect(not self.failures, f"{len(self.failures)} calls failed: {self.failures[:3]}\n{log}")


@contextlib.contextmanager
def running_replicas(folder, *names):
    replicas = [Replica(folder, name) for name in names]
    try:
        for replica in replicas:
            replica.start()
        for replica in replicas:
            replica.await_start()
        yield replicas
    finally:
        for replica in replicas:
            if replica.process and replica.process.poll() is None:
                replica.process.kill()
                replica.process.wait()


def in_proxy(replica):
    return replica.address.replace("unix:", "unix@")


def check_restart(folder):
    grpc = grpc_of_debian()
    with running_replicas(folder, "one", "two", "three") as replicas:
        proxy = running_proxy.Proxy(folder, *[in_proxy(replica) for replica in replicas])
        try:
            for replica in replicas:
                proxy.await_state(replica.name, "UP")
            with grpc.insecure_channel(proxy.address) as channel, Callers(channel) as callers:
                restart_all(replicas, proxy)
            calls = {
                replica.name: proxy.metric(f'haproxy_server_sessions_total{{proxy="servers",server="{replica.name}"}}')
                for replica in replicas
            }
            print(f"by server: {calls}")
            callers.check(proxy.log_text())
            expect(all(calls.values()), f"want calls on every server, got {calls}")
        finally:
            proxy.kill()


def check_sidecar(folder):
    """Two pods, each a server with a proxy of its own. One ends as Kubernetes ends it: both are told at once."""
    grpc = grpc_of_debian()
    with running_replicas(folder, "one", "two") as replicas:
        proxies = []
        try:
            for replica in replicas:
                (folder / f"of_{replica.name}").mkdir()
                proxies.append(running_proxy.Proxy(folder / f"of_{replica.name}", in_proxy(replica), sidecar=True))
            target = "ipv4:" + ",".join(proxy.address for proxy in proxies)
            balanced = [("grpc.lb_policy_name", "round_robin")]
            with grpc.insecure_channel(target, options=balanced) as channel, Callers(channel) as callers:
                time.sleep(1)
                proxies[0].stop_softly()
                replicas[0].stop()
                expect(proxies[0].await_exit(PATIENCE_SECONDS) == 0, f"the proxy ended badly:\n{proxies[0].log_text()}")
                time.sleep(1)
            callers.check(proxies[0].log_text())
        finally:
            for proxy in proxies:
                proxy.kill()


def main():
    if running_proxy.program() is None:
        toolchains.lacking("haproxy")
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder:
        {"restart": check_restart, "sidecar": check_sidecar}[sys.argv[1]](pathlib.Path(folder))


if __name__ == "__main__":
    main()
