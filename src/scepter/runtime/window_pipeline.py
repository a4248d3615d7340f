"""Queries over windows as pipelines: what their plan rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.windows import WindowedQuery
from scepter.kernel.background import Background
from scepter.kernel.build import Surroundings
from scepter.kernel.continuous.knowledge import Knowledge
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.window.query_dataset import query_dataset
from scepter.ontology.vocabulary import is_schema
from scepter.physical.nodes import nodes
from scepter.physical.plan import UnitPlan
from scepter.physical.unit_nodes import GraphScan
from scepter.physical.window_nodes import WindowSnapshot
from scepter.rdf.terms import Triple
from scepter.runtime.notices import SCHEMA_IGNORED
from scepter.runtime.pipeline import Pipeline

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


def continuous_pipeline(plan: UnitPlan, setup: TaskSetup) -> Pipeline:
    """A continuous query at work."""
    query = plan.unit
    assert isinstance(query, ContinuousQuery)
    return _over_triples(plan, query, setup, by_terms=False)


def periodic_pipeline(plan: UnitPlan, setup: TaskSetup) -> Pipeline:
    """A periodic query at work."""
    query = plan.unit
    assert isinstance(query, PeriodicQuery)
    by_terms = any(isinstance(node, WindowSnapshot) for node in nodes(plan.root))
    return _over_triples(plan, query, setup, by_terms=by_terms)


def _over_triples(
    plan: UnitPlan, query: ContinuousQuery | PeriodicQuery, setup: TaskSetup, *, by_terms: bool
) -> Pipeline:  # fmt: skip
    """A query over triples, with what they entail, and over static data."""
    knowledge = Knowledge.of(query.pattern, setup.background.dataset, query.graphs, setup.ontology)
    background = Background()
    background.dataset = Dataset(knowledge.static, knowledge.dataset.named)

    def consequences(triple: Triple) -> Iterable[Triple]:
        if is_schema(triple):
            setup.notices.tell(SCHEMA_IGNORED)
            return ()
        return knowledge.entailed(triple)

    around = Surroundings(
        setup.key,
        setup.texts,
        background,
        setup.kind,
        setup.options.time_unit,
        None if by_terms else knowledge.schema.flattened(),
        context=Context(graph=knowledge.static, dataset=knowledge.dataset),
        static=knowledge.static,
        consequences=consequences,
        streams=setup.streams,
    )
    return Pipeline(
        plan.root, query.result, plan.number, setup, around, at_once=plan.at_once, measured=setup.measured, ranked=plan.ranked
    )


def windowed_pipeline(plan: UnitPlan, setup: TaskSetup) -> Pipeline:
    """A query over named windows at work."""
    query = plan.unit
    assert isinstance(query, WindowedQuery)
    background = Background()
    known = query_dataset(query, setup.background.dataset)
    asked = {name: Graph() for scan in nodes(plan.root) if isinstance(scan, GraphScan) for name, _ in scan.scan.graphs}
    background.dataset = Dataset(known.default, {**asked, **known.named})
    context = Context(graph=background.dataset.default, dataset=background.dataset)
    around = Surroundings(setup.key, setup.texts, background, setup.kind, setup.options.time_unit, context=context)
    return Pipeline(
        plan.root, query.result, plan.number, setup, around, at_once=plan.at_once, measured=setup.measured, ranked=plan.ranked
    )
