"""The diagnosis of queries that are trees of operators: how many solutions each part of the pattern has, from the leaves up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from scepter.algebra.expressions import And, Call, Exists, Expression, Variable
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Join,
    LeftJoin,
    Match,
    Minus,
    Node,
    OrderBy,
    Pattern,
    Project,
    Related,
    Slice,
    Union,
)
from scepter.algebra.query import Select
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import DURATION, END, START, TIME_FUNCTIONS
from scepter.algebra.walk import find
from scepter.insight.diagnosis.focus import Focus
from scepter.insight.diagnosis.model import Diagnosis, Stage, Step, Stopped
from scepter.insight.diagnosis.pairs import Condition, Solution, Tried, try_pairs
from scepter.insight.diagnosis.sentences import Sentences
from scepter.insight.diagnosis.trials import TooMany, Trials
from scepter.kernel.condition.time_terms import time_term
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.patterns import solutions
from scepter.ontology.schema import Schema
from scepter.physical.nodes.time_nodes import hidden
from scepter.physical.planning.pattern_properties import with_variables
from scepter.rdf.terms import Term
from scepter.timeline import Allen

_SHOWN = 3
_LONGEST_SIDE = 40

Answers = Callable[[Pattern], list[Solution]]
"""The solutions of a pattern that stands for the unit's."""


def all_columns(pattern: Pattern) -> Select:
    """Every variable that a user can see."""
    return Select(tuple((Variable(name), None) for name in sorted(in_scope(pattern)) if not name.startswith("_:")))


