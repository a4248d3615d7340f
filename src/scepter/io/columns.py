"""Matches as lines of text, whole batches at a time: each different term is spelt once, and rows are put together as bytes.

This is for matches whose rows are what stands in their columns, bindings or graphs; those that tell more, why or of which
events, are written one by one (`io.results`), and both give the same bytes.
"""

from __future__ import annotations

import codecs
import io
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from scepter.io.spelling import Spelling
from scepter.kernel.texts import one_ref_each
from scepter.rdf.lines import Column, Lines, Part, grouped, joined
from scepter.rdf.packed import Packed
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.graphs import Graphs, Spelt
from scepter.runtime.matches import Match, MatchBatch, MatchRows, MixedRows
from scepter.timeline import TimeKind, format_instant

_ROWS = 1 << 17
"""So many rows are laid out at once."""
_FEW = 1 << 13
"""Bytes that are written as text: to write them behind it would flush it."""
_BYTES = 1 << 29
"""Rows whose texts are longer are laid out in two halves: memory ends somewhere."""
Batch: TypeAlias = MatchBatch | EventMatches


class _TooLong(Exception):
    """Some rows are too long to be laid out at once."""


def in_columns(matches: Sequence[Match]) -> TypeGuard[MatchRows | MixedRows]:
    """Whether matches are what stands in their columns; what events rest on does not."""
    if isinstance(matches, MixedRows):
        return all(map(in_columns, matches.parts))
    if not isinstance(matches, MatchRows):
        return False
    batch = matches.batch
    return isinstance(batch, MatchBatch) or (isinstance(batch, EventMatches) and batch.told is None)


LinesOf: TypeAlias = Callable[[Batch, NDArray[np.int64], NDArray[np.int64]], Sequence[Part]]
"""(batch, some of its rows, their places among all matches) -> the parts of their lines."""


def write(matches: MatchRows | MixedRows, lines: LinesOf, out: TextIO) -> None:
    """Write the lines of matches, one behind the other."""
    for at in range(0, len(matches), _ROWS):
        for some in _halved(matches[at : at + _ROWS], at, lines):
            take = _taker(out, int(some.starts[-1]))
            for piece in some.pieces():
                take(piece)


def _taker(out: TextIO, size: int) -> Callable[[memoryview], object]:
    """What takes so many bytes of UTF-8: the file behind the text where it stands there as it is."""
    if (
        size < _FEW
        or not isinstance(out, io.TextIOWrapper)
        or codecs.lookup(out.encoding).name != "utf-8"
        or os.linesep != "\n"
        or out.line_buffering
    ):
        return lambda piece: out.write(str(piece, "utf-8"))
    out.flush()  # what was written as text stands before
    return out.buffer.write  # type: ignore[no-any-return]


def _halved(some: MatchRows | MixedRows, at: int, lines: LinesOf) -> Iterator[Lines]:
    try:
        found = _laid_out(some, at, lines)
    except _TooLong:
        half = len(some) // 2
        yield from _halved(some[:half], at, lines)
        yield from _halved(some[half:], at + half, lines)
    else:
        yield found


def _laid_out(some: MatchRows | MixedRows, at: int, lines: LinesOf) -> Lines:
    if isinstance(some, MatchRows):
        return Lines(_parts(some, some.rows, at + np.arange(len(some)), lines), len(some))
    parts: list[Part] = []
    for which, part in enumerate(some.parts):
        mine = np.flatnonzero(some.which == which)
        if len(mine):
            whole = joined(_parts(part, some.place[mine], at + mine, lines), len(mine))
            place = np.full(len(some), -1)
            place[mine] = np.arange(len(mine))
            parts.append(Column(whole.texts, place))
    return Lines(parts, len(some))


def _parts(matches: MatchRows, rows: NDArray[np.int64], places: NDArray[np.int64], lines: LinesOf) -> Sequence[Part]:
    assert isinstance(matches.batch, (MatchBatch, EventMatches))
    return lines(matches.batch, rows, places)


def _check(size: int, rows: int) -> None:
    if size > _BYTES and rows > 1:
        raise _TooLong


def times(instants: NDArray[np.int64], rows: NDArray[np.int64], kind: TimeKind, quote: str = "") -> Part:
    """Some instants as results show them; a dateTime between quotes."""
    chosen = instants[rows]
    if kind is TimeKind.INTEGER:
        return chosen
    different, place = np.unique(chosen, return_inverse=True)
    return Column.of([f"{quote}{format_instant(instant, kind)}{quote}" for instant in different.tolist()], place)


def terms(batch: MatchBatch, rows: NDArray[np.int64], spelling: Spelling) -> dict[str, Column]:
    """Per variable the spelt terms of some rows; none where it is unbound."""
    if not batch.names:
        return {}
    each, where = one_ref_each(batch.ids.take(rows, axis=0), batch.refs.take(rows, axis=0))
    bound = each >= 0
    if not bound.all():
        each, where = each[bound], np.where(bound, np.cumsum(bound) - 1, -1)[where]
    texts = Spelt.at(each, batch.texts)
    _check(len(texts.texts.data), len(rows))
    found = spelling(texts)
    return {name: Column(found, where[:, column]) for column, name in enumerate(batch.names)}


def graphs(batch: Batch, rows: NDArray[np.int64]) -> Graphs:
    """The graphs of some rows that construct."""
    return occurrences(batch, rows)[0] if isinstance(batch, EventMatches) else _checked(batch.graphs(rows), len(rows))


def occurrences(batch: EventMatches, rows: NDArray[np.int64]) -> tuple[Graphs, Packed]:
    """The graphs of some rows, and the texts of their individuals."""
    found, individuals = batch.occurrences(rows)
    return _checked(found, len(rows)), individuals


def _checked(found: Graphs, rows: int) -> Graphs:
    _check(found.bytes(), rows)
    return found


def per_triple(of: Graphs, before: Sequence[Part], triples: Packed, empty: str, behind: str) -> Column:
    """Per row a line for each of its triples, between texts of the row; where there is none, another."""
    counts = np.diff(of.first)
    lines = np.maximum(counts, 1)
    row = np.repeat(np.arange(len(counts)), lines)
    triple = np.full(len(row), -1)
    triple[counts[row] > 0] = of.triple
    none = Column.of([empty], np.where(triple < 0, 0, -1))
    parts: list[Part] = [joined(before, len(counts)).take(row), Column(triples, triple), none, behind]
    return grouped(parts, np.concatenate([[0], np.cumsum(lines)]))
