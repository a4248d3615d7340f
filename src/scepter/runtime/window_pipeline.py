"""Queries over windows as pipelines: what their plan rests on, and the exact evaluator where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scepter.algebra.continuous import PeriodicQuery
from scepter.algebra.patterns import Pattern, TriplePattern
from scepter.kernel.background import Background
from scepter.kernel.build import Surroundings
from scepter.kernel.continuous.knowledge import Knowledge
from scepter.kernel.graph_columns import constants
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset
from scepter.optimizer.patterns import optimize_pattern
from scepter.physical.nodes import Node
from scepter.physical.window_nodes import Step
from scepter.physical.window_plan import Count, NotPlanned, WindowOn, plan_periodic
from scepter.rdf.terms import IRI
from scepter.runtime.continuous_answers import ticks_of
from scepter.runtime.continuous_task import PeriodicTask, step_of
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.tasks import Task

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


def periodic_task(query: PeriodicQuery, number: int, setup: TaskSetup) -> Task:
    """A periodic query at work."""
    pattern = optimize_pattern(query.pattern)
    knowledge = Knowledge.of(pattern, setup.background.dataset, query.graphs, setup.ontology)
    flattened = knowledge.schema.flattened()
    try:
        root, ranked = _periodic_plan(query, pattern, setup, knowledge)
    except NotPlanned:
        return PeriodicTask(query, number, setup)
    if flattened is None:
        return PeriodicTask(query, number, setup)
    background = Background()
    background.dataset = Dataset(knowledge.static, knowledge.dataset.named)
    around = Surroundings(
        setup.key,
        setup.texts,
        background,
        setup.kind,
        setup.options.time_unit,
        flattened,
        context=Context(graph=knowledge.static, dataset=knowledge.dataset),
    )
    return Pipeline(root, query.result, number, setup, around, at_once=False, ranked=ranked)


def _periodic_plan(query: PeriodicQuery, pattern: Pattern, setup: TaskSetup, knowledge: Knowledge) -> tuple[Node, bool]:
    start = setup.options.start
    grid = Step(step_of(query, setup), 0 if start is None else start.on(setup.kind, "--start"))
    streams: dict[int, list[IRI]] = {}
    for source in query.sources:
        streams.setdefault(ticks_of(source.range, setup, source.span), []).append(source.stream.iri)
    windows = [WindowOn(tuple(dict.fromkeys(iris)), width, grid) for width, iris in streams.items()]
    return plan_periodic(pattern, windows, grid, counted(Dataset(knowledge.static, knowledge.dataset.named)))


def counted(dataset: Dataset) -> Count:
    """How many static triples have a pattern's constants."""

    def count(triple: TriplePattern, graph: IRI | None) -> int:
        found = dataset.default if graph is None else dataset.named.get(graph)
        return 0 if found is None else found.count(*constants(triple))

    return count
