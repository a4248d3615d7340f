"""Scans of single triple patterns over what the triples of events entail, on ids."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scepter.algebra.expressions import Constant, Variable
from scepter.algebra.patterns import BGP, TriplePattern
from scepter.kernel.background import Background
from scepter.kernel.continuous.admitted import END, EVENT, FOR_EVER, NAME, START, Admitted
from scepter.kernel.continuous.conclusions import Conclusions
from scepter.kernel.intake import Intake
from scepter.kernel.scans import Scans, Streams, each_once
from scepter.kernel.solutions import Solutions
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.texts import Texts
from scepter.ontology.entailment import Flattened
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE, speaks_of_schema
from scepter.physical.plan import QueryPlan
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import Triple

_MOST_PATTERNS = 64
"""A conclusion tells the patterns that it feeds by the bits of a word."""


def entailment_of(plan: QueryPlan, ontology: tuple[Triple, ...]) -> Flattened | None:
    """What triples entail, as far as the scans can use it; None where that cannot be told predicate by predicate, or where
    statements of the ontology match a scan themselves."""
    patterns = _patterns(plan)
    if patterns is None or any(not _speaks_of_data(pattern) for pattern in patterns):
        return None
    schema = Schema.from_triples(ontology)
    if schema.extends_itself() or any(speaks_of_schema(predicate, None) for predicate in schema.triggers()[0]):
        return None
    stated = (entailed for triple in ontology if not schema.is_schema(triple) for entailed in schema.consequences(triple))
    if any(_may_match(pattern, triple) for triple in stated for pattern in patterns):
        return None
    return schema.reduced(patterns).flattened()


def _patterns(plan: QueryPlan) -> tuple[TriplePattern, ...] | None:
    """The triple patterns of the scans; None unless each scan is one."""
    found = []
    for scan in plan.scans:
        if not isinstance(scan.pattern, BGP) or len(scan.pattern.triples) != 1 or scan.graphs:
            return None
        found.append(scan.pattern.triples[0])
    return tuple(found) if len(found) <= _MOST_PATTERNS else None


def _speaks_of_data(pattern: TriplePattern) -> bool:
    """Whether no schema statement can match it."""
    if not isinstance(pattern.predicate, Constant):
        return False
    if pattern.predicate.term != TYPE:
        return not speaks_of_schema(pattern.predicate.term, None)
    return isinstance(pattern.object, Constant) and not speaks_of_schema(TYPE, pattern.object.term)


def _may_match(pattern: TriplePattern, triple: Triple) -> bool:
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    return all(not isinstance(node, Constant) or node.term == term for node, term in zip(nodes, triple, strict=True))


class EntailedScans(Scans):
    """The scans of a query whose patterns are single triples; an event stands for what its triples entail."""

    def __init__(self, plan: QueryPlan, key: TermKey, background: Background, texts: Texts, flattened: Flattened) -> None:
        super().__init__(plan, key, background)
        patterns = _patterns(plan)
        assert patterns is not None  # by `entailment_of`
        self._conclusions = Conclusions(patterns, flattened, key, texts)
        self._positions = [tuple(_positions(p, plan, scan.slots)) for p, scan in zip(patterns, plan.scans, strict=True)]

    def __call__(
        self, intake: Intake, texts: Texts, wanted: Streams, graphs: dict[int, Graph] | None
    ) -> list[tuple[Solutions, Solutions]]:
        """Per scan: the solutions its local filters keep, and all of them."""
        (stream,) = {scan.stream for scan in self._plan.scans}  # a sequence of triples sees one merged stream
        lasting = np.full(int(intake.batch.stream.max(initial=0)) + 1, FOR_EVER)
        found, _ = self._conclusions.admit(intake, wanted[stream], lasting)
        results = []
        for number in range(len(self._plan.scans)):
            table = self._solutions(found, number)
            results.append((self._filter(number, table, texts), table))
        return results

    def _solutions(self, found: Admitted, number: int) -> Solutions:
        rows = np.flatnonzero(found.feeds >> np.uint64(number) & np.uint64(1))
        columns = np.array(self._positions[number], np.int64)
        is_object = columns == 2
        table = Solutions(
            found.when[rows, END], found.when[rows, START], np.zeros(len(rows), np.int8), found.source[rows, EVENT][:, None],
            found.refs[rows, NAME][:, None], found.ids[rows][:, columns], found.refs[rows][:, columns],
            np.where(is_object, found.number[rows][:, None], np.nan),
            np.where(is_object, found.scale[rows][:, None], NOT_A_NUMBER).astype(np.int8),
        )  # fmt: skip
        return each_once(table).by_time()


def _positions(pattern: TriplePattern, plan: QueryPlan, slots: tuple[int, ...]) -> Iterator[int]:
    """For each slot, where in the triple its variable stands."""
    nodes = (pattern.subject, pattern.predicate, pattern.object)
    for slot in slots:
        yield max(i for i, node in enumerate(nodes) if isinstance(node, Variable) and node.name == plan.variables[slot])
