"""The operator of a sequence: rows of its scans in, whole instants at a time, complete runs out as rows.

What waits is runs, in the chains of the sequence (`kernel.sequence.chain`), one chain for each way to take its optional atoms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.operator import Until
from scepter.kernel.row.owned import Cell
from scepter.kernel.row.told import ToldBefore
from scepter.kernel.rows import Int64, Rows, UInt64
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.atoms import Atoms
from scepter.kernel.sequence.chain import ChainKernel
from scepter.kernel.sequence.exact_filters import Exact
from scepter.kernel.sequence.key_order import sort_by_key
from scepter.kernel.sequence.match_identity import identity, one_of_each
from scepter.kernel.sequence.moment import Moment
from scepter.kernel.sequence.run_extension import RunExtension
from scepter.kernel.sequence.run_windows import Bounds, Counts
from scepter.kernel.sequence.runs import Runs, Waiting, no_runs
from scepter.kernel.sequence.shown_runs import ShownRuns
from scepter.kernel.sequence.skip import Skipping
from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.state.container import Arrays
from scepter.kernel.state.heavy_keys import Shed, heavy, told
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.physical.distribution.partitioning import partitioning
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.sequence_nodes import Sequence as SequenceNode
from scepter.physical.sequence_plan import QueryPlan
from scepter.rdf.distinct import distinct
from scepter.rdf.hashing import TermKey

_NO_GROUPS, _NO_TIMES = np.empty(0, np.uint64), np.empty(0, np.int64)


class MatchedSequence:
    """Runs of one sequence, and the matches they become."""

    def __init__(
        self,
        node: SequenceNode,
        bounds: Bounds,
        key: TermKey,
        background: Background,
        texts: Texts,
        lineage: Lineage,
        part: Callable[[str], int],
        graphs: dict[int, Graph],
        cell: Cell,
    ) -> None:
        """`graphs` are those of the events, by their numbers, where a filter asks for what is in them; `cell` is the bucket
        that it is in, where matches are divided by their first event."""
        plan = self._plan = node.plan
        self.schema: Schema = node.schema
        self._bounds, self._texts, self._lineage = bounds, texts, lineage
        # in the order of the query, so that refs into the background are the same in every process
        background.attach(key, texts, [graph for scan in plan.scans for graph in scan.graphs])
        if plan.aggregated:
            lineage.keep_values(len(plan.aggregated))
        exact = Exact(plan, lineage, {label: part(label) for label in plan.labels}, background.dataset, texts, graphs)
        self._atoms = Atoms(plan, key, texts, background.dataset, graphs)
        extend = RunExtension(plan, bounds, lineage, part)
        self._chains = [ChainKernel(chain, plan, bounds, extend, exact.decide, key, cell) for chain in plan.chains]
        self._shown = ShownRuns(plan, exact, lineage, key, texts)
        self._skipping = None if plan.skip is None else Skipping(plan.skip, plan, lineage, self._mapping)
        self._counts = Counts(bounds.events or 0)
        self._saved = self._counts
        self._none = no_runs(len(plan.variables), len(plan.marks))
        self._told = ToldBefore() if plan.solutions else None
        self._key = partitioning(plan).slots
        self._ticked, self._can_repeat = plan.ticked, _can_repeat(plan)

    # ---------------------------------------------------------------- whole instants

    def process(self, inputs: Sequence[Rows], until: Until) -> Rows:
        """The matches that are certain now."""
        if not until.open:  # what was done since `save` stays
            for chain in self._chains:
                chain.commit()
        if until.last and not self._plan.timeouts and not any(map(len, inputs)):
            return self._shown(self._finished(self._none))
        found, moment = self._step(inputs, until)
        if until.last:
            found = self._finished(found) if not self._plan.timeouts else self._finished_timeouts(found, moment)
        return self._shown(found)

    def _step(self, inputs: Sequence[Rows], until: Until) -> tuple[Runs, Moment]:
        groups, times = _NO_GROUPS, _NO_TIMES
        seen = None
        if self._ticked:
            groups, times = inputs[-1].ids[:, 0], inputs[-1].end
            if self._bounds.events is not None:
                self._counts, seen = self._counts.observe(groups, times)
            groups, times = self._instants(groups, times)
        leaves: dict[int, tuple[int | None, Int64]] = {}
        moment = Moment(self._atoms(self._tables(inputs, leaves)), groups, times, until.time, until.closed, seen, leaves)
        complete = [chain.step(moment) for chain in self._chains]
        if self._plan.timeouts:
            return self._timed_out([chain.timed_out(moment) for chain in self._chains]), moment
        found = complete[0] if len(complete) == 1 else Runs.joined(complete)
        if len(found.time) > 1:
            found = self._distinct(found)
        if self._told is not None and len(found.time):
            fresh = self._told.fresh(_solutions(found), until)
            found = found if fresh is None else found.take(fresh)
        if self._skipping is not None:
            return self._skipping(found), moment
        if len(self._chains) > 1 and len(found):
            self._retract(found)
        return found, moment

    def rests(self, until: Until) -> bool:
        """Unless a window closes, or something that is looked back at grows old."""
        rests = not until.last
        for chain in self._chains:
            rests = rests and chain.rests(until.time)
        return rests

    def _tables(self, inputs: Sequence[Rows], leaves: dict[int, tuple[int | None, Int64]]) -> list[Solutions]:
        """The rows of each scan with their events; scans that were given the same rows have one table. `leaves` are told of
        each by its identity: their part, and they themselves."""
        made: dict[int, Solutions] = {}
        found = []
        for rows in inputs[: len(self._plan.scans)]:
            if (table := made.get(id(rows))) is None:
                part, told = self._lineage.taken_from(rows.lineage)
                if isinstance(told, Solutions) and _are(rows, told):
                    table = told
                else:
                    part, event, name = self._lineage.taken(rows.lineage)
                    table = Solutions(
                        rows.end, rows.start, np.zeros(len(event), np.int8), event[:, None], name[:, None],
                        rows.ids, rows.refs, rows.number, rows.scale,
                    )  # fmt: skip
                made[id(rows)] = table
                leaves[id(table)] = part, rows.lineage
            found.append(table)
        return found

    def _instants(self, groups: UInt64, times: Int64) -> tuple[UInt64, Int64]:
        """(group, instant) pairs, sorted, each once."""
        if self._plan.partition:
            order = sort_by_key(groups)
            groups, times = groups[order], times[order]
        if len(times) > 1:
            new = np.concatenate([[True], (times[1:] != times[:-1]) | (groups[1:] != groups[:-1])])
            groups, times = groups[new], times[new]
        return groups, times

    def _retract(self, found: Runs) -> None:
        """A match that an optional atom lets be read in two ways is one, at the earlier of its ends (SPAseq rules 9 and 11)."""
        reported = {identity(self._lineage, found, row) for row in range(len(found))}
        for chain in self._chains:
            chain.retract(lambda runs, row: identity(self._lineage, runs, row) in reported)

    def _timed_out(self, parts: list[list[tuple[int, Runs]]]) -> Runs:
        """The partial matches whose time was over: those of which no chain has gone on, or could be a match (rule 18).

        Chains that begin alike are readings of one query: a run that waits in one of them waits in all, unless it went on.
        """
        prefixes = [tuple(step.atom for step in chain.steps) for chain in self._plan.chains]
        found: dict[tuple[frozenset[int], bytes], tuple[Runs, int, set[int], set[int]]] = {}
        for number, each in enumerate(parts):
            for steps, runs in each:
                alike = {n for n, atoms in enumerate(prefixes) if atoms[:steps] == prefixes[number][:steps]}
                for row in range(len(runs)):
                    _, _, _, seen = found.setdefault(identity(self._lineage, runs, row), (runs, row, alike, set()))
                    seen.add(number)
        kept = [runs.take(np.array([row])) for runs, row, alike, seen in found.values() if alike == seen]
        return Runs.joined([self._none, *kept])

    def _finished(self, rest: Runs) -> Runs:
        """The end of the input: every window closes."""
        done = Runs.joined([chain.finish(self._counts) for chain in self._chains])
        if self._skipping is not None:
            return Runs.joined([rest, self._skipping(self._distinct(done))])
        return self._distinct(Runs.joined([rest, done]))

    def _finished_timeouts(self, rest: Runs, moment: Moment) -> Runs:
        """At the end of the input the time of all that wait is over, where it is bounded at all."""
        if self._bounds.events is None:
            return rest
        parts = []
        for chain in self._chains:
            chain.expired = [(steps, runs) for steps, runs in chain.rest() if len(runs)]
            moment.seen = self._counts.observe(_NO_GROUPS, _NO_TIMES)[1]
            parts.append(chain.timed_out(moment))
        return Runs.joined([rest, self._timed_out(parts)])

    def _distinct(self, runs: Runs) -> Runs:
        """A match is its events and its mapping; it is reported once (SPAseq rule 11).

        With aggregates over iterations the row takes part in the identity, so that whoever makes the rows decides.
        """
        if len(runs) < 2:
            return runs
        if self._plan.solutions:
            first, _ = distinct(_solutions(runs))
            return runs if len(first) == len(runs) else runs.take(first)
        if not self._can_repeat or self._plan.aggregated:
            return runs
        rows = one_of_each(self._lineage, runs)
        return runs if len(rows) == len(runs) else runs.take(rows)

    def _mapping(self, runs: Runs, row: int) -> str:
        """A run's mapping as text."""
        names = self._plan.variables
        bound = sorted(np.flatnonzero(runs.ids[row]).tolist(), key=names.__getitem__)
        return " ".join(f"?{names[s]} {self._texts.term(int(runs.refs[row, s]))}" for s in bound)

    # ---------------------------------------------------------------- open instants, and what is let go

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._saved = self._counts
        if self._skipping is not None:
            self._skipping.save()
        for chain in self._chains:
            chain.save()

    def undo(self) -> None:
        """Back to `save`."""
        self._counts = self._saved
        if self._told is not None:
            self._told.forget()
        if self._skipping is not None:
            self._skipping.undo()
        for chain in self._chains:
            chain.undo()

    def evict(self, time: int) -> None:
        """Let go of the runs whose time is over."""
        for chain in self._chains:
            chain.commit()

    def due(self) -> int | None:
        """The first time whose passing alone can complete something; None if only events can."""
        limits = [limit for _, pool in self._pools() if (limit := pool.first_limit()) is not None]
        return min(limits, default=None)

    # ---------------------------------------------------------------- state

    def _pools(self) -> Iterator[tuple[str, Waiting]]:
        for c, chain in enumerate(self._chains):
            for p, pool in enumerate(chain.pools()):
                yield f"pool.{c}.{p}", pool

    def dump(self) -> Arrays:
        """Live runs, what negations look back at, counts, and where the search goes on."""
        arrays: Arrays = {}
        for name, pool in self._pools():
            pool.sweep()
            arrays |= {**pool.runs.dump(name), f"{name}.key": pool.key}
        for c, chain in enumerate(self._chains):
            for i, table in enumerate(chain.leading.history):
                arrays |= table.dump(f"history.{c}.{i}")
        if self._skipping is not None:
            arrays["skip.groups"], arrays["skip.times"] = self._skipping.columns()
        arrays["counts.groups"], arrays["counts.totals"], arrays["counts.recent"] = self._counts.columns()
        return arrays

    def load(self, arrays: Arrays) -> None:
        """Take over what `dump` gave."""
        for name, pool in self._pools():
            pool.append(Runs.load(arrays, name), arrays[f"{name}.key"])
        for c, chain in enumerate(self._chains):
            count = len(chain.leading.history)
            chain.leading.history = [Solutions.load(arrays, f"history.{c}.{i}") for i in range(count)]
        if self._skipping is not None:
            self._skipping.load(arrays["skip.groups"], arrays["skip.times"])
        self._counts.load(arrays["counts.groups"], arrays["counts.totals"], arrays["counts.recent"])

    def refs(self) -> Iterator[Int64]:
        """The refs of live runs and of what negations look back at."""
        for _, pool in self._pools():
            pool.sweep()
            yield pool.runs.refs
        for chain in self._chains:  # what is written here may touch no other table that shares it
            chain.leading.history = [
                each.replace(names=each.names.copy(), refs=each.refs.copy()) for each in chain.leading.history
            ]
            for table in chain.leading.history:
                yield table.refs
                yield table.names

    def lineages(self) -> Iterator[Int64]:
        """The last steps of live runs."""
        for _, pool in self._pools():
            pool.sweep()
            yield pool.runs.node

    def shed(self, most: int) -> list[Shed]:
        """Forget the runs of every key that has more; runs of a sequence without a key are those of one. What negations look
        back at, and counts of events, are no partial matches, and stay."""
        pools = [(pool, pool.live()) for _, pool in self._pools()]
        slots, names = list(self._key), [self._plan.variables[slot] for slot in self._key]
        ids = np.concatenate([pool.runs.ids[at][:, slots] for pool, at in pools])
        refs = np.concatenate([pool.runs.refs[at][:, slots] for pool, at in pools])
        mask, first, counts = heavy(ids, most)
        if len(first):
            parts = np.split(mask, np.cumsum([len(at) for _, at in pools])[:-1])
            for (pool, at), gone in zip(pools, parts, strict=True):
                pool.kill(at[gone])
        return told(names, refs, first, counts)

    def state_rows(self) -> Mapping[str, int]:
        """Live runs, what negations look back at, and partitions whose events are counted."""
        return {
            "runs": sum(len(pool) for _, pool in self._pools()),
            "remembered": sum(len(table) for chain in self._chains for table in chain.leading.history),
            "counted": len(self._counts),
        }


def _are(rows: Rows, table: Solutions) -> bool:
    """Whether rows are those of a table as they were scanned."""
    return table.refs is rows.refs and table.start is rows.start and table.time is rows.end


def _can_repeat(plan: QueryPlan) -> bool:
    """Whether two runs can be the same match."""
    iterations = sum(step.iteration is not None for chain in plan.chains for step in chain.steps)
    plain = all(len(a.branches) == 1 and len(a.branches[0].scans) == 1 for a in plan.atoms)
    return len(plan.chains) > 1 or iterations > 1 or not plain


def _solutions(runs: Runs) -> UInt64:
    """What tells solutions apart: their intervals and mappings."""
    return np.column_stack([runs.time.view(np.uint64), runs.start.view(np.uint64), runs.ids])
