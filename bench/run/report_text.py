"""The words of a report that Markdown and HTML share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from aggregate import Aggregates, Failure
from micro import Row
from patterns import LONG_LINK, THREADS, Case, one_way_key
from tables import Table, case_table, micro_table, one_way_matrix, one_way_ratios, targets_table
from targets import Verdict


@dataclass(frozen=True)
class Report:
    """Everything a report tells."""

    machine: dict[str, Any]
    cases: list[Case]
    aggregates: Aggregates
    verdicts: list[Verdict]
    micro: list[Row]
    # File name and title of each plot.
    plots: list[tuple[str, str]]
    failures: list[Failure]
    skipped: list[str]
    quick: bool
    # Restricted by arguments to some peers or patterns, or with other times.
    partial: bool
    minutes: float


@dataclass(frozen=True)
class Section:
    title: str
    paragraphs: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)
    tables: list[tuple[str, Table]] = field(default_factory=list)
    plots: list[tuple[str, str]] = field(default_factory=list)
    # Long tables that a reader opens when he wants them.
    folded: bool = False


HOW = [
    "Each measurement starts two processes, a server and a client, connects them over TCP, warms "
    "up, measures, and stops them. The peers take turns (A B C, A B C, ...), so that a machine "
    "that becomes slower meanwhile slows all of them. Numbers are medians of the rounds; ranges "
    "are from the smallest to the largest.",
    "A message counts when the receiver has counted it (one way, fan-out) or when its answer is "
    "back (echo); the time ends when the last one is there. CPU time and system calls are those "
    "of all threads of the process, for each million messages (cpu in seconds; wr / rd: calls "
    "that write and read); the server's CPU time includes that of a broker where a peer needs "
    "one. \"-\" in a cell: the peer does not offer this, or it was not measured; among the system "
    "calls: the program cannot be watched.",
    "All peers are set to the same congestion control where they let us, send the same payloads "
    "and may wait for the receiver as long as they like; what is lost all the same is in the last "
    "column. The raw sockets are no peer but the practical limit: 64 KiB writes of packed frames, "
    "without a queue, error handling or reconnecting. Echo with one in flight has both processes "
    "pinned to one core.",
]

READING = [
    "Only ratios within one run mean something. Absolute numbers are those of this machine, in "
    "this state, on this day.",
    "A difference under 1.5 x means nothing: it is within what other load, the kernel's choice of "
    "cores and the order of the rounds change.",
    "The loopback interface has no delay, loses nothing and copies by the same cores that the "
    "programs need. The long link shows what a network does.",
    "Latency with many requests in flight is mostly waiting in queues; it follows from the rate.",
]


_LINK = (
    "The two processes run in two network namespaces; between them is a relay that delays "
    f"(round trip {LONG_LINK['delay_ms']} ms), loses packets at random "
    f"({LONG_LINK['loss']:.1%} in each direction) and limits the rate "
    f"({LONG_LINK['rate_mbit']} Mbit/s in each direction)."
)


def _one_way(report: Report) -> Section:
    tables = []
    for threads in THREADS:
        matrix = one_way_matrix(report.cases, report.aggregates, threads)
        if matrix.rows:
            plural = "thread" if threads == 1 else "threads"
            tables.append((f"Thousand messages per second, {threads} {plural}", matrix))
            ratios = one_way_ratios(report.cases, report.aggregates, threads)
            tables.append((f"Ratios of these rates, {threads} {plural}", ratios))
    plots = _plots(report, ("one-way", "ratio", "cpu"))
    return Section("One way, by size", tables=tables, plots=plots)


def _plots(report: Report, beginnings: tuple[str, ...]) -> list[tuple[str, str]]:
    return [plot for plot in report.plots if plot[0].startswith(beginnings)]


def _details(report: Report, case: Case) -> tuple[str, Table]:
    plural = "round" if case.rounds == 1 else "rounds"
    rounds = f"{case.rounds} {plural} of {case.measured_seconds:g} s"
    return f"{case.title}, {rounds}", case_table(case, report.aggregates)


def _others(report: Report) -> list[Section]:
    groups = {
        "Echo": ("echo", "latency-echo"),
        "Fan-out": ("fan-out",),
        "Small requests beside bulk": ("beside-bulk",),
        "Long link": ("long",),
    }
    sections = []
    for title, beginnings in groups.items():
        cases = [case for case in report.cases if case.key.startswith(beginnings)]
        tables = [
            _details(report, case) for case in cases if report.aggregates.case(case.key)
        ]
        if tables:
            paragraphs = [_LINK] if title == "Long link" else []
            plots = _plots(report, beginnings)
            sections.append(Section(title, paragraphs, tables=tables, plots=plots))
    return sections


def _failures(report: Report) -> list[Section]:
    sections = []
    if report.skipped:
        sections.append(Section("Not measured", items=report.skipped))
    if report.failures:
        items = [
            f"{failure.subject}, {failure.case}: {' / '.join(failure.message.splitlines())}"
            for failure in report.failures
        ]
        sections.append(Section("Failed runs", items=items))
    return sections


def _machine(report: Report) -> Section:
    items = [f"{name}: {value}" for name, value in report.machine.items() if name != "libraries"]
    versions = ", ".join(
        f"{name} {version}" for name, version in report.machine["libraries"].items()
    )
    return Section("Machine", items=[*items, f"libraries: {versions}"])


def sections(report: Report) -> list[Section]:
    command = "scripts/bench --quick" if report.quick else "scripts/bench"
    kind = "a quick run, good for a first look only" if report.quick else "a full run"
    if report.partial:
        kind = "a run of a part only, or with other times"
    intro = f"Generated by `{command}` ({kind}, {report.minutes:.1f} minutes)."
    result = [
        Section("What was measured, and how", [intro, *HOW]),
        Section("How to read this", items=READING),
        _machine(report),
        Section("Targets", tables=[("", targets_table(report.verdicts))]),
    ]
    if any(case.pattern == "one-way" and not case.long_link for case in report.cases):
        result.append(_one_way(report))
    result += _others(report)
    if report.micro:
        result.append(Section("Parts without sockets", tables=[("", micro_table(report.micro))]))
    details = [
        _details(report, case)
        for case in report.cases
        if case.key == one_way_key(case.size, case.threads) and report.aggregates.case(case.key)
    ]
    if details:
        result.append(Section("One way, all numbers", tables=details, folded=True))
    return [*result, *_failures(report)]
