"""Which keys of a live run are hot, and are split over several buckets (`kernel.row.split_keys`).

Reading tasks count the keys of a sample of what they send. The one place that hears of all events adds that up, and keeps with
its state how far events have come; when enough of them were counted it tells the driver which keys are hot, and the driver the
tasks of later micro-batches (`telling`). A key that is split stays so: no state moves. What was used once is also kept with the
state, so that a run whose driver does not know it stops instead of losing matches.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from scepter.errors import DataError, Diagnostic
from scepter.kernel.row.split_keys import SplitKey
from scepter.kernel.rows import UInt64
from scepter.runtime.notices import SKEW
from scepter.runtime.spark.telling import Subject

if TYPE_CHECKING:
    from scepter.runtime.spark.jobs import Job
    from scepter.runtime.spark.shares import Share

SKEWED: Final = Subject(SKEW, "skew.json", "which keys are split")
_ENOUGH: Final = 1 << 15
"""So many rows are counted before it is judged which keys are hot."""
_SAMPLE: Final = 1 << 12
"""So many of the rows that are packed together are looked at."""
_PARTS: Final = 2
"""A key is hot if it has more than one part in so many of what a core has on average; so small its places would be, if they had
nothing but matches that begin there."""
_MOST: Final = 64
"""Split keys of a share."""
_LOST: Final = Diagnostic(
    "checkpoint-damaged",
    "the checkpoint was written with keys split over several buckets, and this run does not know which",
    notes=(f"`scepter run --follow` and `scepter.each_batch` keep them in {SKEWED.file} in its folder, and tell every start",),
    help="go on with that, made anew for each start, and the whole folder as it was, or start anew with another folder",
)

Split: TypeAlias = Mapping[int, tuple[SplitKey, ...]]
"""The split keys, by share."""
Counted: TypeAlias = tuple[int, dict[str, int]]
"""Rows, and how many of them the keys have that may be hot."""
NOTHING: Final[Mapping[str, Any]] = {"greatest": None, "used": "", "counted": {}}
"""What the place that hears of all events keeps before the first one."""


def split_before(job: Job, share: Share) -> tuple[SplitKey, ...]:
    """The split keys of a share in the micro-batch of this task."""
    return read(SKEWED.before(job.told_as) or "").get(share.number, ()) if share.number in job.splittable else ()


def is_counted(job: Job, share: Share) -> bool:
    """Whether somebody would tell which keys are hot."""
    return job.cores > 1 and share.number in job.splittable and SKEWED.before(job.told_as) is not None


def counted(parts: Sequence[UInt64], cores: int) -> Counted:
    """Of rows with these keys.

    >>> counted([np.array([7, 7, 7, 8, 9, 7, 7, 7], np.uint64)], 2)
    (8, {'7': 6})
    """
    rows = sum(map(len, parts))
    step = -(-rows // _SAMPLE) or 1
    keys, found = np.unique(np.concatenate([np.empty(0, np.uint64), *(part[::step] for part in parts)]), return_counts=True)
    hot = 2 * _PARTS * cores * found > found.sum()  # half of what would make it hot: other tasks may have more of it
    return rows, {str(key): step * int(n) for key, n in zip(keys[hot].tolist(), found[hot].tolist(), strict=True)}


def known_after(
    job: Job, kept: Mapping[str, Any], told: Iterable[Mapping[str, Counted]], greatest: int
) -> tuple[Mapping[str, Any], str | None]:
    """What is kept behind a micro-batch whose tasks have `told` what they counted, by share, and whose events go up to
    `greatest`; and what the driver is to tell from now on, if that is new."""
    text = SKEWED.before(job.told_as)
    known, used = read(text or ""), read(kept["used"])
    if any(not set(keys) <= set(known.get(number, ())) or number not in job.splittable for number, keys in used.items()):
        raise DataError(_LOST)
    greatest = greatest if kept["greatest"] is None else max(greatest, kept["greatest"])
    counts: dict[str, Counted] = dict(kept["counted"])
    for each in told:
        for share, (rows, keys) in each.items():
            before, mine = counts.get(share, (0, {}))
            counts[share] = before + rows, {key: mine.get(key, 0) + keys.get(key, 0) for key in {**mine, **keys}}
    found = {}
    for share in [share for share, (rows, _) in counts.items() if rows >= _ENOUGH]:
        found[int(share)] = _hot(job, known.get(int(share), ()), *counts.pop(share), greatest)
    after = {number: (*known.get(number, ()), *found.get(number, ())) for number in {**known, **found}}
    return {"greatest": greatest, "used": text or "", "counted": counts}, written(after) if any(found.values()) else None


def _hot(job: Job, known: Sequence[SplitKey], rows: int, keys: Mapping[str, int], greatest: int) -> tuple[SplitKey, ...]:
    split = {each.key for each in known}
    found = []
    for key, count in sorted(keys.items(), key=lambda each: (-each[1], each[0]))[: _MOST - len(split)]:
        places = min(job.cores, job.buckets, -(-_PARTS * count * job.cores // rows))
        if places > 1 and int(key) not in split:
            found.append(SplitKey(int(key), greatest, places))
    return tuple(found)


def written(split: Split) -> str:
    """As text."""
    return json.dumps({share: [[each.key, each.since, each.places] for each in keys] for share, keys in split.items()})


@lru_cache(maxsize=16)
def read(text: str) -> Split:
    """What `written` gave.

    >>> read(written({1: (SplitKey(7, 20, 4),)}))
    {1: (SplitKey(key=7, since=20, places=4),)}
    """
    return {int(share): tuple(SplitKey(*each) for each in keys) for share, keys in json.loads(text or "{}").items()}
