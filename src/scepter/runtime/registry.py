"""What executes the plan of a unit."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Sequential
from dataclasses import dataclass, field

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import EventQuery
from scepter.algebra.query import Query, Result, Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.windows import WindowedQuery
from scepter.errors import option_error
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.physical.nodes.sequence_nodes import Refused
from scepter.physical.plan import UnitPlan
from scepter.physical.planning.time_checks import check_times
from scepter.rdf.hashing import TermKey
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.event_pipeline import event_pipeline
from scepter.runtime.notices import Notices
from scepter.runtime.options import RunOptions
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.surroundings import surroundings
from scepter.runtime.tasks import Task
from scepter.timeline import TimeKind

_POLICIES = (None, "unrestricted", "chronological", "recent")


@dataclass(frozen=True, slots=True)
class TaskSetup:
    """What a task may need of its run."""

    kind: TimeKind
    options: RunOptions
    background: Background
    ontology: tuple[Triple, ...]
    texts: Texts
    streams: Callable[[], Sequential[IRI]]
    """The streams by their number in batches; more may come while the run goes on."""
    shown: Callable[[int, str | None], object]
    """(event's number, its name) -> what a match shows for it."""
    lasting: bool = False
    """Whether events can be shown so at any time: by their numbers, and not as objects that the run lets go of."""
    dead_letter: DeadLetterTaker = lambda letter: None
    """Takes the items that cannot be used."""
    key: TermKey = field(default_factory=TermKey.random)
    """The key of the run's term ids."""
    notices: Notices = field(default_factory=Notices)
    """What is said about the data, once for all units."""
    measured: bool = False
    """Whether operators measure their CPU time and state."""
    grounds: EventGrounds | None = None
    """What the unit rests on before any event comes."""


def check(plan: UnitPlan, setup: TaskSetup) -> None:
    """What does not fit the streams' timestamps is an error, and so is a policy that the unit does not take."""
    if not isinstance(plan.unit, TimedProgram):
        return
    check_times(plan.unit, setup.kind, setup.options.time_unit)
    if setup.options.policy not in _POLICIES:
        raise option_error(
            "policy",
            f"this query takes no policy {setup.options.policy}",
            help="the policies are unrestricted, chronological, recent",
        )


def task_of(plan: UnitPlan, setup: TaskSetup) -> Task:
    """What executes the plan of a unit; what does not fit the streams' timestamps is an error here, before the run."""
    check(plan, setup)
    match plan.root:
        case Refused(error=error):
            raise error
        case _ if isinstance(plan.unit, EventQuery):
            return event_pipeline(plan, setup)
        case root:
            around = surroundings(plan, setup)
            return Pipeline(root, result_of(plan), plan.number, setup, around, at_once=plan.at_once, ranked=plan.ranked)


def result_of(plan: UnitPlan) -> Result:
    """What a unit answers with."""
    match plan.unit:
        case TimedProgram(queries=(query,)):
            return query.result
        case (
            Query(result=result) | ContinuousQuery(result=result) | PeriodicQuery(result=result) | WindowedQuery(result=result)
        ):
            return result
        case unit:
            raise AssertionError(f"{type(unit).__name__} is no pipeline")


def grounds_of(unit: Unit, background: Background, ontology: tuple[Triple, ...]) -> EventGrounds | None:
    """What a unit rests on, made before any event comes, so that what is wrong with it is told then."""
    return EventGrounds(unit, background, ontology) if isinstance(unit, EventQuery) else None
