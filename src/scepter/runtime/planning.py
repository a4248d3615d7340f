"""A run's plan: made once, from the program and what the run is given, before any event is taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from typing import Final

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.patterns import TriplePattern
from scepter.algebra.query import Program, Unit
from scepter.algebra.windows import WindowedQuery
from scepter.kernel.entailment.knowledge import Knowledge
from scepter.kernel.entailment.static_graph import schema_statements
from scepter.kernel.sparql.dataset import Dataset
from scepter.kernel.static.background import Background
from scepter.kernel.static.graph_columns import constants
from scepter.kernel.window.query_dataset import query_dataset
from scepter.physical.facts import Count, Facts, Statics
from scepter.physical.plan import PhysicalPlan
from scepter.physical.planning.planner import plan
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.options import RunOptions
from scepter.timeline import TimeKind

_ENOUGH: Final = 500
"""Triples of a sample: fewer say little, and over so few the order of joins is all one."""
_MOST: Final = 1 << 15
"""Triples of each stream that are looked at."""


def facts_of(
    options: RunOptions, background: Background, ontology: tuple[Triple, ...] = (), kind: TimeKind | None = None
) -> Facts:
    """What is known of a run. What depends on the kind of time is told where that is known."""
    dataset = background.dataset
    given = options.evaluate_at
    return Facts(
        kind=kind,
        time_unit=options.time_unit,
        policy=options.policy,
        why=options.why,
        default_graph=len(dataset.default),
        graphs=tuple((name, len(graph)) for name, graph in dataset.named.items()),
        ontology=ontology,
        schema=tuple(chain.from_iterable(map(schema_statements, (dataset.default, *dataset.named.values())))),
        start=0 if kind is None or options.start is None else options.start.on(kind, "--start"),
        evaluate_at=None if kind is None or given is None else tuple(each.on(kind, "--evaluate-at") for each in given),
        statics=_statics(dataset, ontology),
        indexed=options.indexed,
    )


def _statics(dataset: Dataset, ontology: tuple[Triple, ...]) -> Statics:
    known: dict[int, tuple[Unit, Count]] = {}

    def statics(unit: Unit) -> Count:
        if id(unit) not in known:
            known[id(unit)] = unit, _counted(_dataset_of(unit, dataset, ontology))
        return known[id(unit)][1]

    return statics


def _dataset_of(unit: Unit, dataset: Dataset, ontology: tuple[Triple, ...]) -> Dataset:
    """What is static to a unit, with what it entails."""
    if isinstance(unit, ContinuousQuery | PeriodicQuery):
        return Dataset(Knowledge.of(unit.pattern, dataset, unit.graphs, ontology).static, dataset.named)
    return query_dataset(unit, dataset) if isinstance(unit, WindowedQuery) else dataset


def _counted(dataset: Dataset) -> Count:
    def count(triple: TriplePattern, graph: IRI | None) -> int:
        found = dataset.default if graph is None else dataset.named.get(graph)
        return 0 if found is None else found.count(*constants(triple))

    return count


def planned(program: Program, facts: Facts) -> PhysicalPlan:
    """The plan of a run: the one that every engine takes."""
    return plan(program, facts)


@dataclass(frozen=True, slots=True)
class Sample:
    """Triples of the streams, all from the same stretch of time: (subject, predicate, object) by ids."""

    ids: NDArray[np.uint64]
    key: TermKey

    @classmethod
    def of(cls, heads: Sequence[EventBatch], key: TermKey) -> Sample | None:
        """What the first events of each stream hold, up to where the first of these stretches ends: a stream that brings
        little in that time counts as little. None where it is too few triples to tell."""
        until = min((int(head.end[-1]) for head in heads), default=0)
        parts = [np.empty((0, 3), np.uint64)]
        for head in heads:
            rows = np.repeat(head.end <= until, np.diff(head.first))
            parts.append(np.stack([head.subject[rows], head.predicate[rows], head.object[rows]], axis=1)[:_MOST])
        ids = np.concatenate(parts)
        return cls(ids, key) if len(ids) >= _ENOUGH else None

    def known(self, facts: Facts) -> Facts:
        """The facts of a run with what the sample tells."""
        return replace(facts, seen=cache(self._count), sampled=len(self.ids))

    def _count(self, triple: TriplePattern) -> int:
        found = np.ones(len(self.ids), np.bool_)
        for column, term in enumerate(constants(triple)):
            if term is not None:
                found &= self.ids[:, column] == np.uint64(term_id(self.key, str(term)))
        return int(found.sum())
