"""Scans of single triple patterns over what the triples of events entail, on ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from scepter.algebra.expressions import Variable
from scepter.algebra.patterns import TriplePattern
from scepter.kernel.entailment.admitted import END, EVENT, FOR_EVER, NAME, START, Admitted
from scepter.kernel.entailment.conclusions import Conclusions
from scepter.kernel.scan.event_pattern import EventPattern
from scepter.kernel.scan.intake import Intake
from scepter.kernel.scan.pattern_scan import Scans, Streams, each_once
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.ontology.entailment import Flattened
from scepter.physical.nodes.nodes import Node
from scepter.physical.planning.entailment import single_triples
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.hashing import TermKey


class EntailedScans(Scans):
    """The scans of a query whose patterns are single triples; an event stands for what its triples entail."""

    def __init__(
        self,
        plan: QueryPlan,
        key: TermKey,
        background: Background,
        pattern_of: Callable[[Node, Sequence[str]], EventPattern],
        texts: Texts,
        flattened: Flattened,
    ) -> None:
        super().__init__(plan, key, background, pattern_of)
        patterns = single_triples(plan)
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
    nodes = pattern.places
    for slot in slots:
        yield max(i for i, node in enumerate(nodes) if isinstance(node, Variable) and node.name == plan.variables[slot])
