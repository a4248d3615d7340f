"""Patterns over occurrences to operators over rows (spec/50-sparkwave rule 1).

Triple patterns that are joined are one star, whatever group they stand in. All stars read one table of occurrences. What else
two sides make is a time join of rows while they are there, as in patterns in time; and each match is told once, by its mapping
and its occurrences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import assert_never

from scepter.algebra.continuous import ContinuousQuery
from scepter.algebra.expressions import Call, Constant, Exists, Expression, Variable
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
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.query import Select
from scepter.algebra.scope import certain, in_scope, mentioned_variables
from scepter.algebra.walk import find, find_outside
from scepter.optimizer.conditions import conjuncts
from scepter.physical.facts import Count
from scepter.physical.nodes import nodes
from scepter.physical.nodes.instant_nodes import Ordered, RowExtend, Sliced
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.star_nodes import (
    WORD,
    AskedNow,
    Counts,
    LiveGraph,
    MatchedOnce,
    Occurrences,
    OccurrenceScan,
    TripleStar,
)
from scepter.physical.nodes.time_nodes import Answers, Inline, Kind, Rename, StaticScan, TimeJoin
from scepter.physical.planning.pattern_properties import (
    asks_exists,
    asks_timestamp,
    can_repeat,
    is_ordered,
    is_semi_join,
    is_unsteady,
    outermost,
    sides,
    without_exists,
    without_filters,
)
from scepter.physical.planning.timestamps import told_times, with_times
from scepter.rdf.terms import IRI

_EVERY = TriplePattern(Variable("s"), Variable("p"), Variable("o"))
_MANY_STEPS = 16
_MODIFIERS = (OrderBy, Project, Distinct, Slice)


@dataclass(frozen=True, slots=True)
class StarFacts:
    """What is known of a query's streams and static data before the run."""

    sources: tuple[tuple[IRI, Counts], ...]
    otherwise: Counts
    count: Count
    exact: str = ""
    """Why what triples entail is found term by term."""
    pairwise: bool = False
    """Whether each triple pattern is a star of its own: the slow twin that stars are compared with."""

    @property
    def longest(self) -> int | None:
        """How long any triple counts, as far as that is bounded."""
        every = [counts for _, counts in self.sources] or [self.otherwise]
        ticks = [counts.ticks for counts in every if counts.ticks is not None]
        return max(ticks) if len(ticks) == len(every) else None


def plan_continuous(query: ContinuousQuery, facts: StarFacts) -> Node:
    """The operators of a continuous query."""
    layout = _Planner(facts, times=asks_timestamp(query.pattern))  # which patterns there are is known when all have been met
    layout.node(query.pattern, alone=True)
    scan = layout.scan()
    planner = _Planner(facts, times=layout.times, occurrences=_occurrences(scan))
    root = planner.node(query.pattern, alone=True)
    names = tuple(name for name in root.schema.variables if not name.startswith("_:"))
    if isinstance(query.result, Select):
        names = tuple(variable.name for variable, _ in query.result.columns)
    return Answers(root, names)


def _occurrences(scan: OccurrenceScan) -> Occurrences:
    last = tuple((iri, counts.last) for iri, counts in scan.sources if counts.last is not None)
    return Occurrences(scan, last, None if scan.sources else scan.otherwise.last)


@dataclass(slots=True)
class _Parts:
    """What is joined in a group."""

    triples: list[TriplePattern] = field(default_factory=list)
    graphs: list[tuple[IRI, TriplePattern]] = field(default_factory=list)
    conditions: list[Expression] = field(default_factory=list)
    others: list[Pattern] = field(default_factory=list)

    def add(self, pattern: Pattern) -> None:
        match pattern:
            case BGP(triples):
                self.triples += triples
            case Graph(Constant(IRI() as name), BGP(triples)):
                self.graphs += [(name, triple) for triple in triples]
            case Join(left, right):
                self.add(left)
                self.add(right)
            case Filter(condition, inner) if _is_star(inner) and _speaks_of(condition, inner):
                self.conditions += conjuncts(condition)
                self.add(inner)
            case _:
                self.others.append(pattern)


def _is_star(pattern: Pattern) -> bool:
    """Joins of triple patterns and of static ones, and filters over what those bind."""
    match pattern:
        case BGP(triples):
            return bool(triples)
        case Graph(Constant(IRI()), BGP()):
            return True
        case Join(left, right):
            return _is_star(left) and _is_star(right)
        case Filter(condition, inner):
            return _is_star(inner) and _speaks_of(condition, inner)
        case _:
            return False


