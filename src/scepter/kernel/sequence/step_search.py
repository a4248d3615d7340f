"""One search of a chain: which rows of an atom's table continue which runs.

`StepSearch` joins what planning knows (join key, shared slots, filters) with the compiled search and the exact evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Expression
from scepter.algebra.query import Selection
from scepter.inner import plain
from scepter.kernel.condition.interpreter import EITHER, FALSE, ROW, RUN, TRUE, Programs, stack
from scepter.kernel.condition.programs import Place, compile_conjuncts, thresholds
from scepter.kernel.condition.row_programs import contiguous
from scepter.kernel.interrupts import interruptible
from scepter.kernel.rows import Int64, UInt64, filled
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import (
    ANY,
    BEFORE,
    NEXT,
    NO_CHAINS,
    NOTHING,
    STRICT,
    Filters,
    bounded_values,
    key_of,
    search_forward,
    stretch_ends,
)
from scepter.kernel.sequence.key_order import sort_by_key
from scepter.kernel.sequence.runs import Runs, Waiting
from scepter.physical.sequence_plan import AtomPlan
from scepter.rdf.hashing import TermKey
from scepter.timeline import MAX_INSTANT

_MODE = {Selection.NEXT: NEXT, Selection.ANY: ANY, Selection.STRICT: STRICT, Selection.BEFORE: BEFORE}

_NEXT = Selection.NEXT
Decide = Callable[[Runs, Int64, Solutions, Int64, int, bool], NDArray[np.bool_]]
"""(runs, places, rows, places, atom, continuing) -> the exact verdict on each pair."""


@dataclass(slots=True)
class Order:
    """The order that sorts a table by a join key, and then by time; keys and times are in that order."""

    rows: Int64
    keys: UInt64
    times: Int64
    ends: Int64
    """Where the stretch of each row's key ends."""

    @classmethod
    def of(cls, table: Solutions, columns: tuple[int, ...]) -> Order:
        """The order by the key of some columns."""
        keys = key_of(table.ids, columns)
        rows = sort_by_key(keys)
        if len(rows) == 1:
            return cls(rows, keys, table.time, _ONE)
        keys = keys[rows]
        return cls(rows, keys, table.time[rows], stretch_ends(keys))


@dataclass(slots=True)
class Keyed:
    """A table as one search looks at it: ranks, values and their extremes stand in the order of the join key."""

    rows: Solutions
    order: Order
    ranks: Int64
    values: NDArray[np.float64]
    extremes: NDArray[np.float64]

    def has_after(self, times: Int64) -> bool:
        """Whether a row is later than one of some times."""
        return bool(len(self.rows)) and bool((times[0] if len(times) == 1 else times.min()) < self.rows.time[-1])


@dataclass(slots=True)
class Found:
    """What a search gave: the runs it looked at, which of them need not wait, and the accepted pairs."""

    todo: Int64
    done: NDArray[np.bool_]
    runs: Int64
    rows: Int64
    passed: Int64 | None = None


@lru_cache(maxsize=8)
def _slots(variables: tuple[str, ...]) -> Mapping[str, int]:
    """The slot of each variable: once for all steps of a query."""
    return {name: i for i, name in enumerate(variables)}


