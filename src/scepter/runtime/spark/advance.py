"""`--max-advance` on Spark: an event that alone would move time on by too much does not move the watermark.

Rows in the future wait in their buckets for their time anyway. So nothing has to be held back but the watermark: a part that is
read tells Spark the greatest time that may move it. How far each stream was before a micro-batch, and which times wait, the
driver knows, and tells the tasks of the micro-batch (`telling`); where it is behind a micro-batch, the one place that hears of
all times works out (`runtime.jumps`), and the driver keeps it with the micro-batch. A micro-batch that is done again must not
know what it made known: an event would confirm itself.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.runtime.jumps import LEAP, Known
from scepter.runtime.notices import TIMES
from scepter.runtime.spark.telling import Subject
from scepter.timeline import format_instant

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job

ADVANCE: Final = Subject(TIMES, "times.json", "how far time is")

Times: TypeAlias = Mapping[int, Known]
"""What is known of streams, by their numbers."""


def known_before(job: Job) -> Times | None:
    """What is known before the micro-batch of this task; None where time may move as it likes."""
    if not job.live or job.options.advance_on(job.kind) is None:
        return None
    return read(told) if (told := ADVANCE.before()) else {}


def moved_to(job: Job, known: Times, stream: int, ends: NDArray[np.int64]) -> int | None:
    """How far events of a stream move time on; None: they do not. Before anything is known, one alone does not."""
    limit = job.options.advance_on(job.kind)
    assert limit is not None
    before = known.get(stream, Known())
    if before.greatest is None and len(ends) < 2:
        return None
    after = before.after(ends.tolist(), limit)
    assert after.greatest is not None
    admitted = ends[ends <= after.greatest]
    return int(admitted.max()) if len(admitted) else None


def known_after(job: Job, known: Times, streams: NDArray[np.int64], ends: NDArray[np.int64]) -> tuple[Times, list[str]]:
    """What is known behind a micro-batch with these events, and what is to be said of those that wait."""
    limit = job.options.advance_on(job.kind)
    assert limit is not None
    found, notices = dict(known), []
    for stream in np.unique(streams).tolist():
        before = found.get(stream, Known())
        found[stream] = before.after(ends[streams == stream].tolist(), limit)
        if new := sorted(set(found[stream].held) - set(before.held)):
            notices.append(
                f"<{job.streams[stream].value}>: the event at {new[0]} would move time on by more than {limit} "
                "(--max-advance); it waits until another one confirms it, or time comes near"
            )
    return found, notices


def left_behind(job: Job, streams: NDArray[np.int64], ends: NDArray[np.int64], watermark: int) -> list[str]:
    """What is to be said of streams whose events are all late, by a hundred times the steps in which they come: one event in
    the far future has moved time on. The same in every micro-batch, so that it is told once."""
    found = []
    for stream in np.unique(streams).tolist():
        times = ends[streams == stream]
        usual = max(1, (int(times.max()) - int(times.min())) // len(times))
        if watermark - int(times.max()) > LEAP * usual:
            far = format_instant(watermark + (job.options.delay_on(job.kind) or 0), job.kind)
            found.append(
                f"<{job.streams[stream].value}>: events are late because one at {far} has moved time on; "
                "so are all others before that. --max-advance D holds such an event back until a second one confirms it"
            )
    return found


def written(times: Times) -> str:
    """As text."""
    return json.dumps({str(stream): [known.greatest, known.held] for stream, known in times.items()})


def read(text: str) -> Times:
    """What `written` gave.

    >>> read(written({0: Known(5, (9,))}))
    {0: Known(greatest=5, held=(9,))}
    """
    return {int(stream): Known(greatest, tuple(held)) for stream, (greatest, held) in json.loads(text).items()}
