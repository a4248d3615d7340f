"""A run's plan: made once, from the program and what the run is given, before any event is taken."""

from __future__ import annotations

from itertools import chain

from scepter.algebra.query import Program
from scepter.kernel.background import Background
from scepter.kernel.continuous.static_graph import schema_statements
from scepter.physical.facts import Facts
from scepter.physical.plan import PhysicalPlan
from scepter.physical.planner import plan
from scepter.rdf.terms import Triple
from scepter.runtime.options import RunOptions
from scepter.timeline import TimeKind


def facts_of(
    options: RunOptions, background: Background, ontology: tuple[Triple, ...] = (), kind: TimeKind | None = None
) -> Facts:
    """What is known of a run."""
    dataset = background.dataset
    named = tuple((name, len(graph)) for name, graph in dataset.named.items())
    schema = tuple(chain.from_iterable(map(schema_statements, (dataset.default, *dataset.named.values()))))
    return Facts(kind, options.time_unit, options.policy, options.why, len(dataset.default), named, ontology, schema)


def planned(program: Program, facts: Facts) -> PhysicalPlan:
    """The plan of a run: the one that every engine takes."""
    return plan(program, facts)
