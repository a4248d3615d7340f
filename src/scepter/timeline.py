"""Time: instants as 64-bit integers, the two kinds of timelines, durations in every spelling, Allen's relations.

An instant is an integer. On a `DATETIME` timeline it counts microseconds since the epoch; on an `INTEGER` timeline it is
the integer literal itself, a count of time units (spec/00-model §1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from enum import Enum

MICROSECONDS = {"us": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000, "h": 3_600_000_000, "d": 86_400_000_000}
TIME_UNITS = tuple(MICROSECONDS)
MIN_INSTANT = -(2**63) + 1
MAX_INSTANT = 2**63 - 1

_UNIT_NAMES = {
    "us": "us", "microsecond": "us", "microseconds": "us",
    "ms": "ms", "millisecond": "ms", "milliseconds": "ms",
    "s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
    "m": "min", "min": "min", "mins": "min", "minute": "min", "minutes": "min",
    "h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
    "d": "d", "day": "d", "days": "d",
}  # fmt: skip
_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*\Z")
_ISO_DURATION = re.compile(
    r"\s*P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6}))?S)?)?\s*\Z", re.IGNORECASE
)
_DATETIME = re.compile(
    r"(-?\d{4,})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?\Z",
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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

        A duration that is no whole number of time units raises ValueError.
        """
        unit = MICROSECONDS[time_unit]
        if kind is TimeKind.DATETIME:
            return self.amount * unit if self.bare else self.amount
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
    if (match := _DURATION.match(text)) is None:
        raise ValueError(f"{text.strip()!r} is no duration; write for example 30s, 5 min, PT5M, or a bare number")
    number, unit = match.groups()
    if not unit:
        if "." in number:
            raise ValueError(f"a duration without a unit counts whole time units, and {number} is none")
        return Duration(int(number), bare=True)
    name = _UNIT_NAMES.get(unit if unit in ("M",) else unit.lower())
    if name is None:
        raise ValueError(f"{unit!r} is no unit of time; the units are ms, s, min, h, d and their long names")
    whole, _, fraction = number.partition(".")
    scaled = int(whole + fraction) * MICROSECONDS[name]
    if scaled % 10 ** len(fraction):
        raise ValueError(f"{text.strip()!r} is finer than a microsecond")
    return Duration(scaled // 10 ** len(fraction))


def _iso_microseconds(text: str, match: re.Match[str]) -> int:
    if not any(match.groups()):
        raise ValueError(f"{text.strip()!r} is no duration: nothing follows the P")
    weeks, days, hours, minutes, seconds, fraction = match.groups(default="0")
    total = ((int(weeks) * 7 + int(days)) * 24 + int(hours)) * 60 + int(minutes)
    return (total * 60 + int(seconds)) * 1_000_000 + int(fraction.ljust(6, "0"))


def parse_datetime(lexical: str) -> int:
    """Microseconds since the epoch of an xsd:dateTime; without a time zone it is taken as UTC.

    >>> parse_datetime("2026-01-01T01:05:00+01:00") == parse_datetime("2026-01-01T00:05:00Z")
    True

    Digits beyond the microsecond are cut off. Raises ValueError.
    """
    if (match := _DATETIME.match(lexical)) is None:
        raise ValueError(f"{lexical!r} is no xsd:dateTime")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    end_of_day = hour == "24"
    if end_of_day and (int(minute), int(second), int(fraction or 0)) != (0, 0, 0):
        raise ValueError(f"{lexical!r} is no xsd:dateTime")
    try:
        moment = datetime(int(year), int(month), int(day), 0 if end_of_day else int(hour), int(minute), int(second))
    except ValueError as error:
        raise ValueError(f"{lexical!r} is no xsd:dateTime: {error}") from None
    aware = moment.replace(tzinfo=_zone(zone)) + timedelta(days=int(end_of_day))
    delta = aware - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + int((fraction or "0")[:6].ljust(6, "0"))


def _zone(text: str | None) -> timezone:
    if text is None or text == "Z":
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[4:6])))


def format_instant(instant: int, kind: TimeKind) -> int | str:
    """An instant as results show it: the integer, or ISO 8601 in UTC.

    >>> format_instant(1_767_225_610_000_000, TimeKind.DATETIME)
    '2026-01-01T00:00:10Z'
    """
    if kind is TimeKind.INTEGER:
        return instant
    moment = _EPOCH + timedelta(microseconds=instant)
    text = moment.strftime("%Y-%m-%dT%H:%M:%S")
    if moment.year < 1000:
        text = f"{moment.year:04d}{text[text.index('-') :]}"
    return f"{text}.{moment.microsecond:06d}".rstrip("0") + "Z" if moment.microsecond else f"{text}Z"


def parse_instant(text: str) -> tuple[int, TimeKind]:
    """An instant as written on the command line or in a case file: an integer or an ISO 8601 dateTime."""
    stripped = text.strip()
    if re.fullmatch(r"[+-]?\d+", stripped):
        value = int(stripped)
        if not MIN_INSTANT <= value <= MAX_INSTANT:
            raise ValueError(f"{stripped} does not fit into 64 bits")
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

    def holds(self, a: Interval, b: Interval) -> bool:
        """Whether `a RELATION b`.

        >>> Allen.DURING.holds(Interval(3, 5), Interval(1, 9))
        True
        """
        match self:
            case Allen.BEFORE:
                return a.end < b.start
            case Allen.MEETS:
                return a.end == b.start
            case Allen.OVERLAPS:
                return a.start < b.start < a.end < b.end
            case Allen.STARTS:
                return a.start == b.start and a.end < b.end
            case Allen.DURING:
                return b.start < a.start and a.end < b.end
            case Allen.FINISHES:
                return b.start < a.start and a.end == b.end
            case Allen.EQUALS:
                return a == b
            case _:
                return _INVERSE[self].holds(b, a)


_INVERSE = {
    Allen.AFTER: Allen.BEFORE,
    Allen.METBY: Allen.MEETS,
    Allen.OVERLAPPEDBY: Allen.OVERLAPS,
    Allen.STARTEDBY: Allen.STARTS,
    Allen.CONTAINS: Allen.DURING,
    Allen.FINISHEDBY: Allen.FINISHES,
}
