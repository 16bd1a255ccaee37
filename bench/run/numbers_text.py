"""Numbers as readers see them."""

from __future__ import annotations

NOTHING = "-"


def number(value: float | None) -> str:
    """Three digits that count, all digits before the point."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) < 1:
        return f"{value:.3g}"
    return f"{value:.{1 if abs(value) >= 10 else 2}f}"


def times(value: float | None) -> str:
    if value is None:
        return NOTHING
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} x"


def short(value: float) -> str:
    """For large numbers where there is little room."""
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.3g}"


def duration(seconds: float) -> str:
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02}"
