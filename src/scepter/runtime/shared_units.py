"""Units that share operators at work: one pipeline for all of them, and a task for each that gives its own answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Result
from scepter.kernel.build import Surroundings
from scepter.kernel.row.forked import Forked
from scepter.kernel.rows import Rows
from scepter.kernel.scan.intake import Intake
from scepter.physical.metrics import Metrics
from scepter.physical.nodes.nodes import nodes
from scepter.physical.plan import UnitPlan
from scepter.physical.planning.sharing import Together
from scepter.rdf.terms import IRI
from scepter.runtime.answering import Answering
from scepter.runtime.matches import Match
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.registry import TaskSetup, check, result_of
from scepter.runtime.surroundings import surroundings
from scepter.runtime.tasks import Task


def shared_tasks(units: Sequence[UnitPlan], setup: TaskSetup) -> dict[int, Task]:
    """A task for each of some units that share operators, by their numbers."""
    for unit in units:
        check(unit, setup)
    around = surroundings(units[0], setup)
    pipeline = SharedPipeline(units, [result_of(unit) for unit in units], setup, around)
    return {unit.number: SharedTask(pipeline, place, unit) for place, unit in enumerate(units)}


class SharedPipeline(Pipeline):
    """The operators of several units, each once."""

    def __init__(self, units: Sequence[UnitPlan], results: Sequence[Result], setup: TaskSetup, around: Surroundings) -> None:
        root = Together(tuple(unit.root for unit in units))
        super().__init__(root, results[0], units[0].number, setup, around, at_once=units[0].at_once)
        self.answering = [
            Answering(unit.root, result, unit.number, setup, around, ranked=unit.ranked)
            for unit, result in zip(units, results, strict=True)
        ]
        self.answers: list[Sequence[Match]] = [[] for _ in units]
        """What each unit has to tell since it was last asked."""

    @property
    def feeds(self) -> IRI | None:
        return None

    def _matches(self, rows: Rows) -> Sequence[Match]:
        root = self.root
        assert isinstance(root, Forked)
        self.answers = [each.matches(given) for each, given in zip(self.answering, root.taken(), strict=True)]
        return []

    def begin_anew(self, *, waiting: bool) -> None:
        super().begin_anew(waiting=waiting)
        self.answers = [[] for _ in self.answers]

    def save(self) -> None:
        super().save()
        for each in self.answering:
            each.save()

    def undo(self) -> None:
        super().undo()
        for each in self.answering:
            each.undo(at_once=self._at_once)


class SharedTask:
    """One of the units. The first does the work for all: engines ask it before the others."""

    def __init__(self, pipeline: SharedPipeline, place: int, unit: UnitPlan) -> None:
        self._pipeline, self._place = pipeline, place
        places = {id(node): at for at, node in enumerate(pipeline.nodes)}
        self.metrics: list[Metrics] = [pipeline.metrics[places[id(node)]] for node in nodes(unit.root)]

    @property
    def feeds(self) -> IRI | None:
        return None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Scan the wanted events, once for all."""
        if not self._place:
            self._pipeline.take(intake, wanted)

    def release(self, until: int, closed: int) -> Sequence[Match]:
        if not self._place:
            self._pipeline.release(until, closed)
        return self._told()

    def finish(self) -> Sequence[Match]:
        if not self._place:
            self._pipeline.finish()
        return self._told()

    def _told(self) -> Sequence[Match]:
        told, self._pipeline.answers[self._place] = self._pipeline.answers[self._place], []
        return told

    def save(self) -> None:
        if not self._place:
            self._pipeline.save()

    def undo(self) -> None:
        if not self._place:
            self._pipeline.undo()

    def commit(self) -> None:
        """Keep what was done since `save`."""
        if not self._place:
            self._pipeline.commit()

    def state_rows(self) -> Mapping[str, int]:
        return {} if self._place else self._pipeline.state_rows()

    def begin_anew(self, *, waiting: bool) -> None:
        """Forget all that operators keep, for all units that share them."""
        self._pipeline.begin_anew(waiting=waiting)

    def shed(self, most: int) -> list[str] | None:
        """Let go of keys that keep too much, once for all."""
        return [] if self._place else self._pipeline.shed(most)

    def live_events(self) -> NDArray[np.int64]:
        """The events that later matches of any of them may show, told by the first."""
        return np.empty(0, np.int64) if self._place else self._pipeline.live_events()

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """Each array of text refs that they hold, told by the first."""
        return iter(()) if self._place else self._pipeline.swap_refs()
