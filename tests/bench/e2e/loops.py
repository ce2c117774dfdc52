"""Closed loops: small calls, tensors, transfers on a session, small calls beside large ones."""

from modes import MIB, Figure, Group, Mode, check_all_served, loop_mode
from peers import ECHOES


def latency_values(report):
    calls = report["calls_per_second"] * report["seconds"]
    return {"calls/s": report["calls_per_second"], "p50": report["latency_us"]["p50"],
            "p99": report["latency_us"]["p99"], "server us": report["server"]["cpu_seconds"] * 1e6 / calls}


def small_group(sizes):
    plain = {"calls/s": Figure("calls/s"), "p50": Figure("us"), "p99": Figure("us"), "server us": Figure("us/call")}
    modes = []
    for socket in ("tcp", "unix"):
        modes.append(loop_mode(f"unary 8 floats, 1 in flight, {socket}", ["--load", "unary"],
                               plain | {"p50": Figure("us", ((ECHOES[0], "<=", 1.10),))}, latency_values, socket=socket))
        modes.append(loop_mode(f"unary 8 floats, {sizes.in_flight} in flight, {socket}",
                               ["--load", "unary", "--in-flight", sizes.in_flight],
                               plain | {"calls/s": Figure("calls/s", ((ECHOES[0], ">=", 0.90),))}, latency_values,
                               socket=socket))
    unary = (modes[1].name, "calls/s")
    modes.append(loop_mode(f"session 8 floats, {sizes.session_in_flight} in flight",
                           ["--load", "session", "--in-flight", sizes.session_in_flight],
                           plain | {"calls/s": Figure("calls/s", ((unary, ">=", 3),))}, latency_values))
    modes.append(loop_mode("batch of 100, 8 in flight", ["--load", "batch", "--batch", 100, "--in-flight", 8],
                           plain | {"calls/s": Figure("calls/s", ((unary, ">=", 20),))}, latency_values))
    return Group(modes)


def infer_group(sizes):
    """The Open Inference Protocol beside Execute: the same call by the same client, neighbours in time."""

    def mode_of(in_flight):
        def measure(bench, server, seconds):
            own = latency_values(check_all_served(
                bench.measure(server, ["--load", "unary", "--in-flight", in_flight], seconds, socket="unix")))
            infer = latency_values(check_all_served(
                bench.measure(server, ["--load", "infer", "--in-flight", in_flight], seconds, socket="unix")))
            return {"calls/s": infer["calls/s"], "p50": infer["p50"], "server us": infer["server us"],
                    "Execute calls/s": own["calls/s"], "Execute server us": own["server us"],
                    "of Execute": infer["calls/s"] / own["calls/s"]}

        figures = {"calls/s": Figure("calls/s"), "p50": Figure("us"), "server us": Figure("us/call"),
                   "Execute calls/s": Figure("calls/s"), "Execute server us": Figure("us/call"),
                   "of Execute": Figure("x", (("self", ">=", 0.90),))}
        return Mode(f"Open Inference Protocol, 8 floats, {in_flight} in flight", figures, measure, peers=("opserve",))

    return Group([mode_of(1), mode_of(sizes.in_flight)])


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


def shared_group(sizes):
    """Tensors in shared memory beside the kernel alone, in one process, neighbours in time."""

    def mode_of(mib):
        elements = ["--elements", mib * MIB // 4]

        def measure(bench, server, seconds):
            shared = check_all_served(
                bench.measure(server, ["--load", "shared", *elements], seconds, socket="unix"))
            kernel = check_all_served(bench.measure(server, ["--load", "kernel", *elements], seconds))
            return {"GB/s": shared["gigabytes_per_second"], "p50": shared["latency_us"]["p50"],
                    "kernel GB/s": kernel["gigabytes_per_second"],
                    "of the kernel": shared["gigabytes_per_second"] / kernel["gigabytes_per_second"]}

        targets = (("self", ">=", 0.85),) if mib == 16 else ()
        figures = {"GB/s": Figure("GB/s"), "p50": Figure("us"), "kernel GB/s": Figure("GB/s"),
                   "of the kernel": Figure("x", targets)}
        return Mode(f"shared memory, 4 tensors of {mib} MiB", figures, measure, peers=("opserve",))

    return Group([mode_of(mib) for mib in sizes.tensors_mib])


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
        arguments = ["--load", load, "--total-bytes", gib << 30]
        mode = loop_mode(f"session {load} of {gib} GiB, --memory-limit {limit}", arguments, figures, values,
                         peers=("opserve",),
                         timeout=300)
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
