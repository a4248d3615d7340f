"""When the windows of runs close, those that count events included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.rows import Int64
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_windows import Bounds
from scepter.kernel.sequence.runs import Runs

_NO = np.empty(0, np.int64)


def closings(bounds: Bounds, runs: Runs, moment: Moment) -> tuple[Int64, NDArray[np.bool_]]:
    """Per run: when its window closes, and whether time has passed that."""
    if bounds.events is None:
        return bounds.close(runs.limit), runs.limit <= moment.closed
    # a window that counts events ends with the last instant that still fits into it
    ends = np.full(len(runs), moment.until, np.int64)
    closed = np.zeros(len(runs), np.bool_)
    assert moment.seen is not None
    for r in range(len(runs)):
        base, every = moment.seen.get(int(runs.group[r]), (0, _NO))
        room = int(runs.rank_limit[r]) - base
        if len(every) > room:
            inside = every[:room]
            inside = inside[inside < every[room]]
            ends[r] = inside[-1] if len(inside) else runs.time[r]
            closed[r] = True
    return ends, closed


def run_out_at(bounds: Bounds, runs: Runs, moment: Moment) -> Int64:
    """When the time of runs was over: the close of their window, or what a gap bound says if that is earlier."""
    window = bounds.limit(runs.first, runs.start)
    ends = np.where(runs.limit < window, runs.limit, bounds.close(window))
    if moment.seen is None:
        return ends
    # a window that counts events is full with the last instant that fits into it
    for r in range(len(runs)):
        base, every = moment.seen.get(int(runs.group[r]), (0, _NO))
        room = int(runs.rank_limit[r]) - base
        inside = every[:room] if len(every) <= room else every[:room][every[:room] < every[room]]
        last = int(inside[-1]) if len(inside) else int(runs.time[r])
        late = runs.limit[r] <= moment.until
        ends[r] = min(int(runs.limit[r]), last) if late and len(every) >= room else runs.limit[r] if late else last
    return ends
