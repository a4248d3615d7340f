"""Values of xsd:dateTime, xsd:date, xsd:time and the durations: exact, for any year, with or without a time zone.

A value without a time zone is compared as if it were in UTC: F&O compares with the implicit time zone of the evaluation,
and Scepter's is UTC everywhere (timeline.parse_datetime takes timestamps the same way). Only dates are compared more strictly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum

from scepter.rdf.values.numeric import ExpressionError, add, format_decimal, multiply, round_half_up, subtract

_ZONE = r"(Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
_DATE = r"(-?(?:[1-9][0-9]{3,}|0[0-9]{3}))-([0-9]{2})-([0-9]{2})"
_CLOCK = r"([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)"
_DATETIME_FORM = re.compile(f"{_DATE}T{_CLOCK}{_ZONE}")
_DATE_FORM = re.compile(f"{_DATE}{_ZONE}")
_TIME_FORM = re.compile(f"{_CLOCK}{_ZONE}")
_DURATION_FORM = re.compile(
    r"(-)?P(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)D)?(?:(T)(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?"
)
_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Numbers of a temporal form are bounded so that a crafted literal cannot cost more than its own length.
_MOST_DIGITS = 30


class DurationKind(Enum):
    """The three duration types; a result has the kind of its operands."""

    DURATION = "duration"
    DAY_TIME = "dayTimeDuration"
    YEAR_MONTH = "yearMonthDuration"


@dataclass(frozen=True, slots=True)
class Duration:
    """Months and seconds, both of one sign or zero."""

    months: int
    seconds: Decimal
    kind: DurationKind = DurationKind.DURATION

    def __str__(self) -> str:
        sign = "-" if self.months < 0 or self.seconds < 0 else ""
        years, months = divmod(abs(self.months), 12)
        minutes, seconds = divmod_seconds(abs(self.seconds), 60)
        hours, minutes = divmod(minutes, 60)
        days, hours = divmod(hours, 24)
        date = _fields((years, "Y"), (months, "M"), (days, "D"))
        clock = _fields((hours, "H"), (minutes, "M")) + (f"{_plain(seconds)}S" if seconds else "")
        if not date and not clock:
            return "P0M" if self.kind is DurationKind.YEAR_MONTH else "PT0S"
        return f"{sign}P{date}{'T' + clock if clock else ''}"


def day_time(seconds: Decimal) -> Duration:
    """An xsd:dayTimeDuration."""
    return Duration(0, seconds, DurationKind.DAY_TIME)


@dataclass(frozen=True, slots=True)
class DateTime:
    """A day of the proleptic Gregorian calendar (as a day number), seconds into it, and the zone in minutes, if any."""

    day: int
    seconds: Decimal
    zone: int | None

    @property
    def instant(self) -> Decimal:
        """Seconds since the epoch, in UTC."""
        return exact_sum(Decimal(self.day * 86_400 - (self.zone or 0) * 60), self.seconds)

    def __str__(self) -> str:
        return f"{_date_text(self.day)}T{_clock_text(self.seconds)}{zone_text(self.zone)}"


@dataclass(frozen=True, slots=True)
class Date:
    """A day and the zone in minutes, if any."""

    day: int
    zone: int | None

    @property
    def instant(self) -> Decimal:
        """Seconds since the epoch of its first moment, in UTC."""
        return Decimal(self.day * 86_400 - (self.zone or 0) * 60)

    def __str__(self) -> str:
        return f"{_date_text(self.day)}{zone_text(self.zone)}"


@dataclass(frozen=True, slots=True)
class Time:
    """Seconds into a day and the zone in minutes, if any."""

    seconds: Decimal
    zone: int | None

    @property
    def instant(self) -> Decimal:
        """Seconds on F&O's reference day, in UTC."""
        return exact_sum(self.seconds, Decimal(-(self.zone or 0) * 60))

    def __str__(self) -> str:
        return f"{_clock_text(self.seconds)}{zone_text(self.zone)}"


def parse_datetime(text: str) -> DateTime:
    """The value of an xsd:dateTime's lexical form. Raises ValueError.

    >>> str(parse_datetime("2026-01-31T24:00:00Z"))
    '2026-02-01T00:00:00Z'
    """
    if (match := _DATETIME_FORM.fullmatch(text)) is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, zone = match.groups()
    seconds = _clock(hour, minute, second)
    carry = 1 if seconds == 86_400 else 0
    return DateTime(_day(year, month, day) + carry, Decimal(0) if carry else seconds, _zone(zone))


def parse_date(text: str) -> Date:
    """The value of an xsd:date's lexical form. Raises ValueError."""
    if (match := _DATE_FORM.fullmatch(text)) is None:
        raise ValueError(text)
    year, month, day, zone = match.groups()
    return Date(_day(year, month, day), _zone(zone))


def parse_time(text: str) -> Time:
    """The value of an xsd:time's lexical form. Raises ValueError."""
    if (match := _TIME_FORM.fullmatch(text)) is None:
        raise ValueError(text)
    hour, minute, second, zone = match.groups()
    seconds = _clock(hour, minute, second)
    return Time(Decimal(0) if seconds == 86_400 else seconds, _zone(zone))