class StepSearch:
    """The search for rows of one atom, after one step of one chain."""

    def __init__(
        self,
        atom: int,
        plan: AtomPlan,
        key: tuple[int, ...],
        shared: tuple[int, ...],
        bound: frozenset[int],
        variables: tuple[str, ...],
        term_key: TermKey,
        *,
        continuing: bool = False,
        local: frozenset[int] = frozenset(),
        at: Mapping[int, int] | None = None,
    ) -> None:
        """`at` says in which column of a run each slot is, where that is not its number."""
        self.atom = atom
        self._made = atom, plan, key, shared, bound, variables, term_key
        at = at or {slot: slot for slot in range(len(variables))}
        self.key = tuple(at[slot] for slot in key)
        self.continuing = continuing
        column = {slot: i for i, slot in enumerate(plan.slots)}
        self.columns = tuple(column[s] for s in key)
        """The columns of the atom's table that the join key is made of."""
        slot_of = _slots(variables)
        asked = set(shared)

        def locate(name: str, previous: bool) -> Place | None:
            slot = slot_of.get(name)
            if slot is None:
                return None
            if previous or slot not in column:
                asked.add(slot)
                return RUN, at.get(slot, 0), 0
            if slot in plan.certain or slot in local or slot not in bound:
                return ROW, at.get(slot, 0), column[slot]
            asked.add(slot)
            return EITHER, at.get(slot, 0), column[slot]

        conjuncts: list[Expression] = []
        first = [0]
        for branch in plan.branches:
            conjuncts += [f.expression for f in branch.stateful if continuing or not f.previous]
            first.append(len(conjuncts))
        self._filters = plain(
            Filters(
                np.array([at[slot] for slot in shared], np.int64),
                np.array([column[s] for s in shared], np.int64),
                np.array(first, np.int64),
                compile_conjuncts(tuple(conjuncts), locate, term_key),
            )
        )
        # a threshold speaks for all rows only where there is one branch
        found = thresholds(tuple(conjuncts), locate, term_key) if len(plan.branches) == 1 else ()
        self.bounded = tuple(t.column for t in found)
        """The columns of the atom's table whose values a threshold bounds."""
        self._bounded_at, self._columns_at = np.array(self.bounded, np.int64), np.array(self.columns, np.int64)
        self._threshold_upper = np.array([t.operator in ("<", "<=") for t in found], np.bool_)
        self._thresholds = plain(_stack([t.bound for t in found]))
        self._asked = asked.union(key)
        self._stack, self._room = tuple(stack()), np.empty(4 * max(1, len(found)))
        self.shape = self.key, self.columns, self.bounded, _written((self._filters, self._thresholds, self._threshold_upper))
        """Searches with the same shape of the same tables find the same."""

    def after(self, slots: tuple[int, ...], certain: frozenset[int]) -> StepSearch | None:
        """The same search for runs that are the rows of a table with these slots; None if it looks at others."""
        if not self._asked <= certain:
            return None
        return StepSearch(*self._made, at={slot: column for column, slot in enumerate(slots)})

    def key_of_runs(self, runs: Runs) -> UInt64:
        """The join keys of runs."""
        return key_of(runs.ids, self.key)

    def keyed(self, table: Solutions, order: Order, ranks: Int64 | None) -> Keyed:
        """A table, in the order of this search's `columns`, with what the search looks at."""
        rows = order.rows
        ranks = _zeros(len(rows)) if ranks is None else ranks[rows]
        if not self.bounded:
            return Keyed(table, order, ranks, _NO_VALUES, _NO_VALUES)
        number, scale = np.ascontiguousarray(table.number), np.ascontiguousarray(table.scale)
        return Keyed(table, order, ranks, *bounded_values(number, scale, rows, self._bounded_at))

    def __call__(
        self, selection: Selection, runs: Runs, keys: UInt64, todo: Int64, table: Keyed, after: Int64, limit: Int64,
        only: Int64, decide: Decide,
    ) -> tuple[Int64, Int64]:  # fmt: skip
        """The accepted pairs (place of the run, row of `table.rows`) for the runs at the places `todo`.

        Rows after `after` and not beyond `limit` count; under strict contiguity only those at the time `only`.
        """
        if not len(todo) or not len(table.rows):
            return _NO, _NO
        mode = NEXT if selection is _NEXT else _MODE[selection]  # an Enum's hash is computed in Python
        columns = after, keys, limit, runs.rank_limit, only, contiguous(runs.ids, runs.number, runs.scale)
        all_runs: list[Int64] = []
        all_rows: list[Int64] = []
        resume, forced, found = filled(len(todo), -1), _zeros(len(todo)), filled(len(todo), NOTHING)
        while len(todo):
            asking = todo, resume, forced, found
            (got_runs, got_rows), (stalled, stalled_rows) = self._search(mode, asking, columns, *_told(table))
            if not len(stalled) and not all_runs:
                return got_runs, table.order.rows[got_rows]
            all_runs.append(got_runs)
            all_rows.append(got_rows)
            if not len(stalled):
                break
            verdict = decide(runs, todo[stalled], table.rows, table.order.rows[stalled_rows], self.atom, self.continuing)
            if mode != NEXT:
                all_runs.append(todo[stalled][verdict])
                all_rows.append(stalled_rows[verdict])
                break
            todo, resume, found = todo[stalled], stalled_rows, found[stalled]
            forced = np.where(verdict, TRUE, FALSE).astype(np.int64)
        return np.concatenate(all_runs), table.order.rows[np.concatenate(all_rows)]

    def of_rows(
        self, selection: Selection, time: Int64, columns: tuple[UInt64, NDArray[np.float64], NDArray[np.int8]], limit: Int64,
        only: Int64, table: Keyed,
    ) -> tuple[Int64, Int64] | None:  # fmt: skip
        """The accepted pairs (place of a row that looks, row of `table.rows`), in order of the places, where rows look for the
        runs that took them: with their times, their mapping's columns, and limits. None where columns leave one open."""
        size = len(time)
        if not size or not len(table.rows):
            return _NO, _NO
        asking = np.arange(size), filled(size, -1), _zeros(size), filled(size, NOTHING)
        looking = time, key_of(columns[0], self.key), limit, filled(size, MAX_INSTANT), only, contiguous(*columns)
        (runs, rows), (stalled, _) = self._search(_MODE[selection], asking, looking, *_told(table))
        return None if len(stalled) else (runs, table.order.rows[rows])

    def of_few(self, selection: Selection, waiting: Waiting, table: Solutions) -> Found | None:
        """What runs that wait find in a small table, by skip-till-next or skip-till-any, where no window counts events. None
        where columns leave one open."""
        runs = waiting.columns
        looking = runs.time, waiting.keys, runs.limit, runs.rank_limit, runs.time, (runs.ids, runs.number, runs.scale)
        values = contiguous(table.ids, table.number, table.scale)
        rows = _NO_KEYS, table.time, _NO, _zeros(len(table.time)), _NO, table.start, table.branch, values
        few = *waiting.chains(), waiting.alive, self._columns_at, self._bounded_at, *waiting.bounds(4 * len(self.bounded))
        mode = NEXT if selection is _NEXT else _MODE[selection]
        pairs, open_ = self._search(mode, _NOBODY, looking, rows, _NO_VALUES, _NO_VALUES, few)
        if open_.size or not pairs.size:
            return None if open_.size else NOTHING_FOUND
        todo = np.unique(pairs[0])
        return Found(todo, np.full(len(todo), selection is _NEXT), pairs[0], pairs[1])

    def _search(
        self, mode: int, asking: tuple[Int64, ...], runs: tuple[Any, ...], rows: tuple[Any, ...], values: NDArray[np.float64],
        extremes: NDArray[np.float64], few: tuple[Any, ...] = NO_CHAINS,
    ) -> tuple[Int64, Int64]:  # fmt: skip
        """Pairs as two rows, those of runs and of rows; and those that columns leave open. Of `Asking`, of `RunColumns`, of
        `RowColumns`, and of `Few`."""
        limits = self._threshold_upper, self._thresholds, values, extremes, self._room
        result: tuple[Int64, Int64] = interruptible(
            search_forward, lambda: (rows[1],), mode, asking, runs, rows, few, self._filters, limits, self._stack
        )
        return result


