"""The plots of a report, as SVG files. The only module that needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# pylint: disable=wrong-import-position
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: E402

from aggregate import Aggregate, Aggregates, Spread, advantage  # noqa: E402
from numbers_text import short, times  # noqa: E402
from patterns import OURS, SUBJECTS, THREADS, Case, one_way_key, size_text  # noqa: E402

# The colours of Okabe and Ito and a few of Paul Tol's: told apart by colour-blind readers too. The
# yellow of theirs is hard to see on white. Markers tell lines apart without any colour.
STYLES: dict[str, tuple[str, str]] = {
    "ntcpmsg": ("#D55E00", "o"),
    "ntcpmsg-cable2": ("#F2C879", "h"),
    "ntcpmsg-cable6": ("#E69F00", "s"),
    "ntcpmsg-cable12": ("#8C6100", "H"),
    "raw": ("#000000", "x"),
    "naive": ("#999999", "+"),
    "asio": ("#56B4E9", "^"),
    "zmq": ("#0072B2", "D"),
    "nng": ("#009E73", "v"),
    "nanomsg": ("#CC79A7", "<"),
    "nats": ("#117733", ">"),
    "grpc": ("#882255", "P"),
}


@dataclass(frozen=True)
class Plot:
    name: str
    title: str

    @property
    def file(self) -> str:
        return f"{self.name}.svg"


def _setup() -> None:
    # Text stays text: small files, and readers may search and scale it. The fixed salt keeps the
    # files of two equal runs equal.
    plt.rcParams.update(
        {
            "svg.fonttype": "none",
            "svg.hashsalt": "ntcpmsg",
            "font.family": "sans-serif",
            "font.size": 10,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": "#dddddd",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "figure.facecolor": "white",
        }
    )


def _short(value: float, _: object = None) -> str:
    return short(value)


def _save(figure: Figure, directory: Path, plot: Plot) -> Plot:
    figure.savefig(directory / plot.file, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)
    return plot


def _size_axis(axes: Axes, sizes: list[int]) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [size_text(size) for size in sizes])
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("payload of a message")


def _throughput(cases: list[Case], found: Aggregates, directory: Path, threads: int) -> Plot | None:
    mine = [case for case in cases if case.key == one_way_key(case.size, threads)]
    figure, axes = plt.subplots(figsize=(8.5, 5))
    for key, (color, marker) in STYLES.items():
        points = [(case.size, found.get(case.key, key)) for case in mine]
        points = [(size, entry.rate) for size, entry in points if entry is not None]
        if not points:
            continue
        sizes, rates = zip(*points)
        style = {"color": color, "marker": marker, "label": SUBJECTS[key].label}
        axes.plot(sizes, [rate.median for rate in rates],
                  linewidth=2.5 if SUBJECTS[key].is_ours else 1.3,
                  linestyle="--" if key == "raw" else "-", markersize=6, **style)  # fmt: skip
        axes.fill_between(sizes, [rate.low for rate in rates], [rate.high for rate in rates],
                          color=color, alpha=0.12, linewidth=0)  # fmt: skip
    if not axes.lines:
        plt.close(figure)
        return None
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(_short))
    axes.set_ylabel("messages per second")
    _size_axis(axes, [case.size for case in mine])
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    plural = "thread" if threads == 1 else "threads"
    plot = Plot(f"one-way-{threads}", f"One way: rate against size, {threads} sending {plural}")
    axes.set_title(plot.title)
    return _save(figure, directory, plot)


def _name_rows(axes: Axes, keys: list[str], label: str) -> None:
    """The frame of horizontal bars; the first on top."""
    axes.set_yticks(range(len(keys)), [SUBJECTS[key].label for key in keys])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.margins(x=0.12)
    axes.xaxis.set_major_formatter(FuncFormatter(_short))
    axes.set_xlabel(label)


def _bars(
    plot: Plot, entries: list[tuple[str, Spread]], label: str, directory: Path
) -> Plot | None:
    """Horizontal bars with the range of the rounds."""
    if not entries:
        return None
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.42 * len(entries)))
    for row, (key, value) in enumerate(entries):
        error = [[value.median - value.low], [value.high - value.median]]
        axes.barh(row, value.median, color=STYLES[key][0], xerr=error,
                  error_kw={"ecolor": "#555555", "capsize": 2, "elinewidth": 1})  # fmt: skip
        axes.annotate(f" {_short(value.median)}", (value.high, row), va="center",
                      xytext=(4, 0), textcoords="offset points")  # fmt: skip
    _name_rows(axes, [key for key, _ in entries], label)
    axes.set_title(plot.title)
    return _save(figure, directory, plot)


def _case_bars(
    case: Case,
    found: Aggregates,
    directory: Path,
    label: str,
    read: Callable[[Aggregate], Spread | None],
    name: str = "",
) -> Plot | None:
    values = [(key, found.get(case.key, key)) for key in case.subjects]
    spreads = [(key, read(entry)) for key, entry in values if entry is not None]
    entries = [(key, value) for key, value in spreads if value is not None]
    return _bars(Plot(name or case.key, case.title), entries, label, directory)


def _cpu(case: Case, found: Aggregates, directory: Path) -> Plot | None:
    """Client and server below each other; on a logarithmic axis they cannot be stacked."""
    entries = [(key, found.get(case.key, key)) for key in case.subjects]
    entries = [(key, entry) for key, entry in entries if entry is not None]
    if not entries:
        return None
    plot = Plot("cpu", f"CPU time per million messages: {case.title}")
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.6 * len(entries)))
    for row, (key, entry) in enumerate(entries):
        for offset, side, alpha in ((-0.2, entry.client, 1.0), (0.2, entry.server, 0.5)):
            value = side.cpu_seconds.median
            axes.barh(row + offset, value, height=0.38, color=STYLES[key][0], alpha=alpha)
            axes.annotate(f" {_short(value)} s", (value, row + offset), va="center", fontsize=8)
    axes.set_xscale("log")
    label = "CPU seconds: client (full colour), server with broker (light)"
    _name_rows(axes, [key for key, _ in entries], label)
    axes.set_title(plot.title)
    return _save(figure, directory, plot)


def _ratios(case: Case, found: Aggregates, directory: Path) -> Plot | None:
    """Bars that begin at 1, to the right where ours is faster."""
    values = [(key, advantage(found, case.key, "rate", OURS, key)) for key in case.subjects]
    entries = [(key, value) for key, value in values if key != OURS and value is not None]
    if not entries:
        return None
    plot = Plot(f"ratio-{case.key}", f"{SUBJECTS[OURS].label} / peer: {case.title}")
    figure, axes = plt.subplots(figsize=(8, 0.8 + 0.42 * len(entries)))
    for row, (key, value) in enumerate(entries):
        axes.barh(row, value - 1, left=1, color=STYLES[key][0])
        axes.annotate(f" {times(value)}", (max(value, 1), row), va="center")
    axes.axvline(1, color="#1b1b1b", linewidth=1)
    axes.set_xscale("log")
    _name_rows(axes, [key for key, _ in entries], "times as many messages per second (1: equal)")
    axes.set_title(plot.title)
    return _save(figure, directory, plot)


def _latency(case: Case, found: Aggregates, directory: Path) -> Plot | None:
    names = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9"}
    figure, axes = plt.subplots(figsize=(8.5, 4.5))
    for key in case.subjects:
        entry = found.get(case.key, key)
        if entry is None or not all(name in entry.latency_us for name in names):
            continue
        values = [entry.latency_us[name].median for name in names]
        color, marker = STYLES[key]
        axes.plot(list(names.values()), values, color=color, marker=marker,
                  linewidth=2.5 if SUBJECTS[key].is_ours else 1.3,
                  label=SUBJECTS[key].label)  # fmt: skip
    if not axes.lines:
        plt.close(figure)
        return None
    axes.set_yscale("log")
    axes.yaxis.set_major_formatter(FuncFormatter(_short))
    # Within one power of ten there may be no other tick to read.
    low, high = axes.get_ylim()
    minor = FuncFormatter(_short) if high < 20 * low else NullFormatter()
    axes.yaxis.set_minor_formatter(minor)
    axes.set_ylabel("round trip, microseconds")
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
    plot = Plot(f"latency-{case.key}", f"{case.title}: time of a round trip")
    axes.set_title(plot.title)
    return _save(figure, directory, plot)


def _plots_of(case: Case, found: Aggregates, directory: Path) -> list[Plot | None]:
    if case.metric == "p99":
        return [
            _case_bars(case, found, directory, "p99 of a round trip, microseconds",
                       lambda entry: entry.latency_us.get("p99"))
        ]  # fmt: skip
    bars = _case_bars(case, found, directory, "messages per second", lambda entry: entry.rate)
    if not case.pattern.startswith("echo"):
        return [bars]
    return [bars, _latency(case, found, directory)]


def draw(cases: list[Case], found: Aggregates, directory: Path) -> list[Plot]:
    """Draws what there is data for; the plots in the order of the report."""
    _setup()
    plots: list[Plot | None] = [_throughput(cases, found, directory, count) for count in THREADS]
    by_key = {case.key: case for case in cases}
    for size in (4, 1024):
        case = by_key.get(one_way_key(size, 1))
        if case is not None:
            plots.append(_ratios(case, found, directory))
    small = by_key.get(one_way_key(4, 1))
    if small is not None:
        plots.append(_cpu(small, found, directory))
    for case in cases:
        if case.key != one_way_key(case.size, case.threads):
            plots += _plots_of(case, found, directory)
    return [plot for plot in plots if plot is not None]