def parse_duration(text: str, kind: DurationKind = DurationKind.DURATION) -> Duration:
    """The value of a duration's lexical form, of the given type. Raises ValueError.

    >>> parse_duration("P1Y2M").months
    14
    """
    match = _DURATION_FORM.fullmatch(text)
    if match is None:
        raise ValueError(text)
    minus, years, months, days, mark, hours, minutes, seconds = match.groups()
    clock = (hours, minutes, seconds)
    if not any((years, months, days, *clock)) or (mark and not any(clock)):
        raise ValueError(text)
    if kind is DurationKind.DAY_TIME and (years or months):
        raise ValueError(text)
    if kind is DurationKind.YEAR_MONTH and (days or mark):
        raise ValueError(text)
    total_months = _int(years) * 12 + _int(months)
    whole = ((_int(days) * 24 + _int(hours)) * 60 + _int(minutes)) * 60
    total_seconds = exact_sum(Decimal(whole), Decimal(seconds or 0))
    return Duration(-total_months, total_seconds.copy_negate(), kind) if minus else Duration(total_months, total_seconds, kind)


def civil(day: int) -> tuple[int, int, int]:
    """Year, month and day of the month of a day number (days since 1970-01-01).

    >>> civil(0), civil(11_016)
    ((1970, 1, 1), (2000, 2, 29))
    """
    era, of_era = divmod(day + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (1 if month <= 2 else 0), month, of_year - (153 * shifted + 2) // 5 + 1


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar; the inverse of `civil`."""
    shifted_year = year - 1 if month <= 2 else year
    era, of_era = divmod(shifted_year, 400)
    of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def add_months(day: int, months: int) -> int:
    """The day number some months later, cut to the month's last day (F&O op:add-yearMonthDuration-to-dateTime)."""
    year, month, of_month = civil(day)
    years, index = divmod(month - 1 + months, 12)
    return day_number(year + years, index + 1, min(of_month, _month_length(year + years, index + 1)))


def shift_datetime(moment: DateTime, duration: Duration) -> DateTime:
    """The moment a duration later: months first, then seconds."""
    total = exact_sum(moment.seconds, duration.seconds)
    days, seconds = divmod_seconds(total, 86_400)
    return DateTime(add_months(moment.day, duration.months) + days, seconds, moment.zone)


def divmod_seconds(seconds: Decimal, unit: int) -> tuple[int, Decimal]:
    """How many whole units, rounded down, and the exact rest.

    >>> divmod_seconds(Decimal("-0.5"), 60)
    (-1, Decimal('59.5'))
    """
    whole = int(seconds) // unit
    rest = subtract(seconds, whole * unit)
    if rest < 0:
        whole, rest = whole - 1, add(rest, unit)
    assert isinstance(rest, Decimal)
    return whole, rest


def exact_sum(a: Decimal, b: Decimal) -> Decimal:
    """a + b without rounding."""
    total = add(a, b)
    assert isinstance(total, Decimal)
    return total


def less_duration(a: Duration, b: Duration) -> bool:
    """The order of durations: XSD's four reference moments must agree, else it is an error.

    >>> less_duration(parse_duration("P29D"), parse_duration("P1M"))
    Traceback (most recent call last):
    scepter.rdf.values.numeric.ExpressionError: P29D and P1M do not compare
    """
    if a.months == b.months:
        return a.seconds < b.seconds
    answers = {shift_datetime(moment, a).instant < shift_datetime(moment, b).instant for moment in _REFERENCES}
    if len(answers) > 1:
        raise ExpressionError(f"{a} and {b} do not compare")
    return answers.pop()


def scale_duration(duration: Duration, factor: Decimal) -> Duration:
    """The duration times a number; months are rounded half up (F&O op:multiply-yearMonthDuration)."""
    months = round_half_up(multiply(duration.months, factor))
    seconds = multiply(duration.seconds, factor)
    assert isinstance(seconds, Decimal)
    return Duration(months, seconds, duration.kind)


def zone_text(zone: int | None) -> str:
    """The zone as written after a time: `Z`, `+01:00`, or nothing."""
    if not zone:
        return "" if zone is None else "Z"
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 60:02d}:{abs(zone) % 60:02d}"


def _int(text: str | None) -> int:
    if text is not None and len(text) > _MOST_DIGITS:
        raise ValueError(text)
    return int(text or 0)


def _day(year: str, month: str, day: str) -> int:
    years, months, days = _int(year), int(month), int(day)
    if not 1 <= months <= 12 or not 1 <= days <= _month_length(years, months):
        raise ValueError(f"{year}-{month}-{day}")
    return day_number(years, months, days)


def _month_length(year: int, month: int) -> int:
    leap = month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap else _MONTH_DAYS[month - 1]


def _clock(hour: str, minute: str, second: str) -> Decimal:
    hours, minutes, seconds = int(hour), int(minute), Decimal(second)
    end_of_day = hours == 24 and minutes == 0 and seconds == 0
    if not end_of_day and (hours > 23 or minutes > 59 or seconds >= 60):
        raise ValueError(f"{hour}:{minute}:{second}")
    return exact_sum(Decimal(hours * 3600 + minutes * 60), seconds)


def _zone(text: str | None) -> int | None:
    if text is None:
        return None
    if text == "Z":
        return 0
    minutes = int(text[1:3]) * 60 + int(text[4:6])
    return -minutes if text[0] == "-" else minutes


def _date_text(day: int) -> str:
    year, month, of_month = civil(day)
    return f"{'-' if year < 0 else ''}{abs(year):04d}-{month:02d}-{of_month:02d}"


def _clock_text(seconds: Decimal) -> str:
    minutes, rest = divmod_seconds(seconds, 60)
    text = _plain(rest)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{'0' + text if rest < 10 else text}"


def _plain(seconds: Decimal) -> str:
    return format_decimal(seconds)


def _fields(*fields: tuple[int, str]) -> str:
    return "".join(f"{amount}{unit}" for amount, unit in fields if amount)


_REFERENCES = tuple(parse_datetime(f"{month}-01T00:00:00Z") for month in ("1696-09", "1697-02", "1903-03", "1903-07"))
