"""Matches as a person holds them: a list that slices, shows itself as text or in a notebook, and becomes a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from scepter.algebra.notation import Notation
from scepter.errors import Diagnostic, option_error
from scepter.pictures.html_tables import MatchRow, matches_lines, matches_table, name_text, summary
from scepter.pictures.lanes import STYLE, Bar, Lane, Mark, draw_timeline
from scepter.rdf.batch import DeadLetter
from scepter.runtime.matches import Match
from scepter.runtime.seen import EventName, SeenEvents
from scepter.timeline import TimeKind, format_instant

if TYPE_CHECKING:
    from scepter.runtime.queries import Query

MOST_SHOWN = 200
"""Of more matches the first ones are shown."""
MOST_LINES = 20
"""In text, so many."""
_TABLE = """.sc-matches{border-collapse:collapse;font:13px system-ui,sans-serif}
.sc-matches th,.sc-matches td{text-align:left;padding:3px 9px;border-bottom:1px solid #8884;white-space:pre-line}
.sc-chip{display:inline-block;border:1px solid #8886;border-radius:8px;padding:0 6px}"""


class Matches(list[Match]):
    """A list of matches. It slices, a notebook shows it as a timeline and a table, and it becomes a table of native values.

    >>> Matches()._repr_html_()
    '<p>no matches</p>'
    >>> Matches().to_arrow().column_names
    ['start', 'end']
    """

    def __init__(self, matches: Iterable[Match] = (), query: Query | None = None) -> None:
        super().__init__(matches)
        self.query = query
        """The query they answer; None for a list put together by hand."""
        self.dead_letters: list[DeadLetter] = []
        """The first of the lines and events that could not be used."""
        self.unused = 0
        """How many could not."""
        self.warnings: tuple[Diagnostic, ...] = ()
        """What may be wrong with the query or the data."""
        self.seen: SeenEvents | None = None

    @property
    def prefixes(self) -> dict[str, str]:
        """The prefixes of the query."""
        return {} if self.query is None else dict(self.query.lowered.prefixes)

    @overload
    def __getitem__(self, index: SupportsIndex) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> Matches: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Match | Matches:
        if isinstance(index, slice):
            part = Matches(super().__getitem__(index), self.query)
            part.seen = self.seen
            return part
        return super().__getitem__(index)

    def to_arrow(self, *, short: bool = False, events: bool = False) -> Any:
        """A `pyarrow.Table`: `start`, `end`, a column per variable; first `query`, the name or number of the one that a row
        answers, where there are several.

        Integers, doubles, booleans, dateTimes and dates are native; decimals are doubles, exact decimals where they have more
        than 15 digits. IRIs are their text; `short` writes them with the query's prefixes, `:ACME`. What has no type in
        common is text. `events` adds the names of the selected events, a column `events.A` per part.
        """
        from scepter.runtime.match_table import match_table  # only who asks needs pyarrow

        variables = None if self.query is None else self.query.variables
        named = () if self.query is None else self.query.answers
        return match_table(self, variables, prefixes=self.prefixes if short else None, events=events, queries=named)

    def to_pandas(self, *, short: bool = False, events: bool = False) -> Any:
        """A `pandas.DataFrame` with the columns of `to_arrow`. A column of integers with gaps is of type `Int64`."""
        import pandas as pd
        import pyarrow as pa

        table = self.to_arrow(short=short, events=events)
        frame = table.to_pandas()
        for name in table.column_names:
            column = table.column(name)
            if pa.types.is_int64(column.type) and column.null_count:
                frame[name] = pd.array(column.to_pylist(), dtype="Int64")
        return frame

    def to_polars(self, *, short: bool = False, events: bool = False) -> Any:
        """A `polars.DataFrame` with the columns of `to_arrow`; needs polars."""
        try:
            import polars
        except ImportError:
            raise option_error("no-polars", "polars is not installed", help="pip install 'scepter[polars]'") from None
        return polars.from_arrow(self.to_arrow(short=short, events=events))

    def __repr__(self) -> str:
        if not self:
            return "[]"
        named = () if self.query is None else self.query.answers
        lines = matches_lines(self[:MOST_LINES], self._variables(), Notation(self.prefixes), named)
        more = f" (the first {MOST_LINES} are shown)" if len(self) > MOST_LINES else ""
        return "\n".join([*lines, f"{len(self):,} match{'' if len(self) == 1 else 'es'}{more}", *self._complaints()])

    def _repr_html_(self) -> str:
        complaints = "".join(f"<p>{line}</p>" for line in self._complaints())
        return matches_html(self, self.prefixes, self.seen) + complaints

    def _variables(self) -> list[str]:
        if self.query is not None:
            return self.query.variables
        return list(dict.fromkeys(name for match in self[:MOST_LINES] for name in match.bindings))

    def _complaints(self) -> list[str]:
        if not self.unused:
            return []
        what = "1 line or event" if self.unused == 1 else f"{self.unused:,} lines or events"
        return [f"{what} could not be used: see .dead_letters"]


def matches_html(matches: Sequence[Match], prefixes: Mapping[str, str] | None = None, seen: SeenEvents | None = None) -> str:
    """Matches as HTML: a timeline with the events they selected, where these are known, and a table."""
    if not matches:
        return "<p>no matches</p>"
    notation = Notation(prefixes or {})
    events = _Events(notation, matches[0].kind, seen)
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
    """The events of matches, numbered as they are met: those that matches hold, and those whose times were kept."""

    def __init__(self, notation: Notation, kind: TimeKind, seen: SeenEvents | None) -> None:
        self._notation = notation
        self._kind = kind
        self._seen = seen
        self._numbers: dict[int, int] = {}
        self._lanes: dict[str, list[Mark]] = {}

    def of(self, match: Match) -> dict[str, list[tuple[int | None, str]]]:
        return {part: [self._shown(event) for event in events] for part, events in match.events.items()}

    def _shown(self, event: object) -> tuple[int | None, str]:
        from scepter.runtime.push import Event  # which imports this module

        if isinstance(event, Event):
            times = self._times(event.start, event.end)
            name = f"at {times}" if event.name is None else name_text(event.name, self._notation)
            return self._met(id(event), event.stream, event.start, event.end, name), name
        name = name_text(str(event), self._notation)
        if not isinstance(event, EventName) or self._seen is None or (found := self._seen.event(event.number)) is None:
            return None, name
        return self._met(event.number, found.stream, found.start, found.end, name), name

    def _times(self, start: int, end: int) -> str:
        return " to ".join(dict.fromkeys(str(format_instant(t, self._kind)) for t in (start, end)))

    def _met(self, identity: int, stream: str, start: int, end: int, name: str) -> int:
        number = self._numbers.get(identity)
        if number is None:
            number = self._numbers[identity] = len(self._numbers)
            title = f"{name}\n{name_text(stream, self._notation)} at {self._times(start, end)}"
            self._lanes.setdefault(stream, []).append(Mark(number, start, end, title, matched=True))
        return number

    def lanes(self) -> list[Lane]:
        return [Lane(name_text(stream, self._notation), marks) for stream, marks in self._lanes.items()]
