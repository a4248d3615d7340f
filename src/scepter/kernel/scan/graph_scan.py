"""Leaves that match graph patterns on each event alone: all scans of one plan in one pass, and the events that count.

Scans of equal shape that keep the same solutions give one and the same table, and stay so on their way: whoever sorts, packs or
cuts it does so once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE, Int64, Mask, Rows, UInt64, lasting
from scepter.kernel.rows import empty as no_rows
from scepter.kernel.scan.intake import Intake
from scepter.kernel.scan.pattern_scan import Scans
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.forward_search import key_of
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.texts import Texts
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.arena import NO_REF
from scepter.rdf.batch import NOT_A_NUMBER
from scepter.rdf.terms import IRI
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

_ONE, _NONE = np.ones(1, np.bool_), np.zeros(1, np.bool_)


class GraphScans:
    """Leaves `GraphScan` of one plan, in any number and order, and its `EventTicks` where those are asked for."""

    def __init__(
        self,
        plan: QueryPlan,
        places: Sequence[int],
        scans: Scans,
        texts: Texts,
        lineage: Lineage,
        part: Callable[[str], int],
        streams: Callable[[], Sequence[IRI]],
        graphs: dict[int, Graph],
        *,
        ticked: bool = False,
    ) -> None:
        self._plan = plan
        self._places = places
        self._scans = scans
        self._texts = texts
        self._lineage = lineage
        self._parts = [part(plan.scans[place].label) for place in places]
        self._streams = streams
        self._graphs = graphs if plan.looks_at_graphs else None
        self._ticked = ticked
        self._partitioned = bool(plan.partition)
        self._none = [
            no_rows(width) for width in (*(len(plan.scans[place].slots) for place in places), *([1] if ticked else []))
        ]
        self._numbers: Int64 = np.empty(0, np.int64)
        """The number in the plan of each stream of the run, -1 for one that it does not read."""
        self._unread: frozenset[int] = frozenset()
        self._alone: list[dict[int, Mask]] = []
        """What an event of each stream of the run is to the plan's streams, where it comes alone."""

    def scan(self, intake: Intake, wanted: Mask) -> list[Rows]:
        """Per leaf its rows in order of end, an event their lineage; the ticks last."""
        streams = self._streams()
        if len(self._numbers) != len(streams):  # streams come, and stay
            known = {stream.iri: 0 if self._plan.merged else i for i, stream in enumerate(self._plan.streams)}
            every = self._plan.merged and not self._plan.streams
            self._numbers = np.array([0 if every else known.get(iri, -1) for iri in streams], np.int64)
            numbers = range(max(1, len(self._plan.streams)))
            self._unread = frozenset(np.flatnonzero(self._numbers < 0).tolist())
            self._alone = [{i: _ONE if i == only else _NONE for i in numbers} for only in self._numbers]
        stream = intake.batch.stream
        if len(stream) == 1:
            seen, only = wanted, int(stream[0])
            if not wanted[0] or only in self._unread:
                return self._none
            by_stream = self._alone[only]
        else:
            of = self._numbers[stream]
            by_stream = {i: wanted & (of == i) for i in self._alone[0]}
            if not any(bool(mine.any()) for mine in by_stream.values()):
                return self._none
            seen = wanted & (of >= 0) if self._ticked else wanted
        solved = self._scans(intake, self._texts, by_stream, self._graphs)
        made: dict[int, Rows] = {}
        found = []
        for part, place in zip(self._parts, self._places, strict=True):
            table = solved[place][0]
            rows = made.get(id(table))
            if rows is None:
                nodes = self._lineage.leaves(part, table.events[:, 0], table.names[:, 0], table=table)
                rows = made[id(table)] = Rows(
                    table.ids, table.refs, table.number, table.scale, table.start, table.time, *lasting(len(nodes)), nodes
                )
            found.append(rows)
        return [*found, ticks_of(*self._ticks(intake, seen, solved))] if self._ticked else found

    def _ticks(
        self, intake: Intake, seen: NDArray[np.bool_], solved: list[tuple[Solutions, Solutions]]
    ) -> tuple[UInt64, Int64]:
        """(group, time) of each event that counts, in order of time: what contiguity and counting look at."""
        if not self._partitioned:
            times = np.sort(intake.batch.end[seen])
            return np.zeros(len(times), np.uint64), times
        # SPAseq rule 14: an event is in the partition of a value if some GPM, its filters left aside, binds the variables to it
        alike: dict[tuple[int, tuple[int, ...]], Solutions] = {}
        for scan, (_, everything) in zip(self._plan.scans, solved, strict=True):
            columns = tuple(scan.slots.index(s) for s in self._plan.partition)
            alike[id(everything), columns] = everything
        group = np.concatenate([key_of(table.ids, columns) for (_, columns), table in alike.items()])
        time = np.concatenate([table.time for table in alike.values()])
        event = np.concatenate([table.events[:, 0] for table in alike.values()])
        if len(alike) == 1 and bool((event[1:] > event[:-1]).all()):  # a row for each event, in order as they are
            return group, time
        order = np.lexsort((group, event, time))
        group, time, event = group[order], time[order], event[order]
        new = np.ones(len(time), np.bool_)
        new[1:] = (event[1:] != event[:-1]) | (group[1:] != group[:-1])
        return group[new], time[new]


def ticks_of(groups: UInt64, times: Int64) -> Rows:
    """An event a row, its group in the one column. What rows of other leaves have besides is not written at all."""
    count = len(times)
    refs, number = np.broadcast_to(np.int64(NO_REF), (count, 1)), np.broadcast_to(np.float64(np.nan), (count, 1))
    scale = np.broadcast_to(np.int8(NOT_A_NUMBER), (count, 1))
    since, until, lineage = (np.broadcast_to(np.int64(each), count) for each in (MIN_INSTANT, MAX_INSTANT, NO_LINEAGE))
    return Rows(groups[:, None], refs, number, scale, times, times, since, until, lineage)
