"""About how long history is: where it is cut into slices of time, all tasks are to have as much of it.

The driver looks at both ends of some ranges of the files. Whatever it finds, answers are the same: it divides the work, nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from scepter.rdf.batch import DeadLetter
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.ranges import Range, divisible
from scepter.runtime.spark.splits import Split, read_split

_END: Final = 1 << 13
"""Bytes of an end that are looked at."""
_RANGES: Final = 64
"""So many are looked at."""


def with_span(job: Job, splits: Sequence[tuple[int, Split]]) -> Job:
    """The job, with the first time and the last of what it reads, as far as the ends of its ranges tell. Topics, and files that
    cannot be cut, tell nothing: to know their last time is to read all of them."""
    if all(share.slices is None for share in job.shares) or not splits:
        return job
    if not all(isinstance(split, Range) and divisible(split) for _, split in splits):
        return job
    chosen = splits[:: -(-len(splits) // _RANGES)]
    times = [time for stream, split in {*chosen, splits[-1]} for time in _ends(job, stream, split)]
    # another name: what workers have made for a sample cuts history otherwise
    return replace(job, span=(min(times), max(times)), name=f"{job.name}-cut") if times else job


def _ends(job: Job, stream: int, split: Split) -> Iterator[int]:
    """About the times of the events at both ends of a range: a single one that is far away makes no slices longer."""
    assert isinstance(split, Range)
    for start in (split.start, max(split.start, split.stop - _END)):
        part = replace(split, start=start, stop=min(split.stop, start + _END))
        read = read_split(job, stream, part, _nowhere, predicates=frozenset(), named=False)
        times = np.concatenate([np.empty(0, np.int64), *(batch.end for batch in read)])
        if len(times):
            yield int(np.median(times))


def _nowhere(letter: DeadLetter) -> None:
    """Whoever reads all of it tells."""
