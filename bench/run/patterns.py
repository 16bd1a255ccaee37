"""What is measured: subjects (programs with arguments) and cases (patterns of work)."""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass, replace

OURS = "ntcpmsg"
CABLE = "ntcpmsg-cable6"
RAW = "raw"


@dataclass(frozen=True)
class Subject:
    """One peer in one configuration; `program` is the part after bench_."""

    key: str
    label: str
    program: str
    arguments: tuple[str, ...] = ()
    # Starting it takes that much longer than the others take.
    extra_seconds: float = 0.0

    @property
    def is_ours(self) -> bool:
        return self.program == OURS


def _cable(links: int) -> Subject:
    return Subject(
        f"ntcpmsg-cable{links}", f"ntcpmsg cable of {links}", OURS, ("--links", str(links))
    )


SUBJECTS: dict[str, Subject] = {
    subject.key: subject
    for subject in (
        Subject(OURS, "ntcpmsg single", OURS),
        _cable(2),
        _cable(6),
        _cable(12),
        Subject(RAW, "raw sockets", "raw"),
        Subject("naive", "naive sockets", "naive"),
        Subject("asio", "Boost.Asio", "asio"),
        Subject("zmq", "ZeroMQ", "zmq"),
        Subject("nng", "nng", "nng"),
        Subject("nanomsg", "nanomsg", "nanomsg"),
        Subject("nats", "NATS", "nats", (), 0.3),
        Subject("grpc", "gRPC", "grpc", (), 0.1),
    )
}

EVERYONE = (OURS, CABLE, RAW, "naive", "asio", "zmq", "nng", "nanomsg", "nats", "grpc")
SINGLES = tuple(key for key in EVERYONE if key != CABLE)

# What the programs offer that cannot wait for a reply beside a bulk transfer; one that is not named
# here offers all. A program that is asked for another pattern says so ("this peer does not ..."),
# which is no failure, but takes time.
_USUAL = frozenset({"one-way", "echo-blocking", "echo-window", "fan-out"})
OFFERS: dict[str, frozenset[str]] = dict.fromkeys(
    ("raw", "naive", "asio", "zmq", "nng", "nanomsg", "nats"), _USUAL
)


def offers(subject: Subject, pattern: str) -> bool:
    return subject.program not in OFFERS or pattern in OFFERS[subject.program]


@dataclass(frozen=True)
class Case:
    """One pattern of work with all its numbers; a table in the report."""

    key: str
    title: str
    pattern: str
    subjects: tuple[str, ...]
    size: int
    threads: int = 1
    connections: int = 1
    window: int | None = None
    # Both processes on one core, so that a round trip does not depend on how cores wake each other.
    pinned: bool = False
    long_link: bool = False
    # What the subjects are compared by: "rate" or, where the rate is given by the pace, "p99".
    metric: str = "rate"
    # The subject that the others are compared with.
    reference: str = OURS
    # Multiplies the time measured, and what starting and stopping take.
    time_factor: float = 1.0
    overhead_seconds: float = 0.12
    rounds: int = 5
    seconds: float = 0.25

    @property
    def measured_seconds(self) -> float:
        return self.seconds * self.time_factor

    @property
    def warm_up_seconds(self) -> float:
        return 0.4 * self.measured_seconds

    def arguments(self, subject: Subject) -> list[str]:
        words = ["--pattern", self.pattern, "--size", str(self.size)]
        words += ["--threads", str(self.threads), "--connections", str(self.connections)]
        if self.window is not None:
            words += ["--window", str(self.window)]
        words += ["--seconds", f"{self.measured_seconds:g}"]
        words += ["--warm-up", f"{self.warm_up_seconds:g}"]
        return [*words, *subject.arguments]

    def estimate(self, subject: Subject) -> float:
        """Seconds that one measurement takes, about."""
        return (
            self.measured_seconds
            + self.warm_up_seconds
            + self.overhead_seconds
            + subject.extra_seconds
        )


def size_text(size: int) -> str:
    return f"{size // 1024} KiB" if size >= 1024 else f"{size} B"


def one_way_key(size: int, threads: int) -> str:
    return f"one-way-{size}x{threads}"


def _one_way(size: int, threads: int, subjects: tuple[str, ...]) -> Case:
    plural = "thread" if threads == 1 else "threads"
    title = f"One way, {size_text(size)}, {threads} {plural}"
    return Case(one_way_key(size, threads), title, "one-way", subjects, size, threads)


