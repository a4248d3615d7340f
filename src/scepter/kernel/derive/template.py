"""From solutions to what is derived, and back to the rows of patterns: `Template` and `Pick`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import Node as TermNode
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.derive.rounds import Consequences
from scepter.kernel.encoding import encoded
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import (
    ALWAYS,
    Int64,
    Mappings,
    Mask,
    Rows,
    UInt64,
    concat,
    empty,
    lasting_rows,
    mappings,
)
from scepter.kernel.texts import Texts
from scepter.physical.nodes.derive_nodes import DerivedRule, Picked, Recalled
from scepter.physical.nodes.nodes import Schema
from scepter.physical.planning.strata import label_of
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, BlankNode, Literal

_REMEMBERED = 200_000
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Pick(Stateless):
    """The triples that match a pattern, or the nodes that match several, as their variables."""

    def __init__(self, node: Picked | Recalled, key: TermKey) -> None:
        self.schema: Schema = node.schema
        self._whole = bool(node.whole)
        places = _of_node(node) if self._whole else list(enumerate(node.patterns[0].places))
        self._constants = [(i, np.uint64(term_id(key, str(each.term)))) for i, each in places if isinstance(each, Constant)]
        self._columns = [
            [i for i, each in places if isinstance(each, Variable) and each.name == name] for name in self.schema.variables
        ]
        self._asked = sorted({i for i, _ in places})

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """Those with its constants, and equal terms where it has one variable twice."""
        (rows,) = inputs
        kept: Mask = np.ones(len(rows), np.bool_)
        if self._whole:
            for column in self._asked:
                kept &= rows.ids[:, column] != 0
        elif rows.width > 3:
            # Of a graph that stands again with something new, what had been derived before counts for paths alone.
            kept = rows.number[:, 3] != 1
        for column, id in self._constants:
            kept &= rows.ids[:, column] == id
        for first, *others in self._columns:
            for other in others:
                kept &= rows.ids[:, first] == rows.ids[:, other]
        return (rows if bool(kept.all()) else rows.take(kept)).columns([columns[-1] for columns in self._columns])


def _of_node(node: Picked | Recalled) -> list[tuple[int, TermNode]]:
    """Of the columns of derived nodes, what a pattern has there."""
    found: list[tuple[int, TermNode]] = []
    for pattern in node.patterns:
        assert isinstance(pattern.predicate, Constant) and isinstance(pattern.predicate.term, IRI)
        found += (0, pattern.subject), (1 + node.whole.index(pattern.predicate.term), pattern.object)
    return found


class Template:
    """Triples of solutions: one with an unbound variable or a term out of place is left out, the others stay. Blank nodes are
    fresh for each solution, the same wherever it is computed: named by a hash of what it is. With `whole`, the predicates of
    derived nodes, a row is a node with its objects."""

    def __init__(
        self,
        rule: DerivedRule,
        key: TermKey,
        texts: Texts,
        entailed: Consequences | None = None,
        *,
        graphs: bool = False,
        whole: Sequence[IRI] = (),
    ) -> None:
        self._entailed = entailed
        self._graphs = graphs
        self._rule = rule
        objects = {triple.predicate: triple.object for triple in rule.template}
        self._whole = [None if (each := Constant(iri)) not in objects else objects[each] for iri in whole]
        self._names = rule.root.schema.variables
        self._texts = texts
        self._constants = {
            term: encoded([term], key, texts)
            for triple in rule.template
            for term in (node.term for node in triple.places if isinstance(node, Constant))
            if not isinstance(term, BlankNode)
        }
        self._kinds: dict[int, type] = {}

    def __call__(self, rows: Rows) -> Rows:
        """All triples of all rows."""
        width = 1 + len(self._whole) if self._whole else 4 if self._graphs else 3
        # What has no time and needs no triple derives at instants, not for all times.
        rows = rows.take((rows.start <= rows.end) | (rows.until != ALWAYS)) if len(rows) else rows
        if not len(rows):
            return empty(width)
        if self._whole:
            return self._nodes(rows)
        blanks: dict[str, tuple[UInt64, Int64]] = {}
        made = concat([self._triples(triple, rows, blanks) for triple in self._rule.template], width)
        return made if self._entailed is None else self._entailed(made)

    def _nodes(self, rows: Rows) -> Rows:
        """A node for each row, if anything is said of it."""
        columns = mappings(len(rows), 1 + len(self._whole))
        columns[0][:, 0], columns[1][:, 0] = self._fresh(rows, 0)
        for position, node in enumerate(self._whole, 1):
            if node is not None:
                self._put(node, rows, columns, position)
        made = lasting_rows(columns, rows.start, rows.end)
        return made if bool(made.ids[:, 1:].all()) else made.take((made.ids[:, 1:] != 0).any(axis=1))

    def _triples(self, triple: TriplePattern, rows: Rows, blanks: dict[str, tuple[UInt64, Int64]]) -> Rows:
        columns = ids, refs, _, _ = mappings(len(rows), 4 if self._graphs else 3)
        if self._graphs:
            ids[:, 3] = self._told_apart(rows, 63)
        kept: Mask = np.ones(len(rows), np.bool_)
        for position, node in enumerate(triple.places):
            if (label := label_of(node)) is not None:
                if label not in blanks:
                    blanks[label] = self._fresh(rows, len(blanks))
                ids[:, position], refs[:, position] = blanks[label]
            else:
                self._put(node, rows, columns, position)
                if position < 2 and isinstance(node, Variable) and node.name in self._names:
                    column = self._names.index(node.name)
                    kept &= self._fits(rows, column, (IRI, BlankNode) if position == 0 else (IRI,))
            kept &= ids[:, position] != 0
        made = lasting_rows(columns, rows.start, rows.end)
        return made if bool(kept.all()) else made.take(kept)

    def _put(self, node: TermNode, rows: Rows, columns: Mappings, position: int) -> None:
        """The terms of a constant or a variable."""
        if isinstance(node, Constant) and not isinstance(node.term, BlankNode):
            columns.put(position, self._constants[node.term])
        elif isinstance(node, Variable) and node.name in self._names:
            columns.put(position, rows.mappings.column(self._names.index(node.name)))

    def _fits(self, rows: Rows, column: int, kinds: tuple[type, ...]) -> Mask:
        """Whether terms may stand in a place; each different one is looked at once."""
        different, first, where = np.unique(rows.ids[:, column], return_index=True, return_inverse=True)
        verdicts = np.zeros(len(different), np.bool_)
        for i, (id, row) in enumerate(zip(different.tolist(), first.tolist(), strict=True)):
            if id:
                kind = self._kinds.get(id)
                if kind is None:
                    if len(self._kinds) > _REMEMBERED:
                        self._kinds.clear()
                    kind = self._kinds[id] = type(self._texts.known(int(rows.refs[row, column]), id))
                verdicts[i] = issubclass(kind, kinds) and kind is not Literal
        found: Mask = verdicts[where]
        return found

    def _fresh(self, rows: Rows, number: int) -> tuple[UInt64, Int64]:
        """A blank node for each row: `_:m` and the hexadecimal digits of its id."""
        ids = self._told_apart(rows, number)
        return ids, named(ids, self._texts)

    def _told_apart(self, rows: Rows, number: int) -> UInt64:
        """A number for each solution, made of what it is."""
        ids = np.full(len(rows), np.uint64(self._rule.number * 64 + number + 1), np.uint64)
        for column in (rows.start.view(np.uint64), rows.end.view(np.uint64), *rows.ids.T):
            ids = (ids ^ (ids >> np.uint64(29)) ^ column) * _MIX
        ids ^= ids >> np.uint64(32)
        return ids | np.uint64(1)


def named(ids: UInt64, texts: Texts) -> Int64:
    """The refs of blank nodes."""
    text = np.empty((len(ids), 20), np.uint8)
    _spell(ids, text)
    return texts.append_lines(text.ravel()) + 20 * np.arange(len(ids))


@njit(cache=True)
def _spell(ids, text):  # type: ignore[no-untyped-def]
    """`_:m`, the hexadecimal digits of an id, and the end of the line."""
    for row in range(len(ids)):
        text[row, 0], text[row, 1], text[row, 2], text[row, 19] = 95, 58, 109, 10
        rest = ids[row]
        for place in range(18, 2, -1):
            digit = np.uint8(rest & np.uint64(15))
            text[row, place] = digit + 48 if digit < 10 else digit + 87
            rest >>= np.uint64(4)