def _told(table: Keyed) -> tuple[tuple[Any, ...], NDArray[np.float64], NDArray[np.float64]]:
    """A table as a search is given it."""
    ordered, rows = table.order, table.rows
    columns = (
        ordered.keys, ordered.times, ordered.ends, table.ranks, ordered.rows, rows.start, rows.branch,
        contiguous(rows.ids, rows.number, rows.scale),
    )  # fmt: skip
    return columns, table.values, table.extremes


_NO, _ONE, _NO_VALUES = np.empty(0, np.int64), np.ones(1, np.int64), np.empty((0, 0))
NOTHING_FOUND = Found(_NO, np.empty(0, np.bool_), _NO, _NO)
_NO_KEYS, _NOBODY = np.empty(0, np.uint64), (_NO, _NO, _NO, _NO)
_ZEROS = np.zeros(256, np.int64)


def _zeros(count: int) -> Int64:
    """Zeros that nobody writes into."""
    return _ZEROS[:count] if count <= len(_ZEROS) else np.zeros(count, np.int64)


def own_events(runs: Int64, table: Solutions, rows: Int64, refused_runs: Int64, refused_events: Int64) -> NDArray[np.bool_]:
    """Which pairs select an event that a negation refuses for the same run."""
    refused = set(zip(refused_runs.tolist(), refused_events.tolist(), strict=True))
    events = table.events[rows].tolist()
    return np.array([any((r, e) in refused for e in es) for r, es in zip(runs.tolist(), events, strict=True)], np.bool_)


def _written(arrays: tuple[Any, ...]) -> bytes:
    """Arrays and tuples of them, as bytes."""
    return b"|".join(_written(each) if isinstance(each, tuple) else np.asarray(each).tobytes() for each in arrays)


def _stack(programs: list[Programs]) -> Programs:
    """Several programs as one, each a conjunct of it, constants renumbered."""
    code, offsets, shift = [], [0], 0
    for program in programs:
        moved = program.code.copy()
        moved[moved[:, 0] == 0, 1] += shift  # operation 0 pushes a constant
        code.append(moved[: program.offsets[-1]])
        offsets.append(offsets[-1] + int(program.offsets[-1]))
        shift += len(program.constants)
    if not programs:
        return Programs(
            np.zeros((1, 3), np.int64), np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.uint64)
        )
    return Programs(
        np.concatenate(code),
        np.array(offsets, np.int64),
        np.concatenate([p.constants for p in programs]),
        np.concatenate([p.scales for p in programs]),
        np.concatenate([p.ids for p in programs]),
    )
