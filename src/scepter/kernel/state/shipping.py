"""Rows on their way between workers: split into buckets, packed with just the texts they refer to, unpacked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.events.assertion_sets import numbers_of, placed, renumbered
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, Int64, Rows, UInt64, lasting, mappings
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.state.container import Arrays, pack, unpack
from scepter.kernel.state.slices import NOWHERE
from scepter.kernel.texts import Texts, one_ref_each
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER, EventBatch
from scepter.rdf.terms import Triple, parse_term
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.kernel.events.build_events import Occurring

Reached: TypeAlias = Mapping[int, int]
"""Stream -> the greatest time of its events."""
EventGraphs: TypeAlias = Mapping[int, Graph]
"""Number of an event -> its graph."""
_NO_GRAPHS: EventGraphs = MappingProxyType({})


class Arrived(NamedTuple):
    """What a bucket was sent."""

    exchanges: Sequence[Rows]
    reached: Reached
    last: int
    graphs: EventGraphs


def split_rows(
    parts: Sequence[tuple[Rows, UInt64 | None]],
    buckets: int,
    texts: Texts,
    lineage: Lineage,
    reached: Reached,
    last: int,
    *,
    every: bool,
    events: Occurring | None = None,
    graphs: EventGraphs = _NO_GRAPHS,
    branching: bool = False,
) -> Iterator[tuple[int, int, bytes]]:
    """(bucket, greatest time, packed rows) of each bucket. `parts` are the rows of each exchange with the bucket of each row;
    None: they go to every one. With `every`, each bucket hears of the last time, `last`, also without a row. `events` has what
    the rows of occurrences stand for, `graphs` those of events that conditions look at. `branching`: rows were made of several
    events each."""
    places = [(id(rows), id(of)) for rows, of in parts]
    divided = {place: Divided(*part) for place, part in dict(zip(places, parts, strict=True)).items()}
    here = {bucket for each in divided.values() for bucket in each.parts} - {int(NOWHERE)}
    for bucket in range(buckets) if every or any(of is None for _, of in parts) else sorted(here):
        part = {place: each.part(bucket) for place, each in divided.items()}
        if any(map(len, part.values())):
            greatest = max(int(rows.end.max(initial=MIN_INSTANT)) for rows in part.values())
            mine = [part[place] for place in places]
            yield bucket, greatest, pack_rows(mine, texts, lineage, reached, last, events, graphs, branching)
        elif every:
            yield bucket, last, pack({}, {"places": [], "reached": list(reached.items()), "last": last})


class Divided:
    """A table bucket after bucket; without the buckets of its rows, all of it is in each."""

    def __init__(self, table: Rows, of: UInt64 | None) -> None:
        self._table, self.parts = table, dict[int, tuple[int, int]]()
        self._everywhere = of is None
        if of is not None:
            order = np.argsort(_small(of), kind="stable")
            buckets, edges = np.unique(of[order], return_index=True)
            self._table = table.take(order)
            self.parts = dict(zip(buckets.tolist(), pairwise([*edges.tolist(), len(of)]), strict=True))

    def part(self, bucket: int) -> Rows:
        """The rows of a bucket."""
        return self._table if self._everywhere else self._table.between(*self.parts.get(bucket, (0, 0)))


def _small(of: UInt64) -> NDArray[np.uint16] | UInt64:
    """Buckets as numbers that are sorted in one pass, where there are so few; NOWHERE stays the greatest."""
    return of.astype(np.uint16) if not len(of) or of[of != NOWHERE].max(initial=0) < 2**16 - 1 else of


def pack_rows(
    exchanges: Sequence[Rows], texts: Texts, lineage: Lineage, reached: Reached, last: int, events: Occurring | None = None,
    graphs: EventGraphs = _NO_GRAPHS, branching: bool = False,
) -> bytes:  # fmt: skip
    """Rows by exchange, with the texts that their refs point at and the events that they were made of; rows of occurrences
    with the sets of triples that they stand for. What several exchanges share is sent once."""
    arrays: Arrays = {}
    tables = {id(rows): rows for rows in exchanges}
    order = list(tables)
    places = [order.index(id(rows)) for rows in exchanges]
    meta: dict[str, Any] = {"places": places, "reached": list(reached.items()), "last": last}
    flat: list[Int64] = []
    where: list[Int64 | None] = []
    names: list[Int64] = []
    selected: list[Int64] = []
    for place, rows in enumerate(tables.values()):
        if branching:
            branch, ends = lineage.branch(rows.lineage)
            nodes = {name.removeprefix("lineage."): column for name, column in branch.columns().items()}
            name = nodes.pop("name")
            arrays |= {f"{place}.node.{key}": nodes[key] for key in ("left", "right", "part", "event")}
            arrays[f"{place}.node"] = ends
            part = event = np.full(len(rows), -1, np.int64)
        else:
            part, event, name = lineage.told(rows.lineage)
        has_texts = bool((rows.refs != NO_REF).any())
        each, at = one_ref_each(rows.ids, rows.refs) if has_texts else (np.empty(0, np.int64), None)
        flat.append(each)
        where.append(at)
        names.append(name)
        selected.append(event)
        arrays |= {f"{place}.{key}": array for key, array in _told(rows, part, event).items()}
    if events is not None:
        numbers = np.unique(numbers_of(flat))
        sets = events.sets.written(numbers)
        flat = [renumbered(each, numbers) for each in flat]
        if events.parts is not None:
            told = np.unique(np.concatenate(selected))
            meta["parts"] = events.parts.written(told[told >= 0].tolist())
    else:
        sets = {"refs": np.empty((0, 3), np.int64)}
    if graphs:
        asked = np.unique(np.concatenate(selected)).tolist()
        meta["graphs"] = written_graphs({number: graphs[number] for number in asked if number in graphs})
    data, moved = texts.extract_all(np.concatenate([*flat, *names, sets["refs"].ravel()]))
    renewed = np.split(moved, np.cumsum([len(each) for each in (*flat, *names)]))
    for place, at in enumerate(where):
        if at is not None:
            arrays[f"{place}.refs"] = renewed[place][at]
        if len(renewed[len(where) + place]) and bool((renewed[len(where) + place] != NO_REF).any()):
            arrays[f"{place}.names"] = renewed[len(where) + place]
    if events is not None:
        arrays |= {f"sets.{name}": array for name, array in sets.items()} | {"sets.refs": renewed[-1].reshape(-1, 3)}
    arrays["texts"] = np.frombuffer(data, np.uint8)
    return pack(arrays, meta)


def unpack_rows(
    data: bytes | memoryview,
    texts: Texts,
    lineage: Lineage,
    events: Occurring | None = None,
    numbered: Callable[[Int64], Int64] | None = None,
) -> Arrived:
    """What `pack_rows` wrote, texts and events taken over: rows by exchange, how far streams have reached, the last time.
    `numbered` gives events other numbers here."""
    arrays, meta = unpack(data)
    found = []
    if meta["places"]:
        base, first = texts.insert(arrays["texts"].tobytes()), 0
        if events is not None:
            sets = _under(arrays, "sets.")
            first = events.sets.read({**sets, "refs": placed(sets["refs"], base, 0)})
        moved = {} if events is None or events.parts is None else events.parts.read(meta["parts"])
        for place in range(1 + max(meta["places"])):
            mine = _under(arrays, f"{place}.")
            if numbered is not None and "event" in mine:
                mine["event"] = numbered(mine["event"])
            found.append(_untold(mine, base, first, moved, lineage))
    exchanges = [found[place] for place in meta["places"]]
    return Arrived(exchanges, dict(meta["reached"]), meta["last"], read_graphs(meta.get("graphs", {})))


def _under(arrays: Arrays, head: str) -> Arrays:
    return {name[len(head) :]: array for name, array in arrays.items() if name.startswith(head)}


def _told(rows: Rows, part: Int64, event: Int64) -> Arrays:
    """A table's columns without what they say twice or do not say: most rows are instants without a window, most terms no
    numbers, and events are left out where nobody is shown them."""
    arrays: Arrays = {"ids": rows.ids, "end": rows.end}
    if not np.array_equal(rows.start, rows.end):
        arrays["start"] = rows.start
    since, until = lasting(len(rows))
    if not (np.array_equal(rows.since, since) and np.array_equal(rows.until, until)):
        arrays |= {"since": rows.since, "until": rows.until}
    if bool((event >= 0).any()):
        arrays |= {"part": part, "event": event}  # mostly one part: `pack` writes that in no room
    numbers = np.flatnonzero((rows.scale != NOT_A_NUMBER).any(axis=0))
    if len(numbers):
        arrays |= {"numbers": numbers, "number": rows.number[:, numbers], "scale": rows.scale[:, numbers]}
    return arrays


def _untold(arrays: Arrays, base: int, first: int, parts: Mapping[int, int], lineage: Lineage) -> Rows:
    """The rows that `_told` told. Their texts stand from `base` on here, their sets from the number `first` on; `parts` that
    events were told by have other numbers."""
    ids, end = arrays["ids"], arrays["end"]
    _, refs, number, scale = mappings(*ids.shape)
    if "numbers" in arrays:
        number[:, arrays["numbers"]], scale[:, arrays["numbers"]] = arrays["number"], arrays["scale"]
    if "refs" in arrays:
        refs = placed(arrays["refs"], base, first)
    since, until = lasting(len(end))
    nodes = np.full(len(end), NO_LINEAGE, np.int64)
    if "node" in arrays:
        mine = _under(arrays, "node.")
        names = arrays.get("names", np.full(len(mine["left"]), NO_REF, np.int64))
        names[names >= 0] += base
        under = lineage.grafted({**mine, "name": names})
        nodes = np.where(arrays["node"] < 0, NO_LINEAGE, arrays["node"] + under)
    elif "event" in arrays:
        names = arrays.get("names", np.full(len(end), NO_REF, np.int64))
        names[names >= 0] += base
        event = arrays["event"]
        if parts:
            event = np.array([parts.get(number, -1) for number in event.tolist()], np.int64)
        nodes = lineage.leaves_of(arrays["part"], event, names)
    return Rows(
        ids, refs, number, scale, arrays.get("start", end), end, arrays.get("since", since), arrays.get("until", until), nodes
    )


def written_graphs(graphs: EventGraphs) -> dict[str, list[list[str]]]:
    """Events' graphs as text."""
    return {str(number): [[str(term) for term in triple] for triple in graph] for number, graph in graphs.items()}


def read_graphs(written: Mapping[str, Sequence[Sequence[str]]]) -> dict[int, Graph]:
    """What `written_graphs` wrote."""
    return {int(n): Graph(Triple(*map(parse_term, triple)) for triple in triples) for n, triples in written.items()}


def furthest(reached: Reached, more: Reached) -> dict[int, int]:
    """How far streams have reached in two parts together.

    >>> furthest({0: 5, 1: 7}, {0: 6, 2: 1})
    {0: 6, 1: 7, 2: 1}
    """
    return {**reached, **{stream: max(time, reached.get(stream, time)) for stream, time in more.items()}}


def reached_by(batch: EventBatch) -> dict[int, int]:
    """How far each stream of a batch has reached."""
    return {stream: int(batch.end[batch.stream == stream].max()) for stream in np.unique(batch.stream).tolist()}
