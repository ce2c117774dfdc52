"""The vocabulary of what is measured. A mode gives the figures of one server in one round; figures say how they are
compared."""

import dataclasses

from peers import PEERS, BadRun

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
    compute_elements: int = 128 * MIB
    mixed_mib: int = 16
    queue_bound_ms: float = 100
    overload: tuple = (0.5, 2, 10)


SMOKE = Sizes(tensors_mib=(1,), session_in_flight=32, transfer=4 * MIB, compute_elements=1 << 16, mixed_mib=1,
              overload=(0.5, 2))


def check_all_served(report):
    if report["failed"] or report["latency_us"]["count"] == 0:
        raise BadRun(f"a closed loop must be served: {report['latency_us']['count']} served, failed {report['failed']}")
    if report["gigabytes_per_second"] == 0:
        raise BadRun(f"no call ended in the {report['seconds']:.3f} s that were measured")
    return report


def loop_mode(name, arguments, figures, values, peers=PEERS, **options):
    """A closed loop; `values` takes the figures from the report, `options` are Bench.measure's."""

    def measure(bench, server, seconds):
        report = check_all_served(bench.measure(server, arguments, seconds, **options))
        return values(report)

    return Mode(name, figures, measure, peers)
