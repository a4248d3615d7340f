"""Queries over windows as tasks: when they are evaluated, and what their rows look like outside."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Ask, Construct
from scepter.algebra.windows import Landmark, Policy, Report, StreamWindow, WindowedQuery
from scepter.errors import Diagnostic, QueryError
from scepter.kernel.intake import Intake
from scepter.kernel.sparql.patterns import template
from scepter.kernel.windowed.answers import AnswerRow
from scepter.kernel.windowed.content import LandmarkBounds, TimeBounds
from scepter.kernel.windowed.query import Bounds, WindowedKernel
from scepter.kernel.windowed.schedule import AtChanges, AtInstants, AtMultiples, Schedule
from scepter.physical.plan import UnitPlan
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.tasks import TermMatches
from scepter.runtime.windowed_items import WaitingItems, name_of
from scepter.timeline import MICROSECONDS, Duration, TimeKind

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


_Row: TypeAlias = tuple[int, AnswerRow]
"""An evaluation instant, and a row that it gave to the output."""


def windowed_task(plan: UnitPlan, setup: TaskSetup) -> WindowedTask:
    """The exact evaluator of a query over windows."""
    query = plan.unit
    assert isinstance(query, WindowedQuery)
    policy = Policy(setup.options.policy or Policy.UNRESTRICTED.value)
    return WindowedTask(query, _every_bound(query, setup), policy, plan.number, setup)


def _every_bound(query: WindowedQuery, setup: TaskSetup) -> dict[IRI, Bounds]:
    return {window.name: _bounds(window, setup.kind, setup.options) for window in query.windows}


class WindowedTask:
    """One `WindowedQuery` at work. An instant is evaluated when no more items of it can come."""

    def __init__(
        self, query: WindowedQuery, bounds: Mapping[IRI, Bounds], policy: Policy, number: int, setup: TaskSetup
    ) -> None:
        self._query = query
        self._number = number
        self._setup = setup
        self._kernel = WindowedKernel(query, bounds, policy, setup.background.dataset)
        self._schedule = _schedule(query, bounds, setup)
        self._wanted = frozenset(stream.iri for stream in query.streams)
        self._waiting = WaitingItems(setup.texts)
        self._answered = False

    @property
    def feeds(self) -> IRI | None:
        """The stream it constructs, if another query reads it."""
        return self._query.into if self._query.into in self._setup.streams() else None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Keep the events of the query's streams until their time has come."""
        mine = np.array([iri in self._wanted for iri in self._setup.streams()], np.bool_)
        self._waiting.add(intake, wanted & mine[intake.batch.stream])

    def release(self, until: int, closed: int) -> list[Match]:
        """Evaluate at the instants up to `closed`: a later item of the same time could change the answer."""
        return self._matches(self._run(closed))

    def finish(self) -> list[Match]:
        """Evaluate at the instants that are left."""
        last = self._waiting.last_time()
        found = [] if last is None else self._run(last)
        for t in iter(self._schedule.final, None):
            found += self._evaluate(t)
        return self._matches(found)

    def _run(self, closed: int) -> list[_Row]:
        due = self._waiting.due(closed)
        streams = self._setup.streams()
        found: list[_Row] = []
        at = 0
        while True:
            t = self._schedule.next(due[at][0] if at < len(due) else None, closed, self._kernel)
            until = closed if t is None else t
            while at < len(due) and due[at][0] <= until:
                self._kernel.arrive(streams[due[at][3]], self._waiting.item(due[at]))
                self._schedule.seen(due[at][0])
                at += 1
            if t is None:
                self._waiting.release()
                return found
            found += self._evaluate(t)

    # ---------------------------------------------------------------- results

    def _evaluate(self, t: int) -> list[_Row]:
        if self._answered:
            return []
        rows = self._kernel.evaluate(t)
        if rows and isinstance(self._query.result, Ask):
            self._answered = True
            rows = sorted(rows, key=lambda row: _end_first(row.interval or (t, t)))[:1]
        return [(t, row) for row in rows]

    def _matches(self, rows: Sequence[_Row]) -> list[Match]:
        if not rows:
            return []
        moments = [row.interval or (t, t) for t, row in rows]
        if self.feeds is not None:  # what others read is a stream, whose items come when they are constructed
            moments = [(start, t) for (start, _), (t, _) in zip(moments, rows, strict=True)]
        result = self._query.result
        asks = isinstance(result, Ask)
        return TermMatches(
            self._number,
            self._setup.kind,
            [start for start, _ in moments],
            [end for _, end in moments],
            [{} if asks else row.bindings for _, row in rows],
            self._graphs(result, rows) if isinstance(result, Construct) else None,
            asks,
            _Events([row for _, row in rows], self._setup.shown),
        ).matches()

    def _graphs(self, result: Construct, rows: Sequence[_Row]) -> list[tuple[Triple, ...]]:
        """One graph per row, its blank nodes from what the row is and when it was computed, so that every engine agrees."""
        graphs = []
        copies: Counter[object] = Counter()
        for t, row in rows:
            copies[t, row.key] += 1
            bindings = sorted((name, str(term)) for name, term in row.bindings.items())
            solution = repr((self._number, t, copies[t, row.key], row.interval, bindings))
            seed = "m" + hashlib.blake2b(solution.encode(), digest_size=8).hexdigest()
            graph = template(result.template, row.bindings, seed)
            graphs.append(tuple(sorted(graph, key=lambda triple: tuple(map(str, triple)))))
        return graphs

    # ---------------------------------------------------------------- instants that may be undone

    def save(self) -> None:
        """Start an instant that may be undone: what is evaluated is closed, so only what waits can go back."""
        self._waiting.save()

    def undo(self) -> None:
        """Forget what was taken since `save` and has not become part of a closed instant."""
        self._waiting.undo()

    def commit(self) -> None:
        """Nothing to release: windows let go of items as time passes."""

    def state_rows(self) -> Mapping[str, int]:
        """Items in windows and waiting, event mappings, triples, rows."""
        return {**self._kernel.state_rows(), "buffered": len(self._waiting)}

    def live_events(self) -> NDArray[np.int64]:
        """The events of items in windows and waiting."""
        inside = np.array([item.number for item in self._kernel.items()], np.int64)
        return np.concatenate([self._waiting.numbers(), inside])

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """Those of waiting events: items are terms."""
        return self._waiting.refs()


