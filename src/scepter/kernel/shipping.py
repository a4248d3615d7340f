"""Solutions on their way between workers: split into buckets, packed with just the texts they refer to, unpacked again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.container import Arrays, pack, unpack
from scepter.kernel.query import Solved, Ticks
from scepter.kernel.search import key_of
from scepter.kernel.solutions import Int64, Solutions, UInt64
from scepter.kernel.texts import FIXED, Texts
from scepter.physical.plan import QueryPlan

NOWHERE = np.uint64(2**64 - 1)
"""The bucket of rows that no bucket gets."""
_COLUMNS = ("time", "start", "branch", "events", "names", "ids", "refs", "number", "scale")


def buckets_by_key(plan: QueryPlan, slots: tuple[int, ...], solved: Solved, buckets: int) -> list[UInt64]:
    """Per scan, the bucket of each row: rows with equal values of the slots meet."""
    found = []
    for scan, table in zip(plan.scans, solved.tables, strict=True):
        key = key_of(table.ids, tuple(scan.slots.index(s) for s in slots))
        found.append(key % np.uint64(buckets))
    return found


def buckets_by_window(solved: Solved, origin: int, length: int, buckets: int) -> list[UInt64]:
    """Per scan, the bucket of each row: rows of one tumbling window meet."""
    return [((table.time - origin) // length % buckets).astype(np.uint64) for table in solved.tables]


@dataclass(frozen=True, slots=True)
class Slices:
    """Overlapping stretches of history, given to buckets in turn. A match belongs to the slice of its start; it ends at most
    one window later, and with `look_back` events of the window before its start concern it too."""

    window: int
    buckets: int
    look_back: bool

    @property
    def length(self) -> int:
        """Of a slice without its overlaps: slices of one bucket are further apart than a window, so that no match spans two."""
        return 4 * self.window

    def of(self, times: Int64) -> Iterator[UInt64]:
        """The buckets of events with these times: each time several arrays, NOWHERE where there is no further one."""
        first = (times - self.window) // self.length
        last = (times + (self.window if self.look_back else 0)) // self.length
        for more in range(3 if self.look_back else 2):
            found = ((first + more) % self.buckets).astype(np.uint64)
            found[first + more > last] = NOWHERE
            yield found

    def owns(self, bucket: int, starts: Int64) -> NDArray[np.bool_]:
        """Whether matches with these starts belong to a bucket."""
        mine: NDArray[np.bool_] = starts // self.length % self.buckets == bucket
        return mine


def split(solved: Solved, rows: list[UInt64], ticks: UInt64 | None, texts: Texts) -> Iterator[tuple[int, int, bytes]]:
    """(bucket, greatest time, packed part) for each bucket that gets anything. `ticks` are the ticks' buckets; None drops
    them where nothing looks at them."""
    present = np.unique(np.concatenate([np.empty(0, np.uint64), *rows, *([] if ticks is None else [ticks])]))
    for bucket in present[present != NOWHERE]:
        tables = [table.take(of == bucket) for table, of in zip(solved.tables, rows, strict=True)]
        mask = np.zeros(len(solved.ticks.times), np.bool_) if ticks is None else ticks == bucket
        part = Solved(tuple(tables), Ticks(solved.ticks.groups[mask], solved.ticks.times[mask]))
        times = [t.time for t in tables] + [part.ticks.times]
        greatest = max((int(t.max()) for t in times if len(t)), default=0)
        yield int(bucket), greatest, pack_solved(part, texts)


def pack_solved(solved: Solved, texts: Texts) -> bytes:
    """A part with the texts its refs point at; texts of the background travel by themselves and keep their refs."""
    refs = [np.where(t.ids != 0, t.refs, -1) for t in solved.tables]
    names = [t.names for t in solved.tables]
    flat = np.concatenate([np.empty(0, np.int64), *(r.ravel() for r in refs), *(n.ravel() for n in names)])
    data, moved = texts.extract(flat)
    arrays: Arrays = {"texts": np.frombuffer(data, np.uint8), "groups": solved.ticks.groups, "times": solved.ticks.times}
    at = 0
    renewed: list[NDArray[np.int64]] = []
    for part in (*refs, *names):
        renewed.append(moved[at : at + part.size].reshape(part.shape))
        at += part.size
    for i, table in enumerate(solved.tables):
        for name in _COLUMNS:
            arrays[f"{i}.{name}"] = getattr(table, name)
        arrays[f"{i}.refs"] = renewed[i]
        arrays[f"{i}.names"] = renewed[len(refs) + i]
    return pack(arrays, {"scans": len(solved.tables)})


def unpack_solved(data: bytes | memoryview, texts: Texts) -> Solved:
    """A packed part, its texts taken over."""
    arrays, meta = unpack(data)
    base = texts.insert(arrays["texts"].tobytes())
    tables = []
    for i in range(meta["scans"]):
        columns = [arrays[f"{i}.{name}"] for name in _COLUMNS]
        table = Solutions(*columns)
        tables.append(
            Solutions(
                table.time, table.start, table.branch, table.events, _moved(table.names, base), table.ids,
                _moved(table.refs, base), table.number, table.scale,
            )
        )  # fmt: skip
    return Solved(tuple(tables), Ticks(arrays["groups"], arrays["times"]))


def _moved(refs: Int64, base: int) -> Int64:
    return np.where((refs >= 0) & (refs < FIXED), refs + base, refs)
