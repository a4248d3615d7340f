"""Matches in a notebook: a timeline and a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scepter.algebra.notation import Notation
from scepter.runtime.matches import Match
from scepter.runtime.pictures.tables import MatchRow, matches_table, name_text, summary
from scepter.runtime.pictures.timeline import STYLE, Bar, Lane, Mark, draw_timeline
from scepter.timeline import TimeKind, format_instant

if TYPE_CHECKING:
    from scepter.runtime.push import Event

MOST_SHOWN = 200
"""Of more matches the first ones are shown."""
_TABLE = """.sc-matches{border-collapse:collapse;font:13px system-ui,sans-serif}
.sc-matches th,.sc-matches td{text-align:left;padding:3px 9px;border-bottom:1px solid #8884;white-space:pre-line}
.sc-chip{display:inline-block;border:1px solid #8886;border-radius:8px;padding:0 6px}"""


class Matches(list[Match]):
    """A list of matches that a notebook shows as a timeline and a table.

    >>> Matches()._repr_html_()
    '<p>no matches</p>'
    """

    def _repr_html_(self) -> str:
        return matches_html(self)


def matches_html(matches: Sequence[Match], prefixes: Mapping[str, str] | None = None) -> str:
    """Matches as HTML: a timeline with the events they selected, where they hold those, and a table."""
    if not matches:
        return "<p>no matches</p>"
    notation = Notation(prefixes or {})
    events = _Events(notation, matches[0].kind)
    shown = matches[:MOST_SHOWN]
    rows = [MatchRow(number, match, events.of(match)) for number, match in enumerate(shown, 1)]
    bars = [
        Bar(row.number, row.match.start, row.match.end, [], f"match {row.number}: {summary(row.match, notation)}")
        for row in rows
    ]
    drawn = draw_timeline(events.lanes(), bars, matches[0].kind)
    variables = list(dict.fromkeys(name for match in shown for name in match.bindings))
    more = f"<p>the first {MOST_SHOWN} of {len(matches):,} matches</p>" if len(matches) > MOST_SHOWN else ""
    room = f"<p>{drawn.left_out} bars found no room</p>" if drawn.left_out else ""
    table = matches_table(rows, variables, notation)
    return f"<div><style>{STYLE}\n{_TABLE}</style>{more}{drawn.svg}{room}{table}</div>"


class _Events:
    """The events that matches hold, numbered as they are met."""

    def __init__(self, notation: Notation, kind: TimeKind) -> None:
        self._notation = notation
        self._kind = kind
        self._numbers: dict[int, int] = {}
        self._lanes: dict[str, list[Mark]] = {}

    def of(self, match: Match) -> dict[str, list[tuple[int | None, str]]]:
        return {part: [self._shown(event) for event in events] for part, events in match.events.items()}

    def _shown(self, event: object) -> tuple[int | None, str]:
        from scepter.runtime.push import Event  # which imports this module

        return self._met(event) if isinstance(event, Event) else (None, name_text(str(event), self._notation))

    def _met(self, event: Event) -> tuple[int | None, str]:
        number = self._numbers.get(id(event))
        times = " to ".join(dict.fromkeys(str(format_instant(t, self._kind)) for t in (event.start, event.end)))
        if number is None:
            number = self._numbers[id(event)] = len(self._numbers)
            title = f"{event.stream} at {times}"
            self._lanes.setdefault(event.stream, []).append(Mark(number, event.start, event.end, title, matched=True))
        return number, f"at {times}"

    def lanes(self) -> list[Lane]:
        return [Lane(name_text(stream, self._notation), marks) for stream, marks in self._lanes.items()]
