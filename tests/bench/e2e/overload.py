"""What happens beyond saturation: open loops, latencies from the moment a call was due."""

import statistics
import time

from modes import MIB, Figure, Group, Mode, check_all_served
from peers import BadRun

DEADLINE_SECONDS = 1  # of open loops; closed ones only find out what is reached


def overload_group(sizes):
    """Calls of about 20 ms of work, at multiples of what the server can do. The client shares the cores: with calls of a
    millisecond, sending ten times too many would take most of them."""
    call = ["--workload", "compute", "--elements", sizes.compute_elements]

    def measure(bench, server, seconds):
        unloaded = check_all_served(bench.measure(server, call, seconds))["latency_us"]
        peak = check_all_served(bench.measure(server, call + ["--in-flight", 8], seconds))["calls_per_second"]
        values = {"unloaded p50": unloaded["p50"], "unloaded p99": unloaded["p99"], "peak": peak}
        bound = 3 * unloaded["p99"] + 1000 * sizes.queue_bound_ms
        for factor in sizes.overload:
            report = bench.measure(server, call + ["--rate", f"{factor * peak}@{seconds}s"], seconds,
                                   timeout=DEADLINE_SECONDS)
            served = report["latency_us"]["count"]
            values[f"{factor}x goodput / peak"] = report["calls_per_second"] / peak
            values[f"{factor}x p99 served"] = report["latency_us"]["p99"]
            values[f"{factor}x p99 / bound"] = report["latency_us"]["p99"] / bound
            values[f"{factor}x refused p99"] = report["failed_latency_us"]["p99"]
            failed = report["failed"]
            sent = served + sum(failed.values()) + report["unsent"]
            values[f"{factor}x refused"] = failed.get("RESOURCE_EXHAUSTED", 0) / max(1, sent)
            values[f"{factor}x expired"] = failed.get("DEADLINE_EXCEEDED", 0) / max(1, sent)
        return values

    figures = {"unloaded p50": Figure("us"), "unloaded p99": Figure("us"), "peak": Figure("calls/s")}
    for factor in sizes.overload:
        wanted = 0.95 * min(1, factor)
        figures |= {f"{factor}x goodput / peak": Figure("x", (("self", ">=", wanted),)),
                    f"{factor}x p99 served": Figure("us"), f"{factor}x p99 / bound": Figure("x", (("self", "<=", 1),)),
                    f"{factor}x refused p99": Figure("us"), f"{factor}x refused": Figure("x"),
                    f"{factor}x expired": Figure("x")}
    flags = ("--max-queue-wait", f"{sizes.queue_bound_ms}ms")
    return Group([Mode("overload with calls that compute", figures, measure, peers=("opserve",))], flags)


INTERVAL_SECONDS = 0.05


def seconds_to_recover(intervals, since, limit):
    """From `since` to the start of the first interval behind which every one with calls keeps its p99 within `limit` and
    fails no call. None when the last one does not."""
    recovered = None
    for interval in intervals:
        if interval["begin_seconds"] < since:
            continue
        bad = interval["latency_us"]["p99"] > limit or interval["failed"] or interval["unsent"]
        if bad:
            recovered = None
        elif recovered is None:
            recovered = interval["begin_seconds"] - since
    return recovered


def recovery_group(sizes):
    """Tiny calls beyond saturation for a while. A client of its own sends few, before, during and after: when is its latency
    what it was?"""
    call = ["--load", "unary"]

    def measure(bench, server, seconds):
        peak = check_all_served(bench.measure(server, call + ["--in-flight", sizes.in_flight], seconds))["calls_per_second"]
        storm_rate, whole = ["--rate", f"{2 * peak}@{seconds}s", "--max-outstanding", 20000], 6 * seconds
        probe = bench.start(server, call + ["--rate", f"{0.01 * peak}@{whole}s", "--interval", f"{INTERVAL_SECONDS}s"], whole,
                            timeout=DEADLINE_SECONDS)
        begin = time.monotonic() + bench.warm_up
        time.sleep(bench.warm_up + seconds)
        storm_end = time.monotonic() - begin + seconds
        during = bench.measure(server, call + storm_rate, seconds, warm_up=0, timeout=DEADLINE_SECONDS)
        report = probe.finish()
        calm = [one["latency_us"]["p99"] for one in report["intervals"] if one["begin_seconds"] < seconds - INTERVAL_SECONDS]
        if not calm:
            raise BadRun(f"no call ended in the {seconds} s before the storm")
        before = statistics.median(calm)
        recovery = seconds_to_recover(report["intervals"], storm_end, max(3 * before, 5000))
        return {"p99 before": before, "goodput / peak": during["calls_per_second"] / peak,
                "p99 during": during["latency_us"]["p99"], "peak RSS": report["server"]["peak_rss_bytes"] / MIB,
                "normal after": whole if recovery is None else recovery}

    figures = {"p99 before": Figure("us"), "goodput / peak": Figure("x"), "p99 during": Figure("us"), "peak RSS": Figure("MiB"),
               "normal after": Figure("s")}
    return Group([Mode("tiny calls at twice saturation", figures, measure)])
