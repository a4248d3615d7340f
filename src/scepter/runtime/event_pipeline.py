"""Events at work: a pipeline whose rows stand for sets of triples, and whose contradictions become dead letters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scepter.algebra.events import EventQuery
from scepter.algebra.query import Construct
from scepter.errors import Diagnostic, QueryError
from scepter.kernel.build import Surroundings
from scepter.kernel.events.assertion_sets import AssertionSets, numbers_of
from scepter.kernel.events.build_events import Occurring
from scepter.kernel.events.event_operators import Returned
from scepter.kernel.events.parts import Part, Parts, individual_of
from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Rows
from scepter.kernel.state.container import Arrays
from scepter.physical.plan import UnitPlan
from scepter.rdf.batch import DeadLetter
from scepter.runtime.event_grounds import EventGrounds
from scepter.runtime.event_matches import EventMatches
from scepter.runtime.matches import Match, MatchRows
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.surroundings import plain
from scepter.runtime.why import Why
from scepter.timeline import format_instant

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup

_SETS = 1 << 17
"""So many sets are kept before those that no row has are let go."""


def event_pipeline(plan: UnitPlan, setup: TaskSetup) -> EventPipeline:
    """An event query at work."""
    query, grounds = plan.unit, setup.grounds
    assert isinstance(query, EventQuery) and grounds is not None  # made with the engine
    for event in query.composite:
        try:
            _ = event.within and event.within.ticks(setup.kind, setup.options.time_unit)
        except ValueError as error:
            advice = "choose a longer duration or a finer --time-unit"
            raise QueryError(Diagnostic("duration", str(error), event.span, advice)) from None
    lineage, sets = Lineage(), AssertionSets(setup.key, setup.texts)
    events = Occurring(grounds.recogniser, sets, Parts(lineage) if setup.options.why else None)
    around = plain(setup, lineage=lineage, events=events)
    return EventPipeline(plan, query, setup, around, events, grounds)


class EventPipeline(Pipeline):
    """An event query at work."""

    def __init__(
        self,
        plan: UnitPlan,
        query: EventQuery,
        setup: TaskSetup,
        around: Surroundings,
        events: Occurring,
        grounds: EventGrounds,
    ) -> None:
        super().__init__(plan.root, Construct(()), plan.number, setup, around, at_once=plan.at_once)
        self._query, self._occurring, self._grounds = query, events, grounds
        self._number = plan.number
        self._swept = _SETS

    def finish(self) -> Sequence[Match]:
        found = super().finish()
        self._tell()
        return found

    # ---- instants that may be undone

    def save(self) -> None:
        super().save()
        self._occurring.sets.save()

    def undo(self) -> None:
        super().undo()
        self._occurring.sets.undo()
        self._root.letters.clear()

    def commit(self) -> None:
        """Keep what was done since `save`; tell of contradictions, and let go of sets that no row has."""
        self._tell()
        super().commit()
        sets = self._occurring.sets
        if len(sets) > self._swept:
            self._forget_sets()
            self._swept = max(_SETS, 2 * len(sets))

    def _forget_sets(self) -> None:
        """Let go of sets, and of parts, that no row has."""
        arrays = list(super().swap_refs())
        exchange = self._occurring.sets.keep(numbers_of(arrays))
        for array in arrays:
            exchange(array)
        if self._occurring.parts is not None:
            self._occurring.parts.prune()

    # ---- what is written down

    def dump(self) -> tuple[Arrays, dict[str, object]]:
        """As any pipeline, with the sets that rows stand for and the parts that they were made of."""
        self._forget_sets()
        arrays, meta = super().dump()
        sets, parts = self._occurring.sets, self._occurring.parts
        arrays |= {f"sets.{name}": array for name, array in sets.written(np.arange(len(sets))).items()}
        if parts is not None:
            meta["parts"] = parts.written(set(self._around.lineage.events().tolist()))
        return arrays, meta

    def load(self, arrays: Arrays, meta: Mapping[str, Any]) -> None:
        """Take over what `dump` gave, its refs those of here."""
        sets = {name.removeprefix("sets."): array for name, array in arrays.items() if name.startswith("sets.")}
        first = self._occurring.sets.read(sets)
        assert first == 0  # rows tell sets by their numbers as they were
        if self._occurring.parts is not None:
            self._occurring.parts.load(meta["parts"])
        super().load(arrays, meta)

    def swap_refs(self) -> Iterator[Int64]:
        """Each array of text refs; those of sets stay as they are."""
        yield from super().swap_refs()
        yield self._occurring.sets.refs()

    def state_rows(self) -> Mapping[str, int]:
        return {"occurrences": 0, **super().state_rows()}

    def live_events(self) -> Int64:
        return np.empty(0, np.int64)

    # ---- contradictions

    @property
    def _root(self) -> Returned:
        root = self.root
        assert isinstance(root, Returned)
        return root

    def _tell(self) -> None:
        for rows in self._root.letters:
            for letter in self.letters(rows):
                self._setup.dead_letter(letter)
        self._root.letters.clear()

    def letters(self, rows: Rows) -> Iterator[DeadLetter]:
        """What is told of items that contradict the ontology."""
        return (self._letter(rows, row) for row in range(len(rows)))

    def _letter(self, rows: Rows, row: int) -> DeadLetter:
        conflict = self._occurring.sets.terms(int(rows.ids[row, 0]), int(rows.refs[row, 0]))
        shown = " . ".join(sorted(" ".join(map(str, triple)) for triple in conflict))
        ((stream, _, name),) = self._around.lineage.selected(int(rows.lineage[row]))
        when = format_instant(int(rows.end[row]), self._setup.kind)
        item = "" if name < 0 else f" {self._setup.texts.term(name)}"
        reason = f"inconsistent: the item{item} at {when} contradicts the ontology"
        return DeadLetter(self._setup.streams()[stream].value, None, reason, shown)

    # ---- matches

    def _matches(self, rows: Rows) -> Sequence[Match]:
        if not len(rows):
            return []
        members = self._occurring.sets.members(np.ascontiguousarray(rows.refs[:, 0]))
        view, refs, individuals = self._setup.texts.table_view(members.ids, members.refs, rows.refs[:, 1])
        batch = EventMatches(
            query=self._number,
            kind=self._setup.kind,
            form=self._query.form,
            start=rows.start,
            end=rows.end,
            returned=self._query.returned,
            event=rows.ids[:, 2].view(np.int64) - 1,
            first=np.searchsorted(members.row, np.arange(len(rows) + 1)),
            ids=members.ids,
            refs=refs,
            individual_ids=rows.ids[:, 1],
            individual_refs=individuals,
            texts=view,
        )
        if self._occurring.parts is not None:
            batch.told = [self._why(rows, row, node) for row, node in enumerate(rows.lineage.tolist())]
        return MatchRows(batch, np.arange(len(rows)))

    def _why(self, rows: Rows, row: int, node: int) -> Why:
        assert self._occurring.parts is not None
        parts = self._occurring.parts.of(node)
        if rows.ids[row, 1]:  # a logical event is its only part
            return self._grounds.why(parts[0])
        event, start, end = self._query.returned[int(rows.ids[row, 2]) - 1], int(rows.start[row]), int(rows.end[row])
        assertions = self._occurring.sets.terms(int(rows.ids[row, 0]), int(rows.refs[row, 0]))
        return self._grounds.why(Part(event, individual_of(event, start, end, assertions), assertions, start, end, parts))
