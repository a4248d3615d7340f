"""A timeline as SVG: a lane per stream with its events, and above them the matches as bars.

Every event is drawn, as a mark of its own or, where there are many, in a column that counts them. Marks carry `data-event`,
bars `data-match` and `data-events`: a page may highlight what belongs together. Without a script the titles tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np
from numpy.typing import NDArray

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


_WIDTH, _LEFT, _RIGHT = 1080.0, 132.0, 50.0
_BAR, _LANE, _AXIS = 13.0, 44.0, 34.0
_MOST_ROWS = 14
_COLUMN = 3.0
"""So wide is a column that counts events."""
_LONGEST_NAME = 17
_CROWDED = 200
"""More marks in one lane are drawn smaller."""

STYLE = """.sc-t text{font:12px system-ui,sans-serif;fill:var(--sc-soft,#5b6770)}
.sc-t .sc-name{fill:var(--sc-ink,#1c2429);font-weight:600}
.sc-t .sc-grid{stroke:var(--sc-line,#e3e8ec)}
.sc-t .sc-axis{stroke:var(--sc-soft,#8a96a0)}
.sc-t .sc-e{fill:var(--sc-event,#9fb3c8);stroke:var(--sc-paper,#fff);stroke-width:1}
.sc-t .sc-e.sc-m{fill:var(--sc-match,#d9622b)}
.sc-t .sc-many .sc-e{stroke:none;fill-opacity:.45}
.sc-t .sc-many .sc-e.sc-on{fill-opacity:1}
.sc-t .sc-n{fill:var(--sc-event,#9fb3c8)}
.sc-t .sc-b{fill:var(--sc-bar,#2f7dc0);fill-opacity:.75}
.sc-t .sc-b:hover,.sc-t .sc-b.sc-on{fill:var(--sc-match,#d9622b);fill-opacity:1}
.sc-t .sc-e.sc-on{stroke:var(--sc-ink,#1c2429);stroke-width:2.5}
.sc-t .sc-link{fill:none;stroke:var(--sc-match,#d9622b);stroke-width:1.5;stroke-dasharray:4 3;pointer-events:none}"""
"""The look of a timeline; a page may set the colours."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An event: its number, when, what to say of it, and whether a match selected it."""

    number: int
    start: int
    end: int
    title: str
    matched: bool = False


@dataclass(frozen=True, slots=True)
class Lane:
    """A stream: events that are drawn one by one, and the times of others that are counted."""

    name: str
    marks: Sequence[Mark]
    counted: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True, slots=True)
class Bar:
    """A match: its number, when, the events it selected, and what to say of it."""

    number: int
    start: int
    end: int
    events: Sequence[int]
    title: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture, and how many of the bars found no room in it."""

    svg: str
    left_out: int


def draw_timeline(lanes: Sequence[Lane], bars: Sequence[Bar], kind: TimeKind) -> Drawn:
    """The picture of streams and matches."""
    scale = _Scale.of(lanes, bars)
    rows, left_out = _packed(bars, scale)
    below = 14 + len(rows) * (_BAR + 3) + 16 if rows else 8.0
    height = below + len(lanes) * _LANE + _AXIS
    elements = [*_grid(scale, kind, below + len(lanes) * _LANE)]
    if rows:
        elements.append(_label("matches", 14 + _BAR))
        elements += (_bar(bar, scale, 14 + row * (_BAR + 3)) for row, line in enumerate(rows) for bar in line)
    for number, lane in enumerate(lanes):
        elements += _lane(lane, scale, below + number * _LANE)
    svg = (
        f'<svg class="sc-t" xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" '
        f'width="100%" style="max-width:{_WIDTH * 1.4:.0f}px"><title>events and matches over time</title>\n'
        f"{chr(10).join(elements)}\n</svg>"
    )
    return Drawn(svg, left_out)


@dataclass(frozen=True, slots=True)
class _Scale:
    first: int
    last: int

    @classmethod
    def of(cls, lanes: Sequence[Lane], bars: Sequence[Bar]) -> _Scale:
        firsts = [mark.start for lane in lanes for mark in lane.marks] + [bar.start for bar in bars]
        lasts = [mark.end for lane in lanes for mark in lane.marks] + [bar.end for bar in bars]
        firsts += [int(lane.counted.min()) for lane in lanes if len(lane.counted)]
        lasts += [int(lane.counted.max()) for lane in lanes if len(lane.counted)]
        return cls(min(firsts, default=0), max(lasts, default=0))

    def x(self, instant: int) -> float:
        room = _WIDTH - _LEFT - _RIGHT
        span = self.last - self.first
        return _LEFT + (room / 2 if not span else (instant - self.first) / span * room)


def _grid(scale: _Scale, kind: TimeKind, bottom: float) -> list[str]:
    elements = []
    for instant, text in ticks(scale.first, scale.last, kind):
        x = scale.x(instant)
        elements.append(f'<path class="sc-grid" d="M{x:.1f} 4V{bottom:.1f}"/>')
        elements.append(f'<text x="{x:.1f}" y="{bottom + 20:.1f}" text-anchor="middle">{escape(text)}</text>')
    elements.append(f'<path class="sc-axis" d="M{_LEFT:.1f} {bottom:.1f}H{_WIDTH - _RIGHT:.1f}"/>')
    return elements


def _label(name: str, y: float) -> str:
    short = name if len(name) <= _LONGEST_NAME else "…" + name[1 - _LONGEST_NAME :]
    return f'<text class="sc-name" x="12" y="{y:.1f}">{escape(short)}<title>{escape(name)}</title></text>'


def _packed(bars: Sequence[Bar], scale: _Scale) -> tuple[list[list[Bar]], int]:
    """Bars in rows without overlap, each in the first row with room; how many found none."""
    rows: list[list[Bar]] = []
    ends: list[float] = []
    left_out = 0
    for bar in sorted(bars, key=lambda b: (b.start, b.end)):
        left, right = _stretch(bar, scale)
        row = next((n for n, end in enumerate(ends) if end <= left), len(rows))
        if row == _MOST_ROWS:
            left_out += 1
            continue
        if row == len(rows):
            rows.append([])
            ends.append(0.0)
        rows[row].append(bar)
        ends[row] = right + 2
    return rows, left_out


def _stretch(bar: Bar, scale: _Scale) -> tuple[float, float]:
    """A bar is at least so wide that it can be pointed at."""
    left, right = scale.x(bar.start), scale.x(bar.end)
    spare = max(0.0, 7 - (right - left)) / 2
    return left - spare, right + spare


def _bar(bar: Bar, scale: _Scale, y: float) -> str:
    left, right = _stretch(bar, scale)
    events = " ".join(map(str, bar.events))
    return (
        f'<rect class="sc-b" data-match="{bar.number}" data-events="{events}" x="{left:.1f}" y="{y:.1f}" '
        f'width="{right - left:.1f}" height="{_BAR:.0f}" rx="3"><title>{escape(bar.title)}</title></rect>'
    )


def _lane(lane: Lane, scale: _Scale, top: float) -> list[str]:
    middle = top + _LANE / 2
    elements = [
        f'<path class="sc-grid" d="M{_LEFT:.1f} {middle:.1f}H{_WIDTH - _RIGHT:.1f}"/>',
        _label(lane.name, middle + 4),
        *_columns(lane.counted, scale, top + _LANE - 6),
    ]
    many = len(lane.marks) > _CROWDED
    elements.append('<g class="sc-many">' if many else "<g>")
    for mark in sorted(lane.marks, key=lambda m: m.matched):  # those of matches on top
        kind = "sc-e sc-m" if mark.matched else "sc-e"
        left, right = scale.x(mark.start), scale.x(mark.end)
        half = 3.0 if many else 6.0 if mark.matched else 5.0
        place = f'x="{left - half:.1f}" y="{middle - half:.1f}" width="{right - left + 2 * half:.1f}" height="{2 * half:.0f}"'
        title = f"<title>{escape(mark.title)}</title>"
        elements.append(f'<rect class="{kind}" data-event="{mark.number}" {place} rx="{half:.0f}">{title}</rect>')
    return [*elements, "</g>"]


def _columns(times: NDArray[np.int64], scale: _Scale, floor: float) -> list[str]:
    """Events counted in columns, the fullest as high as the lane."""
    if not len(times):
        return []
    places = ((times - scale.first) / max(1, scale.last - scale.first) * (_WIDTH - _LEFT - _RIGHT) // _COLUMN).astype(np.int64)
    found, counts = np.unique(places, return_counts=True)
    tallest = counts.max()
    elements = []
    for place, count in zip(found.tolist(), counts.tolist(), strict=True):
        height = max(1.5, (_LANE - 10) * count / tallest)
        x = _LEFT + place * _COLUMN
        elements.append(
            f'<rect class="sc-n" x="{x:.1f}" y="{floor - height:.1f}" width="{_COLUMN - 0.4:.1f}" height="{height:.1f}">'
            f"<title>{count:,} events</title></rect>"
        )
    return elements
