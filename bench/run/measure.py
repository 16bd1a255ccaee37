"""Runs one measurement: the server process, the client process, and what the client printed."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from patterns import Case, Subject

START_TIMEOUT = 10.0
# What a run may take beyond the time measured: starting, connecting, draining, stopping.
MARGIN = 20.0
STOP_TIMEOUT = 5.0
TAIL_LINES = 6
REFUSAL = "this peer "


class MeasureError(Exception):
    """The run gave no result."""

    def __init__(self, message: str, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out


class NotOffered(Exception):
    """The peer's program says that it does not do this pattern."""


@dataclass(frozen=True)
class Place:
    """Where the two processes run: words before their commands, and the server's address."""

    server_prefix: list[str] = field(default_factory=list)
    client_prefix: list[str] = field(default_factory=list)
    host: str | None = None


def raise_file_limit() -> None:
    """Lets the processes have a connection to each of a thousand clients."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65536 if hard == resource.RLIM_INFINITY else hard
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def program_path(build: Path, subject: Subject) -> Path:
    return build / "bench" / f"bench_{subject.program}"


def _environment(build: Path) -> dict[str, str]:
    environment = dict(os.environ)
    counter = build / "bench" / "libbench_syscall_counter.so"
    if counter.exists():
        environment["LD_PRELOAD"] = str(counter)
    return environment


def kill_group(process: subprocess.Popen[str]) -> None:
    """Ends a process and those it started (a broker)."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _tail(file: IO[str]) -> str:
    file.seek(0)
    return "\n".join(file.read().splitlines()[-TAIL_LINES:])


def _read_ports(server: subprocess.Popen[str], errors: IO[str]) -> list[str]:
    """The line a server prints when it listens."""
    assert server.stdout is not None
    # Reading has no timeout of its own; the end of the process ends it.
    guard = threading.Timer(START_TIMEOUT, kill_group, [server])
    guard.start()
    try:
        words = server.stdout.readline().split()
    finally:
        guard.cancel()
    if len(words) != 2:
        text = _tail(errors)
        if REFUSAL in text:
            raise NotOffered(text)
        raise MeasureError("the server does not listen")
    return words


def _parse(output: str) -> dict[str, Any]:
    try:
        result = json.loads(output.strip().splitlines()[-1])
        # What no table can do without.
        result["rate"] + result["lost"] + result["client"]["cpu_seconds"]
        result["server"]["cpu_seconds"] + result["messages"]
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise MeasureError(f"no result in what the client printed ({error!r})") from None
    if result["messages"] == 0:
        raise MeasureError("no message got through")
    return result


def _run_client(command: list[str], environment: dict[str, str], deadline: float) -> dict[str, Any]:
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        client = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            output, _ = client.communicate(timeout=deadline)
        except subprocess.TimeoutExpired:
            message = f"not done after {deadline:g} s\n{_tail(errors)}".rstrip()
            raise MeasureError(message, timed_out=True) from None
        finally:
            kill_group(client)
            if client.stdout is not None:
                client.stdout.close()
        text = _tail(errors)
    if client.returncode != 0:
        if REFUSAL in text:
            raise NotOffered(text)
        raise MeasureError(f"the client's exit code is {client.returncode}\n{text}".rstrip())
    return _parse(output)


def _stop(server: subprocess.Popen[str]) -> None:
    """Lets the server end by itself, as it does when its client is gone."""
    try:
        server.wait(STOP_TIMEOUT)
    except subprocess.TimeoutExpired:
        pass
    kill_group(server)
    if server.stdout is not None:
        server.stdout.close()


def measure(build: Path, case: Case, subject: Subject, place: Place) -> dict[str, Any]:
    """One measurement; the result is what the client printed."""
    program = str(program_path(build, subject))
    arguments = case.arguments(subject)
    if place.host is not None:
        arguments += ["--host", place.host]
    core = str(max(os.sched_getaffinity(0)))
    pin = ["taskset", "-c", core] if case.pinned else []
    environment = _environment(build)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        server = subprocess.Popen(
            [*place.server_prefix, *pin, program, "server", *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
            start_new_session=True,
        )
        try:
            port, control_port = _read_ports(server, errors)
            command = [*place.client_prefix, *pin, program, "client", "--port", port]
            command += ["--control-port", control_port, *arguments]
            deadline = 2 * (case.measured_seconds + case.warm_up_seconds) + MARGIN
            result = _run_client(command, environment, deadline)
        except MeasureError as error:
            said = _tail(errors)
            text = f"{error}\nthe server says: {said}" if said else str(error)
            raise MeasureError(text, error.timed_out) from None
        finally:
            _stop(server)
    return result
