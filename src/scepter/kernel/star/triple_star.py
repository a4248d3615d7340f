"""`TripleStar`: the matches of triple patterns over occurrences that count at the same time, and over static triples.

State: the occurrences in the windows, indexed by what the joins ask (`memories`). A match is a row: its interval is the hull of
its occurrences', it is there until the first of them goes, and its lineage is theirs in order of time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.condition.time_conditions import TimeConditions
from scepter.kernel.condition.time_terms import instant_literal
from scepter.kernel.encoding import encoded
from scepter.kernel.entailment.admitted import END, EXPIRES, FOR_EVER, START
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Until
from scepter.kernel.rows import NO_LINEAGE, Int64, Mappings, Rows, UInt64, concat, empty, lasting, mappings
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.star import memories
from scepter.kernel.star.expiry import Held
from scepter.kernel.star.join_plan import plan_joins
from scepter.kernel.star.occurrence_rows import Occurring
from scepter.kernel.star.repository import StaticTriples
from scepter.kernel.state.state_parts import InParts
from scepter.kernel.texts import Texts
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.star_nodes import NUMBER, WORD, TripleStar, feeds
from scepter.physical.planning.pattern_properties import overlapping
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Term
from scepter.rdf.values import to_literal
from scepter.timeline import TimeKind

_NO_GRAPH = Graph()


class Star(InParts):
    """A star of triple patterns at work."""

    def __init__(
        self, node: TripleStar, dataset: Dataset, context: Context, lineage: Lineage, held: Held | None,
        kind: TimeKind, key: TermKey, texts: Texts,
    ) -> None:  # fmt: skip
        self.schema: Schema = node.schema
        self._node = node
        self._lineage, self._held = lineage, held
        self._kind, self._key, self._texts, self._context = kind, key, texts, context
        triples = (*node.triples, *(triple for _, triple in node.graphs))
        graphs = [dataset.default] * len(node.triples)
        graphs += [dataset.named.get(name, _NO_GRAPH) for name, _ in node.graphs]
        self._static = StaticTriples.of(list(zip(triples, graphs, strict=True)), key, texts)
        self._plan = plan_joins(triples, [len(rows) for rows in self._static.matching])
        assert self._plan.names == node.bound
        self._memories = memories.Memories(self._plan, self._static, len(node.triples))
        self._parts = {"": self._memories}
        self._longest = FOR_EVER if node.longest is None or held is not None else min(node.longest, FOR_EVER)
        self._repeats = overlapping(triples)
        """Whether two choices of occurrences may be one match."""
        self._conditions = TimeConditions(node.conditions, node.schema.variables, kind, key, texts, context)
        self._word = node.input.schema.column(feeds(node.first // WORD))
        self._shift, self._mask = np.uint64(node.first % WORD), np.uint64((1 << len(node.triples)) - 1)
        self._number = node.input.schema.column(NUMBER)

    # ---- rows

    def rests(self, until: Until) -> bool:
        """Unless somebody tells it meanwhile which occurrences have gone."""
        return self._held is None

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The matches that new occurrences complete, in order of end."""
        (rows,) = inputs
        fed = (rows.ids[:, self._word] >> self._shift) & self._mask
        if not fed.all():
            mine = np.flatnonzero(fed)
            rows, fed = rows.take(mine), fed[mine]
        numbers = rows.number[:, self._number].astype(np.int64) if self._number >= 0 else np.zeros(len(rows), np.int64)
        if self._held is not None:
            self._renew(self._held)
        found, first = [], 0
        while first < len(rows):
            last = min(first + memories.CHUNK, len(rows))
            last = int(np.searchsorted(rows.end, rows.end[last - 1], side="right"))  # an instant is joined as a whole
            new = Occurring.of(rows.between(first, last), fed[first:last], numbers[first:last])
            made = self._found(self._memories.add(new, self._longest))
            if len(made):
                found.append(made)
            self._memories.release(int(rows.end[last - 1]))
            first = last
        return concat(found, len(self.schema.variables))

    def _renew(self, held: Held) -> None:
        """Say of what is here when its window lets go of it, as far as that is known by now."""
        size, rows = self._memories.size, self._memories.rows
        open_ = np.flatnonzero(rows.numbered[:size] > 0)
        rows.when[open_, EXPIRES] = held.until(rows.numbered[open_]) - 1

    def _found(self, matches: Int64) -> Rows:
        width, count = len(self.schema.variables), len(matches)
        if not count:
            return empty(width)
        made = mappings(count, width)
        self._bind(matches, made)
        if self._repeats:
            first = _once(matches, made.ids[:, : len(self._plan.names)])
            matches, made = matches[first], made.take(first)
        none, order = np.full(len(matches), NO_LINEAGE), np.arange(len(matches))
        if self._node.conditions:
            asked = Rows(*made, order, order, order, order, none)
            order = np.flatnonzero(self._conditions.holds(asked))
            matches, made = matches[order], made.take(order)
        when = self._memories.rows.when
        timed, at = matches >= 0, np.maximum(matches, 0)  # the others are static
        start = np.where(timed, when[at, START], FOR_EVER).min(axis=1)
        end = np.where(timed, when[at, END], -FOR_EVER).max(axis=1)
        expires = np.where(timed, when[at, EXPIRES], FOR_EVER).min(axis=1)
        since, until = lasting(len(matches))
        until[...] = np.minimum(expires, FOR_EVER - 1) + 1
        return Rows(*made, start, end, since, until, self._lineages(matches)).by_end()

    def _bind(self, matches: Int64, made: Mappings) -> None:
        """Fill in the terms of variables, each from a pattern and position where it stands; times; numbers."""
        rows, static = self._memories.rows, self._static.columns
        ids, refs, number, scale = made
        for column, (pattern, position) in enumerate(self._plan.origins):
            at = matches[:, pattern]
            ids[:, column] = _gathered(rows.ids[:, position], static.ids[:, position], at)
            refs[:, column] = _gathered(rows.refs[:, position], static.refs[:, position], at)
            if position == 2:
                number[:, column] = _gathered(rows.number, static.number, at)
                scale[:, column] = _gathered(rows.scale, static.scale, at)
        column = len(self._plan.names)
        for pattern in range(len(self._node.times)):
            at = np.flatnonzero(matches[:, pattern] >= 0)
            ends = rows.when[matches[at, pattern], END]
            self._tell(at, column, ends, lambda end: instant_literal(end, self._kind), made)
            column += 1
        for pattern in range(len(self._node.numbers)):
            at = np.flatnonzero(matches[:, pattern] >= 0)
            self._tell(at, column, rows.numbered[matches[at, pattern]], to_literal, made)
            column += 1

    def _tell(self, at: Int64, column: int, values: Int64, term: Callable[[int], Term], made: Mappings) -> None:
        """Put values into a column, as terms, at some rows."""
        different, where = np.unique(values, return_inverse=True)
        terms = [term(value) for value in different.tolist()]
        made.put(column, encoded(terms, self._key, self._texts).take(where), at)

    def _lineages(self, matches: Int64) -> Int64:
        """What each match is made of: its occurrences, each once, in order of end."""
        rows = np.sort(matches, axis=1)
        nodes = np.where(rows >= 0, self._memories.rows.lineage[np.maximum(rows, 0)], NO_LINEAGE)  # the others are static
        nodes[:, 1:][rows[:, 1:] == rows[:, :-1]] = NO_LINEAGE
        found: Int64 = nodes[:, 0].copy()
        for column in range(1, nodes.shape[1]):
            found = self._lineage.joined(found, nodes[:, column])
        return found

    # ---- instants that may be undone, and what is let go

    def evict(self, time: int) -> None:
        """Let go of what no match that ends after `time` can use."""
        self._memories.release(time + 1)

    def state_rows(self) -> Mapping[str, int]:
        occurrences, entries = self._memories.counted()
        return {"occurrences": occurrences, "pattern entries": entries}


def _gathered(streamed: NDArray[np.generic], static: NDArray[np.generic], place: Int64) -> NDArray[np.generic]:
    if bool((place >= 0).all()):
        return streamed[place]
    known = place < 0
    found = streamed[np.where(known, 0, place)]
    found[known] = static[-1 - place[known]]
    return found


def _once(matches: Int64, ids: UInt64) -> Int64:
    """Which matches are there for the first time: a match is its mapping and its set of occurrences. Repeated ones are found
    together, since all of them have the same newest occurrence and an instant is joined as a whole."""
    occurrences = np.sort(np.where(matches < 0, -1, matches), axis=1)  # what is static is no occurrence
    again = occurrences[:, 1:] == occurrences[:, :-1]
    occurrences[:, 1:][again] = -1
    occurrences.sort(axis=1)
    _, first = np.unique(np.concatenate([occurrences.view(np.uint64), ids], axis=1), axis=0, return_index=True)
    return np.sort(first)
