"""One query on one timeline: the stateless part, the buffer that puts solutions in order of time, and the chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Exists
from scepter.algebra.query import Preference, Selection
from scepter.algebra.walk import find
from scepter.kernel.atoms import Atoms
from scepter.kernel.background import Background
from scepter.kernel.exact import Exact
from scepter.kernel.identity import identity, one_of_each
from scepter.kernel.intake import Intake
from scepter.kernel.moment import Moment
from scepter.kernel.nodes import Nodes
from scepter.kernel.run_extension import labels
from scepter.kernel.runs import Runs, concat_runs, no_runs
from scepter.kernel.scans import Scans
from scepter.kernel.search import key_of
from scepter.kernel.sequence import ChainKernel
from scepter.kernel.skip import Skipping
from scepter.kernel.solutions import Int64, Solutions, UInt64, concat, empty
from scepter.kernel.texts import Texts
from scepter.kernel.windows import Bounds, Counts
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey
from scepter.timeline import MAX_INSTANT


@dataclass(frozen=True, slots=True)
class Ticks:
    """(group, time) of each event that counts, in order of time: what contiguity and counting look at."""

    groups: UInt64
    times: Int64

    def until(self, time: int) -> tuple[Ticks, Ticks]:
        """Those up to a time, and those after it."""
        at = int(np.searchsorted(self.times, time, side="right"))
        return Ticks(self.groups[:at], self.times[:at]), Ticks(self.groups[at:], self.times[at:])


@dataclass(frozen=True, slots=True)
class Solved:
    """What the stateless part made of some events: a table per scan and the events' ticks, each in order of time."""

    tables: tuple[Solutions, ...]
    ticks: Ticks


