"""Occurrences are known as long as a row rests on them, however many there are."""

from __future__ import annotations

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.policy.tracking import Occurrences


def test_new_occurrences_are_not_forgotten_when_old_ones_are() -> None:
    occurrences = Occurrences(Lineage())
    for batch in range(3):
        texts = [f"<a> <p> <{batch}.{n}>" for n in range(3_000)]
        times = np.arange(3_000) + 3_000 * batch
        leaves = occurrences.leaf(texts, times, times, times)
        assert occurrences.used(int(leaves[-1]))[1] == [(int(times[-1]), texts[-1])]
