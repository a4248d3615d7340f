"""The kernel of a timed program: rules and queries over one stream of occurrences, instant by instant."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from scepter.algebra.expressions import Call, Exists
from scepter.algebra.patterns import Group, LeftJoin, Minus, Related, Side, Slice
from scepter.algebra.query import Ask, Counting
from scepter.algebra.timed import Rule, Sources, TimedProgram, TimedQuery, TimedWindow
from scepter.algebra.walk import find
from scepter.errors import DataError, Diagnostic
from scepter.kernel.closure import union
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import EMPTY_GRAPH, Dataset, Graph
from scepter.kernel.sparql.patterns import template
from scepter.kernel.timed.compile import Compiler, Window
from scepter.kernel.timed.expressions import VOLATILE, Expressions
from scepter.kernel.timed.history import History
from scepter.kernel.timed.operators import Operator
from scepter.kernel.timed.plain import AnsweredOnce, is_plain, is_static
from scepter.kernel.timed.policies import Policy
from scepter.kernel.timed.search import Searches
from scepter.kernel.timed.solutions import EventGraph, Instant, Occurrence, Timed
from scepter.ontology.schema import Schema
from scepter.physical.strata import feeds_pattern, is_recursive, strata
from scepter.rdf.terms import IRI, Triple
from scepter.timeline import Allen, TimeKind

_DERIVED = 2**62
"""What rules derive has arrived after all events of its instant."""
_AGAIN = 5
"""A rule that counts or denies is asked again from the start in each round: over all rounds it may read so many times as much
as may be derived. One that derives a triple a round takes time cubic in them, and would reach the limit long after anybody
waits."""
_ROUND = 25
"""What a round of rules over the background counts for: there may be much of it, but no chain of that many steps."""


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """An event as the kernel takes it."""

    triples: tuple[Triple, ...]
    start: int
    arrival: int
    stream: IRI


@dataclass(frozen=True, slots=True)
class Settings:
    """What a program needs of its run."""

    kind: TimeKind
    time_unit: str
    dataset: Dataset
    """The background graphs; the default one with all it entails."""
    schema: Schema
    policy: Policy | None = None
    max_derivations: int = 10_000
    derived: Graph = EMPTY_GRAPH
    """The static triples that rules derive from static ones, with all they entail."""


class Pipeline:
    """One pattern's operators over what its sources show."""

    def __init__(self, part: Rule | TimedQuery, settings: Settings) -> None:
        pattern, sources, window = part.pattern, part.sources, part.window
        dataset = _dataset(sources, settings)
        context = Context(graph=dataset.default, dataset=dataset)
        existences = list(find(pattern, Exists))
        plain = is_plain(pattern) and window is None and settings.policy is None
        searches = Searches(context, lambda: self._expressions, plain=plain)
        self._history = History(existences, dataset.default, searches.holds) if existences else None
        self._expressions = Expressions(settings.kind, context, self._history)
        once = isinstance(part, TimedQuery) and is_static(pattern)
        compiler = Compiler(settings.kind, dataset.default, context, self._expressions, settings.policy, plain, not once)
        root = compiler.compile(pattern, None, _window(window, settings), alone=True)
        self._root: Operator = AnsweredOnce(root) if once else root
        self._streams = sources.streams
        self._growable = self._root.growable and self._history is None
        self._grows = self._growable and isinstance(part, Rule)  # only rules are asked again with more
        self._seen: set[Occurrence] = set()

    def delta(self, instant: Instant) -> Sequence[Timed]:
        """The solutions that end at the instant."""
        seen = instant.seen_by(self._streams)
        self._seen = set(seen.occurrences) if self._grows else set()
        if self._history is not None:
            self._history.see(seen)
        return self._root.delta(seen)

    def grow(self, instant: Instant, more: Instant) -> Sequence[Timed]:
        """The solutions of an instant that has got more occurrences: those they add, or all where that cannot be told."""
        if not self._growable:
            return self.delta(instant)
        seen = more.seen_by(self._streams)
        fresh = [o for o in seen.occurrences if o not in self._seen]
        self._seen.update(fresh)
        return self._root.grow(Instant(seen.time, fresh))

    def commit(self, now: int) -> None:
        """The instant is past."""
        self._root.commit()
        if self._history is not None:
            self._history.commit()
        self.release(now)

    def release(self, now: int) -> None:
        """Let go what nothing after `now` can need."""
        self._root.release(now)

    @property
    def growable(self) -> bool:
        """Whether it can be asked for what more occurrences add, and not only for all."""
        return self._growable

    @property
    def timeless(self) -> Sequence[Timed]:
        """The solutions that static triples alone make."""
        return [solution for solution in self._root.fixed if solution.static]

    def size(self) -> int:
        """Solutions remembered."""
        return self._root.size() + (0 if self._history is None else self._history.size())


