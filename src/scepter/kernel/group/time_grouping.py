"""`TimeGroup`: set functions over the rows of a group so far, the last n, or those of the last while (spec/20-ep-sparql rules
12 and 13).

State: the members of each group that a later result can need, in the order of rule 12: by end, start, mapping. Rows that end
together enter together, so that whole instants are needed. What has no time is a member at all times, but of no window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numba import njit
from numpy.typing import NDArray

from scepter.algebra.expressions import Aggregate, Variable
from scepter.kernel.encoding import decoded
from scepter.kernel.group.set_functions import FUNCTIONS, Choosing, Concatenating, Totalling, Totals
from scepter.kernel.group.totals import LIMIT, OTHERS, UNITS, Scale
from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import ByTime, Until
from scepter.kernel.row.instants import result_order, stretches
from scepter.kernel.rows import COLUMNS, NO_LINEAGE, Int64, Mappings, Mask, Rows, concat, empty, lasting
from scepter.kernel.state.container import Arrays
from scepter.kernel.texts import Texts
from scepter.kernel.time_join.time_join import each_once, is_fleeting
from scepter.physical.nodes import instant_nodes
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.rdf.words import fresh
from scepter.timeline import MIN_INSTANT

_N = TypeVar("_N", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class Spans:
    """Members of groups, and for each result from where to where they are its own: no result begins or ends before another
    that comes before it."""

    rows: Rows
    low: Int64
    high: Int64

    @property
    def entered(self) -> Int64:
        """Members are in the order in which they came."""
        return np.arange(len(self.rows))

    @property
    def wanted(self) -> Mask:
        """All results."""
        return np.ones(len(self.low), np.bool_)

    def bounds(self) -> tuple[Int64, Int64]:
        """From which to which result each member is inside."""
        place = self.entered
        return np.searchsorted(self.high, place, side="right"), np.searchsorted(self.low, place, side="right")


class SpanTotals(Totals):
    """COUNT, SUM or AVG over spans."""

    def values(self, spans: Spans) -> Mappings:
        """A term for each result; none where it is an error."""
        self._amounts.scale = Scale()  # nothing is kept, so that a unit need not be finer than what is there
        amounts = self._amount(spans.rows)
        self._scale = self._amounts.scale
        totals = _summed(amounts, spans)
        sizes = _summed(np.abs(amounts[:, UNITS:]).astype(np.float64), spans)
        totals[np.flatnonzero(sizes.max(axis=1) >= LIMIT), OTHERS] = 1
        return self._written(totals, spans)


def _summed(amounts: NDArray[_N], spans: Spans) -> NDArray[_N]:
    running = np.zeros((len(amounts) + 1, amounts.shape[1]), amounts.dtype)
    np.cumsum(amounts, axis=0, out=running[1:])
    found: NDArray[_N] = running[spans.high] - running[spans.low]
    return found


def span_function(aggregate: Aggregate, names: Sequence[str], key: TermKey, texts: Texts) -> SpanTotals | Choosing:
    """A set function over spans; DISTINCT, and an operand that nothing binds, are left to the definition."""
    unknown = isinstance(aggregate.operand, Variable) and aggregate.operand.name not in names
    if aggregate.distinct or unknown:
        return Concatenating(aggregate, names, key, texts)
    made = FUNCTIONS[aggregate.function]
    if issubclass(made, Totalling):
        return SpanTotals(aggregate, names, key, texts)
    return made(aggregate, names, key, texts)


class Grouping(ByTime):
    """Groups at work."""

    def __init__(self, node: instant_nodes.TimeGroup, lineage: Lineage, key: TermKey, texts: Texts) -> None:
        self.schema: Schema = node.schema
        self._node = node
        self._lineage, self._texts = lineage, texts
        given = node.input.schema
        self._names = given.variables
        self._keys = list(given.columns([variable for _, variable in node.keys]))
        self._functions = [span_function(aggregate, given.variables, key, texts) for _, aggregate in node.aggregates]
        self._members: dict[bytes, Rows] = {}
        self._before: dict[bytes, Rows | None] = {}
        """What was there at `save`, of the groups that were entered since."""
        self._ends: deque[tuple[int, bytes]] = deque()
        self._windowed = node.rows is not None or node.duration is not None

    # ---- rows

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """A row for each group and end that rows enter."""
        (rows,) = inputs
        if self._windowed:
            rows = rows.take(rows.start <= rows.end)
        if not len(rows):
            return empty(len(self.schema.variables))
        rows = each_once(rows)  # a solution counts once, however many derivations it has
        if not is_fleeting(rows).any():
            return self._entered(rows).by_end()
        parts = [self._entered(rows.between(low, high)) for low, high in stretches(rows.end)]
        return concat(parts, len(self.schema.variables))

    def _entered(self, new: Rows) -> Rows:
        first, place = _groups(new, self._keys)
        names = [new.ids[row, self._keys].tobytes() for row in first.tolist()]
        known = [self._members[name] for name in names if name in self._members]
        sizes = [len(self._members[name]) if name in self._members else 0 for name in names]
        rows = concat([*known, new], new.width)
        group = np.concatenate([np.repeat(np.arange(len(names)), sizes), place])
        order = np.lexsort((rows.start, rows.end, group))
        rows, group, fresh = rows.take(order), group[order], order >= len(rows) - len(new)
        rows = self._with_ties_settled(rows, group)
        last = np.append((group[1:] != group[:-1]) | (rows.end[1:] != rows.end[:-1]), True)
        bounds = np.searchsorted(group, np.arange(len(names) + 1))
        high = np.flatnonzero(last & fresh) + 1
        low = self._lowest(rows.end, bounds[group[high - 1]], high)
        self._keep(names, rows, bounds)
        return self._results(Spans(rows, low, high))

    def _with_ties_settled(self, rows: Rows, group: Int64) -> Rows:
        """Members of one interval and group by their mappings."""
        tied = (group[1:] == group[:-1]) & (rows.end[1:] == rows.end[:-1]) & (rows.start[1:] == rows.start[:-1])
        if not tied.any():
            return rows
        order = np.arange(len(rows))
        edges = np.flatnonzero(np.diff(np.concatenate([[False], tied, [False]]).astype(np.int8)))
        for low, high in edges.reshape(-1, 2).tolist():
            shown = {row: result_order(0, decoded(rows, self._names, row, self._texts)) for row in range(low, high + 1)}
            order[low : high + 1] = sorted(shown, key=shown.__getitem__)
        return rows.take(order)

    def _lowest(self, end: Int64, first: Int64, high: Int64) -> Int64:
        """Where the window of each result begins in its group."""
        if self._node.rows is not None:
            return np.maximum(first, high - self._node.rows)
        if self._node.duration is not None:
            found: Int64 = _after(np.ascontiguousarray(end), first, high, self._node.duration)
            return found
        return first

    def _results(self, given: Spans) -> Rows:
        rows, low, high = given.rows, given.low, given.high
        last = high - 1
        columns = [[getattr(rows, name)[last][:, self._keys] for name in COLUMNS[:4]]]
        columns += [[column[:, None] for column in function.values(given)] for function in self._functions]
        ids, refs, number, scale = (np.concatenate(each, axis=1) for each in zip(*columns, strict=True))
        start, end = _least(low, high, np.ascontiguousarray(rows.start)), rows.end[last]
        since, until = lasting(len(last))
        lineage = np.full(len(last), NO_LINEAGE)
        fleeting, timeless = is_fleeting(rows), rows.start > rows.end
        rests = rows.lineage != NO_LINEAGE
        if fleeting.any() or timeless.any() or rests.any():
            for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
                if bool((fleeting[a:b] | timeless[a:b]).all()):
                    since[i] = MIN_INSTANT if start[i] > end[i] else end[i]
                until[i] = rows.until[a:b].max()
                for node in rows.lineage[a:b].tolist() if rests.any() else ():
                    lineage[i] = self._lineage.joined(lineage[i : i + 1], np.array([node], np.int64))[0]
        return Rows(ids, refs, number, scale, start, end, since, until, lineage)

    def _keep(self, names: list[bytes], rows: Rows, bounds: Int64) -> None:
        lasting = ~is_fleeting(rows)
        for number, name in enumerate(names):
            low, high = int(bounds[number]), int(bounds[number + 1])
            if self._node.rows is not None:
                low = max(low, high - self._node.rows)
            self._before.setdefault(name, self._members.get(name))
            if self._node.duration is not None:
                end = int(rows.end[high - 1])
                low += int(np.searchsorted(rows.end[low:high], end - self._node.duration, side="right"))
                self._ends.append((end, name))
            self._members[name] = rows.take(low + np.flatnonzero(lasting[low:high]))

    # ---- instants that may be undone, and what is let go

    def save(self) -> None:
        self._before = {}

    def undo(self) -> None:
        for name, rows in self._before.items():
            if rows is None:
                self._members.pop(name, None)
            else:
                self._members[name] = rows
        self._before = {}

    def evict(self, time: int) -> None:
        """Let go of groups whose members have all left the window."""
        duration = self._node.duration
        while duration is not None and self._ends and self._ends[0][0] <= time + 1 - duration:
            _, name = self._ends.popleft()
            if (rows := self._members.get(name)) is not None and rows.end[-1] <= time + 1 - duration:
                del self._members[name]

    # ---- state

    def dump(self) -> Arrays:
        return concat([*self._members.values()], len(self._names)).dump()

    def load(self, arrays: Arrays) -> None:
        rows = Rows.load(arrays)
        first, place = _groups(rows, self._keys)
        self._members = {
            rows.ids[row, self._keys].tobytes(): rows.take(place == number) for number, row in enumerate(first.tolist())
        }
        self._ends = deque(sorted((int(rows.end[-1]), name) for name, rows in self._members.items()))
        self.save()

    def _kept_rows(self) -> Iterator[Rows]:
        kept = {id(rows): rows for rows in (*self._members.values(), *self._before.values()) if rows is not None}
        return iter(kept.values())

    def state_rows(self) -> Mapping[str, int]:
        return {"solutions": sum(map(len, self._members.values()))}


def _groups(rows: Rows, keys: list[int]) -> tuple[Int64, Int64]:
    """(the first row of each group, the group of each row)."""
    if not keys:
        return np.arange(min(1, len(rows)), dtype=np.int64), np.zeros(len(rows), np.int64)
    return distinct(np.ascontiguousarray(rows.ids[:, keys]))


@njit(cache=True)
def _least(low, high, values):  # type: ignore[no-untyped-def]
    found = fresh(len(low), np.int64)
    for i in range(len(low)):
        at = low[i]
        found[i] = values[at]
        if i > 0 and low[i] == low[i - 1]:  # a window that has only grown: results come in order of group and time
            at = high[i - 1]
            found[i] = found[i - 1]
        for row in range(at, high[i]):
            found[i] = min(found[i], values[row])
    return found


@njit(cache=True)
def _after(end, first, high, duration):  # type: ignore[no-untyped-def]
    """Per result: the first member of its group that ends less than the duration before the last."""
    found = fresh(len(high), np.int64)
    for i in range(len(high)):
        low = first[i]
        if i > 0 and first[i] == first[i - 1]:
            low = found[i - 1]
        while end[low] <= end[high[i] - 1] - duration:
            low += 1
        found[i] = low
    return found