class _Events(Sequence[dict[str, list[object]]]):
    """The events of each row, by label; names are decoded when somebody looks at them."""

    def __init__(self, rows: Sequence[AnswerRow], shown: Callable[[int, str | None], object]) -> None:
        self._rows = rows
        self._shown = shown

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        found: dict[str, list[object]] = {}
        sources = self._rows[at].sources or ()
        for label, item in dict.fromkeys((scan.label, item) for scan, item in sources):
            found.setdefault(label, []).append(self._shown(item.number, name_of(item)))
        return found


def _end_first(interval: tuple[int, int]) -> tuple[int, int]:
    return interval[1], interval[0]


def _bounds(window: StreamWindow, kind: TimeKind, options: RunOptions) -> Bounds:
    extent = window.extent
    try:
        if isinstance(extent, Landmark):
            return LandmarkBounds(_landmark(extent, kind, options.time_unit))
        step = extent.step or Duration(1, bare=True)
        return TimeBounds(extent.width.ticks(kind, options.time_unit), step.ticks(kind, options.time_unit))
    except ValueError as error:
        advice = "choose a longer window or a finer --time-unit"
        raise QueryError(Diagnostic("duration", str(error), extent.span, advice)) from None


def _landmark(extent: Landmark, kind: TimeKind, time_unit: str) -> int:
    if extent.kind is kind:
        return extent.instant
    if extent.kind is TimeKind.INTEGER:
        return extent.instant * MICROSECONDS[time_unit]
    raise QueryError(
        Diagnostic("time-kind", "the landmark is a dateTime, but the streams' timestamps are integers", extent.span)
    )


def _schedule(query: WindowedQuery, bounds: Mapping[IRI, Bounds], setup: TaskSetup) -> Schedule:
    given = setup.options.evaluate_at
    if given is not None:
        return AtInstants(sorted({instant.on(setup.kind, "--evaluate-at") for instant in given}))
    if query.report is Report.CONTENT_CHANGE:
        return AtChanges()
    return AtMultiples(min(b.step for b in bounds.values() if isinstance(b, TimeBounds)), query.output)
