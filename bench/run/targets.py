"""The goals of the project, judged by the medians of one run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from aggregate import Aggregate, Aggregates, ratio
from numbers_text import number, short
from patterns import CABLE, OURS, RAW, SUBJECTS, one_way_key, size_text

MET = "met"
MISSED = "missed"
NOT_MEASURED = "not measured"
RATE = "/s"

# The measured ratio or number, and the numbers it comes from.
Finding = tuple[float, str]


@dataclass(frozen=True)
class Target:
    text: str
    limit: float
    find: Callable[[Aggregates], Finding | None]
    at_least: bool = True


@dataclass(frozen=True)
class Verdict:
    text: str
    status: str
    wanted: str
    value: float | None
    detail: str


def _compare(a: float | None, b: float | None, names: tuple[str, str], unit: str) -> Finding | None:
    value = ratio(a, b)
    if value is None or a is None or b is None:
        return None
    text = short if unit == RATE else number
    return value, f"{names[0]} {text(a)}{unit}, {names[1]} {text(b)}{unit}"


def _rates(case: str, ours: str, other: str) -> Callable[[Aggregates], Finding | None]:
    names = (SUBJECTS[ours].label, SUBJECTS[other].label)
    return lambda found: _compare(found.rate(case, ours), found.rate(case, other), names, RATE)


def _p99(case: str, a: str, b: str) -> Callable[[Aggregates], Finding | None]:
    names = (SUBJECTS[a].label, SUBJECTS[b].label)
    return lambda found: _compare(
        found.quantile(case, a, "p99"), found.quantile(case, b, "p99"), names, " us"
    )


def _best_peer(case: str) -> Callable[[Aggregates], Finding | None]:
    def find(found: Aggregates) -> Finding | None:
        # The raw program is a limit, not a peer: it has no queue and handles no error.
        rates = {
            subject: aggregate.rate.median
            for subject, aggregate in found.case(case).items()
            if subject != RAW and not SUBJECTS[subject].is_ours
        }
        if not rates:
            return None
        best = max(rates, key=lambda subject: rates[subject])
        return _rates(case, OURS, best)(found)

    return find


def _threads(size: int) -> Callable[[Aggregates], Finding | None]:
    four, one = one_way_key(size, 4), one_way_key(size, 1)
    return lambda found: _compare(
        found.rate(four, OURS), found.rate(one, OURS), ("4 threads", "1 thread"), RATE
    )


def _cpu(case: str, other: str) -> Callable[[Aggregates], Finding | None]:
    def cpu(aggregate: Aggregate) -> float:
        return aggregate.cpu_per_million

    names = (SUBJECTS[OURS].label, SUBJECTS[other].label)
    return lambda found: _compare(
        found.value(case, OURS, cpu), found.value(case, other, cpu), names, " s"
    )


def _most_calls(case: str) -> Callable[[Aggregates], Finding | None]:
    def find(found: Aggregates) -> Finding | None:
        ours = found.get(case, OURS)
        if ours is None:
            return None
        counts = {
            f"{name} {kind}": getattr(side, kind)
            for name, side in (("client", ours.client), ("server", ours.server))
            for kind in ("writes", "reads")
        }
        if any(count is None for count in counts.values()):
            return None
        detail = ", ".join(f"{name} {count.median:,.0f}" for name, count in counts.items())
        return max(count.median for count in counts.values()), detail

    return find


def _one_way_targets() -> list[Target]:
    targets = []
    for size, times in ((4, 10), (64, 8), (1024, 4), (65536, 2)):
        text = f"one way, {size_text(size)}: ours / ZeroMQ"
        targets.append(Target(text, times, _rates(one_way_key(size, 1), OURS, "zmq")))
    small, large = one_way_key(4, 1), one_way_key(65536, 1)
    targets.append(Target("one way, 4 B: ours / raw sockets", 0.6, _rates(small, OURS, RAW)))
    targets.append(Target("one way, 64 KiB: ours / best peer", 1, _best_peer(large)))
    for size in (4, 64, 1024, 65536):
        text = f"one way, {size_text(size)}: 4 threads / 1 thread"
        targets.append(Target(text, 0.95, _threads(size)))
    return [
        *targets,
        Target("CPU per million 4-byte messages, both sides: ours / ZeroMQ", 0.2,
               _cpu(small, "zmq"), at_least=False),
        Target("system calls per million 4-byte messages, the largest of writes and reads on both "
               "sides", 1000, _most_calls(small), at_least=False),
    ]  # fmt: skip


def _other_targets() -> list[Target]:
    return [
        Target("echo, 1 in flight: ours / raw sockets", 0.85, _rates("echo-1", OURS, RAW)),
        Target("echo, 1 in flight, p99: ours / raw sockets", 1 / 0.85, _p99("echo-1", OURS, RAW),
               at_least=False),
        Target("echo, 1 in flight: ours / ZeroMQ", 2.5, _rates("echo-1", OURS, "zmq")),
        Target("echo, 32 threads: ours / ZeroMQ", 1.5, _rates("echo-32-threads", OURS, "zmq")),
        Target("echo, 32 threads: ours / raw sockets", 0.95, _rates("echo-32-threads", OURS, RAW)),
        Target("echo, 256 in flight: ours / raw sockets", 0.75, _rates("echo-256", OURS, RAW)),
        Target("echo, 4 x 256 in flight: ours / raw sockets", 0.75,
               _rates("echo-4x256", OURS, RAW)),
        Target("fan-out to 1000: ours / raw sockets", 0.8, _rates("fan-out-1000", OURS, RAW)),
        Target("long link, one way: cable of 6 / single", 4, _rates("long-one-way", CABLE, OURS)),
        Target("p99 beside bulk, loopback: single / cable of 6", 5,
               _p99("beside-bulk", OURS, CABLE)),
        Target("p99 beside bulk, long link: single / cable of 6", 5,
               _p99("long-beside-bulk", OURS, CABLE)),
    ]  # fmt: skip


TARGETS = [*_one_way_targets(), *_other_targets()]


def judge(target: Target, found: Aggregates) -> Verdict:
    wanted = f"{'>=' if target.at_least else '<='} {target.limit:,.4g}"
    finding = target.find(found)
    if finding is None:
        return Verdict(target.text, NOT_MEASURED, wanted, None, "")
    value, detail = finding
    good = value >= target.limit if target.at_least else value <= target.limit
    return Verdict(target.text, MET if good else MISSED, wanted, value, detail)


def judge_all(found: Aggregates) -> list[Verdict]:
    return [judge(target, found) for target in TARGETS]


def as_json(verdicts: list[Verdict]) -> list[dict[str, Any]]:
    return [asdict(verdict) for verdict in verdicts]