class QueryKernel:
    """Takes events in any order, releases them in order of time, and returns complete runs."""

    def __init__(
        self,
        plan: QueryPlan,
        bounds: Bounds,
        key: TermKey,
        background: Background,
        texts: Texts,
        scans: Scans | None = None,
    ) -> None:
        """`scans` take the place of those of the plan where events stand for more than they say."""
        self.plan = plan
        self.labels = labels(plan)
        self._bounds = bounds
        self._texts = texts
        # in the order of the query, so that refs into the background are the same in every process
        background.attach(key, texts, [graph for scan in plan.scans for graph in scan.graphs])
        self._scans = scans or Scans(plan, key, background)
        self.nodes = Nodes(len(plan.aggregated))
        self.exact = Exact(plan, self.nodes, background.dataset, texts)
        self._atoms = Atoms(plan, key, texts, background.dataset, self.exact.graphs)
        self.chains = [ChainKernel(c, plan, bounds, self.nodes, self.exact.decide, key) for c in plan.chains]
        self.needs_graphs = any(
            True for a in plan.atoms for b in a.branches for f in b.stateful for _ in find(f.expression, Exists)
        ) or any(True for a in plan.atoms for b in a.branches for e in b.joint for _ in find(e, Exists))
        self.needs_ticks = bounds.events is not None or any(
            Selection.STRICT in (step.selection, step.iteration.selection if step.iteration else None)
            for chain in plan.chains
            for step in chain.steps
        )
        self.skipping = None if plan.skip is None else Skipping(plan.skip, plan, self.nodes, self._mapping)
        iterations = [step.iteration for chain in plan.chains for step in chain.steps if step.iteration is not None]
        self._prefers = any(iteration.preference is not Preference.EVERY for iteration in iterations)
        self.buffer: tuple[Solved, ...] = ()
        self.counts = Counts(bounds.events or 0)
        self._saved: tuple[tuple[Solved, ...], Counts, int] | None = None
        self.last = 0
        """The time of the last event seen."""

    # ---------------------------------------------------------------- the stateless part

    def take(self, intake: Intake, streams: NDArray[np.int64], wanted: NDArray[np.bool_]) -> None:
        """Evaluate the scans on the wanted events of a batch. `streams` maps the run's streams to the query's (-1: none)."""
        of = streams[intake.batch.stream]
        of = np.where(wanted, of, -1)
        if not bool((of >= 0).any()):
            return
        self.accept(self._solve(intake, of))

    def _solve(self, intake: Intake, of: NDArray[np.int64]) -> Solved:
        by_stream = {i: of == i for i in range(max(1, len(self.plan.streams)))}
        graphs = self.exact.graphs if self.needs_graphs else None
        solved = self._scans(intake, self._texts, by_stream, graphs)
        return Solved(tuple(kept for kept, _ in solved), self._ticks(intake, of >= 0, solved))

    def accept(self, solved: Solved) -> None:
        """Take what the stateless part made elsewhere, its refs pointing into this kernel's texts."""
        self.buffer = (*self.buffer, solved)

    def stretches(self, rows: int) -> list[int]:
        """The times at which what has been taken and not released parts into stretches of about so many rows: to release it
        stretch by stretch costs less memory, and less time, since each fits the processor's cache."""
        tables = [table for part in self.buffer for table in {id(table): table for table in part.tables}.values()]
        times = np.sort(np.concatenate([np.empty(0, np.int64), *(table.time for table in tables)]))
        return [int(time) for time in np.unique(times[rows::rows])]

    def drain(self) -> Solved:
        """Hand over what has been taken and not released: the stateless part's work, for a kernel elsewhere."""
        tables, ticks = self._pop(MAX_INSTANT)
        return Solved(tuple(tables), ticks)

    def _ticks(self, intake: Intake, seen: NDArray[np.bool_], solved: list[tuple[Solutions, Solutions]]) -> Ticks:
        if not self.plan.partition or not self.needs_ticks:
            seen_at = np.sort(intake.batch.end[seen])
            return Ticks(np.zeros(len(seen_at), np.uint64), seen_at)
        # rule 14: an event is in the partition of a value if some GPM, its filters left aside, binds the variables to it
        alike: dict[tuple[int, tuple[int, ...]], Solutions] = {}
        for scan, (_, everything) in zip(self.plan.scans, solved, strict=True):
            columns = tuple(scan.slots.index(s) for s in self.plan.partition)
            alike[id(everything), columns] = everything
        group = np.concatenate([key_of(table.ids, columns) for (_, columns), table in alike.items()])
        time = np.concatenate([table.time for table in alike.values()])
        event = np.concatenate([table.events[:, 0] for table in alike.values()])
        order = np.lexsort((group, event, time))
        group, time, event = group[order], time[order], event[order]
        new = np.ones(len(time), np.bool_)
        new[1:] = (event[1:] != event[:-1]) | (group[1:] != group[:-1])
        return Ticks(group[new], time[new])

    # ---------------------------------------------------------------- the stateful part

    @property
    def waits_for_closed_instants(self) -> bool:
        """Whether an event at the very time of a match could still take it away: in a window that counts events, by beginning
        earlier (skip), by going on (timeouts), by going before (greedy, reluctant)."""
        return self._bounds.events is not None or self.plan.skip is not None or self.plan.timeouts or self._prefers

    def release(self, until: int, closed: int) -> Runs:
        """Step over all instants up to `until`; of the last one more events may come unless it is `closed`."""
        if self.waits_for_closed_instants:
            until = closed
        tables, ticks = self._pop(until)
        if len(ticks.times):
            self.last = max(self.last, int(ticks.times[-1]))
        seen = None
        if self._bounds.events is not None:
            self.counts, seen = self.counts.observe(ticks.groups, ticks.times)
        moment = self._moment(tables, ticks, until, closed, seen)
        complete = [chain.step(moment) for chain in self.chains]
        if self.plan.timeouts:
            return self._timed_out([chain.timed_out(moment) for chain in self.chains])
        found = self._distinct(concat_runs(complete))
        if self.skipping is not None:
            return self.skipping(found)
        if len(found) and len(self.chains) > 1:
            self._retract(found)
        return found

    def _retract(self, found: Runs) -> None:
        """A match that an optional atom lets be read in two ways is one, at the earlier of its ends (rules 9 and 11)."""
        reported = {identity(self.nodes, found, row) for row in range(len(found))}
        for chain in self.chains:
            chain.retract(lambda runs, row: identity(self.nodes, runs, row) in reported)

    def _timed_out(self, parts: list[list[tuple[int, Runs]]]) -> Runs:
        """The partial matches whose time was over: those of which no chain has gone on, or could be a match (rule 18).

        Chains that begin alike are readings of one query: a run that waits in one of them waits in all, unless it went on.
        """
        prefixes = [tuple(step.atom for step in chain.steps) for chain in self.plan.chains]
        found: dict[tuple[frozenset[int], bytes], tuple[Runs, int, set[int], set[int]]] = {}
        for number, each in enumerate(parts):
            for steps, runs in each:
                alike = {n for n, atoms in enumerate(prefixes) if atoms[:steps] == prefixes[number][:steps]}
                for row in range(len(runs)):
                    _, _, _, seen = found.setdefault(identity(self.nodes, runs, row), (runs, row, alike, set()))
                    seen.add(number)
        kept = [runs.take(np.array([row])) for runs, row, alike, seen in found.values() if alike == seen]
        return concat_runs([no_runs(len(self.plan.variables), len(self.plan.marks)), *kept])

    def _mapping(self, runs: Runs, row: int) -> str:
        """A run's mapping as text."""
        names = self.plan.variables
        bound = sorted(np.flatnonzero(runs.ids[row]).tolist(), key=names.__getitem__)
        return " ".join(f"?{names[s]} {self._texts.term(int(runs.refs[row, s]))}" for s in bound)

    def finish(self) -> Runs:
        """The end of the input."""
        if self.plan.timeouts:
            return self._finish_timeouts()
        rest = self.release(MAX_INSTANT - 1, MAX_INSTANT - 1) if self.buffer else None
        done = concat_runs([chain.finish(self.last, self.counts) for chain in self.chains])
        if self.skipping is not None:
            done = self.skipping(self._distinct(done))
            return done if rest is None else concat_runs([rest, done])
        return self._distinct(done if rest is None else concat_runs([rest, done]))

    def _finish_timeouts(self) -> Runs:
        """At the end of the input the time of all that wait is over, where it is bounded at all."""
        rest = self.release(MAX_INSTANT - 1, MAX_INSTANT - 1)
        if self._bounds.events is None:
            return rest
        moment = Moment([], np.empty(0, np.uint64), np.empty(0, np.int64), MAX_INSTANT - 1, MAX_INSTANT - 1)
        parts = []
        for chain in self.chains:
            chain.expired = [(steps, runs) for steps, runs in chain.rest() if len(runs)]
            moment.seen = self.counts.observe(np.empty(0, np.uint64), np.empty(0, np.int64))[1]
            parts.append(chain.timed_out(moment))
        return concat_runs([rest, self._timed_out(parts)])

    def _pop(self, until: int) -> tuple[list[Solutions], Ticks]:
        taken: list[list[Solutions]] = [[] for _ in self.plan.scans]
        ticks: list[Ticks] = []
        kept: list[Solved] = []
        for part in self.buffer:
            now, later = part.ticks.until(until)
            ticks.append(now)
            cut = {id(table): _until(table, until) for table in part.tables}
            for number, table in enumerate(part.tables):
                taken[number].append(cut[id(table)][0])
            rest = tuple(cut[id(table)][1] for table in part.tables)
            if len(later.times) or any(len(t) for t in rest):
                kept.append(Solved(rest, later))
        self.buffer = tuple(kept)
        tables: dict[tuple[int, ...], Solutions] = {}
        for parts in taken:
            if (alike := tuple(map(id, parts))) not in tables and parts:
                tables[alike] = concat(parts).by_time()
        found = [
            tables[tuple(map(id, parts))] if parts else empty(len(scan.slots))
            for parts, scan in zip(taken, self.plan.scans, strict=True)
        ]
        return found, _merged(ticks)

    def _moment(
        self, scans: list[Solutions], ticks: Ticks, until: int, closed: int, seen: dict[int, tuple[int, Int64]] | None
    ) -> Moment:
        groups, times = ticks.groups, ticks.times
        if self.plan.partition and self.needs_ticks:
            order = np.lexsort((times, groups))
            groups, times = groups[order], times[order]
        if len(times) > 1:
            new = np.concatenate([[True], (times[1:] != times[:-1]) | (groups[1:] != groups[:-1])])
            groups, times = groups[new], times[new]
        return Moment(self._atoms(scans), groups, times, until, closed, seen)

    def _distinct(self, runs: Runs) -> Runs:
        """A match is its events and its mapping; it is reported once (rule 11).

        With aggregates over iterations the row takes part in the identity, so that whoever makes the rows decides.
        """
        if len(runs) < 2:
            return runs
        if self.plan.solutions:
            return _each_solution(runs)
        if not self.can_repeat or self.plan.aggregated:
            return runs
        rows = one_of_each(self.nodes, runs)
        return runs if len(rows) == len(runs) else runs.take(rows)

    @property
    def can_repeat(self) -> bool:
        """Whether two runs can be the same match."""
        iterations = sum(step.iteration is not None for chain in self.plan.chains for step in chain.steps)
        plain = all(len(a.branches) == 1 and len(a.branches[0].scans) == 1 for a in self.plan.atoms)
        return len(self.plan.chains) > 1 or iterations > 1 or not plain

    # ---------------------------------------------------------------- undo, size, compaction

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = (self.buffer, self.counts, len(self.nodes))
        if self.skipping is not None:
            self.skipping.save()
        for chain in self.chains:
            chain.save()

    def undo(self) -> None:
        """Back to `save`."""
        assert self._saved is not None
        self.buffer, self.counts, size = self._saved
        self.nodes.truncate(size)
        if self.skipping is not None:
            self.skipping.undo()
        for chain in self.chains:
            chain.undo()

    def commit(self) -> None:
        """Keep what was done since `save`, and drop what nothing points at any more."""
        self._saved = None
        for chain in self.chains:
            chain.commit()
        if not self.buffer:
            self.exact.graphs.clear()
        if len(self.nodes) > 4096 and len(self.nodes) > 4 * self.live_runs:
            self.sweep()

    @property
    def live_runs(self) -> int:
        """How many runs wait."""
        return sum(len(pool) for chain in self.chains for pool in chain.pools())

    def sweep(self) -> None:
        """Drop dead runs and the nodes that no live one reaches."""
        pools = [pool for chain in self.chains for pool in chain.pools()]
        for pool in pools:
            pool.sweep()
        roots = np.concatenate([np.empty(0, np.int64), *(pool.runs.node for pool in pools)])
        places = self.nodes.keep(self.nodes.live(roots))
        for pool in pools:
            pool.rewrite("node", places[pool.runs.node])

    @property
    def idle(self) -> bool:
        """Whether nothing waits: no run, no remembered or buffered solution, no counts."""
        remembered = any(len(table) for chain in self.chains for table in chain.history)
        return not (self.buffer or self.live_runs or remembered or self._bounds.events is not None)

    def next_due(self) -> int | None:
        """The first time whose passing can release or complete something; None if only events can."""
        times = [int(part.ticks.times[0]) for part in self.buffer if len(part.ticks.times)]
        times += [int(table.time[0]) for part in self.buffer for table in part.tables if len(table)]
        times += [limit for chain in self.chains for pool in chain.pools() if (limit := pool.first_limit()) is not None]
        return min(times, default=None)

    def state_rows(self) -> dict[str, int]:
        """How much state there is: runs, nodes, remembered negated solutions, buffered solutions."""
        return {
            "runs": self.live_runs,
            "nodes": len(self.nodes),
            "remembered": sum(len(t) for chain in self.chains for t in chain.history),
            "buffered": sum(len(t) for part in self.buffer for t in part.tables),
        }

    def live_events(self) -> NDArray[np.int64]:
        """The numbers of events that a later match may still show."""
        buffered = [t.events.ravel() for part in self.buffer for t in part.tables]
        return np.unique(np.concatenate([self.nodes.events(), *buffered]))

    def swap_refs(self) -> Iterator[Int64]:
        """Yield each array of refs the state holds, to be exchanged in place by the caller; sweeps first."""
        self.sweep()
        columns = self.nodes.columns()
        yield columns["nodes.name"]
        yield columns["nodes.values"]
        for chain in self.chains:
            for pool in chain.pools():
                yield pool.runs.refs
            chain.history = [_copied(table) for table in chain.history]
            for table in chain.history:
                yield table.refs
                yield table.names
        self.buffer = tuple(Solved(tuple(_copied(t) for t in part.tables), part.ticks) for part in self.buffer)
        for part in self.buffer:
            for table in part.tables:
                yield table.refs
                yield table.names


def _until(table: Solutions, time: int) -> tuple[Solutions, Solutions]:
    """The rows up to a time, and those after it."""
    at = int(np.searchsorted(table.time, time, side="right"))
    if at == len(table):
        return table, empty(table.width)
    return table.between(0, at), table.between(at, len(table))


def _each_solution(runs: Runs) -> Runs:
    """Runs with the same mapping and interval once."""
    first, _ = distinct(np.column_stack([runs.time.view(np.uint64), runs.start.view(np.uint64), runs.ids]))
    return runs if len(first) == len(runs) else runs.take(first)


def _copied(table: Solutions) -> Solutions:
    """A table whose refs may be written without touching another that shares them."""
    return Solutions(
        table.time, table.start, table.branch, table.events, table.names.copy(), table.ids, table.refs.copy(), table.number,
        table.scale,
    )  # fmt: skip


def _merged(parts: list[Ticks]) -> Ticks:
    if len(parts) == 1:
        return parts[0]
    groups = np.concatenate([np.empty(0, np.uint64), *(p.groups for p in parts)])
    times = np.concatenate([np.empty(0, np.int64), *(p.times for p in parts)])
    order = np.argsort(times, kind="stable")
    return Ticks(groups[order], times[order])