def _speaks_of(condition: Expression, inner: Pattern) -> bool:
    """Whether a row's terms alone decide a condition, and all that it mentions is bound inside."""
    if asks_exists(condition) or any(call.function == "TIMESTAMP" or is_unsteady(call) for call in find(condition, Call)):
        return False
    return mentioned_variables(condition) <= certain(inner) & in_scope(inner)


@dataclass(slots=True)
class _Planner:
    facts: StarFacts
    times: bool
    occurrences: Node = field(default_factory=lambda: Inline((), ()))
    patterns: list[TriplePattern] = field(default_factory=list)
    local: list[tuple[int, tuple[Expression, ...]]] = field(default_factory=list)
    shown: set[tuple[int, int]] | None = field(default_factory=set)
    _live: LiveGraph | None = None
    _seen: set[TriplePattern] = field(default_factory=set)
    """What EXISTS looks at."""
    _number: int = 0

    def scan(self) -> OccurrenceScan:
        """The one scan of all stars, as far as patterns have been met."""
        facts, shown = self.facts, None if self.shown is None else frozenset(self.shown)
        return OccurrenceScan(
            tuple(self.patterns), facts.sources, facts.otherwise, tuple(self.local), shown, facts.exact
        )  # fmt: skip

    def name(self, what: str) -> str:
        self._number += 1
        return f"_:{what}{self._number}"

    # ---- patterns

    def node(self, pattern: Pattern, *, alone: bool = False) -> Node:
        """The operator of a pattern. `alone` says that what static data alone gives is of no use: it is no answer."""
        match pattern:
            case BGP() | Join() | Graph():
                return self._joined(pattern, alone=alone)
            case LeftJoin(left, right, condition):
                return self._optional(self.node(left, alone=alone), self.node(right), condition)
            case Minus(left, right):
                source = self.node(left, alone=alone)
                if not in_scope(left) & in_scope(right):
                    return source
                return TimeJoin(source, self.node(right), kind=Kind.MINUS, expiring=True)
            case Union():
                return nodes.union_of([self.node(side, alone=alone) for side in sides(pattern)])
            case Filter(condition, inner):
                return self._filter(condition, inner, alone=alone)
            case Extend():
                return self._extend(pattern, alone=alone)
            case Values(variables, rows):
                return Inline(tuple(v.name for v in variables), tuple(dict.fromkeys(rows)))
            case OrderBy() | Project() | Distinct() | Slice():
                return self._modifier(pattern, alone=alone)
            case PathPattern() | Group() | Related() | Match():
                raise AssertionError(f"{type(pattern).__name__} has no continuous form")
            case _:
                assert_never(pattern)

    def _joined(self, pattern: Pattern, *, alone: bool) -> Node:
        parts = _Parts()
        parts.add(pattern)
        if parts.others and not parts.triples and not parts.graphs and not parts.conditions and len(parts.others) == 1:
            return self._static(parts.others[0])  # GRAPH ?g, or a graph's pattern that is more than triples
        found: list[Node] = []
        if parts.triples:
            found += self._stars(parts, alone=alone and not parts.others)
        elif parts.graphs:
            static: Node = StaticScan(reduce(Join, (_graph(name, triple) for name, triple in parts.graphs)))
            found.append(nodes.Filter(static, tuple(parts.conditions)) if parts.conditions else static)
        found += [self._static(other) if isinstance(other, Graph) else self.node(other) for other in parts.others]
        if not found:
            return Inline((), ((),))
        return reduce(self._join, found)

    def _join(self, left: Node, right: Node) -> Node:
        return TimeJoin(left, right, longest=self.facts.longest, expiring=True)

    def _static(self, pattern: Pattern) -> Node:
        assert isinstance(pattern, Graph)
        return StaticScan(pattern)

    # ---- stars

    def _stars(self, parts: _Parts, *, alone: bool) -> list[Node]:
        """The joined triple patterns: one star, or several where they are too many for one."""
        size = 1 if self.facts.pairwise else WORD
        chunks = [parts.triples[at : at + size] for at in range(0, len(parts.triples), size)]
        if len(chunks) == 1:
            return [self._star(chunks[0], tuple(parts.graphs), tuple(parts.conditions), alone=alone)]
        joined = reduce(self._join, [self._star(chunk, (), (), alone=False) for chunk in chunks])
        if parts.graphs:
            joined = self._join(joined, StaticScan(reduce(Join, (_graph(name, triple) for name, triple in parts.graphs))))
        return [nodes.Filter(joined, tuple(parts.conditions)) if parts.conditions else joined]

    def _star(
        self,
        triples: Sequence[TriplePattern],
        graphs: tuple[tuple[IRI, TriplePattern], ...],
        conditions: tuple[Expression, ...],
        *,
        alone: bool,
    ) -> Node:
        first = self._place(triples, conditions)
        times = tuple(f"_:time{first + place}" for place in range(len(triples))) if self.times else ()
        star = TripleStar(self.occurrences, tuple(triples), first, graphs, conditions, self.facts.longest, times)
        self._show(star)
        if alone or not all(self.facts.count(triple, None) for triple in triples):
            return star
        pattern: Pattern = BGP(tuple(triples))
        for name, triple in graphs:
            pattern = Join(pattern, _graph(name, triple))
        static: Node = StaticScan(pattern)
        return nodes.Union(star, nodes.Filter(static, conditions) if conditions else static)

    def _place(self, triples: Sequence[TriplePattern], conditions: Sequence[Expression] = ()) -> int:
        """Give triple patterns their bits, all in one word."""
        if len(self.patterns) // WORD != (len(self.patterns) + len(triples) - 1) // WORD:
            self.patterns += [_NOTHING] * (-len(self.patterns) % WORD)
        first = len(self.patterns)
        self.patterns += triples
        for place, triple in enumerate(triples, first):
            names = {node.name for node in triple.places if isinstance(node, Variable)}
            own = tuple(c for c in conditions if (asked := mentioned_variables(c)) and asked <= names)
            if own:
                self.local.append((place, own))
        return first

    def _show(self, star: TripleStar) -> None:
        """Note where the texts of variables are taken from, as the joins do: objects first, since only they carry numbers."""
        every = (*star.triples, *(triple for _, triple in star.graphs))
        origins: dict[str, tuple[int, int]] = {}
        for position in (2, 0, 1):
            for number, triple in enumerate(every):
                if isinstance(node := triple.places[position], Variable):
                    origins.setdefault(node.name, (number, position))
        if self.shown is not None:
            self.shown |= {(star.first + number, p) for number, p in origins.values() if number < len(star.triples)}

    # ---- two sides, filters

    def _optional(self, left: Node, right: Node, condition: Expression | None) -> Node:
        tests = [] if condition is None else list(conjuncts(condition))
        told = (*told_times(left), *told_times(right))
        live = self._live_graph([e for test in tests for e in outermost(test)]) if any(map(asks_exists, tests)) else None
        return TimeJoin(
            left, right, None, Kind.OUTER, self.facts.longest, tuple(with_times(test, told) for test in tests), live,
            expiring=True,
        )  # fmt: skip

    def _filter(self, condition: Expression, inner: Pattern, *, alone: bool) -> Node:
        if _is_star(inner) and _speaks_of(condition, inner):
            return self._joined(Filter(condition, inner), alone=alone)
        source = self.node(inner, alone=alone)
        names = source.schema.variables
        plain: list[Expression] = []
        asking: list[Expression] = []
        for test in conjuncts(condition):
            if is_semi_join(test):
                source = self._semi_join(source, test)
            elif asks_exists(test):
                asking.append(test)
            else:
                plain.append(test)
        if plain:
            source = nodes.Filter(source, tuple(with_times(test, told_times(source)) for test in plain))
        if asking:
            source, rest = self._asked(source, asking)
            source = nodes.Project(nodes.Filter(source, tuple(rest)), names)
        return source

    def _semi_join(self, source: Node, test: Expression) -> Node:
        assert isinstance(test, Exists)
        inner, conditions = without_filters(test.pattern)
        kind = Kind.ANTI if test.negated else Kind.SEMI
        return TimeJoin(source, self.node(inner), None, kind, conditions=tuple(conditions), expiring=True)

    def _asked(self, source: Node, expressions: Sequence[Expression]) -> tuple[Node, list[Expression]]:
        """Rows that have the answers of the EXISTS in some expressions, and the expressions over those and over times."""
        told = told_times(source)
        asked = [exists for each in expressions for exists in outermost(each)]
        if not asked:
            return source, [with_times(each, told) for each in expressions]
        names = {id(exists): self.name("exists") for exists in asked}
        found = AskedNow(source, self._live_graph(asked), tuple((names[id(exists)], exists) for exists in asked))
        return found, [with_times(without_exists(each, names), told) for each in expressions]

    def _live_graph(self, asked: Sequence[Exists]) -> LiveGraph:
        """What is in the windows, for EXISTS that no join answers."""
        patterns: list[TriplePattern] = []
        for exists in asked:
            patterns += find_outside(exists.pattern, TriplePattern, (Graph,))
            if next(find_outside(exists.pattern, PathPattern, (Graph,)), None) is not None:
                patterns.append(_EVERY)
        for triple in dict.fromkeys(patterns):
            if triple not in self._seen:  # of a star's own pattern, some triples may have failed its conditions
                self._seen.add(triple)
                self._place([triple])
        self.shown = None  # whole triples are looked at
        if self._live is None:
            self._live = LiveGraph(self.occurrences)
        return self._live

    # ---- one side

    def _extend(self, pattern: Extend, *, alone: bool) -> Node:
        steps: list[tuple[str, Expression]] = []
        inner: Pattern = pattern
        while isinstance(inner, Extend):
            steps.insert(0, (inner.variable.name, inner.expression))
            inner = inner.pattern
        return self._extended(self.node(inner, alone=alone), steps)

    def _extended(self, source: Node, steps: Sequence[tuple[str, Expression]]) -> Node:
        """A chain of BINDs; those that have another value each time share one set of blank nodes, and many are one operator:
        no plan is deep."""
        if len(steps) > _MANY_STEPS or any(map(is_unsteady, (call for _, each in steps for call in find(each, Call)))):
            found, expressions = self._asked(source, [expression for _, expression in steps])
            return RowExtend(found, tuple(zip((name for name, _ in steps), expressions, strict=True)))
        for name, expression in steps:
            source, (made,) = self._asked(source, [expression])
            source = nodes.Extend(source, name, made)
        return source

    def _modifier(self, pattern: OrderBy | Project | Distinct | Slice, *, alone: bool) -> Node:
        inner = self.node(pattern.pattern, alone=alone)
        if not isinstance(pattern.pattern, _MODIFIERS) and can_repeat(pattern.pattern) and _combines(inner):
            inner = MatchedOnce(inner, occurrences=True)
        match pattern:
            case Project(_, variables):
                return self._project(inner, [variable.name for variable in variables])
            case Distinct():
                return MatchedOnce(inner, occurrences=False)
            case OrderBy(_, conditions):
                return self._ordered(inner, conditions)
            case Slice(child, offset, limit):
                return Sliced(inner, offset, limit, is_ordered(child))

    def _project(self, source: Node, visible: Sequence[str]) -> Node:
        """The variables that stay visible, and what tells times and when rows go."""
        if self.times:  # a time is asked for by terms that may be out of sight
            mark = self.name("hidden")
            known = source.schema.variables
            renamed = [n if n in visible or n.startswith("_:") else f"{mark}.{n}" for n in known]
            return source if tuple(renamed) == known else Rename(source, tuple(renamed))
        kept = [name for name in visible if name in source.schema.variables]
        hidden = [name for name in source.schema.variables if name.startswith("_:")]
        names = (*kept, *hidden)
        return source if names == source.schema.variables else nodes.Project(source, names)

    def _ordered(self, source: Node, conditions: Sequence[tuple[Expression, bool]]) -> Node:
        keys: list[tuple[str, bool]] = []
        wide = source
        for expression, descending in conditions:
            if isinstance(expression, Variable) and expression.name in source.schema.variables:
                keys.append((expression.name, descending))
                continue
            keys.append((self.name("value"), descending))
            wide = self._extended(wide, [(keys[-1][0], expression)])
        ordered = Ordered(wide, tuple(keys))
        return ordered if wide is source else nodes.Project(ordered, source.schema.variables)


_NOTHING = TriplePattern(Constant(IRI("urn:scepter:nothing")), Constant(IRI("urn:scepter:nothing")), Variable("o"))
"""Fills a word of bits up."""


def _graph(name: IRI, triple: TriplePattern) -> Pattern:
    return Graph(Constant(name), BGP((triple,)))


def _combines(node: Node) -> bool:
    """Whether rows of several stars, or of other sides, come together in it."""
    return any(isinstance(each, (TimeJoin, nodes.Union)) for each in nodes.nodes(node))
