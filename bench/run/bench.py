#!/usr/bin/env python3
"""Measures this library against others and writes a report; see scripts/bench."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import targets
from aggregate import Aggregates
from machine import describe, private_texts, scrub
from measure import raise_file_limit
from micro import (
    SECONDS_PER_MIN_TIME,
    MicroError,
    Row,
    micro_program,
    run_micro,
)
from numbers_text import duration
from patterns import SUBJECTS, Case, all_cases, matches, select_cases
from progress import Progress
from report_html import page
from report_markdown import markdown
from report_text import Report
from session import (
    Session,
    estimate_of,
    long_link_obstacle,
    missing_programs,
    runnable,
)
from tables import as_text, micro_table, targets_table

MICRO = "micro"
PLOT_FOLDER = "bench"
REPORT_SECONDS = 10.0


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value <= 60:
        raise argparse.ArgumentTypeError("must be above 0 and at most 60")
    return value


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 100:
        raise argparse.ArgumentTypeError("must be from 1 to 100")
    return value


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the source tree")
    parser.add_argument("--build", type=Path, required=True, help="the build directory")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", type=_words, default=[])
    parser.add_argument("--peers", type=_words, default=[])
    parser.add_argument("--rounds", type=_count)
    parser.add_argument("--seconds", type=_positive)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    known = set(SUBJECTS) | {subject.program for subject in SUBJECTS.values()}
    unknown = [peer for peer in arguments.peers if peer not in known]
    if unknown:
        parser.error(f"unknown peers: {', '.join(unknown)}; known: {', '.join(SUBJECTS)}")
    names = [case.key for case in all_cases(arguments.quick)] + [MICRO]
    strange = [word for word in arguments.only if not any(matches(n, [word]) for n in names)]
    if strange:
        parser.error(f"no such pattern: {', '.join(strange)}; known: {', '.join(names)}")
    return arguments


def is_partial(arguments: argparse.Namespace) -> bool:
    return any((arguments.only, arguments.peers, arguments.rounds, arguments.seconds))


def output_folder(arguments: argparse.Namespace) -> Path:
    """The report of the project is overwritten only by a run that measured everything."""
    if arguments.output is not None:
        return Path(arguments.output)
    if arguments.quick or is_partial(arguments):
        return Path(arguments.root) / "build/bench-report"
    return Path(arguments.root) / "docs"


def micro_min_time(arguments: argparse.Namespace) -> float:
    return 0.01 if arguments.quick or arguments.seconds else 0.05


def wants_micro(arguments: argparse.Namespace) -> bool:
    return matches(MICRO, arguments.only) and micro_program(arguments.build).exists()


def print_list(arguments: argparse.Namespace, cases: list[Case]) -> None:
    for case in cases:
        keys = [subject.key for subject in runnable(arguments.build, case)]
        _, seconds = estimate_of(arguments.build, [case])
        print(f"{case.key:18} {duration(seconds):>6}  {case.title}\n{'':27}{' '.join(keys)}")
    print(f"{MICRO:18} {'':6}  parts without sockets (Google Benchmark)")
    missing = missing_programs(arguments.build, cases)
    if missing:
        print(f"programs not built: {', '.join(missing)}")


def measure_micro(session: Session, arguments: argparse.Namespace, progress: Progress) -> list[Row]:
    progress.starts("parts without sockets")
    try:
        rows = run_micro(arguments.build, micro_min_time(arguments))
    except (MicroError, OSError) as error:
        session.skip(f"bench_micro: {error}")
        return []
    progress.say(f"\nParts without sockets\n{as_text(micro_table(rows))}")
    return rows


def _draw(report_cases: list[Case], found: Aggregates, folder: Path) -> list[tuple[str, str]]:
    try:
        import plots  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("no plots: python3-matplotlib is not installed (scripts/bootstrap --bench)")
        return []
    return [(plot.file, plot.title) for plot in plots.draw(report_cases, found, folder)]


def _remove_old_plots(folder: Path) -> None:
    """Those of the last report that this one may not have; nobody else's files."""
    try:
        last = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        names = [str(file) for file, _ in last["plots"]]
    except (OSError, KeyError, TypeError, ValueError):
        return
    for name in names:
        if name == Path(name).name and name.endswith(".svg"):
            (folder / name).unlink(missing_ok=True)