def _dataset(sources: Sources, settings: Settings) -> Dataset:
    """The dataset of FROM and FROM NAMED, or the one given; with what rules derive of it."""
    given, derived = settings.dataset, settings.derived
    if sources.default is None or sources.named is None:
        return Dataset(union((given.default, derived)), given.named) if len(derived) else given
    default = union((*(given.named[iri] for iri in sources.default), derived))
    return Dataset(default, {iri: given.named[iri] for iri in sources.named})


def _window(window: TimedWindow | None, settings: Settings) -> Window | None:
    if window is None:
        return None
    if isinstance(window, Counting):
        return Window(rows=window.events)
    return Window(duration=window.duration.ticks(settings.kind, settings.time_unit))


class TimedKernel:
    """Evaluates whole instants in order of time: `evaluate` as often as an instant grows, then `commit`."""

    def __init__(self, program: TimedProgram, settings: Settings) -> None:
        self._settings = settings
        self._program = program
        self._rules = program.rules
        self._settings = settings = replace(settings, derived=self._static())
        fed = [part.pattern for part in program.parts]
        # A rule that feeds nothing derives only its own answers.
        self._feeding = [any(feeds_pattern(rule, pattern, settings.schema) for pattern in fed) for rule in program.rules]
        self._strata = [
            (stratum, is_recursive(stratum, self._rules, settings.schema))
            for stratum in strata(self._rules, settings.schema)
            if any(self._feeding[i] for i in stratum)
        ]
        self._pipelines: dict[int, Pipeline] = {}
        feeding = [self._rules[i] for stratum, _ in self._strata for i in stratum]
        needed: tuple[Rule | TimedQuery, ...] = (*feeding, *program.queries)
        for each in needed:
            # A rule and the query that shows its results have one pattern; over static graphs alone the query has an instant.
            if id(each.pattern) not in self._pipelines or is_static(each.pattern):
                self._pipelines[id(each.pattern)] = Pipeline(each, settings)
        self.decides_late = settings.policy is not None or any(map(_decides_late, program.parts))
        """Whether an answer depends on all of its instant, so that it cannot be given before the instant has passed."""

    def _static(self) -> Graph:
        """What the rules derive from what has no time, to a fixpoint: static triples again (rule 9)."""
        derived: dict[Triple, None] = {}
        given = self._settings.dataset
        if not self._rules or not (len(given.default) or given.named):
            return EMPTY_GRAPH
        for round_ in count():
            known, graph = len(derived), Graph(derived)
            for number, rule in enumerate(self._rules):
                for solution in Pipeline(rule, replace(self._settings, derived=graph)).timeless:
                    made = sorted(
                        template(rule.template, solution.row, seed(number, solution)), key=lambda t: tuple(map(str, t))
                    )
                    derived.update(dict.fromkeys(c for t in made for c in self._settings.schema.consequences(t)))
                if round_ * _ROUND > self._settings.max_derivations and len(derived) > known:
                    raise self._endless(rule, f"over the background: {round_} rounds")
            if len(derived) == known:
                break
        return graph

    def evaluate(self, time: int, events: Iterable[TimedEvent]) -> list[Sequence[Timed]]:
        """What ends at an instant, for each query; from what is committed and these events alone."""
        schema = self._settings.schema
        closed = [(e, _once(c for t in e.triples for c in schema.consequences(t))) for e in events]
        occurrences = [Occurrence(t, e.start, time, e.arrival, e.stream) for e, triples in closed for t in triples]
        graphs = [EventGraph(triples, e.start, e.stream) for e, triples in closed]
        instant = Instant(time, occurrences, graphs)
        for stratum, recursive in self._strata:
            instant = self._apply(stratum, recursive, instant)
        return [_in_sight(self._pipelines[id(query.pattern)].delta(instant)) for query in self._program.queries]

    def _apply(self, stratum: Sequence[int], recursive: bool, instant: Instant) -> Instant:
        """The instant with all that the rules of a stratum derive."""
        known = {(o.triple, o.start) for o in instant.occurrences if o.stream is None}
        occurrences, graphs = list(instant.occurrences), list(instant.graphs)
        asked: dict[int, int] = {}
        again = 0
        grown = True
        while grown:
            grown = False
            for i in stratum:
                pipeline = self._pipelines[id(self._rules[i].pattern)]
                now = Instant(instant.time, occurrences, graphs)
                if i in asked:
                    again += 0 if pipeline.growable else len(known)
                    if again > _AGAIN * self._settings.max_derivations:
                        raise self._endless(
                            self._rules[i], f"at {instant.time}: one by one, {len(known)} triples at one instant"
                        )
                    solutions = pipeline.grow(now, Instant(instant.time, occurrences[asked[i] :]))
                else:
                    solutions = pipeline.delta(now)
                asked[i] = len(occurrences)
                new, made = self._derived(self._rules[i], i, instant.time, solutions, known)
                if new:
                    occurrences += new
                    graphs += made
                    grown = recursive
        return Instant(instant.time, occurrences, graphs)

    def _derived(
        self, rule: Rule, number: int, time: int, solutions: Sequence[Timed], known: set[tuple[Triple, int]]
    ) -> tuple[list[Occurrence], list[EventGraph]]:
        found: list[Occurrence] = []
        graphs: list[EventGraph] = []
        for solution in solutions:
            assert solution.start is not None
            made = sorted(template(rule.template, solution.row, seed(number, solution)), key=lambda t: tuple(map(str, t)))
            triples = tuple(dict.fromkeys(c for t in made for c in self._settings.schema.consequences(t)))
            new = [t for t in triples if (t, solution.start) not in known]
            known.update((t, solution.start) for t in new)
            if len(known) > (limit := self._settings.max_derivations):
                raise self._endless(rule, f"at {time}: more than {limit} triples at one instant")
            found += (Occurrence(t, solution.start, time, _DERIVED + len(known)) for t in new)
            if new:
                graphs.append(EventGraph(triples, solution.start))
        return found, graphs

    def _endless(self, rule: Rule, where: str) -> DataError:
        return DataError(
            Diagnostic(
                "max-derivations",
                f"{rule.label} keeps deriving {where}",
                rule.span,
                "let each derivation need something later (SEQ), or raise --max-derivations",
            )
        )

    def commit(self, now: int) -> None:
        """The instant last evaluated is past."""
        for pipeline in self._pipelines.values():
            pipeline.commit(now)

    def release(self, now: int) -> None:
        """Time has passed without events."""
        for pipeline in self._pipelines.values():
            pipeline.release(now)

    def size(self) -> int:
        """Solutions remembered by all patterns."""
        return sum(pipeline.size() for pipeline in self._pipelines.values())


