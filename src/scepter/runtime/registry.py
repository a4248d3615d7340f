"""What executes the plan of a unit."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Sequence as Sequential
from dataclasses import dataclass, field

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import EventQuery
from scepter.algebra.query import Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.windows import WindowedQuery
from scepter.kernel.background import Background
from scepter.kernel.texts import Texts
from scepter.physical.plan import UnitPlan
from scepter.physical.unit_nodes import Refused, Sequence
from scepter.rdf.hashing import TermKey
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.event_pipeline import event_pipeline
from scepter.runtime.notices import Notices
from scepter.runtime.options import RunOptions
from scepter.runtime.sequence_task import sequence_task
from scepter.runtime.tasks import Task
from scepter.runtime.timed_pipeline import check_timed, timed_pipeline
from scepter.runtime.window_pipeline import continuous_pipeline, periodic_pipeline, windowed_pipeline
from scepter.timeline import TimeKind


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


def task_of(plan: UnitPlan, setup: TaskSetup) -> Task:
    """What executes the plan of a unit; what does not fit the streams' timestamps is an error here, before the run."""
    if isinstance(plan.unit, TimedProgram):
        check_timed(plan.unit, setup)
    match plan.root:
        case Sequence() as sequence:
            return sequence_task(sequence, plan.number, setup)
        case Refused(error=error):
            raise error
        case _:
            return PIPELINES[type(plan.unit)](plan, setup)


PIPELINES: dict[type, Callable[[UnitPlan, TaskSetup], Task]] = {
    TimedProgram: timed_pipeline,
    ContinuousQuery: continuous_pipeline,
    PeriodicQuery: periodic_pipeline,
    WindowedQuery: windowed_pipeline,
    EventQuery: event_pipeline,
}
"""Kind of unit -> what executes its operators over rows."""


def grounds_of(unit: Unit, background: Background, ontology: tuple[Triple, ...]) -> EventGrounds | None:
    """What a unit rests on, made before any event comes, so that what is wrong with it is told then."""
    return EventGrounds(unit, background, ontology) if isinstance(unit, EventQuery) else None
