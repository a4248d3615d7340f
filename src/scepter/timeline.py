"""Time: instants as 64-bit integers, the two kinds of timelines, durations in every spelling, Allen's relations.

An instant is an integer. On a `DATETIME` timeline it counts microseconds since the epoch; on an `INTEGER` timeline it is
the integer literal itself, a count of time units (spec/00-model §1).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Protocol, TypeAlias

MICROSECONDS = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
TIME_UNITS = tuple(MICROSECONDS)
MIN_INSTANT = -(2**63) + 1
MAX_INSTANT = 2**63 - 1
LAST_INSTANT = 2**63 - 4
"""The greatest time that an event may have, and the least with its sign changed: beyond are the marks of time's end."""

_UNIT_NAMES = {
    "us": "us", "microsecond": "us", "microseconds": "us",
    "ms": "ms", "millisecond": "ms", "milliseconds": "ms",
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "m": "min", "min": "min", "mins": "min", "minute": "min", "minutes": "min",
    "h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "d": "d", "day": "d", "days": "d",
}  # fmt: skip
# ASCII throughout: \d alone would take the digits of every script. Digits are bounded, so that int() stays quick.
_CLOCK = re.compile(r"(-?P(?:[0-9]+[YMWD])*?)(?=[0-9.]+[HS])")
"""Where a T is missing before hours or seconds."""
_SPELLINGS = "write for example 30s, 5 min, PT5M, or a bare number"
_DURATION = re.compile(r"\s*(\d{1,30}(?:\.\d{1,30})?)\s*([A-Za-z]*)\s*\Z", re.ASCII)
_ISO_DURATION = re.compile(
    r"\s*P(?:(\d{1,30})W)?(?:(\d{1,30})D)?"
    r"(?:T(?=\d)(?:(\d{1,30})H)?(?:(\d{1,30})M)?(?:(\d{1,30})(?:\.(\d{1,30}))?S)?)?\s*\Z",
    re.IGNORECASE | re.ASCII,
)
_CALENDAR_DURATION = re.compile(r"\s*P(?=[\d.DT]*\d[YM])", re.IGNORECASE | re.ASCII)
_DATETIME = re.compile(
    r"(-?(?:[1-9]\d{4,}|\d{4}))-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?\Z", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CYCLE = 146_097 * MICROSECONDS["d"]
"""400 years: after them the Gregorian calendar repeats."""


class TimeKind(Enum):
    """The two kinds of timestamps; one query sees one kind."""

    DATETIME = "dateTime"
    INTEGER = "integer"


@dataclass(frozen=True, slots=True)
class Duration:
    """A span of time as written: of a length in microseconds, or a bare count of time units."""

    amount: int
    bare: bool = False

    def ticks(self, kind: TimeKind, time_unit: str) -> int:
        """The duration in ticks of a timeline.

        >>> Duration(2_000_000).ticks(TimeKind.INTEGER, "ms")
        2000
        >>> Duration(5, bare=True).ticks(TimeKind.DATETIME, "s")
        5000000

        A duration that is no whole number of time units, or too long for the timeline, raises ValueError.
        """
        unit = MICROSECONDS[time_unit]
        if kind is TimeKind.DATETIME:
            return _within_bounds(self.amount * unit, str(self)) if self.bare else self.amount
        if self.bare:
            return self.amount
        if self.amount % unit:
            raise ValueError(f"{self} is no whole number of time units of 1 {time_unit}")
        return self.amount // unit

    def __str__(self) -> str:
        if self.bare:
            return f"{self.amount} time units"
        for unit in reversed(TIME_UNITS):
            if self.amount % MICROSECONDS[unit] == 0:
                return f"{self.amount // MICROSECONDS[unit]} {unit}"
        return f"{self.amount} us"


def _within_bounds(amount: int, text: str) -> int:
    if amount > MAX_INSTANT:
        raise ValueError(f"{text} is longer than any timeline (64 bits of microseconds, 292,000 years)")
    return amount


def with_clock(text: str) -> str:
    """What may be meant by an ISO 8601 duration that lacks its T.

    >>> with_clock("P1H"), with_clock("p1d2h"), with_clock("PT5M")
    ('PT1H', 'P1DT2H', 'PT5M')
    """
    return _CLOCK.sub(r"\1T", text.upper(), count=1)


def parse_duration(text: str) -> Duration:
    """A duration in any spelling the languages use: `30 MINUTES`, `5s`, `3000ms`, `1H`, `5 min`, `PT5S`, `P30D`, `100`.

    >>> parse_duration("5m") == parse_duration("PT5M") == parse_duration("5 minutes")
    True
    >>> parse_duration("100")
    Duration(amount=100, bare=True)

    Raises ValueError with a message for people.
    """
    if iso := _ISO_DURATION.match(text):
        return Duration(_iso_microseconds(text, iso))
    shown = _abridged(text)
    if _CALENDAR_DURATION.match(text):
        raise ValueError(f"{shown} has no fixed length: months and years differ; write days")
    if (match := _DURATION.match(text)) is None:
        meant = with_clock(text)
        advice = f"write {meant}: hours, minutes and seconds stand behind a T" if _ISO_DURATION.match(meant) else _SPELLINGS
        raise ValueError(f"{shown} is no duration; {advice}")
    number, unit = match.groups()
    if not unit:
        if "." in number:
            raise ValueError(f"a duration without a unit counts whole time units, and {number} is none")
        return Duration(_within_bounds(int(number), shown), bare=True)
    name = _UNIT_NAMES.get(unit.lower())
    if name is None:
        raise ValueError(f"{unit!r} is no unit of time; the units are us, ms, s, min, h, d and their long names")
    whole, _, fraction = number.partition(".")
    return Duration(_within_bounds(_scaled(whole, fraction, MICROSECONDS[name], shown), shown))


def _scaled(whole: str, fraction: str, unit: int, shown: str) -> int:
    amount, rest = divmod(int(whole + fraction) * unit, int("1" + "0" * len(fraction)))
    if rest:
        raise ValueError(f"{shown} is finer than a microsecond")
    return amount


def _iso_microseconds(text: str, match: re.Match[str]) -> int:
    shown = _abridged(text)
    if not any(match.groups()):
        raise ValueError(f"{shown} is no duration: nothing follows the P")
    weeks, days, hours, minutes, seconds = match.groups(default="0")[:5]
    total = ((int(weeks) * 7 + int(days)) * 24 + int(hours)) * 60 + int(minutes)
    return _within_bounds(total * 60_000_000 + _scaled(seconds, match.group(6) or "", 1_000_000, shown), shown)


def _abridged(text: str) -> str:
    """What the user wrote, for a message; not ten megabytes of it."""
    stripped = text.strip()
    return repr(stripped if len(stripped) <= 60 else stripped[:59] + "…")


def parse_datetime(lexical: str) -> int:
    """Microseconds since the epoch of an xsd:dateTime; without a time zone it is taken as UTC.

    >>> parse_datetime("2026-01-01T01:05:00+01:00") == parse_datetime("2026-01-01T00:05:00Z")
    True

    Digits beyond the microsecond are cut off. The years are 1 to 9999. Raises ValueError.
    """
    shown = _abridged(lexical)
    if (match := _DATETIME.match(lexical)) is None:
        raise ValueError(f"{shown} is no xsd:dateTime")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    if len(year) > 4 or year == "0000":
        raise ValueError(f"{shown} is outside the years 1 to 9999")
    end_of_day = hour == "24"
    if end_of_day and (minute, second, (fraction or "").strip("0")) != ("00", "00", ""):
        raise ValueError(f"{shown} is no xsd:dateTime: 24:00:00 is the only time of hour 24")
    try:
        moment = datetime(int(year), int(month), int(day), 0 if end_of_day else int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError as error:
        raise ValueError(f"{shown} is no xsd:dateTime: {error}") from None
    delta = moment - _EPOCH + timedelta(days=int(end_of_day)) - _offset(zone, shown)
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0"))


def _offset(zone: str | None, shown: str) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta()
    offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[4:6]))
    if offset > timedelta(hours=14) or int(zone[4:6]) > 59:
        raise ValueError(f"{shown} is no xsd:dateTime: time zones reach from -14:00 to +14:00")
    return -offset if zone[0] == "-" else offset


