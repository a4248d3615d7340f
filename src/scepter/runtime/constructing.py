"""CONSTRUCT templates in columns: which triples the rows of a batch make, and their graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Constant
from scepter.algebra.patterns import Node, TriplePattern
from scepter.kernel.rows import Int64
from scepter.kernel.texts import one_ref_each
from scepter.rdf.lines import Column, joined, listed
from scepter.rdf.packed import Packed
from scepter.rdf.terms import IRI, BlankNode
from scepter.runtime.graphs import Graphs, Spelt, digests

if TYPE_CHECKING:
    from scepter.runtime.matches import MatchBatch

_LESS, _QUOTE = b'<"'
_OWN: Final = "_:"
"""How the names of a template's blank nodes begin."""


class Constructing:
    """Some rows of a batch, and the template that they are put into."""

    def __init__(self, template: Sequence[TriplePattern], batch: MatchBatch, rows: Int64) -> None:
        self._triples = [triple.places for triple in template]
        self._batch, self._rows = batch, rows
        self._each, self._where = one_ref_each(batch.ids[rows], batch.refs[rows])

    def made(self) -> NDArray[np.bool_]:
        """[row, triple of the template]: whether it is made. One with an unbound variable or a term out of place is not."""
        kinds = self._batch.texts.initials(self._each)
        found = np.ones((len(self._rows), len(self._triples)), np.bool_)
        for at, triple in enumerate(self._triples):
            for position, node in enumerate(triple):
                found[:, at] &= self._fits(node, position, kinds)
        return found

    def _fits(self, node: Node, position: int, kinds: NDArray[np.uint8]) -> NDArray[np.bool_] | bool:
        """Whether a node's terms may stand there: no literal as subject, an IRI as predicate, anything as object."""
        if _label(node) is not None:
            return position != 1
        if isinstance(node, Constant):
            return position == 2 or isinstance(node.term, IRI)
        if node.name not in self._batch.names:
            return False
        kind = kinds[self._where[:, self._batch.names.index(node.name)]]  # 0: unbound
        found: NDArray[np.bool_] = kind == _LESS if position == 1 else kind != 0
        return found & (kind != _QUOTE) if position == 0 else found

    def graphs(self) -> Graphs:
        """The graphs of the rows."""
        bound = np.flatnonzero(self._each >= 0)
        place = np.full(len(self._each), -1, np.int64)
        place[bound] = np.arange(len(bound))
        parts = [Spelt.at(self._each[bound], self._batch.texts)]
        size, places = len(bound), {}
        for node in dict.fromkeys(node for triple in self._triples for node in triple):
            own = self._own(node, parts[0], place)
            if own is not None:  # a term for all rows, or one for each
                places[node] = size + (np.arange(len(self._rows)) if len(own.texts) == len(self._rows) else 0)
                parts.append(own)
                size += len(own.texts)
            elif not isinstance(node, Constant) and node.name in self._batch.names:
                places[node] = place[self._where[:, self._batch.names.index(node.name)]]
        made = self.made()
        row, terms = [np.empty(0, np.int64)], [np.empty((0, 3), np.int64)]
        for at, triple in enumerate(self._triples):
            mine = np.flatnonzero(made[:, at])
            if len(mine):
                row.append(mine)
                terms.append(np.column_stack([np.broadcast_to(places[node], len(self._rows))[mine] for node in triple]))
        return Graphs.of(len(self._rows), np.concatenate(row), np.concatenate(terms), Spelt.together(parts))

    def _own(self, node: Node, known: Spelt, place: Int64) -> Spelt | None:
        """The terms of a node that is no variable: a constant's one, or a blank node for each row."""
        label = _label(node)
        if label is not None:
            return Spelt.of(Packed.of([f"{_OWN}{seed}{label}" for seed in self._seeds(known, place)]))
        return Spelt.of(Packed.of([str(node.term)])) if isinstance(node, Constant) else None

    def _seeds(self, known: Spelt, place: Int64) -> list[str]:
        """Fresh blank nodes per match, the same on every engine: from what the match is, not from where it was computed."""
        batch = self._batch
        shown = Packed.of([f"{known.texts.text(at)!r})" for at in range(len(known.texts))])
        cells = ((name, Column(shown, place[self._where[:, batch.names.index(name)]])) for name in sorted(batch.names))
        terms = listed([(f"({name!r}, ", column) for name, column in cells], ", ")
        start, end = batch.start[self._rows], batch.end[self._rows]
        what = joined([f"({batch.query}, ", start, ", ", end, ", [", *terms, "])"], len(self._rows))
        return [f"m{digest}" for digest in digests(what.texts, 8)]


def _label(node: Node) -> str | None:
    """The label of a blank node of the template, if it is one."""
    if isinstance(node, Constant):
        return node.term.label if isinstance(node.term, BlankNode) else None
    return node.name.removeprefix(_OWN) if node.name.startswith(_OWN) else None
