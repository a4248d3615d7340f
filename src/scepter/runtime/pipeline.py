"""A unit at work: the operators of its plan, the reorder buffer in front of them, instants that may be undone, and matches.

Leaves read events in any order and know no time; their rows wait here, by leaf, until the watermark has passed them. Then they
go through the operators from below, in whole instants. Where no later event of the same instant can take an answer back
(`at_once`), an instant that is still open is processed too, between `save` and `undo`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.notation import Notation
from scepter.algebra.query import Result
from scepter.kernel.build import Surroundings, leaf_groups, operator_of
from scepter.kernel.operator import ByRows, ByTime, Operator, Until
from scepter.kernel.rows import COLUMNS, Int64, Rows, concat, cut, empty
from scepter.kernel.scan.intake import Intake
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.heavy_keys import Sheds
from scepter.kernel.state.shipping import read_graphs, written_graphs
from scepter.physical.metrics import Metrics
from scepter.physical.nodes.derive_nodes import Derive
from scepter.physical.nodes.nodes import Node, Received, nodes
from scepter.rdf.terms import IRI
from scepter.runtime.answering import Answering
from scepter.runtime.matches import Match
from scepter.runtime.notices import SCHEMA_IGNORED
from scepter.timeline import MAX_INSTANT, MIN_INSTANT

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup

_STRETCH_ROWS, _FIRST_ROWS, _DERIVED_ROWS = 1 << 16, 1 << 11, 1 << 16
"""A stretch has about so many rows; where rules feed each other, at first fewer, then as many as derive that many."""
_SWEEP_FROM = 1 << 14
"""So many lineage nodes are kept before those that no row reaches are let go; later, twice as many as were reached."""


class Pipeline:
    """One unit of a program at work: what its plan says, and nothing else."""

    def __init__(
        self,
        root: Node,
        result: Result,
        number: int,
        setup: TaskSetup,
        around: Surroundings,
        *,
        at_once: bool,
        ranked: bool = False,
    ) -> None:
        self._setup = setup
        self._around = around
        self._at_once = at_once
        self._measured = setup.measured
        self._clock = time.thread_time_ns if setup.measured else int
        self._answering = Answering(root, result, number, setup, around, ranked=ranked)
        self.nodes = list(nodes(root))
        """The nodes of its plan, inputs first."""
        self.metrics = [Metrics() for _ in self.nodes]
        self._deriving = [
            told for node, told in zip(self.nodes, self.metrics, strict=True) if isinstance(node, Derive) and node.inner
        ]
        self._weighed = [0 for _ in self.nodes]
        self._leaf_metrics = [told for node, told in zip(self.nodes, self.metrics, strict=True) if not node.inputs]
        places = {id(node): place for place, node in enumerate(self.nodes)}
        self._leaves = [place for place, node in enumerate(self.nodes) if not node.inputs]
        self._inputs = [[places[id(each)] for each in node.inputs] for node in self.nodes]
        leaves = enumerate(self.nodes[place] for place in self._leaves)
        self._received = {leaf.place: place for place, leaf in leaves if isinstance(leaf, Received)}
        self.closed = MIN_INSTANT
        """Instants up to here have been processed for good."""
        self._reached = MIN_INSTANT
        """Instants up to here have been begun."""
        self._saved: tuple[list[tuple[Rows, ...]], int] | None = None
        self._sweep_at, self._forget_at = _SWEEP_FROM, 0
        self._waiting = self._begin()
        self._least = self._first_waiting()
        """The first end of what waits."""
        self._none = [empty(len(node.schema.variables)) for node in self.nodes]
        self.owned: Callable[[Rows], Rows] | None = None
        """What of the root's rows are answers here: over slices of history those of this slice; none where they go on to other
        stages."""

    @property
    def feeds(self) -> IRI | None:
        """The stream it constructs for other units, if one reads it."""
        return self._answering.feeds

    def _begin(self) -> list[tuple[Rows, ...]]:
        """Leaves and operators that know nothing; what is there from the start, by leaf."""
        around, initial = self._around, [tuple[Rows, ...]() for _ in self._leaves]
        around.held.clear()
        self._groups = leaf_groups([self.nodes[place] for place in self._leaves], around)
        self._meeting: list[Any] = [group.leaves for group in self._groups if hasattr(group.leaves, "met_schema")]
        """Leaves that tell whether events have brought a schema, of which no notice is taken."""
        self._operators: list[Operator | None] = [operator_of(node, around) if node.inputs else None for node in self.nodes]
        self._working = [operator for operator in self._operators if operator is not None]
        for group in self._groups:
            for place, rows in zip(group.places, group.initial, strict=False):
                initial[place] = (rows,) if len(rows) else ()
                self.metrics[self._leaves[place]].rows_out += len(rows)
        return initial

    def begin_anew(self, *, waiting: bool) -> None:
        """Forget all that operators keep. With `waiting`, what waits for instants that are not begun yet waits on."""
        cuts: dict[int, Rows] = {}
        initial, begun = self._begin(), max(self._reached, self.closed)

        def later(before: Sequence[tuple[Rows, ...]]) -> list[tuple[Rows, ...]]:
            if waiting:
                cuts.update({id(rows): rows.take(rows.end > begun) for parts in before for rows in parts})
            kept = ((cuts[id(rows)] for rows in parts if waiting) for parts in before)
            return [(*first, *filter(len, each)) for first, each in zip(initial, kept, strict=True)]

        self._waiting = later(self._waiting)
        self._least = self._first_waiting()
        if self._saved is not None:
            self._saved = later(self._saved[0]), self._saved[1]
            for operator in self._working:
                operator.save()
        self._sweep_at = self._forget_at = 0  # what no row reaches goes with the next commit

    # ---------------------------------------------------------------- events and time

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Scan the wanted events; the rows wait for their time."""
        clock, waiting, metrics, streams, noted = self._clock, self._waiting, self._leaf_metrics, self._setup.streams(), None
        for group in self._groups:
            started = clock()
            found, events = group.scan(intake, wanted, streams)
            spent = (clock() - started) // len(found)
            for place, rows in zip(group.places, found, strict=True):
                count = len(rows.end)
                metrics[place].count(events, count, spent)
                if count:
                    waiting[place] = (*waiting[place], rows)
                    if rows is not noted:  # leaves of equal shape give one and the same
                        self._note_waiting(noted := rows)
        for leaves in self._meeting:
            if leaves.met_schema:
                self._setup.notices.tell(SCHEMA_IGNORED)

    @property
    def root(self) -> Operator:
        """The operator that gives the answers."""
        return self._working[-1]

    @property
    def tells_time(self) -> bool:
        """Whether an operator may give rows whenever time moves on."""
        return any(isinstance(operator, ByTime) and not isinstance(operator, ByRows) for operator in self._working)

    @property
    def around(self) -> Surroundings:
        """What its operators share."""
        return self._around

    def accept(self, place: int, rows: Rows) -> None:
        """Take rows of an exchange, made elsewhere, their refs and lineage those of here; they wait for their time."""
        if len(rows):
            leaf = self._received[place]
            self.metrics[self._leaves[leaf]].rows_out += len(rows)
            self._waiting[leaf] = (*self._waiting[leaf], rows)
            self._note_waiting(rows)

    def _note_waiting(self, rows: Rows) -> None:
        first = _first_end(rows)
        if self._least is None or first < self._least:
            self._least = first

    def _first_waiting(self) -> int | None:
        ends = [_first_end(rows) for parts in self._waiting for rows in parts]
        return min(ends) if ends else None

    def stretches(self, rows: int = _STRETCH_ROWS) -> list[int]:
        """The times at which what waits parts into stretches of about so many rows: to process it stretch by stretch costs
        less memory, and each fits the processor's cache."""
        return [int(time) for time in np.unique(self._ends_waiting()[rows::rows])]

    def _ends_waiting(self) -> Int64:
        different = {id(part): part for parts in self._waiting for part in parts}
        return np.sort(np.concatenate([np.empty(0, np.int64), *(part.end for part in different.values())]))

    def next_waiting(self) -> int | None:
        """The first time at which something that waits is due."""
        return self._least

    def release(self, until: int, closed: int) -> Sequence[Match]:
        """Process the instants up to `closed`, and the one that is open if nothing can take its answers back."""
        found = self._none[-1]
        due = self._least is not None and self._least <= closed
        if due or closed > self.closed:
            self.closed = max(self.closed, closed)
            now, rests = Until(closed), not due
            for operator in self._working:
                rests = rests and operator.rests(now)
            if not rests:
                found = self._stepwise(now)
            self._evict(closed)
        if self._at_once and until > closed:
            opened = self._run(Until(until, open=True))
            found = concat([found, opened], opened.width) if len(found) else opened
        return self._matches(found)

    def finish(self) -> Sequence[Match]:
        """Process what is left; windows close."""
        return self._matches(self._stepwise(Until(MAX_INSTANT - 1, last=True)))

    def _stepwise(self, until: Until) -> Rows:
        """One pass; where rules that feed each other may derive many rows of each, several, so that these go in between."""
        found = [self._run(Until(pause)) for pause in self._pauses(until.time)] if self._deriving else []
        last = self._run(until)
        return concat([*found, last], last.width) if found else last

    def _pauses(self, until: int) -> Iterator[int]:
        """Up to when to go: so far that about as many rows are derived as fit together, by what the last stretch derived."""
        ends = self._ends_waiting()
        ends = ends[: np.searchsorted(ends, until)]
        low, rows = 0, _FIRST_ROWS
        while low + rows < len(ends):
            before = sum(told.rows_out for told in self._deriving)
            pause = int(ends[low + rows])
            yield pause
            self._evict(pause)
            high = int(np.searchsorted(ends, pause, "right"))
            derived = sum(told.rows_out for told in self._deriving) - before
            rows = max(1, min(4 * rows, (high - low) * _DERIVED_ROWS // max(1, derived)))
            low = high

    def _evict(self, time: int) -> None:
        for operator in self._working:
            operator.evict(time)

    def _run(self, until: Until) -> Rows:
        """One pass from the leaves to the root."""
        self._reached = max(self._reached, until.time)
        given: list[Rows] = []
        due = self._due(until)
        for place, operator in enumerate(self._operators):
            if operator is None:
                given.append(due.pop())
                continue
            inputs = [given[each] for each in self._inputs[place]]
            came = sum([len(rows.end) for rows in inputs])
            if not came and operator.rests(until):
                rows = self._none[place]
            else:
                started = self._clock()
                rows = operator.process(inputs, until)
                self.metrics[place].count(came, len(rows.end), self._clock() - started)
                if self._measured and not until.open:
                    self._note_kept(place, sum(operator.state_rows().values()), partial(_state_bytes, operator))
            given.append(rows)
        return given[-1]

    def _note_kept(self, place: int, rows: int, weigh: Callable[[], int]) -> None:
        """An operator keeps so many rows now. To weigh them costs what they are: that is done when they are a quarter more than
        when it was done last; those that came since weigh the same."""
        metrics = self.metrics[place]
        if rows <= metrics.kept_most:
            return
        if self._measured and 4 * rows >= 5 * self._weighed[place]:
            self._weighed[place], metrics.memory = rows, weigh()
        elif self._measured:
            metrics.memory = metrics.memory * rows // metrics.kept_most
        metrics.kept_most = rows

    def _due(self, until: Until) -> list[Rows]:
        """The rows of each leaf whose time has come, in order of end, those of the last leaf first. What several leaves share
        is cut once."""
        cuts: dict[int | tuple[int, ...], tuple[Rows, tuple[Rows, ...], int]] = {}
        found = []
        for leaf in range(len(self._waiting) - 1, -1, -1):
            if not (parts := self._waiting[leaf]):
                found.append(self._none[self._leaves[leaf]])
                continue
            alike = id(parts[0]) if len(parts) == 1 else tuple(map(id, parts))
            done = cuts.get(alike)
            if done is None:
                waiting = parts[0] if len(parts) == 1 else concat(parts, parts[0].width)
                ends = waiting.end
                if len(ends) == 1 and ends[0] <= until.time:
                    done = cuts[alike] = waiting, (), 1
                else:
                    due, later = cut(waiting.by_end(), until.time)
                    done = cuts[alike] = due, (later,) if len(later.end) else (), len(ends)
            due, self._waiting[leaf], count = done
            if count > self._leaf_metrics[leaf].kept_most:
                self._note_kept(self._leaves[leaf], count, partial(_rows_bytes, parts))
            found.append(due)
        self._least = self._first_waiting() if any(self._waiting) else None
        return found

    # ---------------------------------------------------------------- instants that may be undone

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = (list(self._waiting), len(self._around.lineage))
        self._answering.save()
        for operator in self._working:
            operator.save()

    def undo(self) -> None:
        """Back to `save`."""
        assert self._saved is not None
        waiting, size = self._saved
        self._waiting = list(waiting)
        self._least = self._first_waiting()
        self._around.lineage.truncate(size)
        self._answering.undo(at_once=self._at_once)
        for operator in self._working:
            operator.undo()

    def commit(self) -> None:
        """Keep what was done since `save`, and let go of lineage that no row reaches."""
        self._saved = None
        if len(self._around.graphs) > self._forget_at:
            self._forget_graphs()
            self._forget_at = 2 * len(self._around.graphs)
        if len(self._around.lineage) > self._sweep_at:
            self._sweep()
            self._sweep_at = max(_SWEEP_FROM, 2 * len(self._around.lineage))

    def _forget_graphs(self) -> None:
        """Let go of the graphs of events of which no row waits: what is asked for in them is asked when their rows are due."""
        graphs = self._around.graphs
        waiting = {id(rows): rows for parts in self._waiting for rows in parts}
        events = [self._around.lineage.told(rows.lineage)[1] for rows in waiting.values()]
        for event in graphs.keys() - set(np.concatenate([np.empty(0, np.int64), *events]).tolist()):
            del graphs[event]

    def _sweep(self) -> None:
        lineage = self._around.lineage
        arrays = [rows.lineage for rows in self._own_waiting()]
        arrays += [array for operator in self._working for array in operator.lineages()]
        roots = np.concatenate([np.empty(0, np.int64), *(array.ravel() for array in arrays)])
        places = lineage.keep(lineage.live(roots))
        for array in arrays:
            array[...] = places[array]

    def _own_waiting(self) -> list[Rows]:
        """Rows that wait, each once, so that their refs and lineage may be exchanged in place."""
        owned = {id(rows): _owned(rows) for rows in {id(r): r for parts in self._waiting for r in parts}.values()}
        self._waiting = [tuple(owned[id(rows)] for rows in parts) for parts in self._waiting]
        return list(owned.values())

    # ---------------------------------------------------------------- what is written down

    def dump(self) -> tuple[Arrays, dict[str, object]]:
        """Its state between two releases: what its operators write, what waits, what both were made of."""
        self._sweep()
        self._forget_graphs()
        arrays: Arrays = dict(self._around.lineage.columns())
        for leaf, parts in enumerate(self._waiting):
            rows = concat(parts, len(self.nodes[self._leaves[leaf]].schema.variables))
            arrays |= {f"waiting.{leaf}.{name}": getattr(rows, name) for name in COLUMNS}
        for place, operator in enumerate(self._operators):
            if operator is not None:
                arrays |= {f"operator.{place}.{name}": array for name, array in operator.dump().items()}
        answered, graphs = self._answering.answered, written_graphs(self._around.graphs)
        return arrays, {"answered": answered, "closed": self.closed, "graphs": graphs}

    def load(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Take over what `dump` gave, its refs those of here."""
        self._around.lineage.load(arrays)
        self._answering.answered = bool(meta["answered"])
        self.closed = max(self.closed, meta.get("closed", MIN_INSTANT))  # which states of before do not tell
        self._around.graphs.update(read_graphs(meta.get("graphs", {})))
        for leaf in range(len(self._waiting)):
            rows = Rows(*(arrays[f"waiting.{leaf}.{name}"] for name in COLUMNS))
            self._waiting[leaf] = (rows,) if len(rows) else ()
        self._least = self._first_waiting()
        for place, operator in enumerate(self._operators):
            if operator is not None:
                head = f"operator.{place}."
                operator.load({name[len(head) :]: array for name, array in arrays.items() if name.startswith(head)})

    # ---------------------------------------------------------------- what is kept

    def state_rows(self) -> Mapping[str, int]:
        """What operators keep, rows that wait for their time, and nodes of what both were made of."""
        total = {"waiting": sum(len(rows) for parts in self._waiting for rows in parts), "nodes": len(self._around.lineage)}
        for operator in self._working:
            for kind, rows in operator.state_rows().items():
                total[kind] = total.get(kind, 0) + rows
        return total

    def shed(self, most: int) -> list[str] | None:
        """Let go of every key that keeps more rows than `most`; what was. None where an operator that keeps more cannot tell
        its keys apart: then the unit has to begin anew. Not while an instant is open."""
        found: list[str] = []
        for node, operator in zip(self.nodes, self._operators, strict=True):
            if operator is None or sum(operator.state_rows().values()) <= most:
                continue
            if not isinstance(operator, Sheds):
                return None
            notation = Notation()
            for shed in operator.shed(most):
                key = " ".join(f"?{name} {self._setup.texts.term(ref)}" for name, ref in shed.key)
                found.append(f"{shed.rows} rows of state{key and f' for {key}'} in {node.line(notation)}")
        return found

    @property
    def idle(self) -> bool:
        """Whether it keeps nothing that an answer can come of."""
        return not any(rows for kind, rows in self.state_rows().items() if kind != "nodes")

    def live_events(self) -> Int64:
        """The events that later matches may still show."""
        if self._saved is None:
            self._sweep()
        return self._around.lineage.events()

    def swap_refs(self) -> Iterator[Int64]:
        """Each array of text refs, to be exchanged in place."""
        for rows in self._own_waiting():
            yield rows.refs
        yield from self._around.lineage.refs()
        for operator in self._working:
            yield from operator.refs()

    def _matches(self, rows: Rows) -> Sequence[Match]:
        """The matches of what the root gave."""
        return self._answering.matches(rows if self.owned is None else self.owned(rows)) if len(rows.end) else []


def _owned(rows: Rows) -> Rows:
    """Rows whose refs and lineage may be written without touching others that share them."""
    return replace(rows, refs=rows.refs.copy(), lineage=rows.lineage.copy())


def _first_end(rows: Rows) -> int:
    return int(rows.end[0] if len(rows.end) == 1 else rows.end.min())


def _rows_bytes(parts: Sequence[Rows]) -> int:
    return sum(int(getattr(rows, column).nbytes) for rows in parts for column in COLUMNS)


def _state_bytes(operator: Operator) -> int:
    return sum(array.nbytes for array in operator.dump().values())
