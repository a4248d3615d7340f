"""Solutions on their way between workers: split into buckets, packed with just the texts they refer to, unpacked again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.column_table import ColumnTable
from scepter.kernel.scan.graph_scan import Solved, Ticks
from scepter.kernel.scan.solutions import Int64, Solutions, UInt64
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.state.container import Arrays, pack, unpack
from scepter.kernel.state.slices import NOWHERE
from scepter.kernel.texts import FIXED, Texts, one_ref_each
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER, EventBatch
from scepter.rdf.terms import Triple, parse_term

T = TypeVar("T", bound=ColumnTable)
Reached: TypeAlias = Mapping[int, int]
"""Stream -> the greatest time of its events."""
EventGraphs: TypeAlias = Mapping[int, Graph]
"""Number of an event -> its graph."""
_COLUMNS = ("time", "start", "branch", "events", "names", "ids", "refs", "number", "scale")
_SENT = (*_COLUMNS, "numbers")
"""The columns, and which of them hold numbers."""


def keys_of(plan: QueryPlan, slots: tuple[int, ...], solved: Solved) -> list[UInt64]:
    """Per scan, the key of each row, by which rows with equal values of the slots meet; the same array where scans share."""
    found: dict[tuple[int, tuple[int, ...]], UInt64] = {}
    places = [tuple(scan.slots.index(s) for s in slots) for scan in plan.scans]
    for table, at in zip(solved.tables, places, strict=True):
        if (id(table), at) not in found:
            found[id(table), at] = key_of(table.ids, at)
    return [found[id(table), at] for table, at in zip(solved.tables, places, strict=True)]


def buckets_by_window(solved: Solved, origin: int, length: int, buckets: int) -> list[UInt64]:
    """Per scan, the bucket of each row: rows of one tumbling window meet."""
    return [((table.time - origin) // length % buckets).astype(np.uint64) for table in solved.tables]


def split(
    solved: Solved, rows: list[UInt64], ticks: UInt64 | None, texts: Texts, reached: Reached = MappingProxyType({}),
    graphs: EventGraphs = MappingProxyType({}),
) -> Iterator[tuple[int, int, bytes]]:  # fmt: skip
    """(bucket, greatest time, packed part) for each bucket that gets anything. `ticks` are the ticks' buckets; None drops
    them where nothing looks at them. Each part tells how far the events it was made from have `reached`, and takes along the
    `graphs` of its events, by their numbers, where conditions on several events look at them."""
    places = [(id(table), id(of)) for table, of in zip(solved.tables, rows, strict=True)]
    first = {place: number for number, place in reversed(list(enumerate(places)))}
    divided = {place: Divided(solved.tables[number], rows[number]) for place, number in first.items()}
    present = set().union(*(each.parts for each in divided.values()), [] if ticks is None else np.unique(ticks).tolist())
    for bucket in sorted(present - {int(NOWHERE)}):
        mask = np.zeros(len(solved.ticks.times), np.bool_) if ticks is None else ticks == bucket
        part = {place: each.part(bucket) for place, each in divided.items()}
        of = Solved(tuple(part[place] for place in places), Ticks(solved.ticks.groups[mask], solved.ticks.times[mask]))
        times = [table.time for table in part.values()] + [of.ticks.times]
        greatest = max((int(t.max()) for t in times if len(t)), default=0)
        yield bucket, greatest, pack_solved(of, texts, reached, graphs)


class Divided(Generic[T]):
    """A table bucket after bucket; without the buckets of its rows, all of it is in each."""

    def __init__(self, table: T, of: UInt64 | None) -> None:
        self._table, self.parts = table, dict[int, tuple[int, int]]()
        self._everywhere = of is None
        if of is not None:
            order = np.argsort(_small(of), kind="stable")
            buckets, edges = np.unique(of[order], return_index=True)
            self._table = table.take(order)
            self.parts = dict(zip(buckets.tolist(), pairwise([*edges.tolist(), len(of)]), strict=True))

    def part(self, bucket: int) -> T:
        """The rows of a bucket."""
        return self._table if self._everywhere else self._table.between(*self.parts.get(bucket, (0, 0)))


def _small(of: UInt64) -> NDArray[np.uint16] | UInt64:
    """Buckets as numbers that are sorted in one pass, where there are so few; NOWHERE stays the greatest."""
    return of.astype(np.uint16) if not len(of) or of[of != NOWHERE].max(initial=0) < 2**16 - 1 else of


def written_graphs(graphs: EventGraphs) -> dict[str, list[list[str]]]:
    """Events' graphs as text."""
    return {str(number): [[str(term) for term in triple] for triple in graph] for number, graph in graphs.items()}


def read_graphs(written: Mapping[str, Sequence[Sequence[str]]]) -> dict[int, Graph]:
    """What `written_graphs` wrote."""
    return {int(n): Graph(Triple(*map(parse_term, triple)) for triple in triples) for n, triples in written.items()}


