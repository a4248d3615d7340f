"""In which order events came to a bucket."""

from __future__ import annotations

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.policy.tracking import DERIVED
from scepter.runtime.spark.arrivals import SALT_ROOM, Arrivals


def test_tasks_are_counted_as_they_come_each_in_its_own_order() -> None:
    arrivals = Arrivals(Lineage())
    high, low = 900 * SALT_ROOM, 3 * SALT_ROOM
    first = arrivals.numbered(np.array([high + 2, -1, high + 5]))
    later = arrivals.numbered(np.array([low, high + 7]))
    assert first.tolist() == [2, -1, 5]
    assert later.tolist() == [SALT_ROOM, 7]  # another task; a task that had been heard of


def test_a_later_micro_batch_comes_after_all_that_is_still_looked_at() -> None:
    lineage = Lineage()
    told = np.array([Arrivals(lineage).numbered(np.array([900 * SALT_ROOM + 2]))[0], DERIVED])
    lineage.leaves(0, told, np.full(2, -1))
    assert Arrivals(lineage).numbered(np.array([5])).tolist() == [SALT_ROOM + 5]
