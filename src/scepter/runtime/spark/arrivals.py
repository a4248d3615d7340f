"""In which order events of live input came to a bucket, for policies that settle ties by it.

Reading tasks draw where they begin to count, so that no two of them count alike: the numbers of a task tell the order of its
own events, and nothing of others. Here tasks are counted as they come, those of a later micro-batch after all whose events are
still looked at.
"""

from __future__ import annotations

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.policy.tracking import DERIVED
from scepter.kernel.rows import Int64

SALT_ROOM = 1 << 24
"""Each reading task counts events, and keeps blank nodes apart, in a stretch of its own."""


class Arrivals:
    """The tasks of a micro-batch as a bucket counts them."""

    def __init__(self, lineage: Lineage) -> None:
        known = lineage.events()
        self._next = int(known[known < DERIVED].max(initial=-1)) // SALT_ROOM + 1
        self._tasks: dict[int, int] = {}

    def numbered(self, events: Int64) -> Int64:
        """The numbers of events that come now, after all those known before; a task's in their order. Below zero is none."""
        tasks, which = np.unique(events // SALT_ROOM, return_inverse=True)
        for task in tasks.tolist():
            if task not in self._tasks and task >= 0:
                self._tasks[task], self._next = self._next, self._next + 1
        room = np.array([self._tasks.get(task, -1) for task in tasks.tolist()], np.int64)[which]
        return np.where(events < 0, events, events % SALT_ROOM + room * SALT_ROOM)