@dataclass(slots=True)
class Tree:
    """Walks a pattern from the leaves up."""

    answers: Answers
    """Of what is asked about, which may be everything."""
    every: Answers
    """With what that is joined."""
    trials: Trials
    sentences: Sentences
    focus: Focus
    without_windows: Answers | None = None
    """The solutions if everything counted for ever, where a query has windows that could be the reason."""
    named: Mapping[str, str] = field(default_factory=dict)
    """What graphs of certain names are called."""
    matched: Callable[[Tree, int], int] | None = None
    """Adds the steps of a MATCH by its number; the solutions it has."""
    static: bool = True
    """Whether static data takes part."""
    steps: list[Step] = field(default_factory=list)
    stopped: list[Stopped] = field(default_factory=list)
    partial: int = 0

    def visit(self, pattern: Pattern) -> int:
        """Add the steps of what a pattern is made of, and its own; how many solutions it has."""
        match pattern:
            case Project(inner) | Distinct(inner) | OrderBy(inner) | Slice(inner):
                return self.visit(inner)
            case BGP(triples) if triples:
                return self._triples(pattern)
            case Filter():
                return self._filter(pattern)
            case Match(number) if self.matched is not None:
                return self.matched(self, number)
            case Join(left, right):
                return self._two_sides(pattern, left, right, "joined with")
            case Related(left, right, relation):
                return self._two_sides(pattern, left, right, "SEQ" if relation is Allen.BEFORE else relation.value, relation)
            case LeftJoin(left, right):
                return self._two_sides(pattern, left, right, "OPTIONAL")
            case Union(left, right):
                return self._two_sides(pattern, left, right, "UNION")
            case Minus(left, right):
                return self._two_sides(pattern, left, right, "MINUS")
            case Extend(inner, variable):
                return self._one_side(pattern, inner, f"BIND ?{variable.name}")
            case Group(inner):
                return self._one_side(pattern, inner, "GROUP BY")
            case Graph(name, inner):
                return self._graph(pattern, name, inner)
            case _:
                return self._leaf(pattern, self.sentences.notation.pattern(pattern) or "empty group")

    def _leaf(self, pattern: Pattern, title: str) -> int:
        count = len(self.answers(pattern)) or self._static(pattern)
        self.steps.append(Step(title, "solutions", (Stage("", count),)))
        return count

    def _one_side(self, pattern: Pattern, inner: Pattern, title: str) -> int:
        self.visit(inner)
        count = len(self.answers(pattern))
        self.steps.append(Step(title, "solutions", (Stage("", count),)))
        return count

    def _graph(self, pattern: Graph, name: Node, inner: Pattern) -> int:
        text = self.sentences.notation.node(name)
        if text not in self.named:
            return self._leaf(pattern, self.sentences.notation.pattern(pattern))
        asked: tuple[Answers, Answers] = lambda p: self.answers(Graph(name, p)), lambda p: self.every(Graph(name, p))
        inside = Tree(*asked, self.trials, self.sentences, self.focus, static=False)
        count = inside.visit(inner)
        self.steps += [replace(step, title=f"{self.named[text]}: {step.title}") for step in inside.steps]
        self.stopped, self.partial = inside.stopped or self.stopped, inside.partial or self.partial
        return count

    # ---- triples

    def _triples(self, pattern: BGP) -> int:
        notation = self.sentences.notation
        stages = [self._triple(BGP((triple,)), notation.triple(triple)) for triple in pattern.triples]
        if len(stages) == 1:
            self.steps.append(Step(stages[0].condition, "solutions", (replace(stages[0], condition=""),)))
            return stages[0].count
        count = len(self.answers(pattern)) or self._static(pattern)
        enough = any if self.focus else all
        if not count and enough(stage.count for stage in stages):
            self._stop_triples(pattern)
        stages += self._windows(pattern, count, "joined")
        self.steps.append(Step("triples", "solutions", tuple(stages)))
        return count

    def _stop_triples(self, pattern: BGP) -> None:
        """The solutions of as many triples as join, streamed ones first, and the first triple that does not."""
        streamed = [triple for triple in pattern.triples if self.answers(BGP((triple,)))]
        ordered = (*streamed, *(triple for triple in pattern.triples if triple not in streamed))
        found = self.answers(BGP(ordered[:1]))
        for count, triple in enumerate(ordered[1:], 2):
            more = self.answers(BGP(ordered[:count]))
            if not more and found:
                text = self.sentences.notation.triple(triple)
                joins = self.without_windows is not None and self._at_any_time(BGP(ordered[:count]))
                self._stop(found, f"{text} joins some, but not in the windows" if joins else f"nothing joins {text} with it")
                return
            found = more

    def _triple(self, pattern: BGP, text: str) -> Stage:
        count = len(self.answers(pattern))
        if count:
            return Stage(text, count)
        static = self._static(pattern)
        return Stage(f"{text} (static)" if static else text, static)

    def _static(self, pattern: Pattern) -> int:
        """The solutions that static data alone gives: they have no time, so that no stream is needed for them."""
        speaks_of_time = any(call.function in TIME_FUNCTIONS for call in find(pattern, Call))
        if not self.static or speaks_of_time or next(find(pattern, Related), None) is not None:
            return 0
        given, ontology = self.trials.background.dataset, self.trials.ontology
        schema = Schema.from_triples(ontology)
        triples = [*given.default, *(triple for graph in given.named.values() for triple in graph), *ontology]
        known = RDFGraph(entailed for triple in triples for entailed in schema.consequences(triple))
        return len(solutions(pattern, known, given))

    def _at_any_time(self, pattern: Pattern) -> int | None:
        assert self.without_windows is not None
        try:
            return len(self.without_windows(pattern))
        except TooMany:
            return None

    def _windows(self, pattern: Pattern, count: int, text: str) -> list[Stage]:
        if not count and self.without_windows is not None and (wider := self._at_any_time(pattern)) is not None:
            return [Stage(f"{text}, whatever their times", wider), Stage("in the windows", count)]
        return [Stage(text, count)]

    # ---- filters

    def _filter(self, pattern: Filter) -> int:
        conditions: list[Expression] = []
        inner: Pattern = pattern
        while isinstance(inner, Filter):
            conditions[:0] = _conjuncts(inner.condition)
            inner = inner.pattern
        before = self.answers(inner) if self.visit(inner) else []
        stages: list[Stage] = []
        for condition in conditions:
            inner = Filter(condition, inner)
            passing = self.answers(inner)
            text = self.sentences.filter(condition)
            example = None
            failed = before if not passing else _without(before, passing) if self.focus else []
            if before and not passing:
                example = f"{self._interval(before[0])}: {self._refused(condition, before[0])}"
            if failed:
                if self.focus:
                    failed = sorted(failed, key=lambda each: self._distance(condition, each))
                reasons = [f"{text} {self._refused(condition, each)}" for each in failed[:_SHOWN]]
                self._stop(failed, reasons)
            stages.append(Stage(text, len(passing), example))
            before = passing
        self.steps.append(Step("filters", "solutions", tuple(stages)))
        return len(before)

    def _refused(self, condition: Expression, solution: Solution) -> str:
        if next(find(condition, Exists), None) is not None:
            return "was false"
        return self.sentences.refused(*self._put(condition, solution))

    def _distance(self, condition: Expression, solution: Solution) -> float:
        return self.sentences.distance(*self._put(condition, solution))

    def _put(self, condition: Expression, solution: Solution) -> tuple[Expression, Mapping[str, Term], Context]:
        """A condition and the values it is asked with, times of the solution among them."""
        context = Context(dataset=self.trials.background.dataset)
        bindings = dict(solution.mapping)
        if solution.start is not None and solution.end is not None:
            start, end = solution.start, solution.end
            for function, value in ((START, start), (END, end), (DURATION, end - start)):
                bindings[hidden(function)] = time_term(function, value, self.sentences.kind)
        return with_variables(condition), bindings, context

    # ---- two sides

    def _two_sides(self, pattern: Pattern, left: Pattern, right: Pattern, word: str, relation: Allen | None = None) -> int:
        counts = self.visit(left), self.visit(right)
        count = len(self.answers(pattern)) or (self._static(pattern) if relation is None else 0)
        stages: list[Stage] = []
        needs_both = isinstance(pattern, Join) or (isinstance(pattern, Related) and pattern.optional is None)
        if needs_both and (any(counts) if self.focus else all(counts)):
            stages += self._joined(left, right, word, relation)
        stages += self._windows(pattern, count, "solutions")
        title = f"{self._short(left)} {word} {self._short(right)}"
        self.steps.append(Step(title, "solutions", tuple(stages) if len(stages) > 1 else (Stage("", count),)))
        return count

    def _short(self, pattern: Pattern) -> str:
        if isinstance(pattern, Match):
            return "MATCH"
        text = self.sentences.notation.pattern(pattern)
        return f"{{ {text} }}" if len(text) <= _LONGEST_SIDE else "{ … }"

    def _joined(self, left: Pattern, right: Pattern, word: str, relation: Allen | None) -> list[Stage]:
        """How many solutions of the right side join one of the left's; what stops those of the left."""
        conditions = [] if relation is None else [_related(relation, word, self.sentences)]
        tries = [(_numbered(self.every(left)), _numbered(self.answers(right)))]
        if self.focus.event is not None:  # it may stand on either side
            tries.insert(0, (_numbered(self.answers(left)), _numbered(self.every(right))))
        ranked: list[tuple[tuple[bool, int, int], Solution, str]] = []
        stages: list[Stage] = []
        for lefts, rights in tries:
            if not lefts or not rights:
                continue  # one side is static: it has no times to compare
            tried = try_pairs(lefts, rights, conditions, lambda a, b: b.start > a.end)
            on = ", ".join(f"?{name}" for name in tried.joined)
            stages = [Stage(f"right sides joined on {on}", tried.count(0))] if on else []
            if self.focus or not tried.count(len(conditions)):
                ranked += self._missed(lefts, tried, conditions, word, near=self.focus.event is not None)
        ranked.sort(key=lambda each: each[0], reverse=True)
        if ranked:
            self._stop([run for _, run, _ in ranked], [why for _, _, why in ranked])
        return stages

    def _missed(
        self, lefts: Sequence[Solution], tried: Tried, conditions: Sequence[Condition], word: str, *, near: bool
    ) -> Iterator[tuple[tuple[bool, int, int], Solution, str]]:
        """The solutions of the left side that join none of the right's; with `near` only those that come near one."""
        for run in lefts:
            attempt = tried.attempts[run.events[0]]
            if attempt.missed(len(conditions)) and (attempt.candidate is not None or not near):
                yield attempt.rank, run, self._unjoined(run, tried, conditions, word)

    def _unjoined(self, run: Solution, tried: Tried, conditions: Sequence[Condition], word: str) -> str:
        best = tried.attempts[run.events[0]]
        if best.candidate is not None:
            return conditions[best.passed].refusal(run, best.candidate)
        shared = {name: run.mapping[name] for name in tried.joined if name in run.mapping}
        return f"nothing on the right side of {word} has {self.sentences.bindings(shared)}"

    # ---- what is told of solutions that go no further

    def _stop(self, found: Sequence[Solution], reasons: str | Sequence[str]) -> None:
        """The last ones told are those that came farthest."""
        self.partial = len(found)
        told = [reasons] * _SHOWN if isinstance(reasons, str) else reasons
        self.stopped = [
            Stopped((self._interval(each),), self.sentences.bindings(each.mapping), why)
            for each, why in zip(found[:_SHOWN], told, strict=False)
        ]

    def _interval(self, solution: Solution) -> str:
        return interval(solution, self.sentences)


