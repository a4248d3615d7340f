"""Why an event's time keeps it out of a run: the reasons that dead letters give, times as results show them."""

from __future__ import annotations

from typing import Final

from scepter.timeline import TimeKind, format_instant

_SECOND: Final = 1_000_000
"""Ticks of a second, where times are dateTimes."""


def late(end: int, watermark: int, kind: TimeKind) -> str:
    """An event behind the watermark.

    >>> late(1_767_225_610_000_000, 1_767_225_670_000_000, TimeKind.DATETIME)
    'late: 2026-01-01T00:00:10Z is behind the watermark 2026-01-01T00:01:10Z'
    """
    return f"late: {format_instant(end, kind)} is behind the watermark {format_instant(watermark, kind)}"


def ahead(end: int, kind: TimeKind) -> str:
    """An event in the future."""
    return f"{format_instant(end, kind)} is too far ahead of the clock (--max-future)"


def too_many_rows(end: int, most: int, kind: TimeKind) -> str:
    """An event of which a pattern makes more rows than an operator may make at one instant.

    >>> too_many_rows(7, 1_000_000, TimeKind.INTEGER)
    'of the event at 7 alone an operator makes more than 1000000 rows (--max-runs)'
    """
    return f"of the event at {format_instant(end, kind)} alone an operator makes more than {most} rows (--max-runs)"


def unconfirmed(end: int, limit: int, kind: TimeKind) -> str:
    """An event that alone would move time on by more than a limit.

    >>> unconfirmed(1_767_225_610_000_000, 90_000_000, TimeKind.DATETIME)
    '2026-01-01T00:00:10Z would move time on by more than 90 s (--max-advance), and no other event confirms it'
    """
    shown = str(limit) if kind is TimeKind.INTEGER else f"{limit / _SECOND:g} s"
    return (
        f"{format_instant(end, kind)} would move time on by more than {shown} (--max-advance), and no other event confirms it"
    )
