"""The tables of a report as rows of text, for the terminal, Markdown and HTML alike."""

from __future__ import annotations

from dataclasses import dataclass

from aggregate import Aggregate, Aggregates, Side, Spread, advantage
from numbers_text import NOTHING, number, times
from patterns import OURS, SUBJECTS, Case, one_way_key, size_text
from targets import Verdict


@dataclass(frozen=True)
class Table:
    header: list[str]
    rows: list[list[str]]


def rate(spread: Spread) -> str:
    return number(spread.median / 1e3)


def _range(spread: Spread, scale: float) -> str:
    return f"{number(spread.low / scale)} .. {number(spread.high / scale)}"


def _calls(side: Side) -> str:
    if side.writes is None or side.reads is None:
        return NOTHING
    return f"{number(side.writes.median)} / {number(side.reads.median)}"


def _quantile(found: Aggregate, name: str) -> str:
    return number(found.latency_us[name].median) if name in found.latency_us else NOTHING


def _p99_range(found: Aggregate) -> str:
    return _range(found.latency_us["p99"], 1) if "p99" in found.latency_us else NOTHING


def _row(case: Case, key: str, found: Aggregate, better: float | None) -> list[str]:
    latency = [_quantile(found, name) for name in ("p50", "p90", "p99", "p99_9")]
    if case.metric == "p99":
        lost = str(found.lost)
        return [SUBJECTS[key].label, *latency, _p99_range(found), times(better), lost]
    cpu = [number(side.cpu_seconds.median) for side in (found.client, found.server)]
    row = [SUBJECTS[key].label, rate(found.rate), _range(found.rate, 1e3), times(better), *cpu]
    row += [_calls(found.client), _calls(found.server)]
    if case.pattern.startswith("echo"):
        row += latency
    return [*row, str(found.lost)]


def _header(case: Case) -> list[str]:
    ours = "ours" if case.reference == OURS else SUBJECTS[case.reference].label
    latency = ["p50 us", "p90 us", "p99 us", "p99.9 us"]
    if case.metric == "p99":
        return ["peer", *latency, "p99 min .. max", f"p99 / p99 of {ours}", "lost"]
    header = ["peer", "k msg/s", "min .. max", f"{ours} / peer", "client cpu", "server cpu"]
    header += ["client wr / rd", "server wr / rd"]
    return [*header, *(latency if case.pattern.startswith("echo") else []), "lost"]


def case_table(case: Case, aggregates: Aggregates) -> Table:
    """One row for each subject of the case; what was not measured has none of the numbers."""
    rows = []
    header = _header(case)
    for key in case.subjects:
        found = aggregates.get(case.key, key)
        if found is None:
            rows.append([SUBJECTS[key].label, *[NOTHING] * (len(header) - 1)])
            continue
        better = advantage(aggregates, case.key, case.metric, case.reference, key)
        rows.append(_row(case, key, found, better))
    return Table(header, rows)


def one_way_matrix(cases: list[Case], aggregates: Aggregates, threads: int) -> Table:
    """Rates of all subjects by size."""
    mine = [case for case in cases if case.key == one_way_key(case.size, threads)]
    keys = [key for key in SUBJECTS if any(aggregates.get(case.key, key) for case in mine)]
    rows = []
    for key in keys:
        found = [aggregates.get(case.key, key) for case in mine]
        rates = [rate(entry.rate) if entry else NOTHING for entry in found]
        rows.append([SUBJECTS[key].label, *rates])
    return Table(["k msg/s", *(size_text(case.size) for case in mine)], rows)


def one_way_ratios(cases: list[Case], aggregates: Aggregates, threads: int) -> Table:
    """How many times faster than each peer ours is, by size."""
    mine = [case for case in cases if case.key == one_way_key(case.size, threads)]
    keys = [key for key in SUBJECTS if any(aggregates.get(case.key, key) for case in mine)]
    rows = [
        [
            SUBJECTS[key].label,
            *(times(advantage(aggregates, case.key, "rate", OURS, key)) for case in mine),
        ]
        for key in keys
        if key != OURS
    ]
    return Table([f"{SUBJECTS[OURS].label} / peer", *(size_text(case.size) for case in mine)], rows)


def targets_table(verdicts: list[Verdict]) -> Table:
    rows = [
        [verdict.text, verdict.wanted, number(verdict.value), verdict.status, verdict.detail]
        for verdict in verdicts
    ]
    return Table(["target", "wanted", "measured", "verdict", "medians"], rows)


def micro_table(rows: list[dict[str, float | str | None]]) -> Table:
    def cell(value: float | str | None) -> str:
        return value if isinstance(value, str) else number(value)

    names = ("name", "ns_per_item", "items_per_second")
    cells = [[cell(row[name]) for name in names] for row in rows]
    return Table(["benchmark", "ns per item", "items/s"], cells)


def as_text(table: Table) -> str:
    """Aligned columns for a terminal; the first is text, the others are numbers."""
    lines = [table.header, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.header))]
    text = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:], widths[1:])]
        text.append("  ".join(cells).rstrip())
    return "\n".join(text)


def as_markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = ["---", *["---:"] * (len(table.header) - 1)]
    return "\n".join([line(table.header), line(rule), *map(line, table.rows)])
