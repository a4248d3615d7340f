"""Two event labels in sequence, in columns: the same answers as `WindowedTask`, at the speed of the scanner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.windows import Report, WindowedQuery
from scepter.kernel.intake import Intake
from scepter.kernel.texts import TextsView
from scepter.kernel.windowed.content import LandmarkBounds, TimeBounds
from scepter.kernel.windowed.pairs.instants import Changes, Given, Instants, Multiples
from scepter.kernel.windowed.pairs.kernel import NewRows, PairKernel
from scepter.physical.pairs import PairPlan
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match, MatchBatch

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


class PairTask:
    """One `WindowedQuery` that is a pair. An instant is evaluated when no more items of it can come."""

    def __init__(
        self,
        query: WindowedQuery,
        plan: PairPlan,
        bounds: Mapping[IRI, LandmarkBounds | TimeBounds],
        number: int,
        setup: TaskSetup,
    ) -> None:
        self._number = number
        self._setup = setup
        self._plan = plan
        self._streams = frozenset(stream.iri for stream in query.streams)
        self._kernel = PairKernel(plan, bounds, setup.key, setup.background)
        self._instants = _instants(query, bounds, setup)
        self._next = 0
        self._mark = 0

    @property
    def feeds(self) -> IRI | None:
        """None: it selects."""
        return None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Match the events of the query's streams."""
        batch = intake.batch
        of = {
            iri: wanted & (batch.stream == number) for number, iri in enumerate(self._setup.streams()) if iri in self._streams
        }
        mine = np.logical_or.reduce(list(of.values()))
        self._next = intake.number + batch.events
        if mine.any():
            self._instants.add(batch.end[mine], np.flatnonzero(mine) + intake.number)
            self._kernel.take(intake, self._setup.texts, of)

    def release(self, until: int, closed: int) -> list[Match]:
        """Evaluate at the instants up to `closed`: a later item of the same time could change the answer."""
        instants = self._instants.due(closed, self._kernel)
        return self._matches(self._kernel.evaluate(instants, closed, self._instants.follow))

    def finish(self) -> list[Match]:
        """Evaluate at the instants that are left."""
        closed = self._instants.end
        if closed is None:
            return []
        return self.release(closed, closed)

    def _matches(self, found: NewRows | None) -> list[Match]:
        if found is None:
            return []
        view, refs, names = self._setup.texts.table_view(found.ids, found.refs, found.sources.name)
        batch = MatchBatch(
            query=self._number,
            kind=self._setup.kind,
            start=found.start.tolist(),
            end=found.end.tolist(),
            names=self._plan.projected,
            ids=found.ids,
            refs=refs,
            texts=view,
            computed=None,
            order=(),
            construct=None,
            asks=False,
            selected=self._selected(found, view, names),
        )
        return [Match(batch, row) for row in range(len(found.start))]

    def _selected(self, found: NewRows, view: TextsView, names: NDArray[np.int64]) -> Callable[[int], dict[str, list[object]]]:
        sources, shown = found.sources, self._setup.shown
        labels = (self._plan.left.label, self._plan.right.label)
        # who shows events without a name must do so now: it may let go of them before somebody looks at the match
        nameless = {i: shown(int(sources.number[i]), None) for i in np.flatnonzero(names < 0).tolist()}

        def events(row: int) -> dict[str, list[object]]:
            parts: dict[str, dict[int, object]] = {}
            for i in range(int(sources.first[row]), int(sources.first[row + 1])):
                number = int(sources.number[i])
                name = None if names[i] < 0 else view.term(int(names[i]), None)
                text = name.value if isinstance(name, IRI) else str(name)
                each = nameless[i] if name is None else shown(number, text)
                parts.setdefault(labels[int(sources.side[i])], {})[number] = each
            return {label: list(by_number.values()) for label, by_number in parts.items()}

        return events

    # ---------------------------------------------------------------- instants that may be undone

    def save(self) -> None:
        """Start an instant that may be undone: what is evaluated is closed, so only what waits can go back."""
        self._mark = self._next

    def undo(self) -> None:
        """Forget what was taken since `save` and has not become part of a closed instant."""
        self._next = self._mark
        self._instants.forget(self._mark)
        self._kernel.forget(self._mark)

    def commit(self) -> None:
        """Nothing to release: windows let go of items as time passes."""

    def state_rows(self) -> Mapping[str, int]:
        """Rows in windows and waiting, mappings, rows of the answer."""
        return {"triples": 0, **self._kernel.state_rows()}

    def live_events(self) -> NDArray[np.int64]:
        """The events in windows and waiting."""
        return self._kernel.live_events()

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """Those of the kernel."""
        return self._kernel.swap_refs()


def _instants(query: WindowedQuery, bounds: Mapping[IRI, LandmarkBounds | TimeBounds], setup: TaskSetup) -> Instants:
    given = setup.options.evaluate_at
    if given is not None:
        return Given(np.unique(np.array([instant.on(setup.kind, "--evaluate-at") for instant in given], np.int64)))
    if query.report is Report.CONTENT_CHANGE:
        return Changes()
    return Multiples(min(b.step for b in bounds.values() if isinstance(b, TimeBounds)))