def _echoes(subjects: tuple[str, ...]) -> list[Case]:
    cable_too = (OURS, CABLE, *(key for key in subjects if key != OURS))
    return [
        Case(
            "echo-1",
            "Echo, 32 B, 1 in flight, both processes on one core",
            "echo-blocking",
            subjects,
            32,
            pinned=True,
        ),
        Case(
            "echo-32-threads",
            "Echo, 32 B, 32 blocking threads on one connection",
            "echo-blocking",
            subjects,
            32,
            threads=32,
        ),
        Case(
            "echo-256",
            "Echo, 32 B, 256 in flight on one connection",
            "echo-window",
            cable_too,
            32,
            window=256,
        ),
        Case(
            "echo-4x256",
            "Echo, 32 B, 4 connections with 256 in flight each",
            "echo-window",
            subjects,
            32,
            connections=4,
            window=256,
        ),
    ]


def _fan_out(clients: int, subjects: tuple[str, ...], overhead: float) -> Case:
    return Case(
        f"fan-out-{clients}",
        f"Fan-out, 64 B to {clients} clients",
        "fan-out",
        subjects,
        64,
        connections=clients,
        window=64,
        time_factor=2.0,
        overhead_seconds=overhead,
    )


def _beside_bulk() -> Case:
    return Case(
        "beside-bulk",
        "Small requests beside a bulk transfer of 64 KiB messages",
        "beside-bulk",
        (OURS, CABLE, "grpc"),
        65536,
        metric="p99",
        reference=CABLE,
        time_factor=4.0,
    )


def _long_link(quick: bool) -> list[Case]:
    cables = (OURS, CABLE) if quick else (OURS, "ntcpmsg-cable2", CABLE, "ntcpmsg-cable12")
    # Slow start takes seconds there, and what is queued when the time is up takes some more.
    common = {"long_link": True, "reference": CABLE, "time_factor": 20.0, "overhead_seconds": 6.0}
    return [
        Case("long-one-way", "Long link, one way, 8 KiB", "one-way", cables, 8192, **common),
        Case(
            "long-beside-bulk",
            "Long link, small requests beside a bulk transfer of 64 KiB messages",
            "beside-bulk",
            (OURS, CABLE),
            65536,
            metric="p99",
            **common,
        ),
    ]


# What LongLink is made with: the delay is that of a round trip, loss and rate of each direction.
LONG_LINK = {"delay_ms": 20, "loss": 0.001, "rate_mbit": 1000}

ONE_WAY_SIZES = (4, 16, 64, 256, 1024, 8192, 65536)
QUICK_SIZES = (4, 64, 1024, 65536)
THREADS = (1, 4)
QUICK_PEERS = (OURS, RAW, "naive", "asio", "zmq")


def all_cases(quick: bool, rounds: int | None = None, seconds: float | None = None) -> list[Case]:
    """The table of everything that is measured, in the order it is measured."""
    few = (OURS, CABLE, RAW, "zmq")
    cases = [
        _one_way(size, threads, few if quick and threads > 1 else EVERYONE)
        for threads in THREADS
        for size in (QUICK_SIZES if quick else ONE_WAY_SIZES)
    ]
    cases += _echoes(QUICK_PEERS if quick else SINGLES)
    fan_out_peers = (OURS, RAW, "zmq") if quick else SINGLES
    cases += [_fan_out(100, fan_out_peers, 0.3), _fan_out(1000, fan_out_peers, 0.8)]
    cases += [_beside_bulk(), *_long_link(quick)]
    usual_rounds = rounds or (3 if quick else 5)
    long_rounds = min(usual_rounds, 1 if quick else 3)
    usual_seconds = seconds or (0.12 if quick else 0.25)
    return [
        replace(
            case,
            rounds=long_rounds if case.long_link else usual_rounds,
            seconds=usual_seconds,
        )
        for case in cases
    ]


def matches(name: str, patterns: list[str]) -> bool:
    """Whether a beginning or a glob among `patterns` fits; all names when there are none."""
    return not patterns or any(fnmatch.fnmatch(name, pattern + "*") for pattern in patterns)


def select_cases(cases: list[Case], only: list[str], peers: list[str]) -> list[Case]:
    """The cases that `only` names with the subjects that `peers` names, without empty ones."""
    selected = []
    for case in cases:
        subjects = tuple(
            key
            for key in case.subjects
            if not peers or key in peers or SUBJECTS[key].program in peers
        )
        if subjects and matches(case.key, only):
            selected.append(replace(case, subjects=subjects))
    return selected
