"""Random rows with validities, given to an operator in random stretches: with open instants that are undone, evictions, and
state that is written and read in between. What an operator says is compared instant by instant (snapshot-reducibility)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from scepter.kernel.operator import Operator, Until
from scepter.kernel.rows import NO_LINEAGE, Rows, concat, empty, mappings
from scepter.timeline import MAX_INSTANT

HORIZON = 24
"""Instants that are looked at."""


@dataclass(frozen=True)
class Given:
    """A row: its terms (0 is unbound), when it comes, and when it is there."""

    ids: tuple[int, ...]
    end: int
    since: int
    until: int


Mapping = tuple[int, ...]
Bag = Counter[Mapping]


@st.composite
def given_rows(draw: st.DrawFn, width: int, certain: Sequence[int] = (), most: int = 8) -> list[Given]:
    """Rows in order of end. The columns in `certain` are always bound. Static rows are there for ever."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        ids = tuple(draw(st.integers(1 if i in certain else 0, 3)) for i in range(width))
        if draw(st.integers(0, 9)) == 0:
            found.append(Given(ids, 0, 0, MAX_INSTANT))
            continue
        end = draw(st.integers(0, 16))
        since = end + draw(st.sampled_from([0, 0, 1, 3]))
        found.append(Given(ids, end, since, since + draw(st.integers(1, 9))))
    return sorted(found, key=lambda row: row.end)


@dataclass(frozen=True)
class Feeding:
    """How rows are given: the watermarks, and after which of them what else happens."""

    watermarks: tuple[int, ...]
    opened: frozenset[int]
    written: frozenset[int]


@st.composite
def feedings(draw: st.DrawFn) -> Feeding:
    """Watermarks in order, the last one after all."""
    marks = sorted(draw(st.sets(st.integers(0, 20), max_size=8)))
    some = st.frozensets(st.integers(0, 8), max_size=3)
    return Feeding((*marks,), draw(some), draw(some))


def table(rows: Sequence[Given], width: int) -> Rows:
    """Rows in columns: a term's number is its id, its ref a hundred more."""
    ids, refs, number, scale = mappings(len(rows), width)
    for i, row in enumerate(rows):
        for j, id in enumerate(row.ids):
            if id:
                ids[i, j], refs[i, j], number[i, j], scale[i, j] = id, id + 100, id, 0
    end, since, until = (np.array([getattr(row, name) for row in rows], np.int64) for name in ("end", "since", "until"))
    return Rows(ids, refs, number, scale, end, end, since, until, np.full(len(rows), NO_LINEAGE, np.int64))


def run(make: Callable[[], Operator], inputs: Sequence[tuple[Sequence[Given], int]], feeding: Feeding) -> Rows:
    """What an operator gives, all in all. No row is there at a time that was closed before it was given."""
    operator, found, closed = make(), [], -1

    def stretch(low: int, high: int) -> list[Rows]:
        return [table([row for row in rows if low < row.end <= high], width) for rows, width in inputs]

    for step, mark in enumerate(feeding.watermarks):
        if step in feeding.opened:
            operator.save()
            operator.process(stretch(closed, mark), Until(mark))
            operator.undo()
        given = operator.process(stretch(closed, mark), Until(mark))
        assert (given.since < given.until).all()
        assert (given.since > closed).all() or not step
        found.append(given)
        operator.evict(mark)
        closed = mark
        if step in feeding.written:
            state = operator.dump()
            operator = make()
            operator.load({name: array.copy() for name, array in state.items()})
    found.append(operator.process(stretch(closed, MAX_INSTANT), Until(MAX_INSTANT, last=True)))
    return concat(found, len(operator.schema.variables) if found else 0)


def at(rows: Sequence[Given], instant: int) -> list[Mapping]:
    """The mappings that are there."""
    return [row.ids for row in rows if row.since <= instant < row.until]


def bag(rows: Rows, instant: int) -> Bag:
    """The mappings that are there, as a bag; each with its refs in place."""
    here = rows.take((rows.since <= instant) & (instant < rows.until))
    assert np.where(here.ids != 0, here.ids + 100, -1).astype(np.int64).tolist() == here.refs.tolist()
    return Counter(map(tuple, here.ids.tolist()))


def compatible(left: dict[str, int], right: dict[str, int]) -> bool:
    """Whether mappings agree."""
    return all(right.get(name, term) == term for name, term in left.items())


def mapping(names: Sequence[str], ids: Mapping) -> dict[str, int]:
    """A mapping by name, of what is bound."""
    return {name: id for name, id in zip(names, ids, strict=True) if id}


def nothing(width: int) -> Rows:
    """No rows."""
    return empty(width)