def _as_json(report: Report, session: Session) -> dict[str, Any]:
    return {
        "quick": report.quick,
        "minutes": round(report.minutes, 1),
        "machine": report.machine,
        "targets": targets.as_json(report.verdicts),
        "cases": [asdict(case) for case in report.cases],
        "aggregates": report.aggregates.as_json(),
        "results": session.outcome.results,
        "micro": report.micro,
        "plots": report.plots,
        "long_link": session.outcome.link,
        "failures": [asdict(failure) for failure in report.failures],
        "skipped": report.skipped,
    }


def write_report(report: Report, session: Session, output: Path, root: Path) -> None:
    folder = output / PLOT_FOLDER
    private = private_texts(root)
    texts = {
        folder / "results.json": json.dumps(_as_json(report, session), indent=1) + "\n",
        folder / "index.html": page(report),
        output / "benchmarks.md": markdown(report, PLOT_FOLDER),
    }
    for path, text in texts.items():
        path.write_text(scrub(text, private), encoding="utf-8")


def _shown(path: Path, root: Path) -> str:
    absolute = path.resolve()
    return str(absolute.relative_to(root)) if absolute.is_relative_to(root) else str(absolute)


def announce(arguments: argparse.Namespace, cases: list[Case]) -> Progress:
    runs, seconds = estimate_of(arguments.build, cases)
    if wants_micro(arguments):
        seconds += micro_min_time(arguments) * SECONDS_PER_MIN_TIME
    seconds += REPORT_SECONDS
    print(f"{len(cases)} patterns, {runs} runs, about {seconds / 60:.1f} minutes", flush=True)
    return Progress(runs, seconds)


def measure_all(arguments: argparse.Namespace, cases: list[Case]) -> int:
    machine = describe(arguments.root, arguments.build)
    obstacle = long_link_obstacle(arguments.build) if any(c.long_link for c in cases) else None
    if obstacle is not None:
        cases = [case for case in cases if not case.long_link]
    progress = announce(arguments, cases)
    session = Session(arguments.root, arguments.build, progress)
    if obstacle is not None:
        session.skip(f"long link: {obstacle}")
    for program in missing_programs(arguments.build, cases):
        session.program_missing(program)
    session.run(cases)
    micro = measure_micro(session, arguments, progress) if wants_micro(arguments) else []
    aggregates = Aggregates(session.outcome.results)
    verdicts = targets.judge_all(aggregates)
    progress.say(f"\nTargets\n{as_text(targets_table(verdicts))}")

    output = output_folder(arguments)
    folder = output / PLOT_FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    _remove_old_plots(folder)
    plots = _draw(cases, aggregates, folder)
    report = Report(machine, cases, aggregates, verdicts, micro, plots,
                    session.outcome.failures, session.outcome.skipped,
                    arguments.quick, is_partial(arguments), progress.elapsed / 60)  # fmt: skip
    write_report(report, session, output, arguments.root)
    place = _shown(output, arguments.root.resolve())
    print(f"\n{duration(progress.elapsed)} minutes; report: {place}/benchmarks.md and "
          f"{place}/{PLOT_FOLDER}/index.html")  # fmt: skip
    for failure in {(f.subject, f.case): f for f in session.outcome.failures}.values():
        print(f"FAILED: {failure.subject}, {failure.case}: {failure.message.splitlines()[0]}")
    return 1 if session.failed else 0


def main() -> int:
    arguments = parse_arguments()
    cases = all_cases(arguments.quick, arguments.rounds, arguments.seconds)
    cases = select_cases(cases, arguments.only, arguments.peers)
    if arguments.list:
        print_list(arguments, cases)
        return 0
    # Ends in the usual way, so that the processes under test are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    raise_file_limit()
    try:
        return measure_all(arguments, cases)
    except KeyboardInterrupt:
        print("\ninterrupted; no report was written", file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == "__main__":
    sys.exit(main())
