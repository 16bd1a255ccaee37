"""Medians and ranges of the rounds of each measurement."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

SIDES = ("client", "server")
QUANTILES = ("p50", "p90", "p99", "p99_9", "max")

# What one run printed.
Result = dict[str, Any]


@dataclass(frozen=True)
class Spread:
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Side:
    """One process, per million messages. The counts are unknown without the counter library."""

    cpu_seconds: Spread
    writes: Spread | None
    reads: Spread | None


@dataclass(frozen=True)
class Aggregate:
    """All rounds of one subject in one case."""

    rounds: int
    rate: Spread
    client: Side
    server: Side
    latency_us: dict[str, Spread]
    messages: int
    lost: int

    @property
    def cpu_per_million(self) -> float:
        return self.client.cpu_seconds.median + self.server.cpu_seconds.median


@dataclass(frozen=True)
class Failure:
    case: str
    subject: str
    message: str


@dataclass
class Outcome:
    """Everything measured: results by case and subject, and what went wrong."""

    results: dict[str, dict[str, list[Result]]] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    # What was not measured, with the reason.
    skipped: list[str] = field(default_factory=list)
    # The counters of the long link.
    link: dict[str, Any] = field(default_factory=dict)

    def add(self, case: str, subject: str, result: Result) -> None:
        self.results.setdefault(case, {}).setdefault(subject, []).append(result)


def spread(values: Iterable[float]) -> Spread:
    numbers = list(values)
    return Spread(statistics.median(numbers), min(numbers), max(numbers))


def _per_million(results: list[Result], side: str, name: str) -> Spread:
    return spread(result[side].get(name, 0) * 1e6 / result["messages"] for result in results)


def _side(results: list[Result], side: str) -> Side:
    # A process without a single system call was not watched: it is linked statically, or there is
    # no library to preload.
    usages = [result[side] for result in results]
    watched = all(usage.get("writes", 0) + usage.get("reads", 0) for usage in usages)
    return Side(
        _per_million(results, side, "cpu_seconds"),
        _per_million(results, side, "writes") if watched else None,
        _per_million(results, side, "reads") if watched else None,
    )


def aggregate(results: list[Result]) -> Aggregate:
    """The rounds of one subject in one case, at least one."""
    latencies = [result["latency_us"] for result in results if "latency_us" in result]
    return Aggregate(
        rounds=len(results),
        rate=spread(result["rate"] for result in results),
        client=_side(results, "client"),
        server=_side(results, "server"),
        latency_us={
            name: spread(latency[name] for latency in latencies)
            for name in QUANTILES
            if latencies and all(name in latency for latency in latencies)
        },
        messages=sum(result["messages"] for result in results),
        lost=sum(result["lost"] for result in results),
    )


class Aggregates:
    """The aggregates by case and subject; what was not measured is None."""

    def __init__(self, results: dict[str, dict[str, list[Result]]]) -> None:
        self._by_case = {
            case: {subject: aggregate(rounds) for subject, rounds in by_subject.items()}
            for case, by_subject in results.items()
        }

    def get(self, case: str, subject: str) -> Aggregate | None:
        return self._by_case.get(case, {}).get(subject)

    def case(self, case: str) -> dict[str, Aggregate]:
        return self._by_case.get(case, {})

    def value(
        self, case: str, subject: str, read: Callable[[Aggregate], float | None]
    ) -> float | None:
        found = self.get(case, subject)
        return None if found is None else read(found)

    def rate(self, case: str, subject: str) -> float | None:
        return self.value(case, subject, lambda found: found.rate.median)

    def quantile(self, case: str, subject: str, name: str) -> float | None:
        def read(found: Aggregate) -> float | None:
            return found.latency_us[name].median if name in found.latency_us else None

        return self.value(case, subject, read)

    def as_json(self) -> dict[str, Any]:
        return {
            case: {subject: asdict(found) for subject, found in by_subject.items()}
            for case, by_subject in self._by_case.items()
        }


def ratio(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def advantage(
    aggregates: Aggregates, case: str, metric: str, ours: str, other: str
) -> float | None:
    """How many times better `ours` is than `other` by the metric of the case."""
    if metric == "rate":
        return ratio(aggregates.rate(case, ours), aggregates.rate(case, other))
    return ratio(aggregates.quantile(case, other, metric), aggregates.quantile(case, ours, metric))
