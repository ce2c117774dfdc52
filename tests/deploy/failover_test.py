"""Three servers and HAProxy on a network of their own, under load, while servers fail in every way: what becomes of calls.

Usage: failover_test.py [--seconds N] [--rate N]     (the programs are in $OPSERVE_BIN_DIR; needs root, for network namespaces)

Each of the servers, the proxy and the client has an address and a link of its own. An open loop of calls goes through the proxy while

    calm      nothing happens: the servers' shares of the calls are within 10 % of each other
    kill      one server is killed (SIGKILL), and comes back
    cut       one server's link goes down, and comes up
    stall     one server stops (SIGSTOP) for three seconds
    rolling   one server after the other is stopped (SIGTERM) and started anew: no call may fail

and a table tells of calls, failures by reason, and latencies, which count from when a call was due.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))

import running_proxy
import running_server
import toolchains

PORT, STATS_PORT = 8500, 8404
OWN_ADDRESS = "10.77.0.1"
CALL_TIMEOUT_SECONDS = 2
FAULT_SECONDS = 3
GRACE_SECONDS = 4  # longer than two health checks
PATIENCE_SECONDS = 30
MAY_FAIL = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED"}
BALANCE = 0.2
MOST_FAILED = 0.05  # of the calls, where a server fails without a word


def expect(condition, message):
    if not condition:
        sys.exit(message)


def run(*words):
    subprocess.run([str(word) for word in words], check=True, stdin=subprocess.DEVNULL)


class Host:
    """A network namespace with one link to the bridge."""

    def __init__(self, name, number):
        self.name, self.address = name, f"10.77.0.{number}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "bridge", "up")
        for words in (("addr", "add", f"{self.address}/24", "dev", "eth0"), ("link", "set", "eth0", "up"), ("link", "set", "lo", "up")):
            run("ip", "-n", name, *words)

    def start(self, log, *words, **environment):
        with open(log, "a", encoding="utf-8") as output:
            return subprocess.Popen(["ip", "netns", "exec", self.name, *map(str, words)], stdin=subprocess.DEVNULL, stdout=output,
                                    stderr=output, env={**os.environ, **environment})

    def output(self, *words):
        words = ["ip", "netns", "exec", self.name, *map(str, words)]
        return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout

    def link(self, state):
        run("ip", "link", "set", f"to-{self.name}", state)


class Server:
    def __init__(self, folder, name, number):
        self.host, self.log = Host(name, number), folder / f"{name}.log"
        self.target = f"{self.host.address}:{PORT}"
        self.process = None

    def start(self):
        flags = [word for pair in running_proxy.BEHIND.items() for word in pair]
        self.process = self.host.start(self.log, running_server.bin_folder() / "opserve-server", "--listen", self.target, "--insecure",
                                       "--device", "cpu,threads=1", "--grace-period", f"{GRACE_SECONDS}s", *flags)

    def signal(self, number):
        self.process.send_signal(number)  # `ip netns exec` has become the server

    def stop(self):
        self.signal(signal.SIGTERM)
        expect(self.process.wait(PATIENCE_SECONDS) == 0, f"{self.host.name} ended with {self.process.returncode}")


class Network:
    """All of it, while the block runs."""

    def __init__(self, folder):
        run("ip", "link", "add", "bridge", "type", "bridge")
        run("ip", "address", "add", f"{OWN_ADDRESS}/24", "dev", "bridge")
        run("ip", "link", "set", "bridge", "up")
        self.servers = [Server(folder, name, 11 + i) for i, name in enumerate(("one", "two", "three"))]
        self.proxy, self.client = Host("proxy", 20), Host("client", 30)
        self._folder, self._haproxy = folder, None

    def __enter__(self):
        for server in self.servers:
            server.start()
        places = {f"OPSERVE_SERVER_{i}": server.target for i, server in enumerate(self.servers, 1)}
        self._haproxy = self.proxy.start(
            self._folder / "haproxy.log", running_proxy.program(), "-db", "-f", running_proxy.CONFIGURATION, **places,
            OPSERVE_PROXY_PLAIN=f"{self.proxy.address}:{PORT}", OPSERVE_PROXY_STATS=f"{self.proxy.address}:{STATS_PORT}",
            OPSERVE_PROXY_USER="root", OPSERVE_PROXY_GROUP="root")
        for server in self.servers:
            self.await_state(server, "UP")
        return self

    def __exit__(self, *_):
        for process in (self._haproxy, *(server.process for server in self.servers)):
            process.kill()
            process.wait()

    def await_state(self, server, state):
        """As the proxy's health checks say."""
        lines = [f'haproxy_server_status{{proxy="servers",server="{server.host.name}",state="{state}"}} 1']
        lines += [f'haproxy_server_check_status{{proxy="servers",server="{server.host.name}",state="L7OK"}} 1'] if state == "UP" else []
        until = time.monotonic() + PATIENCE_SECONDS
        while not set(lines) <= self._metrics():
            expect(time.monotonic() < until, f"the proxy never took {server.host.name} for {state}")
            time.sleep(0.1)

    def _metrics(self):
        try:
            with urllib.request.urlopen(f"http://{self.proxy.address}:{STATS_PORT}/metrics", timeout=5) as answer:
                return set(answer.read().decode().splitlines())
        except OSError:  # it has not begun to listen
            return set()

    def load(self, seconds, rate):
        """Runs the load tester: the level of its report."""
        report = json.loads(self.client.output(
            running_server.bin_folder() / "opserve", "bench", "SmoothL1LossBackward", "--shape", 1024, "--rate", rate, "--target",
            f"{self.proxy.address}:{PORT}", "--connections", 4, "--duration", f"{seconds}s", "--warm-up", "0s", "--call-timeout",
            f"{CALL_TIMEOUT_SECONDS}s", "--json"))
        return report["levels"][0]

    def answered(self, server):
        """Calls that the server has answered since it started."""
        stats = json.loads(self.client.output(running_server.bin_folder() / "opserve", "stats", "--target", server.target, "--json"))
        execute = next(method for method in stats["methods"] if method["method"] == "Execute")
        return execute["ended"].get("OK", 0)


