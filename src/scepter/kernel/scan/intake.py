"""What a kernel is given: a batch of events with the places of their texts in the arena."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.rdf.batch import EventBatch


@dataclass(slots=True)
class Intake:
    """A batch whose buffer has been added to the arena at `base`, and whose events are numbered from `number` on. No field is
    ever exchanged; it is not frozen, since to make a frozen one costs more (decision 0280)."""

    batch: EventBatch
    base: int
    number: int
    named: bool = True
    """Whether somebody will be shown the events' names."""

    def names(self) -> NDArray[np.int64]:
        """Per event: the ref of its name, -1 without one."""
        at = self.batch.name_at
        if not self.named:
            return np.full(len(at), -1)
        refs = at + self.base
        refs[at < 0] = -1
        return refs
