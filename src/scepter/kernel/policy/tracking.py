"""Which occurrences of triples rows rest on, for operators that consume them (spec/20-ep-sparql rule 10).

An occurrence is a triple over an interval. It is told by a number made of both, which a lineage leaf carries as its part; the
leaf's event is the arrival, by which ties are settled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np

from scepter.algebra.expressions import Constant
from scepter.kernel.encoding import decoded
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Stateless, Until
from scepter.kernel.rows import NO_LINEAGE, Int64, Rows
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.physical import instant_nodes
from scepter.physical.nodes import Schema
from scepter.rdf.terms import Triple

DERIVED = 2**62
"""What rules derive has arrived after all events of its instant."""
_FEW = 1 << 12


class Occurrences:
    """The occurrences of one unit, with their texts, as long as the lineage knows them."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._texts: dict[int, str] = {}
        self._due = _FEW

    def leaf(self, triples: Sequence[str], start: Int64, end: Int64, arrival: Int64) -> Int64:
        """A leaf for each occurrence."""
        numbers = [_number(text, int(a), int(b)) for text, a, b in zip(triples, start, end, strict=True)]
        self._texts.update(zip(numbers, triples, strict=True))
        none = np.full(len(numbers), -1, np.int64)
        made = self._lineage.leaves(0, arrival, none)
        self._lineage.part(made, np.array(numbers, np.int64))
        self._prune()  # not before the lineage knows the new ones
        return made

    def node(self, triples: Iterable[Triple], start: int, end: int, arrival: int) -> int:
        """One node for all triples of an event's graph."""
        texts = [" ".join(map(str, triple)) for triple in triples]
        ends = [np.full(len(texts), each, np.int64) for each in (start, end, arrival)]
        found = np.full(1, NO_LINEAGE)
        for leaf in self.leaf(texts, *ends).tolist():
            found = self._lineage.joined(found, np.array([leaf], np.int64))
        return int(found[0])

    def used(self, node: int) -> tuple[frozenset[int], list[tuple[int, str]]]:
        """The occurrences below a node, and by what they are ordered: arrival, then the triple's text."""
        leaves = dict.fromkeys((part, event) for part, event, _ in self._lineage.selected(node))
        return frozenset(part for part, _ in leaves), sorted((event, self._texts[part]) for part, event in leaves)

    def _prune(self) -> None:
        if len(self._texts) > self._due:
            known = set(self._lineage.columns()["lineage.part"].tolist())
            self._texts = {number: text for number, text in self._texts.items() if number in known}
            self._due = max(_FEW, 2 * len(self._texts))

    def dump(self) -> Arrays:
        """Numbers and texts."""
        texts = "\n".join(self._texts.values()).encode()
        return {"occurrences": np.array([*self._texts], np.int64), "triples": np.frombuffer(texts, np.uint8)}

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        texts = arrays["triples"].tobytes().decode().split("\n")
        self._texts.update(zip(arrays["occurrences"].tolist(), texts, strict=False))


def _number(text: str, start: int, end: int) -> int:
    digest = hashlib.blake2b(f"{text} {start} {end}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 2


class Tracked(Stateless):
    """Scanned rows whose lineage is the occurrence each of them is; what has no time is none."""

    def __init__(self, node: instant_nodes.Tracked, occurrences: Occurrences, lineage: Lineage, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._nodes = (node.pattern.subject, node.pattern.predicate, node.pattern.object)
        self._occurrences, self._lineage, self._texts = occurrences, lineage, texts

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The same rows."""
        (rows,) = inputs
        timed = np.flatnonzero(rows.start <= rows.end)
        if not len(timed):
            return rows
        arrival = np.full(len(timed), DERIVED)
        scanned = rows.lineage[timed] != NO_LINEAGE
        arrival[scanned] = self._lineage.columns()["lineage.event"][rows.lineage[timed][scanned]]
        lineage = np.full(len(rows), NO_LINEAGE)
        texts = [self._text(rows, row) for row in timed.tolist()]
        lineage[timed] = self._occurrences.leaf(texts, rows.start[timed], rows.end[timed], arrival)
        return Rows(
            rows.ids, rows.refs, rows.number, rows.scale, rows.start, rows.end, rows.since, rows.until, lineage
        )  # fmt: skip

    def _text(self, rows: Rows, row: int) -> str:
        terms = decoded(rows, self.schema.variables, row, self._texts)
        return " ".join(str(node.term if isinstance(node, Constant) else terms[node.name]) for node in self._nodes)

    # ---- state: the texts of all occurrences of the unit; one that is known too early does no harm, and the lineage decides

    def dump(self) -> Arrays:
        """The texts."""
        return self._occurrences.dump()

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        self._occurrences.load(arrays)
