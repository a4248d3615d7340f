"""Queries over triples with intervals: what is checked before the run, and which of them order their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scepter.algebra.query import Program, Sliding
from scepter.algebra.timed import TimedProgram
from scepter.errors import Diagnostic, QueryError, option_error
from scepter.physical.planning.time_kinds import check_kinds
from scepter.physical.planning.timed_patterns import is_ordered

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
