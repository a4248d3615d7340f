"""Where a time axis has its marks, and what stands at them."""

from __future__ import annotations

from scepter.timeline import TimeKind, format_instant

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_STEPS = tuple(
    _SECOND * seconds for seconds in (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200)
) + tuple(_DAY * days for days in (1, 2, 7, 14, 30, 90, 180, 365, 730, 1_825, 3_650, 36_500))
"""Round steps of wall-clock time, in microseconds."""


def ticks(first: int, last: int, kind: TimeKind, most: int = 8) -> list[tuple[int, str]]:
    """The marks between two instants: at most so many, at round times, each with its text.

    >>> ticks(0, 100, TimeKind.INTEGER, 5)
    [(0, '0'), (20, '20'), (40, '40'), (60, '60'), (80, '80'), (100, '100')]
    """
    step = _step(max(1, last - first), kind, most)
    places = range(-(-first // step) * step, last + 1, step)
    texts = [str(format_instant(place, kind)) for place in places]
    if kind is TimeKind.DATETIME:
        texts = _shortened(texts)
    elif step >= 1_000 or first >= 10_000:
        texts = [f"{place:,}" for place in places]
    return list(zip(places, texts, strict=True))


def _step(span: int, kind: TimeKind, most: int) -> int:
    if kind is TimeKind.DATETIME and span > _SECOND:
        return next((step for step in _STEPS if span // step <= most), _round(span, most))
    return _round(span, most)


def _round(span: int, most: int) -> int:
    """1, 2 or 5 times a power of ten."""
    power = 1
    while True:
        for factor in (1, 2, 5):
            if span // (power * factor) <= most:
                return power * factor
        power *= 10


def _shortened(texts: list[str]) -> list[str]:
    """Without the date where it is the one before's, without the time where all are midnights."""
    found: list[str] = []
    day = ""
    midnights = all(text.endswith("T00:00:00Z") for text in texts)
    for text in texts:
        date, _, time = text.removesuffix("Z").partition("T")
        short = time.removesuffix(":00") if time.count(":") == 2 and time.endswith(":00") else time
        found.append(date if midnights else short if date == day else f"{date} {short}")
        day = date
    return found