def _in_sight(solutions: Sequence[Timed]) -> Sequence[Timed]:
    """Each mapping and interval once, however many derivations a policy tells apart."""
    if len(solutions) < 2:
        return solutions
    return list({(frozenset(s.row.items()), s.start): s for s in solutions}.values())


def _once(triples: Iterable[Triple]) -> tuple[Triple, ...]:
    found = tuple(triples)
    return found if len(found) < 2 else tuple(dict.fromkeys(found))


def seed(number: int, solution: Timed) -> str:
    """Fresh blank nodes per solution, the same wherever it is computed: from what it is."""
    mapping = sorted((name, str(term)) for name, term in solution.row.items())
    text = repr((number, solution.start, solution.end, mapping))
    return "m" + hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _decides_late(each: Rule | TimedQuery) -> bool:
    """Whether something that ends at the same time can change an answer."""
    if isinstance(each, TimedQuery) and isinstance(each.result, Ask):
        return True  # it answers once, with the first of the instant
    pattern = each.pattern
    kinds = (LeftJoin, Minus, Exists, Group, Slice)
    if any(next(find(pattern, kind), None) is not None for kind in kinds):
        return True
    if any(call.function in VOLATILE for call in find(pattern, Call)):
        return True
    return any(r.optional is Side.RIGHT and r.relation is Allen.EQUALS for r in find(pattern, Related))
