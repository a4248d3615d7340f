"""The task of a timed program: occurrences of triples, instant by instant, and the answers of its queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.query import Ask, Construct, Program, Select, Sliding
from scepter.algebra.timed import TimedProgram, TimedQuery
from scepter.errors import Diagnostic, QueryError, option_error
from scepter.kernel.build import Surroundings
from scepter.kernel.closure import entailed
from scepter.kernel.intake import Intake
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import template
from scepter.kernel.timed.compile import is_ordered
from scepter.kernel.timed.kinds import check_kinds
from scepter.kernel.timed.policies import Policy
from scepter.kernel.timed.program import Settings, TimedEvent, TimedKernel, seed
from scepter.kernel.timed.solutions import Timed
from scepter.ontology.schema import Schema
from scepter.physical.plan import UnitPlan
from scepter.rdf.terms import IRI
from scepter.runtime.matches import Match, RankedMatch
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.tasks import TermEvent, TermMatches, term_events

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup

_POLICIES = {None: None, "unrestricted": None, "chronological": Policy.CHRONOLOGICAL, "recent": Policy.RECENT}


def check_timed(program: TimedProgram, setup: TaskSetup) -> None:
    """What does not fit the streams' timestamps is an error, and so is a policy that it does not take."""
    for each in program.parts:
        check_kinds(each.pattern, setup.kind)
        if isinstance(each.window, Sliding):
            _check_window(each.window, setup)
    if setup.options.policy not in _POLICIES:
        raise option_error(
            "policy",
            f"this query takes no policy {setup.options.policy}",
            help="the policies are unrestricted, chronological, recent",
        )


def timed_task(plan: UnitPlan, setup: TaskSetup) -> TimedTask:
    """The exact evaluator of a program."""
    program = plan.unit
    assert isinstance(program, TimedProgram)
    schema = Schema.from_triples(setup.ontology)
    settings = Settings(
        setup.kind,
        setup.options.time_unit,
        Dataset(static_default(setup, schema), setup.background.dataset.named),
        schema,
        _POLICIES[setup.options.policy],
        setup.options.max_derivations,
    )
    return TimedTask(program, TimedKernel(program, settings), plan.number, setup)


def static_default(setup: TaskSetup, schema: Schema) -> Graph:
    """The static default graph: background, ontology, and what they entail."""
    stated = Graph((*setup.ontology, *sorted(schema.statements(), key=str)))
    return entailed([setup.background.dataset.default, stated], schema)


def timed_pipeline(plan: UnitPlan, setup: TaskSetup) -> Pipeline:
    """A query as operators over rows."""
    program = plan.unit
    assert isinstance(program, TimedProgram)
    schema = Schema.from_triples(setup.ontology)
    around = Surroundings(
        setup.key, setup.texts, setup.background, setup.kind, setup.options.time_unit,
        schema.flattened() if setup.ontology else None, static_default(setup, schema), setup.options.max_derivations,
    )  # fmt: skip
    return Pipeline(
        plan.root, program.queries[0].result, plan.number, setup, around, at_once=plan.at_once, measured=setup.measured
    )


def _check_window(window: Sliding, setup: TaskSetup) -> None:
    try:
        window.duration.ticks(setup.kind, setup.options.time_unit)
    except ValueError as error:
        raise QueryError(
            Diagnostic("duration", str(error), window.span, "choose a longer window or a finer --time-unit")
        ) from None