def interval(solution: Solution, sentences: Sentences) -> str:
    """When a solution holds."""
    if solution.start == solution.end:
        return f"at {sentences.time(solution.end)}"
    return f"{sentences.time(solution.start)}..{sentences.time(solution.end)}"


def _numbered(found: Sequence[Solution]) -> list[Solution]:
    return [replace(each, events=(number,)) for number, each in enumerate(found)]


def _related(relation: Allen, word: str, sentences: Sentences) -> Condition:
    def refusal(a: Solution, b: Solution) -> str:
        return f"it joins one {interval(b, sentences)}, and {word} does not hold between the two"

    return Condition(word, lambda a, b: relation.holds(a, b), refusal)


def _without(found: Sequence[Solution], others: Sequence[Solution]) -> list[Solution]:
    passed = {(frozenset(each.mapping.items()), each.start, each.end) for each in others}
    return [each for each in found if (frozenset(each.mapping.items()), each.start, each.end) not in passed]


def _conjuncts(condition: Expression) -> list[Expression]:
    return [*_conjuncts(condition.left), *_conjuncts(condition.right)] if isinstance(condition, And) else [condition]


def found_by(tree: Tree, title: str, matches: int, asked: int) -> Diagnosis:
    """The diagnosis that a walk comes to."""
    if tree.focus:
        return Diagnosis(title, matches, tuple(tree.steps), stopped=tuple(tree.stopped), focused=asked)
    if matches:
        return Diagnosis(title, matches, tuple(tree.steps))
    return Diagnosis(title, 0, tuple(tree.steps), tree.partial, "", tuple(tree.stopped))