def pack_solved(solved: Solved, texts: Texts, reached: Reached, graphs: EventGraphs = MappingProxyType({})) -> bytes:
    """A part with the texts its refs point at, a table that several scans share once; texts of the background travel by
    themselves and keep their refs."""
    tables = list({id(table): table for table in solved.tables}.values())
    each = [one_ref_each(table.ids, table.refs) for table in tables]
    names = [table.names for table in tables]
    flat = np.concatenate([np.empty(0, np.int64), *(refs for refs, _ in each), *(n.ravel() for n in names)])
    data, moved = texts.extract(flat)
    arrays: Arrays = {"texts": np.frombuffer(data, np.uint8), "groups": solved.ticks.groups, "times": solved.ticks.times}
    sizes = [len(refs) for refs, _ in each] + [n.size for n in names]
    renewed = np.split(moved, np.cumsum(sizes)[:-1])
    for i, table in enumerate(tables):
        refs, names_of = renewed[i][each[i][1]], renewed[len(tables) + i].reshape(table.names.shape)
        arrays |= {f"{i}.{name}": array for name, array in _told(replace(table, refs=refs, names=names_of)).items()}
    places = [id(table) for table in tables]
    scans = [places.index(id(table)) for table in solved.tables]
    meta: dict[str, object] = {"scans": scans, "reached": list(reached.items())}
    if graphs:
        events = np.unique(np.concatenate([table.events.ravel() for table in tables])).tolist()
        meta["graphs"] = written_graphs({number: graphs[number] for number in events if number in graphs})
    return pack(arrays, meta)


def unpack_solved(data: bytes | memoryview, texts: Texts) -> tuple[Solved, dict[int, int], dict[int, Graph]]:
    """A packed part, its texts taken over; how far its streams have reached; and the graphs that came along."""
    arrays, meta = unpack(data)
    base = texts.insert(arrays["texts"].tobytes())
    tables = []
    for i in range(1 + max(meta["scans"], default=-1)):
        table = _untold({name: arrays[f"{i}.{name}"] for name in _SENT if f"{i}.{name}" in arrays})
        tables.append(replace(table, names=_moved(table.names, base), refs=_moved(table.refs, base)))
    solved = Solved(tuple(tables[i] for i in meta["scans"]), Ticks(arrays["groups"], arrays["times"]))
    return solved, dict(meta["reached"]), read_graphs(meta.get("graphs", {}))


def _told(table: Solutions) -> Arrays:
    """A table's columns without what they say twice or do not say: most events are instants, most terms no numbers, most
    tables of one branch, and names are left out where nobody is shown them."""
    arrays: Arrays = {name: getattr(table, name) for name in _COLUMNS}
    if np.array_equal(table.start, table.time):
        del arrays["start"]
    if not table.branch.any():
        del arrays["branch"]
    arrays["names"] = table.names[:, :0] if (table.names == NO_REF).all() else narrow(table.names)
    arrays["refs"] = narrow(table.refs)
    numbers = np.flatnonzero((table.scale != NOT_A_NUMBER).any(axis=0))
    arrays["number"], arrays["scale"] = table.number[:, numbers], table.scale[:, numbers]
    return {**arrays, "numbers": numbers}


def _untold(arrays: Arrays) -> Solutions:
    """The table that `_told` told."""
    rows, ids, events, at = len(arrays["time"]), arrays["ids"], arrays["events"], arrays.pop("numbers")
    number, scale = np.zeros(ids.shape), np.full(ids.shape, NOT_A_NUMBER, np.int8)
    number[:, at], scale[:, at] = arrays["number"], arrays["scale"]
    names = arrays["names"].astype(np.int64) if arrays["names"].size else np.full(events.shape, NO_REF, np.int64)
    return Solutions(
        arrays["time"], arrays.get("start", arrays["time"]), arrays.get("branch", np.zeros(rows, np.int8)), events, names,
        ids, arrays["refs"].astype(np.int64), number, scale,
    )  # fmt: skip


def narrow(refs: Int64) -> Int64 | NDArray[np.int32]:
    """Refs in half the room, if they all fit."""
    return refs.astype(np.int32) if refs.max(initial=0) < 2**31 else refs


def furthest(reached: Reached, more: Reached) -> dict[int, int]:
    """How far streams have reached in two parts together.

    >>> furthest({0: 5, 1: 7}, {0: 6, 2: 1})
    {0: 6, 1: 7, 2: 1}
    """
    return {**reached, **{stream: max(time, reached.get(stream, time)) for stream, time in more.items()}}


def reached_by(batch: EventBatch) -> dict[int, int]:
    """How far each stream of a batch has reached."""
    return {stream: int(batch.end[batch.stream == stream].max()) for stream in np.unique(batch.stream).tolist()}


def _moved(refs: Int64, base: int) -> Int64:
    return np.where((refs >= 0) & (refs < FIXED), refs + base, refs)
