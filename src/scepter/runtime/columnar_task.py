"""Continuous queries over triples as tasks of a run: in columns where their pattern is a join of triple patterns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.continuous import ContinuousQuery
from scepter.algebra.patterns import Pattern, Project
from scepter.kernel.continuous.admitted import FOR_EVER
from scepter.kernel.continuous.build import Build
from scepter.kernel.continuous.columnar import ColumnarMatching, Found, Sightings
from scepter.kernel.continuous.knowledge import Knowledge
from scepter.kernel.continuous.leaf import Clock
from scepter.kernel.continuous.occurrences import Occurrence, Sighting, Solution
from scepter.kernel.intake import Intake
from scepter.kernel.sparql.context import Context
from scepter.kernel.texts import Texts
from scepter.physical.continuous import Core
from scepter.physical.plan import UnitPlan
from scepter.physical.unit_nodes import Solutions, TripleStar
from scepter.rdf.terms import IRI, Term, Triple
from scepter.runtime.continuous_answers import SolutionMatches, counted_events, plain, stream_bounds
from scepter.runtime.matches import Match, MatchBatch, MatchRows
from scepter.runtime.notices import SCHEMA_IGNORED

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup


class ColumnarTask:
    """A continuous query in columns. Matches of a plain SELECT stay in columns until somebody looks at them; for all others
    each becomes a solution, and what stands above the joins works on those."""

    def __init__(self, node: TripleStar | Solutions, plan: UnitPlan, setup: TaskSetup) -> None:
        star = node if isinstance(node, TripleStar) else node.star
        query, core, number = star.query, star.core, plan.number
        pattern = query.pattern
        knowledge = Knowledge.of(pattern, setup.background.dataset, query.graphs, setup.ontology)
        flattened = knowledge.schema.flattened()
        assert flattened is not None  # or the planner had chosen the exact evaluator
        self._query = query
        self._setup = setup
        self._streams = frozenset(stream.iri for stream in query.streams)
        bounds = stream_bounds(query, setup)

        def ticks() -> NDArray[np.int64]:
            every = (bounds(stream).ticks for stream in range(len(setup.streams())))
            return np.array([FOR_EVER if t is None else min(t, FOR_EVER) for t in every], np.int64)

        self._answers: _Columns | _Solutions
        if isinstance(node, TripleStar):
            assert isinstance(pattern, Project)
            self._answers = _Columns(number, setup, tuple(variable.name for variable in pattern.variables))
        else:
            self._answers = _Solutions(query, number, setup, pattern, knowledge, core)
        whole = isinstance(self._answers, _Solutions)
        self._matching = ColumnarMatching(core, knowledge, flattened, ticks, setup.key, setup.texts, whole=whole)
        self._at_once = plan.at_once

    @property
    def feeds(self) -> IRI | None:
        """The stream it constructs for others."""
        return self._query.into if self._query.into in self._setup.streams() else None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Keep what it can use of the events until they are due."""
        if self._matching.take(intake, counted_events(intake, wanted, self._streams, self._setup)):
            self._setup.notices.tell(SCHEMA_IGNORED)

    def release(self, until: int, closed: int) -> Sequence[Match]:
        """Step over the instants."""
        steps = self._matching.steps(closed, keep=False)
        if self._at_once and until > closed:
            steps = chain(steps, self._matching.steps(until, keep=True))
        found = self._answers(steps)
        self._matching.release(closed)
        return found

    def finish(self) -> Sequence[Match]:
        """Step over what is left."""
        return self._answers(self._matching.steps(None, keep=False))

    def save(self) -> None:
        """Start an instant that may be undone."""
        self._matching.mark()

    def undo(self) -> None:
        """Back to `save`: what was closed by then stays."""
        self._matching.undo()

    def commit(self) -> None:
        """Keep what was done."""
        self._matching.mark()

    def state_rows(self) -> Mapping[str, int]:
        """What is in the windows, and occurrences that wait for their instant to close."""
        return self._matching.state_rows()

    def live_events(self) -> NDArray[np.int64]:
        """Events in the windows and waiting."""
        return self._matching.live_events()

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """Those of the windows and of what waits."""
        return self._matching.swap_refs()


