"""Tells on the terminal how far the measuring is."""

from __future__ import annotations

import sys
import time

from numbers_text import duration


class Progress:
    """A line that is written anew for each run; on anything but a terminal only what is said."""

    def __init__(self, runs: int, estimate: float) -> None:
        self._runs = runs
        self._estimate = estimate
        self._done_runs = 0
        self._done_estimate = 0.0
        self._begin = time.monotonic()
        self._live = sys.stdout.isatty()

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._begin

    @property
    def remaining(self) -> float:
        """What the table says, corrected by how long the runs so far really took."""
        pace = self.elapsed / self._done_estimate if self._done_estimate > 0 else 1.0
        # A few runs say little about the pace.
        weight = min(1.0, self._done_runs / 20)
        return (self._estimate - self._done_estimate) * (weight * pace + 1 - weight)

    def starts(self, text: str) -> None:
        if self._live:
            line = f"[{self._done_runs + 1}/{self._runs}] {duration(self.elapsed)} elapsed, "
            line += f"{duration(self.remaining)} left: {text}"
            print(f"\r\033[K{line[:110]}", end="", flush=True)

    def done(self, estimate: float, runs: int = 1) -> None:
        self._done_runs += runs
        self._done_estimate += estimate

    def say(self, text: str) -> None:
        """Prints a text that stays."""
        print(("\r\033[K" if self._live else "") + text, flush=True)

    def pattern_done(self, title: str, table: str) -> None:
        position = f"[{self._done_runs}/{self._runs}] {duration(self.elapsed)} elapsed, "
        position += f"{duration(self.remaining)} left"
        self.say(f"\n{position}: {title}\n{table}")
