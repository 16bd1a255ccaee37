"""Measures all cases in turn and collects what comes out."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aggregate import Aggregates, Failure, Outcome
from machine import private_texts, scrub
from measure import MeasureError, NotOffered, Place, measure, program_path
from patterns import LONG_LINK, OURS, RAW, SUBJECTS, Case, Subject, offers
from progress import Progress
from tables import as_text, case_table

# Failures of a subject in one case after which its other rounds are left out, and time-outs after
# which all its cases are: a peer that hangs must not take the time of the others.
FAILURES_PER_CASE = 2
TIMEOUTS_PER_SUBJECT = 3


def is_critical(subject: Subject) -> bool:
    """Whether a failure makes the whole command fail."""
    return subject.is_ours or subject.key == RAW


def runnable(build: Path, case: Case) -> list[Subject]:
    """The subjects of a case that have a program and do what the case asks."""
    subjects = [SUBJECTS[key] for key in case.subjects]
    return [
        subject
        for subject in subjects
        if offers(subject, case.pattern) and program_path(build, subject).exists()
    ]


def missing_programs(build: Path, cases: list[Case]) -> list[str]:
    programs = {SUBJECTS[key].program for case in cases for key in case.subjects}
    paths = {program: build / "bench" / f"bench_{program}" for program in programs}
    return sorted(program for program, path in paths.items() if not path.exists())


def estimate_of(build: Path, cases: list[Case]) -> tuple[int, float]:
    """How many runs there are and the seconds they take."""
    runs = [(case, subject) for case in cases for subject in runnable(build, case)]
    count = sum(case.rounds for case, _ in runs)
    return count, sum(case.rounds * case.estimate(subject) for case, subject in runs)


def long_link_obstacle(build: Path) -> str | None:
    """Why the long link cannot be measured here; None when it can."""
    try:
        from long_link import LongLink  # pylint: disable=import-outside-toplevel
    except ImportError:
        return "bench/run/long_link.py is missing"
    available, reason = LongLink.available(build)
    return None if available else str(reason)


class Session:
    """One run of the command."""

    def __init__(self, root: Path, build: Path, progress: Progress) -> None:
        self.outcome = Outcome()
        self.failed = False
        self._build = build
        self._progress = progress
        self._private = private_texts(root)
        self._failures: Counter[tuple[str, str]] = Counter()
        self._timeouts: Counter[str] = Counter()

    def run(self, cases: list[Case]) -> None:
        for case in cases:
            if not case.long_link:
                self._run_case(case, Place())
        long_cases = [case for case in cases if case.long_link]
        if long_cases:
            self._run_long(long_cases)

    def skip(self, reason: str) -> None:
        text = scrub(reason, self._private)
        self.outcome.skipped.append(text)
        self._progress.say(f"skipped: {text}")

    def program_missing(self, program: str) -> None:
        self.skip(f"{program}: there is no program bench_{program}")
        self.failed = self.failed or program in (OURS, RAW)

    def _run_long(self, cases: list[Case]) -> None:
        with contextlib.ExitStack() as stack:
            try:
                from long_link import LongLink  # pylint: disable=import-outside-toplevel

                link = stack.enter_context(LongLink(self._build, **LONG_LINK))
            # Whatever it is, the other results are not to be lost for it.
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.skip(f"long link: {error!r}")
                return
            place = Place(
                list(link.server_prefix), list(link.client_prefix), str(link.server_address)
            )
            for case in cases:
                self._run_case(case, place)
        # The link counts until it is taken down.
        self.outcome.link = link.statistics()
        for direction, counters in self.outcome.link.items():
            if not isinstance(counters, dict):
                continue
            dropped = counters.get("kernel_dropped", 0) + counters.get("overrun", 0)
            if dropped:
                text = f"long link, {direction}: the relay was too slow for {dropped} packets, "
                self._progress.say(f"{text}they count as lost on the link")

    def _run_case(self, case: Case, place: Place) -> None:
        for subject, number in self._turns(case):
            self._progress.starts(f"{case.title}: {subject.label}, round {number + 1}")
            if not self._given_up(case, subject):
                self._measure(case, subject, place)
            self._progress.done(case.estimate(subject))
        table = case_table(case, Aggregates(self.outcome.results))
        self._progress.pattern_done(case.title, as_text(table))

    def _turns(self, case: Case) -> Iterator[tuple[Subject, int]]:
        """A B C, A B C, ...: what slows the machine for a while slows all of them."""
        subjects = runnable(self._build, case)
        for number in range(case.rounds):
            for subject in subjects:
                yield subject, number

    def _given_up(self, case: Case, subject: Subject) -> bool:
        return (
            self._failures[case.key, subject.key] >= FAILURES_PER_CASE
            or self._timeouts[subject.key] >= TIMEOUTS_PER_SUBJECT
        )

    def _measure(self, case: Case, subject: Subject, place: Place) -> None:
        try:
            result = measure(self._build, case, subject, place)
        except NotOffered as error:
            self._failures[case.key, subject.key] = FAILURES_PER_CASE
            if is_critical(subject):
                self._fail(case, subject, str(error))
            else:
                self.skip(f"{subject.label}, {case.title}: the peer does not offer it")
        except MeasureError as error:
            self._failures[case.key, subject.key] += 1
            self._timeouts[subject.key] += error.timed_out
            self._fail(case, subject, str(error))
        except OSError as error:
            self._failures[case.key, subject.key] += 1
            self._fail(case, subject, f"cannot be started: {error}")
        else:
            self.outcome.add(case.key, subject.key, result)
            if result["lost"] and is_critical(subject):
                text = f"lost {result['lost']} of {result['lost'] + result['messages']} messages"
                self._fail(case, subject, text)

    def _fail(self, case: Case, subject: Subject, message: str) -> None:
        text = scrub(message, self._private)
        self.outcome.failures.append(Failure(case.key, subject.key, text))
        self.failed = self.failed or is_critical(subject)
        self._progress.say(f"FAILED: {subject.label}, {case.title}: {text}")
