"""The temporal kernel: a chain of steps over batches of whole instants (SPAseq rules 3 to 10).

State is the runs that wait: before each step, for the next iteration of a Kleene atom, for the close of a window. For a batch
that holds all events up to `until`, every waiting run and every run that arrives searches the batch; what it finds goes on to
the next step, what can still find something later waits on, the rest is released.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from scepter.algebra.query import Preference, Selection
from scepter.kernel.row.owned import Cell
from scepter.kernel.rows import Int64, UInt64
from scepter.kernel.scan.solutions import Solutions
from scepter.kernel.sequence.chain_stages import Stage, bound_after, build_stages, lazy, negation, waits_at_once
from scepter.kernel.sequence.closings import closings, run_out_at
from scepter.kernel.sequence.forward_search import NOTHING, instants_after
from scepter.kernel.sequence.in_flight import Flight
from scepter.kernel.sequence.leading_negation import LeadingNegations
from scepter.kernel.sequence.moment import MANY, Moment
from scepter.kernel.sequence.preference import Rival
from scepter.kernel.sequence.run_extension import RunExtension
from scepter.kernel.sequence.run_windows import Bounds, Counts
from scepter.kernel.sequence.runs import Runs, Waiting, merged, no_runs
from scepter.kernel.sequence.step_search import NOTHING_FOUND, Decide, Found, Keyed, StepSearch, own_events
from scepter.kernel.sequence.trail import Step, Trail
from scepter.physical.sequence_plan import Chain, GapPlan, QueryPlan
from scepter.rdf.hashing import TermKey
from scepter.timeline import MAX_INSTANT


class ChainKernel:
    """Runs one chain. `step` takes a batch and returns the runs that are complete."""

    def __init__(
        self, chain: Chain, plan: QueryPlan, bounds: Bounds, extend: RunExtension, decide: Decide, key: TermKey, cell: Cell
    ) -> None:
        """`cell` is the bucket that it is in, where matches are divided by their first event."""
        self._cell = cell
        self._chain = chain
        self._plan = plan
        self._bounds = bounds
        self._decide = decide
        self._width = len(plan.variables)
        self._marks = len(plan.marks)
        self._none = no_runs(self._width, self._marks)
        self._nobody, self._lazy = Flight.written_out(self._none), lazy(plan)
        self._extend = extend
        self._stages = build_stages(chain, plan, key)
        bound = bound_after(chain, plan, len(chain.steps))
        self._trailing = [negation(n, plan, bound, key) for n in chain.trailing]
        self.leading = LeadingNegations(chain.leading, plan, bounds, decide)
        """What they look back at is a part of the state."""
        self._closing = Waiting(self._width, self._marks)
        self._pools = [*(pool for stage in self._stages for pool in (stage.waiting, stage.iterating)), self._closing]
        # those that may hold runs
        self._used = [*(s.waiting for s in self._stages[1:]), *(s.iterating for s in self._stages if s.again)]
        self._used += [self._closing] if self._trailing else []
        self.expired: list[tuple[int, Runs]] = []
        """(steps taken, runs whose time was over before the next one) of the last batch, where they are asked for."""
        self._just_closing = 0
        self._partition_columns = {i: tuple(a.slots.index(s) for s in plan.partition) for i, a in enumerate(plan.atoms)}
        slots, later = self._stages[0].atom.slots, self._stages[1:2]
        self._first_key = tuple(slots.index(slot) for stage in later for slot in stage.search.key if slot in slots)
        self._waits = self._lazy and not chain.leading and waits_at_once(self._stages)

    # ---------------------------------------------------------------- one batch

    def step(self, moment: Moment) -> Runs:
        """The runs that this batch completes."""
        self.expired = []
        first = moment.tables[self._stages[0].plan.atom]
        late = self._waits and len(first.time) > 0 and first.time[0] == moment.until and self._cell.alone
        arrivals = self._nobody if late else self._begin(moment)
        for i, stage in enumerate(self._stages):
            if i:
                arrivals = self._advance(i, stage, arrivals, moment)
            if stage.again is not None:
                iterated = self._iterate(i, stage, stage.again, arrivals.written(self._extend), moment)
                arrivals = Flight.written_out(iterated)
        if late:  # what begins at the last instant has nothing to look at yet: it waits
            stage, after = self._stages[:2]
            columns = self._partition_columns[stage.plan.atom]
            self._extend.begin_in(after.waiting, first, columns, after.search.key, stage.atom, moment)
        runs = arrivals.written(self._extend)
        return self.leading.clear(self._close(runs, moment) if self._trailing else runs, moment)

    def finish(self, counts: Counts) -> Runs:
        """The end of the input: every window closes; one that counts events with the last of its partition (rule 14)."""
        if not self._trailing:
            return self._none
        rows = self._closing.live()
        runs = self._closing.runs.take(rows)
        self._closing.kill(rows)
        ends = self._bounds.close(runs.limit) if self._bounds.events is None else counts.last(runs.group)
        moment = Moment([], np.empty(0, np.uint64), np.empty(0, np.int64), MAX_INSTANT - 1, MAX_INSTANT - 1)
        return self.leading.clear(runs.replace(time=ends), moment)

    def _begin(self, moment: Moment) -> Flight:
        """One run per row of the first atom, those of other buckets left out."""
        stage = self._stages[0]
        table = moment.tables[stage.plan.atom]
        rows = moment.by_key(table, self._first_key)
        if not self._cell.alone:
            begun = table.start if self._plan.solutions else table.time  # what equal matches have in common
            rows = rows[self._cell.begins(begun, table.ids, stage.atom.slots)[rows]]
        if stage.judged:
            # an optional atom before it, left out in this chain, is what the filter looks at: judge it on an empty run
            rows = rows[self._decide(self._extend.nobody(), np.zeros(len(rows), np.int64), table, rows, stage.plan.atom, False)]
        if not len(rows):
            self.leading.look_back(self._none, moment)
            return self._nobody
        first = table if len(rows) == len(table) <= MANY else table.take(rows)
        runs, inside = self._extend.begun(first, self._partition_columns[stage.plan.atom], stage.atom, moment)
        return Flight.written_out(self.leading.look_back(runs, moment), rows[inside], table)

    # ---------------------------------------------------------------- going on

    def _advance(self, step: int, stage: Stage, arrivals: Flight, moment: Moment) -> Flight:
        """Let the waiting and the arriving runs take this step."""
        selection, waiting = stage.plan.selection, stage.waiting
        assert selection is not None
        came, wait, table = len(arrivals.limit), len(waiting), moment.tables[stage.plan.atom]
        if not came and not wait:
            return self._nobody
        patient, waited = stage.patient, waiting.columns
        going = keyed = None
        if patient and moment.seen is None and len(table.time) <= _FEW:
            going = stage.search.of_few(selection, waiting, table) if wait and len(table.time) else NOTHING_FOUND
        if going is None:
            keyed = moment.keyed(stage.search, self._partition_columns[stage.plan.atom])
            todo = self._relevant(waiting, stage, selection, keyed)
            going = self._go(stage, selection, waited, waiting.keys, todo, keyed, moment) if len(todo) else NOTHING_FOUND
        if len(going.runs) or not patient or moment.seen is not None or not waiting.rests(moment.closed):
            self._run_out(step, self._release(waiting, going, moment))
        if not came and not len(going.runs):  # which is what most single events come to
            return self._nobody
        trail = arrivals.going_on(Step(table, stage.atom, stage.settled, waited), self._extend) if self._lazy else None
        places, rows = _NO, _NO
        if came:
            keyed = keyed or moment.keyed(stage.search, self._partition_columns[stage.plan.atom])
            if trail is None or not self._linked(stage, selection, arrivals, trail, keyed, moment):
                places, rows = self._arrived(step, stage, selection, arrivals, keyed, moment)
        if trail is not None:
            trail.take(going.runs, going.rows, waited.start, waited.limit, None)
            trail.take(places, rows, arrivals.start, arrivals.limit, arrivals.low)
            return Flight.on(trail)
        parts = [(waited, going.runs, going.rows), (arrivals.written(self._extend), places, rows)]
        return Flight.written_out(Runs.joined([self._gone_on(*part, table, stage, moment) for part in parts]))

    def _linked(self, stage: Stage, selection: Selection, arrivals: Flight, trail: Trail, table: Keyed, moment: Moment) -> bool:
        """Runs in flight take what the rows find that they took last; others stay. False: each has to look for itself."""
        if stage.link is None:
            return False
        stay = arrivals.limit > moment.until
        if not stage.patient or table.has_after(arrivals.earliest):
            if (found := stage.link(selection, arrivals, trail, table, moment)) is None:
                return False
            stay &= ~found[1]
        arrivals.stay(stay.nonzero()[0], stage.waiting, stage.search, self._extend)
        return True

    def _arrived(
        self, step: int, stage: Stage, selection: Selection, arrivals: Flight, table: Keyed, moment: Moment
    ) -> tuple[Int64, Int64]:
        """What runs take that each look for themselves; those that can still find something stay."""
        runs = self._bounded(stage.deadlines, arrivals.written(self._extend))
        key = stage.search.key_of_runs(runs)
        found, can = NOTHING_FOUND, moment.concerns_later(runs)
        over, stay = ~can, can
        if not stage.patient or table.has_after(runs.time):
            found = self._go(stage, selection, runs, key, np.arange(len(runs), dtype=np.int64), table, moment)
            over, stay = over & ~found.done, can & ~found.done
        if self._plan.timeouts:
            self._run_out(step, runs.take(over))
        kept = runs.where(stay)
        if found.passed is not None:
            kept = kept.replace(passed=found.passed[stay])
        stage.waiting.append(kept, key if kept is runs else key[stay])
        return found.runs, found.rows

    def _gone_on(
        self, runs: Runs, places: Int64, rows: Int64, table: Solutions, stage: Stage, moment: Moment,
        local: frozenset[int] | None = None,
    ) -> Runs:  # fmt: skip
        """The runs that took a row, each with what it took."""
        return self._extend(runs.take(places), table, rows, stage.atom, moment, local) if len(places) else self._none

    def _go(
        self, stage: Stage, selection: Selection, runs: Runs, keys: UInt64, todo: Int64, table: Keyed, moment: Moment
    ) -> Found:
        """The search of a step, behind what goes before it."""
        go = self._strict_with_negation if stage.negations and selection is Selection.STRICT else self._search
        if stage.rival is None:
            return go(stage, selection, runs, keys, todo, table, moment)
        columns = self._partition_columns[stage.rival.search.atom]
        seen = self._bounded(stage.rival.deadlines, runs)
        held, passed = stage.rival.held(seen, todo, columns, moment, self._decide)
        found = go(stage, selection, runs.replace(limit=np.minimum(runs.limit, held - 1)), keys, todo, table, moment)
        done = found.done | (held[todo] != MAX_INSTANT)
        return replace(found, done=done, passed=passed if found.passed is None else found.passed)

    def _bounded(self, deadlines: tuple[GapPlan, ...], runs: Runs) -> Runs:
        """The runs with the limits that gap bounds set them."""
        limit = runs.limit
        for bound in deadlines:
            since, longest = runs.marks[:, bound.mark], self._bounds.gaps[bound.gap]
            limit = np.minimum(limit, since + np.minimum(longest, MAX_INSTANT - since))
        return runs.replace(limit=limit) if deadlines else runs

    def _run_out(self, step: int, runs: Runs) -> None:
        """Note the runs whose time is over before they took a step."""
        if self._plan.timeouts and len(runs):
            self.expired.append((step, runs))

    def _relevant(self, waiting: Waiting, stage: Stage, selection: Selection, table: Keyed) -> Int64:
        """The waiting runs that this batch can concern: for a small batch, those with a key in it."""
        if selection is Selection.STRICT or stage.negations or stage.rival is not None:
            return waiting.live()
        if not len(table.rows):
            return _NO
        few = len(table.rows) <= _FEW and len(waiting) > 64
        return waiting.of_keys(table.order.keys) if few else waiting.live()

    def _release(self, waiting: Waiting, found: Found, moment: Moment) -> Runs:
        """Drop the runs that are done and those whose time is over; returns the latter where they are asked for."""
        done = found.todo[found.done]
        waiting.kill(done)
        if found.passed is not None:
            moved = found.todo[~found.done & (found.passed != waiting.runs.passed[found.todo])]
            if len(moved):
                waiting.assign("passed", moved, found.passed[np.searchsorted(found.todo, moved)])
        if moment.seen is not None:
            rows = waiting.live()
            over = rows[~moment.concerns_later(waiting.runs.take(rows))]
        else:
            over = waiting.expired(moment.closed)  # at an open instant, more may come that continues a run
        waiting.kill(over)
        return waiting.runs.take(over) if self._plan.timeouts else self._none

    def _search(
        self, stage: Stage, selection: Selection, runs: Runs, keys: UInt64, todo: Int64, table: Keyed, moment: Moment
    ) -> Found:
        """Skip-till-next and skip-till-any, with negations between; strict contiguity without."""
        limit = runs.limit
        done = np.zeros(len(todo), np.bool_)
        if stage.negations:
            refused = self._first_refused(stage.negations, runs, todo, moment)
            done |= refused != MAX_INSTANT
            limit = limit.copy()
            limit[todo] = np.minimum(limit[todo], refused)
        only, after, active = runs.time, runs.time, todo
        if selection is Selection.STRICT:
            only = np.full(len(runs), NOTHING, np.int64)
            only[todo] = instants_after(moment.groups, moment.instants, runs.group[todo], runs.time[todo])
            active = todo[only[todo] != NOTHING]
            done |= (only[todo] != NOTHING) & moment.holds(runs.replace(limit=limit), todo, only[todo])
        got_runs, got_rows = stage.search(selection, runs, keys, active, table, after, limit, only, self._decide)
        if selection is Selection.NEXT and len(got_runs):
            taken = np.zeros(len(runs), np.bool_)
            taken[got_runs] = True
            done |= taken[todo]
        return Found(todo, done, got_runs, got_rows)

    def _first_refused(self, searches: tuple[StepSearch, ...], runs: Runs, todo: Int64, moment: Moment) -> Int64:
        """Per run: the time of the first event after it that a negation refuses, or MAX_INSTANT."""
        first = np.full(len(runs), MAX_INSTANT, np.int64)
        for search in searches:
            table = moment.keyed(search, self._partition_columns[search.atom])
            got_runs, got_rows = search(
                Selection.NEXT, runs, search.key_of_runs(runs), todo, table, runs.time, runs.limit, runs.time, self._decide
            )
            np.minimum.at(first, got_runs, table.rows.time[got_rows])
        return first[todo]

    def _strict_with_negation(
        self, stage: Stage, selection: Selection, runs: Runs, keys: UInt64, todo: Int64, table: Keyed, moment: Moment
    ) -> Found:
        """`x op N! , y` (Algorithm 9): y is the next event and itself no N, or the one after a next that is no N."""

        def at(places: Int64, when: Int64) -> tuple[Int64, Int64]:
            return stage.search(selection, runs, keys, places, table, when - 1, runs.limit, when, self._decide)

        passed = runs.passed[todo].copy()
        next_ = instants_after(moment.groups, moment.instants, runs.group[todo], runs.time[todo])
        next_[passed != NOTHING] = NOTHING
        at_next = np.full(len(runs), NOTHING, np.int64)
        at_next[todo] = next_
        seen_next = todo[next_ != NOTHING]
        refused_runs, refused_events = self._refused_at(stage.negations, runs, seen_next, at_next, moment)
        first_runs, first_rows = at(seen_next, at_next)
        own = own_events(first_runs, table.rows, first_rows, refused_runs, refused_events)
        blocked = np.isin(todo, refused_runs)
        passed[(next_ != NOTHING) & ~blocked] = next_[(next_ != NOTHING) & ~blocked]
        at_second = np.full(len(runs), NOTHING, np.int64)
        at_second[todo] = instants_after(moment.groups, moment.instants, runs.group[todo], passed)
        at_second[todo[(passed == NOTHING) | blocked]] = NOTHING
        seen_second = todo[at_second[todo] != NOTHING]
        second_runs, second_rows = at(seen_second, at_second)
        done = blocked | ((at_second[todo] != NOTHING) & moment.holds(runs, todo, at_second[todo]))
        return Found(
            todo, done, np.concatenate([first_runs[~own], second_runs]), np.concatenate([first_rows[~own], second_rows]), passed
        )

    def _refused_at(
        self, searches: tuple[StepSearch, ...], runs: Runs, todo: Int64, at: Int64, moment: Moment
    ) -> tuple[Int64, Int64]:
        """(run, event) pairs: the events at the given times that a negation refuses."""
        who, what = [_NO], [_NO]
        for search in searches:
            table = moment.keyed(search, self._partition_columns[search.atom])
            got_runs, got_rows = search(
                Selection.STRICT, runs, search.key_of_runs(runs), todo, table, at - 1, runs.limit, at, self._decide
            )
            who.append(got_runs)
            what.append(table.rows.events[got_rows, 0])
        return np.concatenate(who), np.concatenate(what)

    def _iterate(self, step: int, stage: Stage, again: StepSearch, arrivals: Runs, moment: Moment) -> Runs:
        """Every number of iterations is a run of its own (rules 7 and 15)."""
        plan = stage.plan.iteration
        assert plan is not None
        selection, local = plan.selection, plan.local
        table = moment.keyed(again, self._partition_columns[stage.plan.atom])
        more = Stage(stage.plan, stage.atom, again, (), stage.iterating, None, stage.iterating, rival=self._reluctant(step))
        waiting = stage.iterating
        todo = self._relevant(waiting, more, selection, table)
        found = self._go(more, selection, waiting.runs, waiting.key, todo, table, moment)
        over = self._release(waiting, found, moment)
        self._run_out(step + 1, over.take(over.round < plan.least))
        front = Runs.joined(
            [arrivals, merged(self._gone_on(waiting.runs, found.runs, found.rows, table.rows, stage, moment, local))]
        )
        every = [front]
        while len(front):
            going = self._bounded(stage.deadlines, front if plan.most is None else front.take(front.round < plan.most))
            key = again.key_of_runs(going)
            found = self._go(more, selection, going, key, np.arange(len(going), dtype=np.int64), table, moment)
            can = moment.concerns_later(going)
            stay = can & ~found.done
            kept = going.where(stay)
            waiting.append(kept if found.passed is None else kept.replace(passed=found.passed[stay]), key[stay])
            if self._plan.timeouts:
                self._run_out(step + 1, going.take(~can & ~found.done & (going.round < plan.least)))
            front = merged(self._gone_on(going, found.runs, found.rows, table.rows, stage, moment, local))
            every.append(front)
        runs = Runs.joined(every)
        return runs if plan.least == 1 else runs.take(runs.round >= plan.least)

    def _reluctant(self, step: int) -> Rival | None:
        """The next step, where a run that may go on to it does so rather than iterate."""
        plan = self._chain.steps[step].iteration
        if plan is None or plan.preference is not Preference.RELUCTANT or step + 1 == len(self._stages):
            return None
        following = self._stages[step + 1]
        assert following.plan.selection is not None
        return Rival(following.search, following.plan.selection, plan.least, None, following.deadlines)

    # ---------------------------------------------------------------- partial matches that ran out of time

    def timed_out(self, moment: Moment) -> list[tuple[int, Runs]]:
        """(steps taken, runs) whose time was over in the last batch, each with the end of its time as its time (rule 18)."""
        return [
            (steps, self.leading.clear(runs.replace(time=run_out_at(self._bounds, runs, moment)), moment))
            for steps, runs in self.expired
        ]

    def rest(self) -> Iterator[tuple[int, Runs]]:
        """(steps taken, runs) of all that still wait for a step and whose time will be over some day."""
        for i, stage in enumerate(self._stages):
            yield i, stage.waiting.runs.take(stage.waiting.live())
            if stage.plan.iteration is not None:
                waiting = stage.iterating.runs.take(stage.iterating.live())
                yield i + 1, waiting.take(waiting.round < stage.plan.iteration.least)

    # ---------------------------------------------------------------- the ends

    def _close(self, arrivals: Runs, moment: Moment) -> Runs:
        """A trailing negation: complete when the window closes and nothing refused has come (rule 8)."""
        done = []
        pools: list[tuple[Runs, Int64, Waiting | None]] = [
            (self._closing.runs, self._closing.live(), self._closing),
            (arrivals, np.arange(len(arrivals), dtype=np.int64), None),
        ]
        for runs, todo, pool in pools:
            refused = self._first_refused(tuple(self._trailing), runs, todo, moment)
            dead = refused != MAX_INSTANT
            alive = todo[~dead]
            ends, closed = closings(self._bounds, runs.take(alive), moment)
            done.append(runs.take(alive[closed]).replace(time=ends[closed]))
            if pool is None:
                stay = runs.take(alive[~closed])
                self._closing.append(stay, np.zeros(len(stay), np.uint64))
                self._just_closing = len(stay)
            else:
                pool.kill(todo[dead])
                pool.kill(alive[closed])
        return Runs.joined(done)

    def retract(self, same: Callable[[Runs, int], bool]) -> None:
        """Drop what this step left waiting for the close of its window where another chain has reported the same match."""
        runs, size = self._closing.runs, len(self._closing.runs)
        rows = [row for row in range(size - self._just_closing, size) if same(runs, row)]
        self._closing.kill(np.array(rows, np.int64))

    # ---------------------------------------------------------------- state

    def pools(self) -> Sequence[Waiting]:
        """Every set of waiting runs."""
        return self._pools

    def rests(self, time: int) -> bool:
        """Whether time alone, up to here, changes nothing: no run's window closes, nothing that is looked back at grows old."""
        for pool in self._used:
            if not pool.rests(time):
                return False
        return not self._chain.leading or not any(map(len, self.leading.history))

    def save(self) -> None:
        """Start an instant that may be undone."""
        self.leading.save()
        for pool in self._used:
            pool.save()

    def undo(self) -> None:
        """Back to `save`."""
        self.leading.undo()
        for pool in self._used:
            pool.undo()

    def commit(self) -> None:
        """Keep what was done."""
        for pool in self._used:
            pool.commit()


_FEW = 16
"""So few rows look for the runs of their keys."""
_NO = np.empty(0, np.int64)
