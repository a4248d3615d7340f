"""The engine in this process: queries of a file over batches of events, with explicit time.

`take` gives it events in any order, `advance` says how far time is known. What a query constructs into a stream is taken by the
queries that read it, within the same advance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import methodcaller
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Program
from scepter.algebra.windows import version_streams
from scepter.errors import DataError, Diagnostic
from scepter.kernel.entailment.closure import entailed_background
from scepter.kernel.entailment.entailed_batch import EntailedEvents
from scepter.kernel.rows import each_once
from scepter.kernel.scan.intake import Intake
from scepter.kernel.static.background import Background
from scepter.kernel.texts import Texts
from scepter.lower.result import Lowered
from scepter.ontology.schema import compiled
from scepter.physical.metrics import Metrics
from scepter.physical.plan import PhysicalPlan, UnitPlan
from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.matches import Match, MatchRows, mixed, sorted_matches
from scepter.runtime.notices import Notices
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import Sample, facts_of, planned
from scepter.runtime.registry import TaskSetup, grounds_of, task_of
from scepter.runtime.shared_units import shared_tasks
from scepter.runtime.tasks import Task
from scepter.runtime.work import BROKEN_OFF, watched
from scepter.timeline import TimeKind

_COMPACT_FROM = 64 * 2**20
_LOOK, _FEW = 64, 100_000
"""Where so few rows may be kept, they are counted at each step; where many may, at every so many steps."""

_ALL = np.ones(1, np.bool_)
_SAVE: Callable[[Task], None] = methodcaller("save")
_COMMIT: Callable[[Task], None] = methodcaller("commit")
_Found = TypeVar("_Found")
Shedding: TypeAlias = Callable[[str, bool], None]
"""Hears what a limit has made a run forget, and whether that is all that a unit kept."""


class LocalEngine:
    """Runs a program; knows no files and no clock."""

    def __init__(
        self,
        program: Program,
        options: RunOptions,
        background: Background,
        *,
        ontology: tuple[Triple, ...] = (),
        key: TermKey | None = None,
        shown: Callable[[int, str | None], object] | None = None,
        dead_letter: DeadLetterTaker = lambda letter: None,
        notices: Notices | None = None,
        numbered_from: int = 0,
        plan: PhysicalPlan | None = None,
        counting: bool = False,
        shedding: Shedding | None = None,
        grounds: Sequence[EventGrounds | None] | None = None,
    ) -> None:
        """With `plan`, that one is executed, which was made from the same program for a known kind of time, and `grounds` are
        what its units rest on; `counting`, its operators count what they do. `shedding`: the run goes on where a limit is
        reached, and hears what was let go."""
        self._shedding = shedding
        self._committed = 0
        self._measured = counting
        self._program = program
        self.options = self._options = options
        self._background = background
        self._ontology = ontology
        self._key = key or TermKey.random()
        self._texts = Texts()
        self._shown = shown
        self._dead_letter = dead_letter
        self._notices = notices or Notices()
        self._facts = facts_of(options, background, ontology)
        self._plan = planned(program, self._facts) if plan is None else plan
        self._sample: Sample | None = None
        if grounds is None:
            grounds = [grounds_of(unit.unit, background, ontology) for unit in self._plan.units]
        self._grounds = grounds
        self.streams: list[IRI] = list(dict.fromkeys(s.iri for unit in program.units for s in unit.streams))
        """The streams by their number in batches."""
        self._versions = frozenset(chain.from_iterable(map(version_streams, program.units)))
        self._tasks: list[Task] | None = None
        self._setups: list[TaskSetup] = []
        self._open = False
        """Whether what is done may be undone."""
        self._entailing: EntailedEvents | None = None
        """Adds to events what they entail, for the units that are given them so."""
        self._kind: TimeKind | None = None
        self._start: int | None = None
        self.reading = ReadState(times=options.times, limits=options.limits, assign=options.assigner())
        """What the readers of this run share."""
        self._number = numbered_from
        self._marks = (0, 0)
        self._compact_at = _COMPACT_FROM

    def doubtful(self, lowered: Lowered) -> list[Diagnostic]:
        """Warnings about words of the query that its ontology does not know, or not of the event they are asked of."""
        told = (found for grounds in self._grounds if grounds is not None for found in grounds.doubtful(lowered))
        return list(dict.fromkeys(told))

    @property
    def key(self) -> TermKey:
        """The key of this run's term ids: readers must use it."""
        return self._key

    @property
    def predicates(self) -> frozenset[IRI] | None:
        """The predicates that the queries can use; None for all."""
        return self._plan.predicates

    @property
    def plan(self) -> PhysicalPlan:
        """The plan that it executes; until the first event for an assumed kind of time."""
        return self._plan

    @property
    def in_parts(self) -> bool:
        """Whether events that come at an open instant may be taken on top of it: it need not be undone."""
        return self._plan.in_parts

    @property
    def work(self) -> list[list[Metrics]]:
        """What the operators of each unit have done so far, by their numbers; nothing unless `counting`."""
        return [list(task.metrics) for task in self._tasks or ()] if self._measured else []

    def stream_number(self, iri: IRI) -> int:
        """The number of a stream in batches; a stream that no unit names gets the next one."""
        if iri not in self.streams:
            self.streams.append(iri)
        return self.streams.index(iri)

    @property
    def next_number(self) -> int:
        """The number the next event taken gets."""
        return self._number

    # ---------------------------------------------------------------- events and time

    def look_at(self, heads: Sequence[EventBatch]) -> None:
        """The first events of each stream, before any is taken: joins are ordered by what they hold."""
        self._sample = Sample.of(heads, self._key)

    def add_texts(self, batch: EventBatch) -> int:
        """Take the texts of events over before the events: `take` is told then where they stand."""
        return self._texts.add(batch)

    def take(self, batch: EventBatch, wanted: NDArray[np.bool_] | None = None, base: int | None = None) -> None:
        """Give it events, all or the wanted ones; their `stream` numbers index `streams`. `base`, where their texts stand, if
        they have been taken over."""
        if not (events := len(batch.end)):
            return
        if self._tasks is None:
            self.prepare(batch.kind)
        given = self._given(batch, base)
        if wanted is None:
            wanted = _ALL if events == 1 else np.ones(events, np.bool_)
        if self._start is not None:
            # a version from before the start is the one that is there then
            wanted = wanted & ((batch.end >= self._start) | ~self._no_version(batch))
        if self._shedding is None:
            for task, intake, mine in zip(self._tasks or (), given, self._wanted_by_each(batch, wanted), strict=True):
                task.take(intake, mine)
        else:
            for number, (intake, mine) in enumerate(zip(given, self._wanted_by_each(batch, wanted), strict=True)):
                self._give(number, intake, mine)

    def _wanted_by_each(self, batch: EventBatch, wanted: NDArray[np.bool_]) -> list[NDArray[np.bool_]]:
        """The wanted events of each unit: versions of graphs are none for those that read every stream, but no version."""
        if not self._versions:
            return [wanted] * len(self._plan.units)
        events = wanted & self._no_version(batch)
        return [wanted if any(version_streams(each.unit)) else events for each in self._plan.units]

    def _no_version(self, batch: EventBatch) -> NDArray[np.bool_]:
        return np.array([iri not in self._versions for iri in self.streams], np.bool_)[batch.stream]

    def _give(self, number: int, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        if self._shedding is None:
            assert self._tasks is not None
            self._tasks[number].take(intake, wanted)
        else:
            self._within(number, lambda task: task.take(intake, wanted), None)

    def _given(self, batch: EventBatch, base: int | None = None) -> list[Intake]:
        """The batch as each unit is given it: as it came, or with all that its triples entail."""
        plain = Intake(batch, self._texts.add(batch) if base is None else base, self._number, self.reading.named)
        self._number += len(batch.end)
        if self._entailing is None:
            return [plain] * len(self._plan.units)
        more = self._entailing(batch)
        whole = plain if more is batch else Intake(more, self._texts.add(more), plain.number, plain.named)
        return [whole if unit.entailed else plain for unit in self._plan.units]

    def advance(self, until: int, closed: int | None = None) -> Sequence[Match]:
        """All events up to `until` have been taken; those after `closed` (default: `until`) may still be followed by more
        at the same time. Returns the matches that are now certain."""
        if self._tasks is None:
            return []
        closed = until if closed is None else closed
        answers: list[Sequence[Match]] = []
        for number in self._plan.order:
            if self._shedding is None:
                found = self._tasks[number].release(until, closed)
            else:
                found = self._within(number, lambda task: task.release(until, closed), [])
            if found:
                answers.append(self._emit(number, found))
        return _together(answers) if answers else []

    def _within(self, number: int, step: Callable[[Task], _Found], otherwise: _Found) -> _Found:
        """What a step of a unit gives; where the run goes on at a limit, a unit that takes too long or too much begins anew."""
        assert self._tasks is not None
        if self._shedding is None:
            return step(self._tasks[number])
        work = self._options.work
        try:
            with watched(replace(work, memory=None)):
                return step(self._tasks[number])
        except MemoryError:
            if work.memory is None:
                raise
            # what waits may be what fills it
            self._begin_anew(number, BROKEN_OFF["max-memory"].format(work.seconds, work.memory, work.rows), waiting=False)
        except DataError as error:
            if error.code not in BROKEN_OFF:
                raise
            self._begin_anew(number, BROKEN_OFF[error.code].format(work.seconds, work.memory, work.rows))
        return otherwise

    def _each(self, step: Callable[[Task], None]) -> None:
        for number, task in enumerate(self._tasks or ()):
            if self._shedding is None:
                step(task)
            else:
                self._within(number, step, None)

    def _begin_anew(self, number: int, why: str, *, waiting: bool = True) -> None:
        """Forget all that a unit keeps, with those that share operators with it; as `waiting` says, not what waits."""
        assert self._tasks is not None and self._shedding is not None
        self._tasks[number].begin_anew(waiting=waiting)
        self._shedding(f"query {number + 1}: {why}; it begins anew, without the events before", True)

    def _shed(self) -> None:
        """Let go of what keeps too much."""
        most = self._options.work.runs
        if self._shedding is None or most is None:
            return
        self._committed += 1
        if self._committed % min(_LOOK, 1 + most // _FEW):  # to count many rows costs what they are
            return
        for number, task in enumerate(self._tasks or ()):
            gone = task.shed(most)
            if gone is None:
                rows = sum(count for name, count in task.state_rows().items() if name not in ("texts", "nodes", "waiting"))
                self._begin_anew(number, f"{rows} rows of state are more than {most} (--max-runs)")
            for each in gone or ():
                self._shedding(f"query {number + 1}: {each} are more than {most} (--max-runs), and let go", False)

    def finish(self) -> Sequence[Match]:
        """The end of the input: what is left, and what the close of the windows completes."""
        if self._tasks is None and self._options.evaluate_at:
            self.prepare(self._options.evaluate_at[0].kind)  # there are answers without any event
        if self._tasks is None:
            return []
        return _together(
            self._emit(number, self._within(number, lambda task: task.finish(), [])) for number in self._plan.order
        )

    def _emit(self, number: int, matches: Sequence[Match]) -> Sequence[Match]:
        """What others read goes to them as events; the rest is the answer."""
        assert self._tasks is not None and self._kind is not None
        stream = self._tasks[number].feeds if matches else None
        if stream is None:
            return matches
        feeds, order = self.streams.index(stream), self._plan.order
        # a unit that names no stream reads all that are given, not those that others construct
        readers = [n for n in order if any(each.iri == stream for each in self._plan.units[n].unit.streams)]
        if not readers:
            return matches
        events = [
            GraphEvent(feeds, None, m.start, m.end, [(str(t.subject), str(t.predicate), str(t.object)) for t in m.graph or ()])
            for m in matches
            if m.graph
        ]
        if events:
            batch = events_to_batch(events, self._key, self._kind, run=self.reading)
            given = self._given(batch)
            for reader in readers:
                self._give(reader, given[reader], np.ones(batch.events, np.bool_))
        return []

    def prepare(self, kind: TimeKind) -> list[Task]:
        """Set the queries up, now that the kind of timestamps is known."""
        if self._tasks is None:
            self._kind = kind
            self._start = None if self._options.start is None else self._options.start.on(kind, "--start")
            setup = TaskSetup(
                kind, self._options, self._background, self._ontology, self._texts, lambda: self.streams, self._show,
                self._shown is None, self._dead_letter, self._key, self._notices,
            )  # fmt: skip
            if self._plan.assumed:
                facts = facts_of(self._options, self._background, self._ontology, kind)
                facts = replace(facts, statics=self._facts.statics)
                self._plan = planned(self._program, facts if self._sample is None else self._sample.known(facts))
            known = self._background
            if any(unit.entailed for unit in self._plan.units):
                schema = compiled(self._ontology)
                flattened = schema.flattened()
                assert flattened is not None  # or the planner had refused it
                self._entailing, known = EntailedEvents(flattened, self._key), entailed_background(known, schema)
            self._setups = [
                replace(setup, grounds=grounds, background=known if unit.entailed else self._background)
                for unit, grounds in zip(self._plan.units, self._grounds, strict=True)
            ]
            together: dict[int, Task] = {}
            for numbers in self._plan.shared:
                together |= self._together(numbers)
            self._tasks = [
                together[number] if number in together else self._task(unit, mine)
                for number, (unit, mine) in enumerate(zip(self._plan.units, self._setups, strict=True))
            ]
        return self._tasks

    def _together(self, numbers: Sequence[int]) -> dict[int, Task]:
        """The tasks of units that share operators, by their places."""
        units = [self._plan.units[number] for number in numbers]
        made = shared_tasks(units, replace(self._setups[numbers[0]], grounds=None, measured=self._measured))
        return {number: made[unit.number] for number, unit in zip(numbers, units, strict=True)}

    def _task(self, unit: UnitPlan, setup: TaskSetup) -> Task:
        return task_of(unit, replace(setup, measured=self._measured))

    def _show(self, number: int, name: str | None) -> object:
        plain = None if name is None else name.removeprefix("_:")  # a graph named by a blank node is called by its label
        return self._shown(number, plain) if self._shown else plain if plain is not None else f"#{number}"

    # ---------------------------------------------------------------- instants that may be undone

    def save(self) -> None:
        self._marks = (self._number, self.reading.salt)
        self._open = True
        if self._shedding is None:
            for task in self._tasks or ():
                task.save()
        else:
            self._each(_SAVE)

    def undo(self) -> None:
        """Back to `save`: events taken again in the same order get the same numbers and blank nodes."""
        self._number, self.reading.salt = self._marks
        self._open = False
        for task in self._tasks or ():
            task.undo()

    def commit(self) -> None:
        """Keep what was done since `save`; release what nothing can use any more."""
        self._open = False
        if self._shedding is None:
            for task in self._tasks or ():
                task.commit()
        else:
            self._each(_COMMIT)
            self._shed()
        if self._texts.size > self._compact_at:
            self._compact()

    def _compact(self) -> None:
        arrays = [array for task in self._tasks or () for array in task.swap_refs()]
        renewed = self._texts.compact(np.concatenate([np.empty(0, np.int64), *(a.ravel() for a in arrays)]))
        at = 0
        for array in arrays:
            array[...] = renewed[at : at + array.size].reshape(array.shape)
            at += array.size
        self._compact_at = max(_COMPACT_FROM, 4 * self._texts.size)

    def live_events(self) -> NDArray[np.int64]:
        """The numbers of the events that later matches may still show."""
        parts = [task.live_events() for task in self._tasks or ()]
        return each_once(np.concatenate([np.empty(0, np.int64), *parts]))

    def state_size(self) -> Mapping[str, int]:
        """Rows of state over all queries, and bytes of texts."""
        total: dict[str, int] = {"texts": self._texts.size}
        for task in self._tasks or ():
            for name, rows in task.state_rows().items():
                total[name] = total.get(name, 0) + rows
        return total


def _together(answers: Iterable[Sequence[Match]]) -> Sequence[Match]:
    """The matches of all queries, in order."""
    given = [matches for matches in answers if matches]
    parts = [matches for matches in given if isinstance(matches, MatchRows)]
    if 1 < len(parts) == len(given) == len({part.batch.query for part in parts}):
        return mixed(parts)
    return sorted_matches(given[0] if len(given) == 1 else chain.from_iterable(given)) if given else []
