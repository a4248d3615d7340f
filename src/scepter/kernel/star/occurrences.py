"""`Occurrences`: each triple once at a time, whatever brought it there, and until when its windows hold it.

A triple that several events bring at one time, or that several triples entail, is one occurrence: it has the events of all of
them, and the longest of their windows counts. What its windows do not hold even at its own end is left out.

Where a window holds the last n triples of a stream, triples take places: by end and start, those of one time by their text, and
an entailed one takes its source's place. An occurrence goes when n later places are taken. That is known then, and not on
arrival: `Held` tells it by the occurrence's number. State: those that are still there, and the ends of the last n places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba import njit

from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByRows, Stateless, Until
from scepter.kernel.rows import Int64, Rows
from scepter.kernel.star.expiry import Held
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.state_parts import InParts
from scepter.kernel.texts import Texts
from scepter.physical.nodes import star_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.star_nodes import SOURCE
from scepter.rdf.distinct import distinct
from scepter.rdf.words import fresh
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@njit(cache=True)
def _first_of(ids: Any, start: Any, end: Any, seen: Any) -> Any:
    """For each row, in order of end, the first with the same triple and interval; and how many are not that themselves.

    `seen` is an open-addressed table of rows that serves every instant: what was put there before the instant began counts as
    free, so that nothing is cleared. It has room for twice the largest instant."""
    mask = np.uint64(len(seen) - 1)
    first = fresh(len(end), np.int64)
    begin = 0
    again = 0
    for row in range(len(end)):
        if row and end[row] != end[row - 1]:
            begin = row
        h = ((ids[row, 0] * _MIX) ^ ids[row, 1]) * _MIX ^ ids[row, 2] ^ np.uint64(start[row])
        at = (h ^ (h >> _SHIFT)) & mask
        first[row] = row
        while seen[at] >= begin:
            other = seen[at]
            if (
                ids[other, 0] == ids[row, 0]
                and ids[other, 1] == ids[row, 1]
                and ids[other, 2] == ids[row, 2]
                and start[other] == start[row]
            ):
                first[row] = other
                again += 1
                break
            at = (at + np.uint64(1)) & mask
        if first[row] == row:
            seen[at] = row
    return first, again


def _largest(ends: Int64) -> int:
    edges = np.flatnonzero(np.diff(ends)) + 1
    return int(np.diff(np.concatenate([[0], edges, [len(ends)]])).max())


def merged(rows: Rows, words: Sequence[int], lineage: Lineage) -> tuple[Rows, Int64]:
    """Equal triples of one time as one row: the patterns and events of all, the greatest `until`; and where each row went."""
    if len(rows) < 2:
        return rows, np.arange(len(rows))
    seen = np.full(1 << (2 * _largest(rows.end)).bit_length(), -1, np.int64)
    first, again = _first_of(rows.ids, rows.start, rows.end, seen)
    if not again:
        return rows, np.arange(len(rows))
    heads = first == np.arange(len(rows))
    others = np.flatnonzero(~heads)
    ids, until, nodes = rows.ids.copy(), rows.until.copy(), rows.lineage.copy()
    np.maximum.at(until, first[others], rows.until[others])
    for word in words:
        np.bitwise_or.at(ids[:, word], first[others], rows.ids[others, word])
    events = lineage.event(rows.lineage)
    others = others[events[others] != events[first[others]]]  # an event that says it twice is one event
    while len(others):  # each round joins one more sighting of every occurrence
        at, which = np.unique(first[others], return_index=True)
        nodes[at] = lineage.joined(nodes[at], rows.lineage[others[which]])
        others = np.delete(others, which)
    whole = Rows(ids, rows.refs, rows.number, rows.scale, rows.start, rows.end, rows.since, until, nodes)
    return whole.take(heads), (np.cumsum(heads) - 1)[first]


class Occurrences(Stateless):
    """Each triple once at a time, where windows are ranges of time."""

    def __init__(self, node: star_nodes.Occurrences, lineage: Lineage) -> None:
        self.schema: Schema = node.schema
        self._words = _words(node)
        self._lineage = lineage

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        rows, _ = merged(inputs[0], self._words, self._lineage)
        late = rows.until <= rows.end
        return rows.take(~late) if late.any() else rows


def _words(node: star_nodes.Occurrences) -> list[int]:
    return [i for i, name in enumerate(node.schema.variables) if name.startswith("_:feeds")]


_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class _Counting:
    """What is known of places and of who is there. Replaced, never changed."""

    ends: Mapping[int, Int64] = field(default_factory=dict)
    """By stream, the ends of its last places."""
    taken: Mapping[int, int] = field(default_factory=dict)
    """By stream, how many places are taken."""
    number: Int64 = field(default_factory=lambda: _NONE)
    """Sightings of occurrences that are there: the occurrence, the stream, the place; with place 0, `until` alone counts."""
    stream: Int64 = field(default_factory=lambda: _NONE)
    place: Int64 = field(default_factory=lambda: _NONE)
    until: Int64 = field(default_factory=lambda: _NONE)


class CountedOccurrences(ByRows, InParts):
    """Each triple once at a time, where windows count triples."""

    _replaced = ("_known",)

    def __init__(
        self, node: star_nodes.Occurrences, lineage: Lineage, held: Held, parts: Callable[[int], int | None], texts: Texts
    ) -> None:
        """`parts` tells of a part of the lineage, a stream, how many of its last triples count."""
        self.schema: Schema = node.schema
        self._words = _words(node)
        self._columns = [i for i, name in enumerate(node.input.schema.variables) if name not in SOURCE]
        self._source = [node.input.schema.column(name) for name in SOURCE]
        self._lineage, self._held, self._last, self._texts = lineage, held, parts, texts
        self._parts = {"held": held}
        self._known = _Counting()

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The occurrences, with their numbers."""
        (rows,) = inputs
        if not len(rows):
            return rows.columns((*self._columns, -1))
        stream, _, _ = self._lineage.told(rows.lineage)
        last = np.array([self._last(part) or 0 for part in range(int(stream.max()) + 1)])[stream]
        counted = np.flatnonzero(last)
        place = np.zeros(len(rows), np.int64)
        place[counted] = self._places(rows, counted, stream[counted], last[counted])
        whole, where = merged(rows, self._words, self._lineage)
        numbered = np.zeros(len(whole), np.int64)
        some = np.unique(where[counted])
        numbered[some] = self._held.add(np.full(len(some), MAX_INSTANT))
        mine = np.flatnonzero(numbered[where] > 0)
        self._sight(numbered[where[mine]], stream[mine], place[mine], np.where(last[mine] > 0, MIN_INSTANT, rows.until[mine]))
        ends = np.where(numbered > 0, self._held.until(numbered), whole.until)
        made = whole.columns((*self._columns, -1)).valid(whole.since, ends)
        made.number[:, -1] = numbered
        there = (ends > whole.end) & made.ids[:, self._words].any(axis=1)
        return made if there.all() else made.take(there)

    def _places(self, rows: Rows, counted: Int64, stream: Int64, last: Int64) -> Int64:
        """The place of each counted row in its stream; the ends of places are noted."""
        source = rows.ids[counted][:, self._source]
        first, which = distinct(source)
        texts = [self._text(rows, int(counted[row])) for row in first.tolist()]
        rank = np.empty(len(texts), np.int64)
        rank[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        start, end = rows.start[counted], rows.end[counted]
        keys = np.stack([stream, end, start, rank[which]], axis=1)
        different, which = np.unique(keys, axis=0, return_inverse=True)
        place = np.empty(len(different), np.int64)
        ends, taken = dict(self._known.ends), dict(self._known.taken)
        for each in np.unique(stream).tolist():
            mine = np.flatnonzero(different[:, 0] == each)
            place[mine] = taken.get(each, 0) + 1 + np.arange(len(mine))
            taken[each] = taken.get(each, 0) + len(mine)
            ends[each] = np.concatenate([ends.get(each, _NONE), different[mine, 1]])
        self._known = replace(self._known, ends=ends, taken=taken)
        found: Int64 = place[which.ravel()]
        return found

    def _text(self, rows: Rows, row: int) -> str:
        cells = zip(rows.refs[row, self._source].tolist(), rows.ids[row, self._source].tolist(), strict=True)
        return " ".join(str(self._texts.known(ref, id)) for ref, id in cells)

    def _sight(self, number: Int64, stream: Int64, place: Int64, until: Int64) -> None:
        """Take new sightings, and say of all that are there which go when, as far as that is known."""
        known = self._known
        number, stream, place, until = (
            np.concatenate(pair)
            for pair in ((known.number, number), (known.stream, stream), (known.place, place), (known.until, until))
        )
        goes = until.copy()
        for each, ends in known.ends.items():
            mine = np.flatnonzero((stream == each) & (place > 0))
            limit = self._last(each)
            assert limit is not None
            later = place[mine] + limit - (known.taken[each] - len(ends) + 1)
            goes[mine] = np.where(later < len(ends), ends[np.minimum(later, len(ends) - 1)], MAX_INSTANT)
        different, where = np.unique(number, return_inverse=True)
        gone = np.full(len(different), MIN_INSTANT)
        np.maximum.at(gone, where, goes)
        self._held.end(different, gone)
        there = gone[where] == MAX_INSTANT
        kept = {each: found[-limit:] for each, found in known.ends.items() if (limit := self._last(each)) is not None}
        self._known = _Counting(kept, known.taken, number[there], stream[there], place[there], until[there])

    # ---- instants that may be undone, and what is let go

    def evict(self, time: int) -> None:
        self._held.forget(time)

    # ---- state

    def dump(self) -> Arrays:
        """Places and sightings, and until when occurrences are there."""
        known = self._known
        streams = np.array(sorted(known.ends), np.int64)
        return super().dump() | {
            "streams": streams,
            "taken": np.array([known.taken[each] for each in streams.tolist()], np.int64),
            "counts": np.array([len(known.ends[each]) for each in streams.tolist()], np.int64),
            "ends": np.concatenate([_NONE, *(known.ends[each] for each in streams.tolist())]),
            "number": known.number, "stream": known.stream, "place": known.place, "until": known.until,
        }  # fmt: skip

    def load(self, arrays: Arrays) -> None:
        super().load(arrays)
        streams = arrays["streams"].tolist()
        ends = np.split(arrays["ends"], np.cumsum(arrays["counts"])[:-1]) if streams else []
        self._known = _Counting(
            dict(zip(streams, ends, strict=True)), dict(zip(streams, arrays["taken"].tolist(), strict=True)),
            arrays["number"], arrays["stream"], arrays["place"], arrays["until"],
        )  # fmt: skip

    def state_rows(self) -> Mapping[str, int]:
        return {"sightings": len(self._known.number)}
