"""The Google Benchmark program: parts of the library that need no socket."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

UNITS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
DEADLINE = 180.0
# What the program takes for each second of --benchmark_min_time, about.
SECONDS_PER_MIN_TIME = 60.0

Row = dict[str, float | str | None]


class MicroError(Exception):
    pass


def micro_program(build: Path) -> Path:
    return build / "bench" / "bench_micro"


def parse_micro(text: str) -> list[Row]:
    """Name, nanoseconds per item and items per second of each benchmark."""
    rows: list[Row] = []
    for entry in json.loads(text)["benchmarks"]:
        if entry.get("run_type", "iteration") != "iteration" or entry.get("error_occurred"):
            continue
        rate = entry.get("items_per_second")
        nanoseconds = entry["real_time"] * UNITS[entry.get("time_unit", "ns")]
        rows.append(
            {
                "name": entry["name"],
                "ns_per_item": 1e9 / rate if rate else nanoseconds,
                "items_per_second": rate if rate else 1e9 / nanoseconds,
            }
        )
    return rows


def run_micro(build: Path, min_time: float) -> list[Row]:
    command = [str(micro_program(build)), "--benchmark_format=json"]
    command.append(f"--benchmark_min_time={min_time:g}")
    try:
        result = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise MicroError(f"not done after {DEADLINE:g} s") from None
    if result.returncode != 0:
        raise MicroError(f"exit code {result.returncode}\n{result.stderr}".rstrip())
    try:
        return parse_micro(result.stdout)
    except (KeyError, TypeError, ValueError) as error:
        raise MicroError(f"no result in what it printed ({error!r})") from None
