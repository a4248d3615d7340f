"""Sparkwave by its definitions (spec/50-sparkwave): every choice of occurrences, and of those the ones that are matches.

Solutions are pairs of a mapping and a set of occurrences. Nothing here is incremental and nothing is shared with the engine but
expressions and, for periodic windows, the SPARQL evaluator, which have twins of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from naive.entailment import closed
from naive.graphs import template
from scepter.algebra.continuous import ContinuousQuery, LastTriples, PeriodicQuery, Range
from scepter.algebra.expressions import Constant, Expression
from scepter.algebra.patterns import (
    BGP,
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Pattern,
    Project,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.query import Ask, Construct
from scepter.algebra.windows import Report
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.dataset import Graph as RDFGraph
from scepter.kernel.sparql.expressions import evaluate, holds
from scepter.kernel.sparql.patterns import solutions
from scepter.rdf.terms import XSD, Literal, Term, Triple
from scepter.rdf.values import ExpressionError, order_key
from scepter.timeline import TimeKind


@dataclass(frozen=True)
class Event:
    stream: str
    triples: tuple[Triple, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Occurrence:
    triple: Triple
    start: int
    end: int


Mapping = frozenset[tuple[str, Term]]
Solution = tuple[Mapping, frozenset[Occurrence]]


@dataclass(frozen=True)
class Match:
    start: int
    end: int
    row: Mapping
    graph: frozenset[Triple] | None = None


class Continuous:
    """Rule 1."""

    def __init__(
        self, query: ContinuousQuery, events: Sequence[Event], static: Sequence[Triple], schema: Sequence[Triple]
    ) -> None:
        self.query = query
        self.static = closed(static, schema)
        self.positions = self._positions(events)
        self.sources: dict[Occurrence, set[tuple[str, Triple, int, int]]] = {}
        for event in events:
            for triple in event.triples:
                for entailed in closed([triple], schema):
                    place = (event.stream, triple, event.start, event.end)
                    self.sources.setdefault(Occurrence(entailed, event.start, event.end), set()).add(place)
        self.graphs: dict[int, RDFGraph] = {}

    @staticmethod
    def _positions(events: Sequence[Event]) -> dict[str, list[tuple[str, Triple, int, int]]]:
        """The triples of each stream in order, those of one time by their text, each once at a time."""
        found: dict[str, set[tuple[str, Triple, int, int]]] = {}
        for event in events:
            for triple in event.triples:
                found.setdefault(event.stream, set()).add((event.stream, triple, event.start, event.end))
        return {s: sorted(p, key=lambda e: (e[3], e[2], " ".join(map(str, e[1])))) for s, p in found.items()}

    def in_window(self, occurrence: Occurrence, end: int) -> bool:
        return any(self._place_counts(place, end) for place in self.sources[occurrence])

    def _place_counts(self, place: tuple[str, Triple, int, int], end: int) -> bool:
        stream, _, start, _ = place
        extent = next((s.extent for s in self.query.sources if s.stream.iri.value == stream), self.query.otherwise)
        match extent:
            case None:
                return True
            case Range(duration):
                return end - start <= duration.ticks(TimeKind.INTEGER, "ms")
            case LastTriples(count):
                known = [p for p in self.positions[stream] if p[3] <= end]
                return place in known[-count:]

    def valid(self, occurrences: frozenset[Occurrence]) -> bool:
        end = _end(occurrences)
        return end is None or all(self.in_window(o, end) for o in occurrences)

    # ---- patterns

    def solutions(self, pattern: Pattern) -> list[Solution]:
        match pattern:
            case BGP(triples):
                return self._bgp(triples)
            case Join(left, right):
                pairs = product(self.solutions(left), self.solutions(right))
                return self._once(s for a, b in pairs for s in self._joined(a, b))
            case LeftJoin(left, right, condition):
                options = self.solutions(right)
                return self._once(s for a in self.solutions(left) for s in self._optional(a, options, condition))
            case Minus(left, right):
                others = self.solutions(right)
                return [a for a in self.solutions(left) if not any(self._takes_away(a, b) for b in others)]
            case Union(left, right):
                return self._once([*self.solutions(left), *self.solutions(right)])
            case Filter(condition, inner):
                return [s for s in self.solutions(inner) if self._holds(condition, s)]
            case Extend(inner, variable, expression):
                return [self._extended(s, variable.name, expression) for s in self.solutions(inner)]
            case Values(variables, rows):
                named = [v.name for v in variables]
                found = [frozenset((n, t) for n, t in zip(named, row, strict=True) if t is not None) for row in rows]
                return self._once((row, frozenset()) for row in found)
            case Project(inner, variables):
                names = {v.name for v in variables}
                return [(frozenset((n, t) for n, t in row if n in names), found) for row, found in self.solutions(inner)]
            case Distinct(inner):
                each = {(row, _start(found), _end(found)): (row, found) for row, found in self.solutions(inner)}
                return list(each.values())
            case OrderBy() | Slice():
                return self._modified(pattern)
            case _:
                raise ValueError(f"no continuous {type(pattern).__name__}")

    def _once(self, found: Iterator[Solution] | Sequence[Solution]) -> list[Solution]:
        return [s for s in dict.fromkeys(found) if self.valid(s[1])]

    def _bgp(self, triples: Sequence[TriplePattern]) -> list[Solution]:
        found: list[Solution] = [(frozenset(), frozenset())]
        for pattern in triples:
            found = self._once(
                (merged, occurrences | more)
                for row, occurrences in found
                for triple, more in self._candidates()
                if (bound := _matched(pattern, triple)) is not None and (merged := _merged(row, bound)) is not None
            )
        return found

    def _candidates(self) -> Iterator[tuple[Triple, frozenset[Occurrence]]]:
        for triple in self.static:
            yield triple, frozenset()
        for occurrence in self.sources:
            yield occurrence.triple, frozenset({occurrence})

    def _joined(self, a: Solution, b: Solution) -> Iterator[Solution]:
        if (merged := _merged(a[0], b[0])) is not None:
            yield merged, a[1] | b[1]

    def _optional(self, a: Solution, options: Sequence[Solution], condition: Expression | None) -> list[Solution]:
        joined = [s for b in options if self._known(b, a) for s in self._joined(a, b)]
        kept = [s for s in joined if self.valid(s[1]) and (condition is None or self._holds(condition, s))]
        return kept or [a]

    def _known(self, b: Solution, a: Solution) -> bool:
        """Whether b is there when a completes; a timeless a sees what is timeless."""
        end, other = _end(a[1]), _end(b[1])
        if end is None or other is None:
            return other is None
        return other <= end and all(self.in_window(o, end) for o in b[1])

    def _takes_away(self, a: Solution, b: Solution) -> bool:
        shared = {n for n, _ in a[0]} & {n for n, _ in b[0]}
        return bool(shared) and _merged(a[0], b[0]) is not None and self._known(b, a)

    def _holds(self, condition: Expression, solution: Solution) -> bool:
        return holds(condition, dict(solution[0]), self._context(solution))

    def _extended(self, solution: Solution, name: str, expression: Expression) -> Solution:
        try:
            return solution[0] | {(name, evaluate(expression, dict(solution[0]), self._context(solution)))}, solution[1]
        except ExpressionError:
            return solution

    def _context(self, solution: Solution) -> Context:
        end = _end(solution[1])
        live = [o.triple for o in self.sources if end is not None and o.end <= end and self.in_window(o, end)]

        def timestamp(subject: Term, predicate: Term, object: Term) -> Term:
            times = [o.end for o in solution[1] if o.triple == Triple(subject, predicate, object)]
            if not times:
                raise ExpressionError("no time")
            return Literal(str(max(times)), XSD + "integer")

        return Context(graph=RDFGraph([*self.static, *live]), timestamp=timestamp)

    def _modified(self, pattern: OrderBy | Slice) -> list[Solution]:
        inner = sorted(self.solutions(pattern.pattern), key=_tie)
        if isinstance(pattern, OrderBy):
            return self._ordered(pattern, inner)
        if _sorted_below(pattern.pattern):
            inner = self.solutions(pattern.pattern)
        by_end: dict[int | None, list[Solution]] = {}
        for solution in inner:
            by_end.setdefault(_end(solution[1]), []).append(solution)
        stop = None if pattern.limit is None else pattern.offset + pattern.limit
        return [s for group in by_end.values() for s in group[pattern.offset : stop]]

    def _ordered(self, pattern: OrderBy, found: list[Solution]) -> list[Solution]:
        for expression, descending in reversed(pattern.conditions):
            values = [self._value(expression, s) for s in found]
            places = sorted(range(len(found)), key=lambda i: order_key(values[i]), reverse=descending)
            found = [found[i] for i in places]
        return found

    def _value(self, expression: Expression, solution: Solution) -> Term | None:
        try:
            return evaluate(expression, dict(solution[0]), self._context(solution))
        except ExpressionError:
            return None

    def matches(self) -> list[Match]:
        found = [s for s in self.solutions(self.query.pattern) if s[1]]
        result = self.query.result
        if isinstance(result, Ask):
            found = sorted(found, key=lambda s: (_end(s[1]) or 0, _start(s[1]) or 0))[:1]
        matches = [_match(result, _start(o) or 0, _end(o) or 0, row) for row, o in found]
        return [m for m in matches if m.graph != frozenset()]


def _match(result: object, start: int, end: int, row: Mapping) -> Match:
    if isinstance(result, Ask):
        return Match(start, end, frozenset())
    if isinstance(result, Construct):
        return Match(start, end, frozenset(), frozenset(template(result.template, dict(row), "m")))
    return Match(start, end, row)


def periodic(
    query: PeriodicQuery, events: Sequence[Event], static: Sequence[Triple], schema: Sequence[Triple], origin: int = 0
) -> list[Match]:
    """Rule 2: plain SPARQL over each window that holds an event, or at each close from the first event on."""
    step = query.sources[0].step.ticks(TimeKind.INTEGER, "ms")
    ranges = {s.stream.iri.value: s.range.ticks(TimeKind.INTEGER, "ms") for s in query.sources}
    if not events:
        return []
    found: list[Match] = []
    last = max(event.end for event in events) + max(ranges.values())
    first = (min(event.end for event in events) - origin) // step
    asked, every = False, query.report is Report.WINDOW_CLOSE
    earliest, latest = min(event.end for event in events), max(event.end for event in events)
    for number in range(first, (last - origin) // step + 1):
        at = origin + number * step
        inside = [e for e in events if at - ranges[e.stream] < e.end <= at]
        if not inside and not every:
            continue
        if every and (at < earliest or at - step >= latest):
            continue
        rows = _evaluated(query, inside, static, schema)
        if isinstance(query.result, Ask):
            rows, asked = ([] if asked else rows[:1]), asked or bool(rows)
        found += [_match(query.result, at, at, frozenset(row.items())) for row in rows]
    return [m for m in found if m.graph != frozenset()]


def _evaluated(
    query: PeriodicQuery, inside: Sequence[Event], static: Sequence[Triple], schema: Sequence[Triple]
) -> list[dict[str, Term]]:
    times: dict[Triple, int] = {}
    for event in inside:
        for triple in closed(event.triples, schema):
            times[triple] = max(times.get(triple, event.end), event.end)

    def timestamp(subject: Term, predicate: Term, object: Term) -> Term:
        if (triple := Triple(subject, predicate, object)) not in times:
            raise ExpressionError("no time")
        return Literal(str(times[triple]), XSD + "integer")

    graph = RDFGraph([*closed(static, schema), *times])
    return solutions(query.pattern, graph, context=replace(Context(), timestamp=timestamp))


def _matched(pattern: TriplePattern, triple: Triple) -> Mapping | None:
    row: Mapping | None = frozenset()
    for node, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
        if isinstance(node, Constant):
            row = row if node.term == term else None
        elif row is not None:
            row = _merged(row, frozenset({(node.name, term)}))
        if row is None:
            return None
    return row


def _merged(a: Mapping, b: Mapping) -> Mapping | None:
    known = dict(a)
    return a | b if all(known.get(name, term) == term for name, term in b) else None


def _start(occurrences: frozenset[Occurrence]) -> int | None:
    return min((o.start for o in occurrences), default=None)


def _end(occurrences: frozenset[Occurrence]) -> int | None:
    return max((o.end for o in occurrences), default=None)


def _tie(solution: Solution) -> tuple[object, ...]:
    row = sorted((name, str(term)) for name, term in solution[0])
    return _start(solution[1]) or 0, row, sorted((o.start, o.end) for o in solution[1])


def _sorted_below(pattern: Pattern) -> bool:
    while isinstance(pattern, (Project, Distinct)):
        pattern = pattern.pattern
    return isinstance(pattern, OrderBy)
