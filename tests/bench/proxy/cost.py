#!/usr/bin/env python3
"""What HAProxy with deploy/proxy/haproxy.cfg costs: a server reached by itself and through the proxy, interleaved.

Usage: cost.py [--rounds N] [--seconds S] [--build FOLDER] [--json FILE]

Build first: scripts/build release. haproxy and openssl must be there. In each round opserve bench loads the server
directly, through the proxy, and through the proxy by TLS, with small calls and with large tensors; one round's figures
are neighbours in time. Shown are the medians, the ratio to the direct way and how far the rounds' ratios lie apart
(the quarter above the median and the quarter below it), and the processor time that proxy and server took. All of it
runs on this machine: where the cores are few the client's, the proxy's and the server's work add up, and the ratio
of rates says less than the processor time.

The proxy's bounds by address are lifted, as one address makes all calls here; the rest is as it is shipped.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import certificates  # noqa: E402
import running_proxy  # noqa: E402
import running_server  # noqa: E402

WAYS = ("direct", "proxy", "proxy, TLS")
# A machine that does other work, too, may keep the server from answering two health checks: then it is measured again.
MOST_TRIES = 3
MOST = 4_000_000_000  # of calls in ten seconds: no bound
LIFTED = re.compile(r"(http_req_rate(?:,sub\(sess\.answered\))? gt) \d+")
TENSOR_BYTES = 16 << 20


@dataclasses.dataclass(frozen=True)
class Load:
    name: str
    words: tuple[str, ...]
    unit: str  # of the rate
    per_call: float  # of that unit
    cpu_unit: str
    cpu_scale: float  # from seconds to that unit

    def rate(self, calls_per_second):
        return calls_per_second * self.per_call


LOADS = (
    Load("8 floats, 1 in flight", ("--shape", "8", "--concurrency", "1"), "calls/s", 1, "us/call", 1e6),
    Load("8 floats, 64 in flight", ("--shape", "8", "--concurrency", "64", "--connections", "4"), "calls/s", 1,
         "us/call", 1e6),
    # Three tensors in, one out.
    Load("16 MiB tensors, 2 in flight", ("--shape", str(TENSOR_BYTES // 4), "--concurrency", "2", "--connections", "2"),
         "GB/s", 4 * TENSOR_BYTES / 1e9, "s/GB", 1),
)


@dataclasses.dataclass
class Figures:
    """Of one load, by one way, in one round."""

    rate: float
    p50_us: float
    p99_us: float
    proxy_cpu: float  # processor time, in the load's cpu_unit
    server_cpu: float


@dataclasses.dataclass
class Place:
    """Where a way begins."""

    target: str
    flags: tuple = ()
    proxy: running_proxy.Proxy | None = None


def lifted_configuration(folder):
    text, count = LIFTED.subn(rf"\g<1> {MOST}", running_proxy.CONFIGURATION.read_text(encoding="utf-8"))
    if count != 4:
        sys.exit(f"{running_proxy.CONFIGURATION}: want 4 bounds on calls by address, found {count}")
    path = folder / "haproxy.cfg"
    path.write_text(text, encoding="utf-8")
    return path


def cpu_seconds(pid):
    """Of a process and all its threads."""
    numbers = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(numbers[11]) + int(numbers[12])) / os.sysconf("SC_CLK_TCK")


def level_of(load, place, seconds):
    """What opserve bench reports; None where calls failed."""
    command = [running_server.bin_folder() / "opserve", "bench", "SmoothL1LossBackward", "--target", place.target, *place.flags,
               *load.words, "--duration", f"{seconds}s", "--warm-up", "300ms", "--json"]
    ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    level = json.loads(ended.stdout)["levels"][0] if ended.returncode == 0 else None
    if level is not None and not level["failed"]:
        return level
    print(f"{load.name} to {place.target}: status {ended.returncode}, {ended.stdout[:200]}", file=sys.stderr)
    return None


def measure(load, place, server_pid, seconds):
    def cpu():
        return cpu_seconds(place.proxy.pid) if place.proxy else 0.0, cpu_seconds(server_pid)

    for _ in range(MOST_TRIES):
        if place.proxy:
            place.proxy.await_state("one", "UP")
        before = cpu()
        level = level_of(load, place, seconds)
        after = cpu()
        if level is not None:
            break
    else:
        sys.exit(f"{load.name} to {place.target}: calls failed {MOST_TRIES} times")
    # The warm-up's calls are in the processor time, too: about as many a second.
    total = load.rate(level["calls_per_second"]) * (level["seconds"] + 0.3)
    proxy_cpu, server_cpu = (load.cpu_scale * (b - a) / total for a, b in zip(before, after, strict=True))
    return Figures(load.rate(level["calls_per_second"]), level["latency_us"]["p50"], level["latency_us"]["p99"], proxy_cpu,
                   server_cpu)


@contextlib.contextmanager
def running(folder):
    """Gives the places of all ways, and the server's process."""
    running_proxy.CONFIGURATION = lifted_configuration(folder)
    authority = certificates.Authority(folder)
    shown = authority.issue()
    both = folder / "shown.pem"
    both.write_bytes(b"".join(shown.bytes()))
    flags = [word for pair in running_proxy.BEHIND.items() for word in pair]
    proxies = []
    # An address: of a name HAProxy asks DNS again, which need not know localhost.
    with running_server.running_process(folder, *flags, listen=("--listen", "127.0.0.1:0")) as (address, pid):
        try:
            for certificate in (None, both):
                proxies.append(running_proxy.Proxy(folder, address, certificate=certificate))
            places = {"direct": Place(address), "proxy": Place(proxies[0].address, proxy=proxies[0]),
                      "proxy, TLS": Place(proxies[1].address, ("--cacert", authority.certificate), proxies[1])}
            yield places, pid
        finally:
            for proxy in proxies:
                proxy.kill()