@dataclass(frozen=True, slots=True)
class _Columns:
    """Matches that are decoded when somebody looks at them."""

    number: int
    setup: TaskSetup
    shown: tuple[str, ...]

    def __call__(self, steps: Iterator[Found]) -> Sequence[Match]:
        parts = list(steps)
        return MatchRows(self._batch(found := Found.joined(parts)), range(len(found))) if parts else ()

    def _batch(self, found: Found) -> MatchBatch:
        columns = [found.names.index(name) for name in self.shown if name in found.names]
        ids = found.ids[:, columns]
        view, refs, names = self.setup.texts.table_view(ids, found.refs[:, columns], found.sightings.name)
        return MatchBatch(
            query=self.number,
            kind=self.setup.kind,
            start=found.start.tolist(),
            end=found.end.tolist(),
            names=tuple(found.names[column] for column in columns),
            ids=ids,
            refs=refs,
            texts=view,
            computed=None,
            order=(),
            construct=None,
            asks=False,
            selected=self._events(found.sightings, names, view.term),
        )

    def _events(
        self, sightings: Sightings, names: NDArray[np.int64], term: Callable[[int, int | None], Term]
    ) -> Callable[[int], dict[str, list[object]]]:
        shown, streams = self.setup.shown, self.setup.streams()
        at_once = sightings.event[names < 0] if not self.setup.lasting else sightings.event[:0]
        nameless = {number: shown(number, None) for number in np.unique(at_once).tolist()}

        def events(row: int) -> dict[str, list[object]]:
            found: dict[str, dict[int, object]] = {}
            for at in range(int(sightings.first[row]), int(sightings.first[row + 1])):
                number, stream = int(sightings.event[at]), streams[int(sightings.stream[at])].value
                name = None if names[at] < 0 else plain(term(int(names[at]), None))
                kept = nameless[number] if number in nameless and name is None else shown(number, name)
                found.setdefault(stream, {})[number] = kept
            return {stream: list(selected.values()) for stream, selected in found.items()}

        return events


@dataclass(slots=True)
class _Given:
    """An operator whose solutions somebody else finds."""

    solutions: list[Solution] = field(default_factory=list)

    def delta(self) -> list[Solution]:
        """What was found in the step."""
        return self.solutions

    def timeless(self) -> list[Solution]:
        """Nothing: a match has a streamed triple."""
        return []


class _Solutions:
    """Matches as solutions, for what stands above the joins: instant by instant."""

    def __init__(
        self, query: ContinuousQuery, number: int, setup: TaskSetup, pattern: Pattern, knowledge: Knowledge, core: Core
    ) -> None:
        self._texts: Texts = setup.texts
        self._context = Context(graph=knowledge.static, dataset=knowledge.dataset)
        self._given = _Given()
        built = Build(pattern, knowledge.static, Clock(), self, self._context, (core.node, self._given))
        self._root = built.root
        self._matches = SolutionMatches(query, number, setup)

    def context(self, solution: Solution) -> Context:
        """What expressions see: no condition here asks for times or for the window."""
        return self._context

    def __call__(self, steps: Iterator[Found]) -> list[Match]:
        solutions: list[Solution] = []
        for found in steps:
            known: dict[int, Occurrence] = {}
            order = np.argsort(found.end, kind="stable")
            bounds = np.flatnonzero(np.diff(found.end[order])) + 1
            for rows in np.split(order, bounds):
                self._given.solutions = [self._solution(found, row, known) for row in rows.tolist()]
                solutions += self._root.delta()
        return self._matches(solutions)

    def _solution(self, found: Found, row: int, known: dict[int, Occurrence]) -> Solution:
        refs = found.refs[row].tolist()
        terms = {name: self._texts.term(ref) for name, ref in zip(found.names, refs, strict=True)}
        sightings, occurrences = found.sightings, {}
        for at in range(int(sightings.first[row]), int(sightings.first[row + 1])):
            number = int(sightings.occurrence[at])
            occurrence = known.get(number)
            if occurrence is None:
                occurrence = known[number] = self._occurrence(sightings, at)
            name = int(sightings.name[at])
            event = int(sightings.event[at])
            sighting = Sighting(event, None if name < 0 else plain(self._texts.term(name)), int(sightings.stream[at]))
            if sighting not in occurrence.sightings:
                occurrence.sightings.append(sighting)
            occurrences[number] = occurrence
        return Solution(terms, tuple(occurrences.values()))

    def _occurrence(self, sightings: Sightings, at: int) -> Occurrence:
        subject, predicate, object = (self._texts.term(ref) for ref in sightings.refs[at].tolist())
        return Occurrence(Triple(subject, predicate, object), int(sightings.start[at]), int(sightings.end[at]), 0)
