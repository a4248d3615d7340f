"""Tasks that count what they do, for `explain --analyze`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.scan.intake import Intake
from scepter.physical.metrics import Metrics
from scepter.physical.nodes import nodes
from scepter.physical.plan import UnitPlan
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.shared_units import SharedTask
from scepter.runtime.tasks import Task


class MeasuredTask:
    """A task that is one kernel for all nodes of its plan: events come to its leaves, which spend what taking them costs, in
    equal parts; matches go from its root, which keeps and spends the rest."""

    def __init__(self, task: Task, plan: UnitPlan) -> None:
        self._task = task
        self._leaves = [not node.inputs for node in nodes(plan.root)]
        self.metrics = [Metrics() for _ in self._leaves]

    @property
    def feeds(self) -> IRI | None:
        """As the task's."""
        return self._task.feeds

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Counts the events that its leaves are given."""
        started = time.thread_time_ns()
        self._task.take(intake, wanted)
        spent = (time.thread_time_ns() - started) // sum(self._leaves)
        for metrics, leaf in zip(self.metrics, self._leaves, strict=True):
            if leaf:
                metrics.rows_in += int(np.count_nonzero(wanted))
                metrics.cpu += spent

    def release(self, until: int, closed: int) -> Sequence[Match]:
        """Counts the matches."""
        started = time.thread_time_ns()
        found = self._task.release(until, closed)
        self._spent(started)
        self.metrics[-1].rows_out += len(found)
        return found

    def finish(self) -> Sequence[Match]:
        """Counts the matches."""
        started = time.thread_time_ns()
        found = self._task.finish()
        self._spent(started)
        self.metrics[-1].rows_out += len(found)
        return found

    def _spent(self, started: int) -> None:
        root = self.metrics[-1]
        root.cpu += time.thread_time_ns() - started
        root.kept_most = max(root.kept_most, sum(self._task.state_rows().values()))

    def save(self) -> None:
        """As the task."""
        self._task.save()

    def undo(self) -> None:
        """As the task."""
        self._task.undo()

    def commit(self) -> None:
        """As the task."""
        self._task.commit()

    def state_rows(self) -> Mapping[str, int]:
        """As the task's."""
        return self._task.state_rows()

    def shed(self, most: int) -> list[str] | None:
        """As the task's."""
        return self._task.shed(most)

    def live_events(self) -> NDArray[np.int64]:
        """As the task's."""
        return self._task.live_events()

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """As the task's."""
        return self._task.swap_refs()


def measured(task: Task, plan: UnitPlan) -> Task:
    """A task that counts: a pipeline does so by operator."""
    return task if isinstance(task, Pipeline) else MeasuredTask(task, plan)


def metrics_of(task: Task) -> list[Metrics]:
    """By the numbers of the plan's operators; nothing where nobody counted."""
    return list(task.metrics) if isinstance(task, Pipeline | SharedTask | MeasuredTask) else []