def instant_of(given: int | str | datetime) -> tuple[int, TimeKind]:
    """A time as a program gives it; a datetime without a zone is UTC. Raises ValueError."""
    if not isinstance(given, datetime):
        return parse_instant(str(given))
    aware = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
    return (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1), TimeKind.DATETIME


def format_instant(instant: int, kind: TimeKind) -> int | str:
    """An instant as results show it: the integer, or ISO 8601 in UTC.

    >>> format_instant(1_767_225_610_000_000, TimeKind.DATETIME)
    '2026-01-01T00:00:10Z'
    """
    if kind is TimeKind.INTEGER:
        return instant
    # A window may close after the year 9999, where datetime ends: every instant of 64 bits has to be shown.
    cycles = instant // _CYCLE
    moment = _EPOCH + timedelta(microseconds=instant - cycles * _CYCLE)
    year = moment.year + 400 * cycles
    text = f"{'-' if year < 0 else ''}{abs(year):04d}-{moment:%m-%dT%H:%M:%S}"
    return f"{text}.{moment.microsecond:06d}".rstrip("0") + "Z" if moment.microsecond else f"{text}Z"


def parse_instant(text: str) -> tuple[int, TimeKind]:
    """An instant as written on the command line or in a case file: an integer or an ISO 8601 dateTime."""
    stripped = text.strip()
    if re.fullmatch(r"[+-]?[0-9]+", stripped):
        value = int(stripped) if len(stripped) < 1_000 else MAX_INSTANT + 1
        if abs(value) > LAST_INSTANT:
            raise ValueError(f"{_abridged(text)} does not fit into 64 bits: times reach to 2^63 - 4")
        return value, TimeKind.INTEGER
    return parse_datetime(stripped), TimeKind.DATETIME


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed interval; an instant has equal ends."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise ValueError(f"an interval ends before it starts: {self.start} > {self.end}")

    def hull(self, other: Interval) -> Interval:
        """The least interval that covers both."""
        return Interval(min(self.start, other.start), max(self.end, other.end))