def median(figures, name):
    return statistics.median(getattr(each, name) for each in figures)


def ratios(figures, direct):
    """(median, lower quartile, upper quartile) of each round's rate beside that of the direct way."""
    values = [each.rate / other.rate for each, other in zip(figures, direct, strict=True)]
    lower, middle, upper = statistics.quantiles(values, n=4, method="inclusive")
    return middle, lower, upper


def show(load, by_way):
    print(f"\n{load.name}")
    print(f"  {'':12} {load.unit:>10} {'ratio':>6} {'quartiles':>12} {'p50 us':>9} {'p99 us':>9} "
          f"{'proxy ' + load.cpu_unit:>15} {'server':>8}")
    for way, figures in by_way.items():
        middle, lower, upper = ratios(figures, by_way["direct"])
        rate = median(figures, "rate")
        print(f"  {way:12} {rate:10.{0 if rate > 100 else 2}f} {middle:6.2f} {lower:5.2f}–{upper:.2f} "
              f"{median(figures, 'p50_us'):11.0f} {median(figures, 'p99_us'):9.0f} {median(figures, 'proxy_cpu'):15.3g} "
              f"{median(figures, 'server_cpu'):8.3g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--json", type=pathlib.Path, help="write every round's figures there, too")
    options = parser.parse_args()
    if options.rounds < 2:
        parser.error("--rounds: want 2 at least, as rounds are compared")
    os.environ["OPSERVE_BIN_DIR"] = str(options.build.resolve() / "bin")
    if running_proxy.program() is None:
        sys.exit("haproxy is not there: apt-get install haproxy")
    measured = {load.name: {way: [] for way in WAYS} for load in LOADS}
    with tempfile.TemporaryDirectory(prefix="opserve-") as folder, running(pathlib.Path(folder)) as (places, server_pid):
        for index in range(options.rounds):
            for load in LOADS:
                # Every other round backwards, so that no way is always the first.
                for way in WAYS if index % 2 == 0 else WAYS[::-1]:
                    measured[load.name][way].append(measure(load, places[way], server_pid, options.seconds))
            print(f"round {index + 1} of {options.rounds}", file=sys.stderr)
    for load in LOADS:
        show(load, measured[load.name])
    if options.json:
        as_numbers = {name: {way: [dataclasses.asdict(each) for each in figures] for way, figures in by_way.items()}
                      for name, by_way in measured.items()}
        options.json.write_text(json.dumps(as_numbers, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
