"""Which task runs which kind of unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scepter.algebra.continuous import ContinuousQuery, PeriodicQuery
from scepter.algebra.events import EventQuery
from scepter.algebra.query import Unit
from scepter.algebra.timed import TimedProgram
from scepter.algebra.windows import WindowedQuery
from scepter.kernel.background import Background
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.columnar_task import continuous_task
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.notices import Notices
from scepter.runtime.occurrence_task import OccurrenceTask
from scepter.runtime.options import RunOptions
from scepter.runtime.tasks import Task
from scepter.runtime.timed_task import timed_task
from scepter.runtime.window_pipeline import periodic_task
from scepter.runtime.windowed_task import windowed_task
from scepter.timeline import TimeKind


@dataclass(frozen=True, slots=True)
class TaskSetup:
    """What a task may need of its run."""

    kind: TimeKind
    options: RunOptions
    background: Background
    ontology: tuple[Triple, ...]
    texts: Texts
    streams: Callable[[], Sequence[IRI]]
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
    grounds: EventGrounds | None = None
    """What the unit rests on before any event comes."""


TASKS: dict[type, Callable[[Any, int, TaskSetup], Task]] = {
    TimedProgram: timed_task,
    WindowedQuery: windowed_task,
    ContinuousQuery: continuous_task,
    PeriodicQuery: periodic_task,
    EventQuery: OccurrenceTask,
}
"""Unit type -> (unit, its number in the program, set-up) -> the task. `algebra.query.Query` needs no entry."""


def grounds_of(unit: Unit, background: Background, ontology: tuple[Triple, ...]) -> EventGrounds | None:
    """What a unit rests on, made before any event comes, so that what is wrong with it is told then."""
    return EventGrounds(unit, background, ontology) if isinstance(unit, EventQuery) else None
