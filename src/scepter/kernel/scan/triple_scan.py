"""`TripleScan`: the triples of events, and what they entail, that match triple patterns. Stateless.

Under a schema all scans of a unit that read the same streams share one pass over a batch: each triple is looked up once and
tells by a word of bits which patterns it feeds (`kernel.entailment.conclusions`); statements of the schema vocabulary then
match nothing. Without one a pattern's constants are compared column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.entailment.admitted import END, EVENT, FOR_EVER, NAME, START, Admitted
from scepter.kernel.entailment.conclusions import Conclusions
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, Int64, Mask, Rows, UInt64, lasting, lasting_rows, mappings
from scepter.kernel.scan.intake import Intake
from scepter.kernel.texts import Texts
from scepter.ontology.entailment import Flattened
from scepter.physical.nodes.nodes import TripleScan
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey, term_id

MOST_SCANS = 64
"""So many patterns fit into one word of bits."""


class PlainTriples:
    """Triple scans without a schema."""

    def __init__(self, scans: Sequence[TripleScan], key: TermKey, lineage: Lineage, part: Callable[[str], int]) -> None:
        self._patterns = [scan.pattern.places for scan in scans]
        self._constants = [
            [term_id(key, str(node.term)) if isinstance(node, Constant) else None for node in nodes] for nodes in self._patterns
        ]
        self._positions = [_positions(scan.pattern, scan.schema.variables) for scan in scans]
        self._parts = [part(scan.label) if scan.label else None for scan in scans]
        self._lineage = lineage

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per scan its rows in order of end."""
        owner = np.repeat(np.arange(intake.batch.events), np.diff(intake.batch.first))
        rows = None if bool(wanted.all()) else np.flatnonzero(wanted[owner])
        return [self._rows(intake, owner, rows, number) for number in range(len(self._patterns))]

    def _rows(self, intake: Intake, owner: Int64, wanted: Int64 | None, number: int) -> Rows:
        batch = intake.batch
        terms, places = (batch.subject, batch.predicate, batch.object), (batch.subject_at, batch.predicate_at, batch.object_at)
        at = self._matching(terms, wanted, number)
        event, positions, part = owner[at], self._positions[number], self._parts[number]
        ids, refs, numbers, scale = found = mappings(len(at), len(positions))
        for column, position in enumerate(positions.tolist()):
            ids[:, column] = terms[position][at]
            refs[:, column] = places[position][at] + intake.base
            if position == 2:
                numbers[:, column], scale[:, column] = batch.number[at], batch.scale[at]
        lineage = np.full(len(at), NO_LINEAGE)
        if part is not None:
            lineage = self._lineage.leaves(part, event + intake.number, intake.names()[event])
        return lasting_rows(found, batch.start[event], batch.end[event], lineage).by_end()

    def _matching(self, terms: tuple[UInt64, UInt64, UInt64], wanted: Int64 | None, number: int) -> Int64:
        """The triples that have a pattern's constants, and equal terms where it has one variable twice."""
        at = np.arange(len(terms[0])) if wanted is None else wanted
        nodes = self._patterns[number]
        for position in (1, 2, 0):  # the predicate first: it tells most triples apart
            if (id := self._constants[number][position]) is not None:
                at = at[terms[position][at] == np.uint64(id)]
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if isinstance(nodes[i], Variable) and nodes[i] == nodes[j]:
                at = at[terms[i][at] == terms[j][at]]
        return at


class EntailedTriples:
    """Triple scans under a schema."""

    def __init__(
        self,
        scans: Sequence[TripleScan],
        flattened: Flattened,
        key: TermKey,
        texts: Texts,
        lineage: Lineage,
        part: Callable[[str], int],
    ) -> None:
        assert len(scans) <= MOST_SCANS
        patterns = tuple(scan.pattern for scan in scans)
        self._conclusions = Conclusions(patterns, flattened, key, texts)
        self._positions = [_positions(scan.pattern, scan.schema.variables) for scan in scans]
        self._parts = [part(scan.label) if scan.label else None for scan in scans]
        self._lineage = lineage
        self.met_schema = False
        """Whether a wanted event held a schema statement."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per scan its rows in order of end."""
        for_ever = np.full(int(intake.batch.stream.max(initial=0)) + 1, FOR_EVER)
        found, schema = self._conclusions.admit(intake, wanted, for_ever)
        self.met_schema = self.met_schema or schema
        return [self._rows(found, number) for number in range(len(self._positions))]

    def _rows(self, found: Admitted, number: int) -> Rows:
        at = np.flatnonzero(found.feeds >> np.uint64(number) & np.uint64(1))
        positions, part = self._positions[number], self._parts[number]
        ids = found.ids[at][:, positions]
        if len(at) > 1:  # entailed twice, or by two triples of one event, a triple stands there once
            event = found.source[at, EVENT].view(np.uint64)[:, None]
            first, _ = distinct(np.concatenate([ids, event], axis=1))
            if len(first) < len(at):
                at, ids = at[first], ids[first]
        is_object = positions == 2
        name = found.refs[at, NAME]
        lineage = np.full(len(at), NO_LINEAGE) if part is None else self._lineage.leaves(part, found.source[at, EVENT], name)
        return Rows(
            ids,
            found.refs[at][:, positions],
            np.where(is_object, found.number[at][:, None], np.nan),
            np.where(is_object, found.scale[at][:, None], NOT_A_NUMBER).astype(np.int8),
            found.when[at, START],
            found.when[at, END],
            *lasting(len(at)),
            lineage,
        ).by_end()


def _positions(pattern: TriplePattern, names: Sequence[str]) -> Int64:
    """For each variable the last place in the triple where it stands: as an object its number is known."""
    nodes = pattern.places
    found = [max(i for i, node in enumerate(nodes) if isinstance(node, Variable) and node.name == name) for name in names]
    return np.array(found, np.int64)