class TimedTask:
    """Buffers events and evaluates whole instants.

    Where nothing else of an instant can change an answer, the instant that is still open is answered, too; its state is
    committed only when it has passed, so that undoing it is forgetting its events.
    """

    def __init__(self, program: TimedProgram, kernel: TimedKernel, number: int, setup: TaskSetup) -> None:
        self._program = program
        self._kernel = kernel
        self._number = number
        self._setup = setup
        self._buffer: list[TermEvent] = []
        self._saved: list[TermEvent] = []
        self._open: int | None = None
        self._answered: set[int] = set()

    @property
    def feeds(self) -> IRI | None:
        """None: rules feed their own program."""
        return None

    def take(self, intake: Intake, wanted: NDArray[np.bool_]) -> None:
        """Keep the events until their instant comes."""
        self._buffer += term_events(intake, self._setup.texts, self._setup.streams(), wanted)

    def release(self, until: int, closed: int) -> list[Match]:
        """Evaluate and commit the instants up to `closed`; answer those up to `until` if nothing can change the answers."""
        matches = self._pass(closed)
        self._open = None
        if self._kernel.decides_late:
            return matches
        times = sorted({e.end for e in self._buffer if e.end <= until})
        assert len(times) <= 1, "only one instant can be open"
        for time in times:
            self._open = time
            matches += self._answers(time)
        return matches

    def _pass(self, closed: int) -> list[Match]:
        due = sorted((e for e in self._buffer if e.end <= closed), key=lambda e: (e.end, e.number))
        self._buffer = [e for e in self._buffer if e.end > closed]
        self._saved = [e for e in self._saved if e.end > closed]  # what has passed cannot be undone
        matches: list[Match] = []
        at = 0
        while at < len(due):
            time = due[at].end
            stop = at
            while stop < len(due) and due[stop].end == time:
                stop += 1
            matches += self._evaluate(time, due[at:stop])
            self._kernel.commit(time)
            at = stop
        self._kernel.release(closed)
        return matches

    def _answers(self, time: int) -> list[Match]:
        return self._evaluate(time, [e for e in self._buffer if e.end == time])

    def _evaluate(self, time: int, events: Sequence[TermEvent]) -> list[Match]:
        taken = [TimedEvent(e.triples, e.start, e.number, e.stream) for e in sorted(events, key=lambda e: e.number)]
        matches: list[Match] = []
        found = self._kernel.evaluate(time, taken)
        for number, (query, solutions) in enumerate(zip(self._program.queries, found, strict=True), self._number):
            matches += self._matches(number, query, time, solutions)
        return matches

    def _matches(self, number: int, query: TimedQuery, time: int, solutions: Sequence[Timed]) -> list[Match]:
        """One match per solution; for ASK, the first one's only."""
        if not solutions:
            return []
        batch = TermMatches(number, self._setup.kind)
        match query.result:
            case Select(columns):
                names = [variable.name for variable, _ in columns]
                rows = [{name: s.row[name] for name in names if name in s.row} for s in solutions]
                batch = TermMatches(number, self._setup.kind, _starts(solutions), [time] * len(solutions), rows)
                if is_ordered(query.pattern):
                    return [RankedMatch(batch, row, row) for row in range(len(rows))]
            case Construct(triples):
                made = [(s, template(triples, s.row, seed(number, s))) for s in solutions]
                filled = [(s, graph) for s, graph in made if graph]
                graphs = [tuple(sorted(graph, key=lambda t: tuple(map(str, t)))) for _, graph in filled]
                starts = _starts([s for s, _ in filled])
                batch = TermMatches(number, self._setup.kind, starts, [time] * len(filled), [{} for _ in filled], graphs)
            case Ask() if number not in self._answered:
                self._answered.add(number)
                batch = TermMatches(number, self._setup.kind, [min(_starts(solutions))], [time], [{}], asks=True)
        return batch.matches()

    def finish(self) -> list[Match]:
        """All that is left."""
        return self._pass(max((e.end for e in self._buffer), default=0)) if self._buffer else []

    # ---- instants that may be undone

    def save(self) -> None:
        """The events from here on may be taken back."""
        self._saved = list(self._buffer)

    def undo(self) -> None:
        """Forget the events since `save`."""
        self._buffer = list(self._saved)
        self._open = None

    def commit(self) -> None:
        """The open instant has passed; if it has been answered, its state is kept, and it is not answered again."""
        if self._open is None:
            return
        time, self._open = self._open, None
        self._answers(time)
        self._kernel.commit(time)
        self._buffer = [e for e in self._buffer if e.end != time]

    def state_rows(self) -> Mapping[str, int]:
        """Solutions remembered, and events that wait."""
        return {"solutions": self._kernel.size(), "waiting": len(self._buffer)}

    def live_events(self) -> NDArray[np.int64]:
        """None: matches show no events."""
        return np.empty(0, np.int64)

    def swap_refs(self) -> Iterator[NDArray[np.int64]]:
        """None: terms are held as terms."""
        return iter(())


def ordering_queries(program: Program) -> frozenset[int]:
    """The numbers of the queries that order the rows of one end themselves (ORDER BY).

    >>> from scepter.runtime.queries import parse
    >>> ordering_queries(parse("SELECT ?x WHERE { ?x ?p ?o } ORDER BY ?o", "ep-sparql").program)
    frozenset({0})
    """
    patterns = (
        pattern
        for unit in program.units
        for pattern in ([query.pattern for query in unit.queries] if isinstance(unit, TimedProgram) else [None])
    )
    return frozenset(number for number, pattern in enumerate(patterns) if pattern is not None and is_ordered(pattern))


def _starts(solutions: Sequence[Timed]) -> list[int]:
    return [s.start for s in solutions if s.start is not None]
