"""What the operators of a unit share and rest on: background, what the schema entails, where windows begin."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.timed import TimedProgram
from scepter.algebra.windows import WindowedQuery
from scepter.kernel.build import Surroundings
from scepter.kernel.entailment.closure import entailed
from scepter.kernel.entailment.knowledge import Knowledge
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.static.background import Background
from scepter.kernel.window.query_dataset import query_dataset
from scepter.ontology.schema import compiled
from scepter.ontology.vocabulary import is_schema
from scepter.physical.nodes.nodes import nodes
from scepter.physical.nodes.sequence_nodes import GraphScan, Sequence
from scepter.physical.nodes.window_nodes import WindowSnapshot
from scepter.physical.plan import UnitPlan
from scepter.rdf.terms import Triple
from scepter.runtime.notices import SCHEMA_IGNORED

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


def surroundings(plan: UnitPlan, setup: TaskSetup) -> Surroundings:
    """What the operators of a unit rest on."""
    made = None if isinstance(plan.root, Sequence) else _MADE.get(type(plan.unit))
    return plain(setup) if made is None else made(plan, setup)


def plain(setup: TaskSetup, background: Background | None = None, **more: Any) -> Surroundings:
    """What every unit has."""
    start = setup.options.start
    return Surroundings(
        setup.key,
        setup.texts,
        setup.background if background is None else background,
        setup.kind,
        setup.options.time_unit,
        streams=setup.streams,
        origin=0 if start is None else start.on(setup.kind, "--start"),
        **more,
    )


def _of_triples(plan: UnitPlan, setup: TaskSetup) -> Surroundings:
    schema = compiled(setup.ontology)
    # the static default graph: background, ontology, and what they entail
    stated = Graph((*setup.ontology, *sorted(schema.statements(), key=str)))
    return plain(
        setup,
        flattened=schema.flattened() if setup.ontology else None,
        schema=schema,
        static=entailed([setup.background.dataset.default, stated], schema),
        most=setup.options.max_derivations,
    )


def _over_triples(plan: UnitPlan, setup: TaskSetup) -> Surroundings:
    query = plan.unit
    assert isinstance(query, ContinuousQuery | PeriodicQuery)
    knowledge = Knowledge.of(query.pattern, setup.background.dataset, query.graphs, setup.ontology)
    background = Background()
    background.dataset = Dataset(knowledge.static, knowledge.dataset.named)
    by_terms = any(isinstance(node, WindowSnapshot) for node in nodes(plan.root))

    def consequences(triple: Triple) -> Iterable[Triple]:
        if is_schema(triple):
            setup.notices.tell(SCHEMA_IGNORED)
            return ()
        return knowledge.entailed(triple)

    return plain(
        setup,
        background,
        flattened=None if by_terms else knowledge.schema.flattened(),
        static=knowledge.static,
        context=Context(graph=knowledge.static, dataset=knowledge.dataset),
        consequences=consequences,
    )


def _of_windows(plan: UnitPlan, setup: TaskSetup) -> Surroundings:
    query = plan.unit
    assert isinstance(query, WindowedQuery)
    background = Background()
    known = query_dataset(query, setup.background.dataset)
    asked = {name: Graph() for scan in nodes(plan.root) if isinstance(scan, GraphScan) for name, _ in scan.scan.graphs}
    background.dataset = Dataset(known.default, {**asked, **known.named})
    return plain(setup, background, context=Context(graph=background.dataset.default, dataset=background.dataset))


_MADE: dict[type, Callable[[UnitPlan, TaskSetup], Surroundings]] = {
    TimedProgram: _of_triples,
    ContinuousQuery: _over_triples,
    PeriodicQuery: _over_triples,
    WindowedQuery: _of_windows,
}
"""Kind of unit -> what its operators rest on."""
