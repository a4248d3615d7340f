"""Rows on their way between workers: split into buckets, packed with just the texts they refer to, unpacked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scepter.kernel.events.assertion_sets import numbers_of, placed, renumbered
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, Int64, Rows, UInt64, lasting
from scepter.kernel.state.container import Arrays, pack, unpack
from scepter.kernel.state.shipping import Divided, Reached, narrow
from scepter.kernel.texts import Texts, one_ref_each
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.timeline import MIN_INSTANT

if TYPE_CHECKING:
    from scepter.kernel.events.build_events import Occurring


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
    branching: bool = False,
) -> Iterator[tuple[int, int, bytes]]:
    """(bucket, greatest time, packed rows) of each bucket. `parts` are the rows of each exchange with the bucket of each row;
    None: they go to every one. With `every`, each bucket hears of the last time, `last`, also without a row. `events` has what
    the rows of occurrences stand for. `branching`: rows were made of several events each."""
    divided = [Divided(rows, of) for rows, of in parts]
    for bucket in range(buckets):
        mine = [each.part(bucket) for each in divided]
        if any(map(len, mine)):
            greatest = max(int(rows.end.max(initial=MIN_INSTANT)) for rows in mine)
            yield bucket, greatest, pack_rows(mine, texts, lineage, reached, last, events, branching)
        elif every:
            yield bucket, last, pack({}, {"places": 0, "reached": list(reached.items()), "last": last})


def pack_rows(
    exchanges: Sequence[Rows], texts: Texts, lineage: Lineage, reached: Reached, last: int, events: Occurring | None = None,
    branching: bool = False,
) -> bytes:  # fmt: skip
    """Rows by exchange, with the texts that their refs point at and the events that they were made of; rows of occurrences
    with the sets of triples that they stand for."""
    arrays: Arrays = {}
    meta: dict[str, Any] = {"places": len(exchanges), "reached": list(reached.items()), "last": last}
    flat: list[Int64] = []
    where: list[Int64] = []
    names: list[Int64] = []
    selected: list[Int64] = []
    for place, rows in enumerate(exchanges):
        if branching:
            branch, ends = lineage.branch(rows.lineage)
            nodes = {name.removeprefix("lineage."): column for name, column in branch.columns().items()}
            name = nodes.pop("name")
            arrays |= {f"{place}.node.{key}": nodes[key] for key in ("left", "right", "part", "event")}
            arrays[f"{place}.node"] = ends
            part = event = np.full(len(rows), -1, np.int64)
        else:
            part, event, name = lineage.told(rows.lineage)
        each, at = one_ref_each(rows.ids, rows.refs)
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
    data, moved = texts.extract_all(np.concatenate([*flat, *names, sets["refs"].ravel()]))
    renewed = np.split(moved, np.cumsum([len(each) for each in (*flat, *names)]))
    for place, at in enumerate(where):
        arrays[f"{place}.refs"] = narrow(renewed[place][at])
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
) -> tuple[list[Rows], dict[int, int], int]:
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
        for place in range(meta["places"]):
            mine = _under(arrays, f"{place}.")
            if numbered is not None and "event" in mine:
                mine["event"] = numbered(mine["event"])
            found.append(_untold(mine, base, first, moved, lineage))
    return found, dict(meta["reached"]), meta["last"]


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
        arrays |= {"part": part.astype(np.int16), "event": event}
    numbers = np.flatnonzero((rows.scale != NOT_A_NUMBER).any(axis=0))
    return {**arrays, "numbers": numbers, "number": rows.number[:, numbers], "scale": rows.scale[:, numbers]}


def _untold(arrays: Arrays, base: int, first: int, parts: Mapping[int, int], lineage: Lineage) -> Rows:
    """The rows that `_told` told. Their texts stand from `base` on here, their sets from the number `first` on; `parts` that
    events were told by have other numbers."""
    ids, end, at = arrays["ids"], arrays["end"], arrays["numbers"]
    number, scale = np.full(ids.shape, np.nan), np.full(ids.shape, NOT_A_NUMBER, np.int8)
    number[:, at], scale[:, at] = arrays["number"], arrays["scale"]
    refs = placed(arrays["refs"].astype(np.int64), base, first)
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
        nodes = lineage.leaves_of(arrays["part"].astype(np.int64), event, names)
    return Rows(
        ids, refs, number, scale, arrays.get("start", end), end, arrays.get("since", since), arrays.get("until", until), nodes
    )