class Spanned(Protocol):
    """What has an interval."""

    @property
    def start(self) -> int: ...  # noqa: D102
    @property
    def end(self) -> int: ...  # noqa: D102


OnEnds: TypeAlias = Callable[[int, int, int, int], bool]
"""(start, end, other start, other end) -> whether a relation holds."""


class Allen(Enum):
    """Allen's thirteen relations, on endpoints as they stand (an instant has equal endpoints)."""

    BEFORE = "BEFORE"
    AFTER = "AFTER"
    MEETS = "MEETS"
    METBY = "METBY"
    OVERLAPS = "OVERLAPS"
    OVERLAPPEDBY = "OVERLAPPEDBY"
    STARTS = "STARTS"
    STARTEDBY = "STARTEDBY"
    DURING = "DURING"
    CONTAINS = "CONTAINS"
    FINISHES = "FINISHES"
    FINISHEDBY = "FINISHEDBY"
    EQUALS = "EQUALS"

    def holds(self, a: Spanned, b: Spanned) -> bool:
        """Whether `a RELATION b`.

        >>> Allen.DURING.holds(Interval(3, 5), Interval(1, 9))
        True
        """
        return _ON_ENDS[self](a.start, a.end, b.start, b.end)

    @property
    def inverse(self) -> Allen:
        """`a RELATION b` is `b INVERSE a`.

        >>> Allen.DURING.inverse.value
        'CONTAINS'
        """
        return _INVERSE[self]


_ON_ENDS: dict[Allen, OnEnds] = {
    Allen.BEFORE: lambda a, b, c, d: b < c,
    Allen.AFTER: lambda a, b, c, d: d < a,
    Allen.MEETS: lambda a, b, c, d: b == c,
    Allen.METBY: lambda a, b, c, d: d == a,
    Allen.OVERLAPS: lambda a, b, c, d: a < c < b < d,
    Allen.OVERLAPPEDBY: lambda a, b, c, d: c < a < d < b,
    Allen.STARTS: lambda a, b, c, d: a == c and b < d,
    Allen.STARTEDBY: lambda a, b, c, d: a == c and d < b,
    Allen.DURING: lambda a, b, c, d: c < a and b < d,
    Allen.CONTAINS: lambda a, b, c, d: a < c and d < b,
    Allen.FINISHES: lambda a, b, c, d: c < a and b == d,
    Allen.FINISHEDBY: lambda a, b, c, d: a < c and b == d,
    Allen.EQUALS: lambda a, b, c, d: a == c and b == d,
}
_PAIRS = (
    (Allen.BEFORE, Allen.AFTER), (Allen.MEETS, Allen.METBY), (Allen.OVERLAPS, Allen.OVERLAPPEDBY), (Allen.EQUALS, Allen.EQUALS),
    (Allen.STARTS, Allen.STARTEDBY), (Allen.DURING, Allen.CONTAINS), (Allen.FINISHES, Allen.FINISHEDBY),
)  # fmt: skip
_INVERSE = dict(_PAIRS) | {other: relation for relation, other in _PAIRS}
