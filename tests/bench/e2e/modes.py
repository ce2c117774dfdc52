"""What is measured. A mode gives the figures of one server in one round; figures say how they are compared."""

import dataclasses

from peers import ECHOES, PEERS, BadRun

MIB = 1 << 20


@dataclasses.dataclass(frozen=True)
class Figure:
    """A column's meaning: `unit` of the value; targets of ours, as [what, relation, bound]. What: the name of an echo
    (our value over its), "self" (the value), or (mode, figure) (our value over that of ours)."""

    unit: str
    targets: tuple = ()


@dataclasses.dataclass
class Mode:
    name: str
    figures: dict  # name → Figure
    measure: object  # (bench, server, seconds) → {figure name: value}
    peers: tuple = PEERS


@dataclasses.dataclass
class Group:
    """Modes that share servers, which are fresh at its start."""

    modes: list
    flags: tuple = ()
    seconds: float = None  # instead of --seconds


@dataclasses.dataclass(frozen=True)
class Sizes:
    """How large everything is; a smoke run is small."""

    tensors_mib: tuple = (1, 16, 64)
    in_flight: int = 64
    session_in_flight: int = 256
    transfer: int = 64 * MIB
    chunk: int = MIB
    compute_elements: int = 2 * MIB
    mixed_mib: int = 16
    queue_bound_ms: float = 100
    overload: tuple = (0.5, 2, 10)


SMOKE = Sizes(tensors_mib=(1,), session_in_flight=32, transfer=4 * MIB, compute_elements=1 << 16, mixed_mib=1,
              overload=(0.5, 2))


def check_all_served(report):
    if report["failed"] or report["latency_us"]["count"] == 0:
        raise BadRun(f"a closed loop must be served: {report['latency_us']['count']} served, failed {report['failed']}")
    return report


def loop_mode(name, arguments, figures, values, socket="tcp", peers=PEERS):
    """A closed loop; `values` takes the figures from the report."""

    def measure(bench, server, seconds):
        report = check_all_served(bench.measure(server, arguments, seconds, socket=socket))
        return values(report)

    return Mode(name, figures, measure, peers)


def latency_values(report):
    return {"calls/s": report["calls_per_second"], "p50": report["latency_us"]["p50"],
            "p99": report["latency_us"]["p99"]}


def small_group(sizes):
    plain = {"calls/s": Figure("calls/s"), "p50": Figure("us"), "p99": Figure("us")}
    modes = []
    for socket in ("tcp", "unix"):
        modes.append(loop_mode(f"unary 8 floats, 1 in flight, {socket}", ["--load", "unary"],
                               plain | {"p50": Figure("us", ((ECHOES[0], "<=", 1.10),))}, latency_values, socket))
        modes.append(loop_mode(f"unary 8 floats, {sizes.in_flight} in flight, {socket}",
                               ["--load", "unary", "--in-flight", sizes.in_flight],
                               plain | {"calls/s": Figure("calls/s", ((ECHOES[0], ">=", 0.90),))}, latency_values,
                               socket))
    unary = (modes[1].name, "calls/s")
    modes.append(loop_mode(f"session 8 floats, {sizes.session_in_flight} in flight",
                           ["--load", "session", "--in-flight", sizes.session_in_flight],
                           plain | {"calls/s": Figure("calls/s", ((unary, ">=", 3),))}, latency_values))
    modes.append(loop_mode("batch of 100, 2 in flight", ["--load", "batch", "--batch", 100, "--in-flight", 2],
                           plain | {"calls/s": Figure("calls/s", ((unary, ">=", 20),))}, latency_values))
    return Group(modes)


def bulk_values(report):
    return {"GB/s": report["gigabytes_per_second"], "p50": report["latency_us"]["p50"],
            "server s/GB": report["server"]["cpu_seconds_per_gigabyte"]}


def tensor_group(sizes):
    modes = []
    for mib in sizes.tensors_mib:
        targets = (("gather", ">=", 0.90), ("zero-copy", ">=", 0.75)) if mib >= 16 else ()
        figures = {"GB/s": Figure("GB/s", targets), "p50": Figure("us"), "server s/GB": Figure("s/GB")}
        modes.append(loop_mode(f"unary 3 x {mib} MiB in, {mib} MiB out", ["--elements", mib * MIB // 4, "--in-flight", 2],
                               figures, bulk_values))
    return Group(modes)


def transfer_values(report):
    return bulk_values(report) | {"peak RSS": report["server"]["peak_rss_bytes"] / MIB}


def transfer_groups(sizes):
    """A group each, as the peak of memory is that of the server's life."""
    figures = {"GB/s": Figure("GB/s"), "p50": Figure("us"), "server s/GB": Figure("s/GB"), "peak RSS": Figure("MiB")}
    for load in ("upload", "download", "pass-through"):
        arguments = ["--load", load, "--total-bytes", sizes.transfer, "--chunk-bytes", sizes.chunk, "--in-flight", 2]
        yield Group([loop_mode(f"session {load}, chunks of {sizes.chunk // MIB} MiB", arguments, figures, transfer_values)])


def large_groups():
    figures = {"GB/s": Figure("GB/s"), "peak RSS": Figure("MiB")}

    def values(report):
        return {name: value for name, value in transfer_values(report).items() if name in figures}

    for load, gib, limit in (("download", 3, "4GiB"), ("pass-through", 4, "256MiB")):
        arguments = ["--load", load, "--total-bytes", gib << 30, "--timeout", "300s"]
        mode = loop_mode(f"session {load} of {gib} GiB, --memory-limit {limit}", arguments, figures, values,
                         peers=("opserve",))
        yield Group([mode], flags=("--memory-limit", limit), seconds=30)


def mixed_group(sizes):
    def measure(bench, server, seconds):
        small = ["--elements", 4096, "--connections", 64, "--in-flight", 64]
        alone = check_all_served(bench.measure(server, small, seconds))
        large = bench.start(server, ["--elements", sizes.mixed_mib * MIB // 4], seconds + 2, warm_up=0)
        try:
            both = check_all_served(bench.measure(server, small, seconds))
            large_report = check_all_served(large.finish())
        finally:
            large.kill()
        return {"p99 alone": alone["latency_us"]["p99"], "p99 mixed": both["latency_us"]["p99"],
                "mixed / alone": both["latency_us"]["p99"] / alone["latency_us"]["p99"],
                "calls/s mixed": both["calls_per_second"], "large GB/s": large_report["gigabytes_per_second"]}

    figures = {"p99 alone": Figure("us"), "p99 mixed": Figure("us"),
               "mixed / alone": Figure("x", (("self", "<=", 2),)), "calls/s mixed": Figure("calls/s"),
               "large GB/s": Figure("GB/s")}
    return Group([Mode(f"64 clients of 4 Ki floats beside one of {sizes.mixed_mib} MiB tensors", figures, measure)])


# Later: a group for tensors in shared memory, beside the same sizes in messages (tensor_group). The client needs a transport
# that puts a workload's inputs into the segment; run, table and targets stay as they are.


def all_groups(sizes, large):
    from overload import overload_group, recovery_group  # they use this module

    groups = [small_group(sizes), tensor_group(sizes), *transfer_groups(sizes), mixed_group(sizes),
              overload_group(sizes), recovery_group(sizes)]
    return groups + (list(large_groups()) if large else [])
