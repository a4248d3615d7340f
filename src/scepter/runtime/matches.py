"""Matches: complete runs as rows, graphs and answers. Terms are decoded when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress, repeat
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Construct
from scepter.kernel.texts import TextsView
from scepter.rdf.terms import IRI, Term, Triple
from scepter.runtime.constructing import Constructing
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.graphs import Graphs, ShownGraphs
from scepter.runtime.why import Why
from scepter.timeline import MIN_INSTANT, TimeKind

_FEW = 1 << 10
"""So few matches are sorted without a look at how wide their times are."""


@dataclass(frozen=True, slots=True)
class MatchBatch:
    """The matches that one step of one query completed, in columns."""

    query: int
    kind: TimeKind
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    names: tuple[str, ...]
    """The variables of the columns."""
    ids: NDArray[np.uint64]
    refs: NDArray[np.int64]
    texts: TextsView
    construct: Construct | None
    asks: bool
    selected: Callable[[int], dict[str, list[object]]]
    _shown: ShownGraphs = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_shown", ShownGraphs(len(self.start), lambda rows: (self.graphs(rows), None)))

    @property
    def constructs(self) -> bool:
        """Whether its rows are graphs."""
        return self.construct is not None

    def events(self, row: int) -> dict[str, list[object]]:
        """The events a row's match selected, by part."""
        return self.selected(row)

    def occurrence(self, row: int) -> tuple[IRI, Term] | None:
        """Its rows are no events' occurrences."""
        return None

    def why(self, row: int) -> Why | None:
        """Its rows say which events they selected, and no more."""
        return None

    def bindings(self, row: int) -> dict[str, Term]:
        """A row's terms."""
        ids, refs = self.ids[row].tolist(), self.refs[row].tolist()
        return {name: self.texts.term(refs[i], ids[i]) for i, name in enumerate(self.names) if ids[i]}

    @property
    def in_columns(self) -> bool:
        """Whether its rows are their columns and nothing else, with a term in each."""
        return self.construct is None and not self.asks and bool(self.ids.all())

    def text_ranks(self, rows: NDArray[np.int64], column: int) -> NDArray[np.int64]:
        """Per row: numbers that stand in the order of a column's texts. Each term is decoded once."""
        different, first, place = np.unique(self.ids[rows, column], return_index=True, return_inverse=True)
        refs = self.refs[rows, column][first]
        if (spelt := self.texts.sortable(refs)) is not None:
            return np.unique(spelt, return_inverse=True)[1][place]
        texts = [str(self.texts.term(ref, id)) for ref, id in zip(refs.tolist(), different.tolist(), strict=True)]
        ranks = np.empty(len(texts), np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return ranks[place]

    def graph(self, row: int) -> tuple[Triple, ...]:
        """A row's constructed graph, sorted."""
        return self._shown.graph(row)

    def graphs(self, rows: NDArray[np.int64]) -> Graphs:
        """The constructed graphs of some rows."""
        assert self.construct is not None
        return Constructing(self.construct.template, self, rows).graphs()

    def made(self) -> NDArray[np.int64]:
        """The rows whose graph has a triple."""
        assert self.construct is not None
        made = Constructing(self.construct.template, self, np.arange(len(self.start))).made()
        return np.flatnonzero(made.any(axis=1))


class Batch(Protocol):
    """Where a match's values are."""

    @property
    def query(self) -> int: ...
    @property
    def kind(self) -> TimeKind: ...
    @property
    def start(self) -> NDArray[np.int64]: ...
    @property
    def end(self) -> NDArray[np.int64]: ...
    @property
    def constructs(self) -> bool: ...
    @property
    def asks(self) -> bool: ...
    def bindings(self, row: int) -> dict[str, Term]: ...
    def graph(self, row: int) -> tuple[Triple, ...]: ...
    def events(self, row: int) -> dict[str, list[object]]: ...
    def occurrence(self, row: int) -> tuple[IRI, Term] | None: ...
    def why(self, row: int) -> Why | None: ...


class Match:
    """A match: when, what it binds or constructs, and the events each part of the pattern selected.

    >>> from scepter import Event, parse
    >>> query = parse("SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x ?p ?o } }")
    >>> match = query.run([Event("http://e/s", "<http://e/a> <http://e/p> 1 .", 3)])[0]
    >>> match.start, match.end, str(match.bindings["x"])
    (3, 3, '<http://e/a>')
    """

    __slots__ = ("_batch", "_row")

    def __init__(self, batch: Batch, row: int) -> None:
        self._batch = batch
        self._row = row

    @property
    def start(self) -> int:
        """Time of its first event (the least start)."""
        return int(self._batch.start[self._row])

    @property
    def end(self) -> int:
        """Time of its last event, or the close of the window."""
        return int(self._batch.end[self._row])

    @property
    def kind(self) -> TimeKind:
        """Of what kind the times are."""
        return self._batch.kind

    @property
    def query(self) -> int:
        """Which query of the file, from 0."""
        return self._batch.query

    @property
    def bindings(self) -> dict[str, Term]:
        """Variable -> term; an unbound variable is absent. Empty for CONSTRUCT and ASK."""
        return {} if self._batch.constructs or self._batch.asks else self._batch.bindings(self._row)

    @property
    def graph(self) -> tuple[Triple, ...] | None:
        """The constructed triples, sorted; None unless the query is a CONSTRUCT."""
        return self._batch.graph(self._row) if self._batch.constructs else None

    @property
    def occurrence(self) -> tuple[IRI, Term] | None:
        """Event and individual that an EVENT STREAM's match is an occurrence of (`graph` are its assertions), else None."""
        return self._batch.occurrence(self._row)

    @property
    def why(self) -> Why | None:
        """What an event's occurrence rests on, if the run was asked to tell (OBEP's `why`)."""
        return self._batch.why(self._row)

    @property
    def boolean(self) -> bool | None:
        """True for an ASK, else None."""
        return True if self._batch.asks else None

    @property
    def events(self) -> dict[str, list[object]]:
        """Part -> the events it selected: their names, or the Event objects given to `Engine.push`."""
        return self._batch.events(self._row)

    @property
    def rank(self) -> int | None:
        """Its place among the matches of its end, where the query orders them (ORDER BY)."""
        return None

    def row(self) -> tuple[object, ...]:
        """What makes two matches look the same in a result."""
        bindings = tuple(sorted((k, str(v)) for k, v in self.bindings.items()))
        graph = None if self.graph is None else tuple(" ".join(map(str, t)) for t in self.graph)
        return (self.end, self.start, self.query, bindings, graph, self.boolean, self.occurrence)

    def __repr__(self) -> str:
        shown = self.graph if self.graph is not None else self.boolean or {k: str(v) for k, v in self.bindings.items()}
        return f"Match({self.start}..{self.end}, {shown})"

    def _repr_html_(self) -> str:
        from scepter.runtime.notebook import matches_html  # only notebooks ask

        return matches_html([self])


class RankedMatch(Match):
    """A match of a query that orders the matches of one end itself."""

    __slots__ = ("_rank",)

    def __init__(self, batch: Batch, row: int, rank: int) -> None:
        super().__init__(batch, row)
        self._rank = rank

    @property
    def rank(self) -> int | None:
        """Its place."""
        return self._rank


class MatchRows(Sequence[Match]):
    """The matches of one batch, made one by one when somebody looks at them."""

    __slots__ = ("_batch", "_rows")

    def __init__(self, batch: Batch, rows: NDArray[np.int64]) -> None:
        self._batch = batch
        self._rows = rows

    @property
    def batch(self) -> Batch:
        """Where they are."""
        return self._batch

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which rows of it, in order."""
        return self._rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> MatchRows: ...
    def __getitem__(self, index: int | slice) -> Match | MatchRows:
        if isinstance(index, slice):
            return MatchRows(self._batch, self._rows[index])
        return Match(self._batch, int(self._rows[index]))

    def __iter__(self) -> Iterator[Match]:
        return map(Match, repeat(self._batch), self._rows.tolist())

    def sorted(self) -> MatchRows:
        """The same in order of end, start, then bindings."""
        rows = self._rows
        order, ties = _ordered([self._batch.end[rows], self._batch.start[rows]])
        placed = rows[order]
        if ties and isinstance(self._batch, MatchBatch) and self._batch.in_columns:
            return MatchRows(self._batch, self._by_text(self._batch, placed, ties))
        if ties and self._batch.constructs and isinstance(self._batch, (MatchBatch, EventMatches)):
            return MatchRows(self._batch, self._by_graph(self._batch, placed, ties))
        for low, high in ties:
            placed[low:high] = sorted(placed[low:high].tolist(), key=lambda row: Match(self._batch, row).row()[3:5])
        return MatchRows(self._batch, placed)

    @staticmethod
    def _by_text(batch: MatchBatch, placed: NDArray[np.int64], ties: list[tuple[int, int]]) -> NDArray[np.int64]:
        """Ties column by column: most are over after the first, so that the other columns are decoded for few rows."""
        for column in sorted(range(len(batch.names)), key=batch.names.__getitem__):
            if not ties:
                break
            tied, stretch = _tied(ties)
            order, left = _ordered([stretch, batch.text_ranks(placed[tied], column)])
            placed[tied] = placed[tied[order]]
            ties = [(int(tied[low]), int(tied[high - 1]) + 1) for low, high in left]
        return placed

    @staticmethod
    def _by_graph(
        batch: MatchBatch | EventMatches, placed: NDArray[np.int64], ties: list[tuple[int, int]]
    ) -> NDArray[np.int64]:
        tied, stretch = _tied(ties)
        placed[tied] = placed[tied[np.lexsort((*batch.graphs(placed[tied]).padded()[::-1], stretch))]]
        return placed


class MixedRows(Sequence[Match]):
    """The matches of several batches in one order, made one by one when somebody looks at them."""

    __slots__ = ("parts", "place", "which")

    def __init__(self, parts: Sequence[MatchRows], which: NDArray[np.int64], place: NDArray[np.int64]) -> None:
        self.parts, self.which, self.place = parts, which, place
        """Of each match its batch, and its row there."""

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, index: int) -> Match: ...
    @overload
    def __getitem__(self, index: slice) -> MixedRows: ...
    def __getitem__(self, index: int | slice) -> Match | MixedRows:
        if isinstance(index, slice):
            return MixedRows(self.parts, self.which[index], self.place[index])
        return Match(self.parts[self.which[index]].batch, int(self.place[index]))

    def __iter__(self) -> Iterator[Match]:
        batches = [part.batch for part in self.parts]
        return (Match(batches[at], row) for at, row in zip(self.which.tolist(), self.place.tolist(), strict=True))


def mixed(parts: Sequence[MatchRows]) -> MixedRows:
    """The matches of batches of different queries in order of end, start, query, then bindings."""
    ordered = [part.sorted() for part in parts]
    rows = [part.rows for part in ordered]
    which = np.repeat(np.arange(len(parts)), list(map(len, rows)))
    start = np.concatenate([part.batch.start[part.rows] for part in ordered])
    end = np.concatenate([part.batch.end[part.rows] for part in ordered])
    query = np.array([part.batch.query for part in ordered], np.int64)[which]
    order = np.lexsort((query, start, end))  # stable: matches of one query stay in its order
    return MixedRows(ordered, which[order], np.concatenate(rows)[order])


def ending(matches: Sequence[Match], wanted: Callable[[NDArray[np.int64]], NDArray[np.bool_]]) -> Sequence[Match]:
    """Those of some matches whose ends are `wanted`, in the same order."""
    if isinstance(matches, MatchRows):
        return MatchRows(matches.batch, matches.rows[wanted(matches.batch.end[matches.rows])])
    if isinstance(matches, MixedRows):
        ends = np.empty(len(matches), np.int64)
        for number, part in enumerate(matches.parts):
            mine = matches.which == number
            ends[mine] = part.batch.end[matches.place[mine]]
        chosen = wanted(ends)
        return MixedRows(matches.parts, matches.which[chosen], matches.place[chosen])
    return list(compress(matches, wanted(np.array([match.end for match in matches], np.int64)).tolist()))


def sorted_matches(matches: Iterable[Match]) -> Sequence[Match]:
    """In order of end, start, then bindings (spec/00 §3), or as the query says. Terms are decoded for ties only."""
    if isinstance(matches, MatchRows):
        return matches.sorted()
    if isinstance(matches, MixedRows):
        return matches
    given = list(matches)
    if len(given) < 2:
        return given
    order, ties = _ordered(list(np.array([_when(m) for m in given], np.int64).T))
    when = [given[i] for i in order.tolist()]
    for low, high in ties:
        when[low:high] = sorted(when[low:high], key=lambda m: m.row()[3:5])
    return when


def _ordered(keys: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.intp], list[tuple[int, int]]]:
    """The order by some keys, the weightiest first, and the stretches of places that they do not tell apart."""
    order = _order(keys)
    tied = np.flatnonzero(np.logical_and.reduce([key[order[1:]] == key[order[:-1]] for key in keys]))
    if not len(tied):
        return order, []
    first = tied[np.diff(tied, prepend=-2) > 1].tolist()
    last = tied[np.diff(tied, append=tied[-1] + 2) > 1].tolist()
    return order, [(low, high + 2) for low, high in zip(first, last, strict=True)]


def _order(keys: Sequence[NDArray[np.int64]]) -> NDArray[np.intp]:
    """The stable order by some keys. Where they fit into one number together with the place, these numbers are sorted, which
    takes a third of the time."""
    size = len(keys[0])
    if size < _FEW:
        return np.lexsort(keys[::-1])
    least = [int(key.min()) for key in keys]
    bits = [(int(key.max()) - low).bit_length() for key, low in zip(keys, least, strict=True)]
    place = size.bit_length()
    if sum(bits) + place > 63:
        return np.lexsort(keys[::-1])
    packed = np.zeros(size, np.int64)
    for key, low, wide in zip(keys, least, bits, strict=True):
        packed <<= wide
        packed |= key - low
    packed <<= place
    packed |= np.arange(size)
    packed.sort()
    return packed & ((1 << place) - 1)


def _tied(ties: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The places in some stretches, and the stretch of each."""
    stretch = np.repeat(np.arange(len(ties)), [high - low for low, high in ties])
    return np.concatenate([np.arange(low, high) for low, high in ties]), stretch


def _when(match: Match) -> tuple[int, int, int, int]:
    batch, row = match._batch, match._row
    if type(match) is Match:
        return int(batch.end[row]), int(batch.start[row]), batch.query, 0
    rank = match.rank
    return int(batch.end[row]), int(batch.start[row]) if rank is None else MIN_INSTANT, batch.query, rank or 0
