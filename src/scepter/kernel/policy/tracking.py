"""Which occurrences of triples rows rest on, for operators that consume them (spec/20-ep-sparql rule 10).

An occurrence is a triple over an interval. It is told by a number made of both, which a lineage leaf carries as its part; the
leaf's event is the arrival, by which ties are settled, and its values are where the texts of the triple stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numba import njit

from scepter.algebra.expressions import Constant, Variable
from scepter.kernel.encoding import decoded, encoded
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.policy.consumption import Nodes, arrivals, grounds
from scepter.kernel.rows import NO_LINEAGE, Int64, Rows, UInt64
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import each_once
from scepter.physical.nodes import instant_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import Triple
from scepter.rdf.words import fresh

DERIVED = 2**62
"""What rules derive has arrived after all events of its instant."""
_WORDS = -2
"""Refs from here down are words of the query."""
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Occurrences:
    """The occurrences of one unit, as long as the lineage knows them."""

    def __init__(self, lineage: Lineage, key: TermKey, texts: Texts) -> None:
        self._lineage, self._key, self._texts = lineage, key, texts
        self._words: list[str] = []
        lineage.keep_values(3)

    def word(self, text: str) -> tuple[int, int]:
        """The id of a term that a pattern names, and what stands for its ref."""
        self._words.append(text)
        return term_id(self._key, text), _WORDS + 1 - len(self._words)

    def leaf(self, ids: UInt64, refs: Int64, start: Int64, end: Int64, arrival: Int64) -> Int64:
        """A leaf for each occurrence; ids and refs are those of subject, predicate and object."""
        return self._lineage.leaves(_numbers(ids, start, end), arrival, np.full(len(end), -1), refs)

    def node(self, triples: Iterable[Triple], start: int, end: int, arrival: int) -> int:
        """One node for all triples of an event's graph."""
        if not (triples := tuple(triples)):
            return NO_LINEAGE
        columns = [encoded(terms, self._key, self._texts) for terms in zip(*triples, strict=True)]
        ids, refs = (np.stack([column[i] for column in columns], axis=1) for i in (0, 1))
        times = [np.full(len(ids), each, np.int64) for each in (start, end, arrival)]
        found = np.full(1, NO_LINEAGE)
        for leaf in self.leaf(ids.astype(np.uint64), refs.astype(np.int64), *times).tolist():
            found = self._lineage.joined(found, np.array([leaf], np.int64))
        return int(found[0])

    @property
    def nodes(self) -> Nodes:
        """What tells the occurrences below a node."""
        columns = self._lineage.columns()
        return Nodes(*(columns[f"lineage.{name}"] for name in ("left", "right", "part", "event")))

    def each_once(self, rows: Rows) -> Rows:
        """Each mapping and interval once for every set of occurrences it rests on: what consumes one leaves the others."""
        return each_once(rows, grounds(self.nodes, rows.lineage))

    def in_order(self, rows: Rows, names: Sequence[str]) -> Rows:
        """By end, start, arrival, then N-Triples order of the triples (spec/00 §1); of the same triples by what they bind."""
        if len(rows) < 2:
            return rows
        first = arrivals(self.nodes, rows.lineage)
        order = np.lexsort((first, rows.start, rows.end))
        told = np.stack([rows.end, rows.start, first])[:, order]
        tied = np.all(told[:, 1:] == told[:, :-1], axis=0) & (told[2, 1:] >= 0)
        edges = np.flatnonzero(np.diff(np.concatenate([[False], tied, [False]]).astype(np.int8)))

        def place(row: int) -> tuple[list[tuple[int, str]], list[tuple[str, str]]]:
            bound = ((name, str(term)) for name, term in decoded(rows, names, row, self._texts).items())
            return self.arrived(int(rows.lineage[row])), sorted(each for each in bound if not each[0].startswith("_:"))

        for low, high in edges.reshape(-1, 2).tolist():
            order[low : high + 1] = sorted(order[low : high + 1], key=place)
        return rows.take(order)

    def arrived(self, node: int) -> list[tuple[int, str]]:
        """The occurrences below a node as they are ordered: by arrival, then by the triple's text."""
        return sorted({(event, " ".join(map(self._text, refs))) for event, refs in self._lineage.valued(node)})

    def _text(self, ref: int) -> str:
        return self._words[_WORDS - ref] if ref <= _WORDS else str(self._texts.term(ref))


@njit(cache=True)
def _numbers(ids, start, end):  # type: ignore[no-untyped-def]
    """A number for each triple over its interval. Ids are hashes under a key that nobody knows, and so are these."""
    found = fresh(len(ids), np.int64)
    for row in range(len(ids)):
        mixed = np.uint64(0)
        for j in range(5):
            word = ids[row, j] if j < 3 else np.uint64(start[row] if j == 3 else end[row])
            mixed = (mixed ^ word) * _MIX
            mixed = (mixed ^ (mixed >> np.uint64(29))) * _MIX
            mixed ^= mixed >> np.uint64(32)
        found[row] = np.int64(mixed >> np.uint64(2))
    return found


class Tracked(Stateless):
    """Scanned rows whose lineage is the occurrence each of them is; what has no time is none."""

    def __init__(self, node: instant_nodes.Tracked, occurrences: Occurrences, lineage: Lineage) -> None:
        self.schema: Schema = node.schema
        self._occurrences, self._lineage = occurrences, lineage
        self._terms: list[int | tuple[int, int]] = []
        """Of subject, predicate and object the column, or id and ref of what the pattern names."""
        for each in node.pattern.places:
            if isinstance(each, Constant):
                self._terms.append(occurrences.word(str(each.term)))
            else:
                assert isinstance(each, Variable)
                self._terms.append(node.schema.column(each.name))

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        (rows,) = inputs
        timed = np.flatnonzero(rows.start <= rows.end)
        if not len(timed):
            return rows
        arrival = np.full(len(timed), DERIVED)
        scanned = rows.lineage[timed] != NO_LINEAGE
        arrival[scanned] = self._lineage.event(rows.lineage[timed][scanned])
        ids, refs = np.empty((len(timed), 3), np.uint64), np.empty((len(timed), 3), np.int64)
        for place, term in enumerate(self._terms):
            if isinstance(term, int):
                ids[:, place], refs[:, place] = rows.ids[timed, term], rows.refs[timed, term]
            else:
                ids[:, place], refs[:, place] = term
        lineage = np.full(len(rows), NO_LINEAGE)
        lineage[timed] = self._occurrences.leaf(ids, refs, rows.start[timed], rows.end[timed], arrival)
        return Rows(
            rows.ids, rows.refs, rows.number, rows.scale, rows.start, rows.end, rows.since, rows.until, lineage
        )  # fmt: skip
