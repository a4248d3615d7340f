"""The task of a timed program: occurrences of triples, instant by instant, and the answers of its queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scepter.algebra.expressions import Constant
from scepter.algebra.query import Ask, Construct, Program, Select, Sliding
from scepter.algebra.timed import TimedProgram, TimedQuery
from scepter.errors import Diagnostic, QueryError, option_error
from scepter.kernel.build import Surroundings
from scepter.kernel.closure import entailed
from scepter.kernel.entailed import entailment_of
from scepter.kernel.intake import Intake
from scepter.kernel.sparql.dataset import Dataset, Graph
from scepter.kernel.sparql.patterns import template
from scepter.kernel.timed.compile import is_ordered
from scepter.kernel.timed.kinds import check_kinds
from scepter.kernel.timed.policies import Policy
from scepter.kernel.timed.program import Settings, TimedEvent, TimedKernel, seed
from scepter.kernel.timed.solutions import Timed
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import TYPE, speaks_of_schema
from scepter.optimizer.lift_groups import lift_groups
from scepter.optimizer.lift_sequences import lift_sequence
from scepter.physical.nodes import Node, TripleScan, nodes
from scepter.physical.planner import plan_query
from scepter.physical.timed_plan import TimedFacts, decides_late, plan_program, plan_timed
from scepter.rdf.terms import IRI
from scepter.runtime.grouped_task import GroupedTask
from scepter.runtime.matches import Match, RankedMatch
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.sequence_task import sequence_task
from scepter.runtime.tasks import SeveralTasks, Task, TermEvent, TermMatches, term_events

if TYPE_CHECKING:
    from scepter.runtime.registry import TaskSetup

_POLICIES = {None: None, "unrestricted": None, "chronological": Policy.CHRONOLOGICAL, "recent": Policy.RECENT}


def timed_task(program: TimedProgram, number: int, setup: TaskSetup) -> Task:
    """The task of a program; what does not fit the streams' timestamps is an error here, before the run."""
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
    schema = Schema.from_triples(setup.ontology)
    given = setup.background.dataset
    default = entailed([given.default, Graph((*setup.ontology, *sorted(schema.statements(), key=str)))], schema)
    if program.rules:
        return _rules_task(program, number, setup, schema, default) or _exact_task(program, number, setup, schema, default)
    tasks = []
    for at, query in enumerate(program.queries, number):
        alone = replace(program, queries=(query,))
        task = _columnar_task(alone, at, setup) or _pipeline(query, at, setup, schema, default)
        tasks.append(task or _exact_task(alone, at, setup, schema, default))
    return tasks[0] if len(tasks) == 1 else SeveralTasks(tasks)


def _exact_task(program: TimedProgram, number: int, setup: TaskSetup, schema: Schema, default: Graph) -> Task:
    """Term by term."""
    settings = Settings(
        setup.kind,
        setup.options.time_unit,
        Dataset(default, setup.background.dataset.named),
        schema,
        _POLICIES[setup.options.policy],
        setup.options.max_derivations,
    )
    return TimedTask(program, TimedKernel(program, settings), number, setup)


def _rules_task(program: TimedProgram, number: int, setup: TaskSetup, schema: Schema, default: Graph) -> Task | None:
    """Queries over the stream and what rules derive, where all of them have operators over rows."""
    facts = TimedFacts(setup.kind, bool(len(default)), _POLICIES[setup.options.policy] is not None, bool(setup.ontology))
    roots = plan_program(program, facts, setup.options.max_derivations)
    if isinstance(roots, str):
        return None
    late = any(map(decides_late, program.parts))
    tasks = []
    for at, (query, root) in enumerate(zip(program.queries, roots, strict=True), number):
        around = Surroundings(
            setup.key, setup.texts, setup.background, setup.kind, setup.options.time_unit, None, default
        )  # fmt: skip
        tasks.append(Pipeline(root, query.result, at, setup, around, at_once=not late))
    return tasks[0] if len(tasks) == 1 else SeveralTasks(tasks)


def _pipeline(query: TimedQuery, number: int, setup: TaskSetup, schema: Schema, default: Graph) -> Task | None:
    """The operators of a query over rows, where all of it has some."""
    facts = TimedFacts(setup.kind, bool(len(default)), _POLICIES[setup.options.policy] is not None)
    flattened = schema.flattened() if setup.ontology else None
    root = plan_timed(query, facts)
    if isinstance(root, str) or (setup.ontology and (flattened is None or not _is_data(root))):
        return None
    around = Surroundings(
        setup.key, setup.texts, setup.background, setup.kind, setup.options.time_unit, flattened, default
    )  # fmt: skip
    return Pipeline(root, query.result, number, setup, around, at_once=not decides_late(query))


def _is_data(root: Node) -> bool:
    """Whether no pattern asks for statements of the schema, which a stream under an ontology does not make."""
    scans = [node.pattern for node in nodes(root) if isinstance(node, TripleScan)]
    return all(
        isinstance(scan.predicate, Constant)
        and (isinstance(scan.object, Constant) or scan.predicate.term != TYPE)
        and not speaks_of_schema(scan.predicate.term, scan.object.term if isinstance(scan.object, Constant) else None)
        for scan in scans
    )


def _columnar_task(program: TimedProgram, number: int, setup: TaskSetup) -> Task | None:
    """The program as a sequence in columns, or as groups of one, where it is that and nothing but schema is static."""
    given = setup.background.dataset
    if len(given.default) or given.named or _POLICIES[setup.options.policy]:
        return None
    grouped = lift_groups(program, setup.kind)
    sequence = lift_sequence(program, setup.kind, shortest=1 if setup.ontology else 2) if grouped is None else grouped.sequence
    if sequence is None:
        return None
    flattened = entailment_of(plan_query(sequence), setup.ontology) if setup.ontology else None
    if setup.ontology and flattened is None:
        return None
    return (
        sequence_task(sequence, number, setup, flattened) if grouped is None else GroupedTask(grouped, number, setup, flattened)
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
    units = enumerate(program.others, len(program.queries))
    timed = [(number, unit) for number, unit in units if isinstance(unit, TimedProgram)]
    return frozenset(n + i for n, unit in timed for i, query in enumerate(unit.queries) if is_ordered(query.pattern))


def _starts(solutions: Sequence[Timed]) -> list[int]:
    return [s.start for s in solutions if s.start is not None]