def calm(network):
    pass


def kill(network):
    server = network.servers[0]
    server.signal(signal.SIGKILL)
    server.process.wait()
    network.await_state(server, "DOWN")
    server.start()
    network.await_state(server, "UP")


def cut(network):
    server = network.servers[1]
    server.host.link("down")
    network.await_state(server, "DOWN")
    server.host.link("up")
    network.await_state(server, "UP")


def stall(network):
    server = network.servers[2]
    server.signal(signal.SIGSTOP)
    time.sleep(FAULT_SECONDS)
    server.signal(signal.SIGCONT)
    network.await_state(server, "UP")


def rolling(network):
    for server in network.servers:
        server.stop()
        server.start()
        network.await_state(server, "UP")


def try_fault(network, fault, seconds, rate):
    """The level of the load's report, and the servers' numbers of calls where none of them was started anew."""
    before = [network.answered(server) for server in network.servers]
    levels = []
    loading = threading.Thread(target=lambda: levels.append(network.load(seconds, rate)))
    loading.start()
    time.sleep(1)
    fault(network)
    loading.join()
    expect(levels, f"{fault.__name__}: the load tester failed")
    after = [network.answered(server) for server in network.servers]
    return levels[0], [late - early for early, late in zip(before, after)]


def row(name, level):
    times = level["latency_us"]
    quantiles = "".join(f"{times[key] / 1000:11.1f}" for key in ("p50", "p99", "p999", "max"))
    failed = ", ".join(f"{failure['calls']} {failure['code']}" for failure in level["failures"]) or "none"
    return f"{name:<10}{level['served']:>8}{quantiles}   {failed}"


def check(name, level, shares):
    failures = {failure["code"]: failure["calls"] for failure in level["failures"]}
    expect(level["served"] > 0, f"{name}: no call was answered")
    if name in ("calm", "rolling"):
        expect(not failures, f"{name}: no call may fail, got {failures}")
    unknown = set(failures) - MAY_FAIL
    expect(not unknown, f"{name}: want failures that say to try again, got {unknown}")
    most = MOST_FAILED * level["served"]
    expect(sum(failures.values()) <= most, f"{name}: want at most {most:.0f} failed calls, got {failures}")
    if name == "calm":
        expect(max(shares) - min(shares) <= BALANCE * max(shares), f"{name}: servers answered {shares}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=9, help="of load for each fault")
    parser.add_argument("--rate", type=int, default=200, help="calls that start in a second")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Network(pathlib.Path(folder)) as network:
        print(f"{flags.rate} calls/s are due, each within {CALL_TIMEOUT_SECONDS} s; latencies in ms")
        print(f"{'':<10}{'calls':>8}{'p50':>11}{'p99':>11}{'p99.9':>11}{'max':>11}   failed")
        for fault in (calm, kill, cut, stall, rolling):
            longest = {calm: 5, rolling: 3 * (GRACE_SECONDS + 4)}.get(fault, flags.seconds)
            level, shares = try_fault(network, fault, longest, flags.rate)
            print(row(fault.__name__, level), flush=True)
            check(fault.__name__, level, shares)


def alone():
    """Goes on in namespaces of its own, which end with it."""
    if os.geteuid() != 0:
        toolchains.skip("network namespaces need root")
    if not running_proxy.program():
        toolchains.lacking("haproxy")
    inside = ["unshare", "--net", "--mount", "--propagation", "private", sys.executable, "-B", __file__, *sys.argv[1:]]
    if subprocess.run([*inside[:5], "sh", "-c", "mount -t tmpfs none /run && ip link add type bridge"], check=False).returncode:
        toolchains.skip("this machine makes no network namespaces")
    os.execvpe(inside[0], inside, {**os.environ, "OPSERVE_FAILOVER_INSIDE": "1"})


if __name__ == "__main__":
    if "OPSERVE_FAILOVER_INSIDE" not in os.environ:
        alone()
    run("mount", "-t", "tmpfs", "none", "/run")  # where `ip netns` keeps names
    main()
