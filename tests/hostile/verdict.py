"""What a server must keep to while it is attacked, and afterwards."""

import queue

import server as servers

# What notes of attackers begin with that are reasons.
BLAME = "found: "

# Of the victim's small calls, beyond what the machine itself delays an echo at the same time.
P99_MS, SHORT_P99_MS, SANITIZED_P99_MS = 50.0, 150.0, 5000.0
MEDIUM_MS, SHORT_MEDIUM_MS = 1000.0, 1000.0
NEWCOMER_MS = 1000.0
# Medium calls may be refused now and then; not all the time.
MOST_REFUSED = 0.1
# Afterwards, beyond what it was before: what malloc keeps, threads of gRPC's pools, descriptors that are being closed.
SLACK_RSS_MIB, SLACK_THREADS, SLACK_FDS = 128, 12, 4
# While it is attacked: a thread for each of an attacker's streams is too many.
MOST_MORE_THREADS, MOST_MORE_FDS = 64, 2000
# Cores that it may use more than before, once all is over.
IDLE_CPU_RATE = 0.25
MOST_CPU_AFTER_SECONDS = 1.0


def leftovers(trial, cpu_rate: float) -> list[str]:
    """What the server still has of the attack."""
    left = []
    usage, before = trial.samples.last, trial.before
    statistics = trial.server.statistics(1.0)
    warm_mib = servers.held(statistics)["warm bytes"] >> 20 if statistics is not None else 0
    if statistics is None:
        left.append("no answer to GetStatistics")
    elif busy := {
        what: count
        for what, count in servers.held(statistics).items()
        if count and what not in ("warm bytes", "calls of Execute", "sessions")
    }:
        if busy.get("admitted calls", 0) > 2 or busy.get("bytes of pools", 0) > 1 << 20:
            left.append(f"afterwards still under way: {busy}")
    if (
        not trial.server.sanitized
        and usage.rss_mib > before.rss_mib + warm_mib + SLACK_RSS_MIB
        and "rss after" not in trial.attack.spares
    ):
        left.append(f"afterwards {usage.rss_mib} MiB of memory, before {before.rss_mib}, warm {warm_mib}")
    if usage.threads > before.threads + SLACK_THREADS:
        left.append(f"afterwards {usage.threads} threads, before {before.threads}")
    if usage.fds > before.fds + SLACK_FDS:
        left.append(f"afterwards {usage.fds} descriptors, before {before.fds}")
    if cpu_rate > trial.calm_cpu_rate + IDLE_CPU_RATE * (4 if trial.server.sanitized else 1):
        left.append(f"afterwards {cpu_rate:.2f} cores in use, before {trial.calm_cpu_rate:.2f}")
    return left


def judge(trial) -> None:
    """Completes the report."""
    report, reasons = trial.report, trial.reasons
    certain = [note for note in report.get("notes", []) if note.startswith(BLAME)]
    if not trial.server.alive() and "exit_s" not in report:
        certain.append(f"the server died: {trial.server.ended_how()}")
    if sanitizer := trial.server.sanitizer_report():
        certain.append(sanitizer)
    reasons[:0] = certain
    # Others may be the machine's doing.
    report["is_certain"] = bool(certain)
    if "victim" in report:
        judge_service(trial, report["victim"])
    judge_usage(trial)
    report["verdict"] = "fell" if reasons else "stood"
    report["reasons"] = list(dict.fromkeys(reasons))


def judge_service(trial, victim: dict) -> None:
    reasons, spares = trial.reasons, trial.attack.spares
    after = trial.report.get("after", {})
    for when, record in (("", victim), (" afterwards", after)):
        turned_away = 0 if not when and "newcomers" in spares else record.get("turned_away", 0)
        if record.get("failed", 0) + turned_away > 0 and not trial.is_slowed_by_backlog():
            reasons.append(
                f"victim{when}: {record['failed']} calls failed, {turned_away} newcomers: "
                f"{'; '.join(record['failures'])}"
            )
    bound = P99_MS if trial.is_full else SHORT_P99_MS
    bound = (SANITIZED_P99_MS if trial.server.sanitized else bound) + victim["echo_p99_ms"]
    if victim["p99_ms"] > bound and "latency" not in spares:
        reasons.append(f"victim: p99 of small calls {victim['p99_ms']} ms, want {bound:.0f}")
    judge_medium(trial, victim)
    most = NEWCOMER_MS * (8 if trial.server.sanitized else 1) + victim["echo_p99_ms"]
    if victim["newcomer_max_ms"] > most and "latency" not in spares:
        reasons.append(f"victim: a newcomer took {victim['newcomer_max_ms']} ms, want {most:.0f}")


def judge_medium(trial, victim: dict) -> None:
    asked = victim["medium"] + victim["medium_refused"]
    if "medium" in trial.attack.spares:
        return
    if victim["medium_refused"] > max(1, MOST_REFUSED * asked):
        trial.reasons.append(f"victim: {victim['medium_refused']} of {asked} medium calls refused")
    most = (MEDIUM_MS if trial.is_full else SHORT_MEDIUM_MS) * (8 if trial.server.sanitized else 1)
    if victim["medium_max_ms"] > most + victim["echo_p99_ms"]:
        trial.reasons.append(f"victim: a medium call took {victim['medium_max_ms']} ms, want {most:.0f}")


def judge_usage(trial) -> None:
    report, reasons, spares = trial.report, trial.reasons, trial.attack.spares
    before, peak, last = trial.before, trial.samples.peak, trial.samples.last
    for name in ("rss_mib", "threads", "fds"):
        report[name] = [getattr(before, name), getattr(peak, name), getattr(last, name)]
    bound = before.rss_mib + trial.attack.rss_mib
    report["rss_bound_mib"] = None if trial.server.sanitized else bound
    if not trial.server.sanitized and peak.rss_mib > bound:
        reasons.append(f"memory: {peak.rss_mib} MiB, want at most {bound}")
    for what, most in (("threads", MOST_MORE_THREADS), ("fds", MOST_MORE_FDS)):
        if getattr(peak, what) > getattr(before, what) + most:
            reasons.append(f"{getattr(peak, what)} {what}, want at most {getattr(before, what) + most}")
    if (
        not trial.is_slowed_by_backlog()
        and report.get("cpu_after_s", 0) > MOST_CPU_AFTER_SECONDS * (10 if trial.server.sanitized else 1)
        and "cpu after" not in spares
    ):
        reasons.append(f"{report['cpu_after_s']} CPU-s after the attack was over")
    sent = max(report.get("sent_bytes", 0), 1)
    log = getattr(trial, "log_bytes", 0)
    report["log_bytes"] = log
    if log > 100_000 and log > trial.attack.log_per_byte * sent:
        reasons.append(f"{log} bytes of log for {sent} bytes sent")


def drained(notes) -> list[str]:
    found = []
    while True:
        try:
            found.append(notes.get(timeout=0.05))
        except queue.Empty:
            return found[:20]
