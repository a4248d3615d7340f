"""A query over triple occurrences at work: what its operators share, and what is checked before the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scepter.algebra.query import Program, Sliding
from scepter.algebra.timed import TimedProgram
from scepter.errors import Diagnostic, QueryError, option_error
from scepter.kernel.build import Surroundings
from scepter.kernel.closure import entailed
from scepter.kernel.sparql.dataset import Graph
from scepter.ontology.schema import Schema
from scepter.physical.plan import UnitPlan
from scepter.physical.time_kinds import check_kinds
from scepter.physical.timed_patterns import is_ordered
from scepter.runtime.pipeline import Pipeline

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup

_POLICIES = (None, "unrestricted", "chronological", "recent")


def check_timed(program: TimedProgram, setup: TaskSetup) -> None:
    """What does not fit the streams' timestamps is an error, and so is a policy that it does not take."""
    for each in program.parts:
        check_kinds(each.pattern, setup.kind)
        if isinstance(each.window, Sliding):
            _check_window(each.window, setup)
    if setup.options.policy not in _POLICIES:
        raise option_error(
            "policy",
            f"this query takes no policy {setup.options.policy}",
            help="the policies are unrestricted, chronological, recent",
        )


def static_default(setup: TaskSetup, schema: Schema) -> Graph:
    """The static default graph: background, ontology, and what they entail."""
    stated = Graph((*setup.ontology, *sorted(schema.statements(), key=str)))
    return entailed([setup.background.dataset.default, stated], schema)


def timed_pipeline(plan: UnitPlan, setup: TaskSetup) -> Pipeline:
    """A query as operators over rows."""
    program = plan.unit
    assert isinstance(program, TimedProgram)
    schema = Schema.from_triples(setup.ontology)
    around = Surroundings(
        setup.key, setup.texts, setup.background, setup.kind, setup.options.time_unit,
        schema.flattened() if setup.ontology else None, schema, static_default(setup, schema), setup.options.max_derivations,
    )  # fmt: skip
    return Pipeline(
        plan.root, program.queries[0].result, plan.number, setup, around,
        at_once=plan.at_once, measured=setup.measured, ranked=plan.ranked,
    )  # fmt: skip


def _check_window(window: Sliding, setup: TaskSetup) -> None:
    try:
        window.duration.ticks(setup.kind, setup.options.time_unit)
    except ValueError as error:
        raise QueryError(
            Diagnostic("duration", str(error), window.span, "choose a longer window or a finer --time-unit")
        ) from None


def ordering_queries(program: Program) -> frozenset[int]:
    """The numbers of the queries that order the rows of one end themselves (ORDER BY).

    >>> from scepter.runtime.queries import parse
    >>> ordering_queries(parse("SELECT ?x WHERE { ?x ?p ?o } ORDER BY ?o", "ep-sparql").program)
    frozenset({0})
    """
    patterns = (
        pattern
        for unit in program.units
        for pattern in ([query.pattern for query in unit.queries] if isinstance(unit, TimedProgram) else [None])
    )
    return frozenset(number for number, pattern in enumerate(patterns) if pattern is not None and is_ordered(pattern))
