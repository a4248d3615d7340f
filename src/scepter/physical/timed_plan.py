"""Patterns over triple occurrences to operators over rows (spec/20-ep-sparql), or why they have none.

A triple pattern is a scan, a basic graph pattern a join of scans, and every operator of two sides one `TimeJoin`. Bounds on the
duration go down into both sides of a join and the mandatory side of an optional one (rule 11): an optional part that is out
of bounds still keeps its partner from standing alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias, assert_never

from scepter.algebra.expressions import Call, Constant, Exists, Expression, In, Variable
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
    NegatedPropertySet,
    OrderBy,
    PathPattern,
    Pattern,
    Project,
    Related,
    Side,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.query import Ask, Select
from scepter.algebra.scope import certain, in_scope, mentioned_variables
from scepter.algebra.timed import TIME_FUNCTIONS, Rule, TimedProgram, TimedQuery
from scepter.algebra.timed_bounds import duration_bounds
from scepter.algebra.walk import find, rewrite
from scepter.ontology.schema import Schema as OntologySchema
from scepter.optimizer.conditions import conjuncts
from scepter.physical import nodes
from scepter.physical.derive_nodes import Derive, DerivedRule, Picked, Recalled
from scepter.physical.nodes import Node, TripleScan
from scepter.physical.strata import feeds_pattern, strata
from scepter.physical.time_nodes import (
    Answers,
    Inline,
    Kind,
    Once,
    Rename,
    StaticScan,
    TimeFilter,
    TimeJoin,
    TimeValues,
    hidden,
)
from scepter.rdf.terms import IRI
from scepter.rdf.values import to_literal
from scepter.timeline import Allen, TimeKind

_VOLATILE = frozenset(("RAND", "UUID", "STRUUID", "BNODE", "NOW"))


@dataclass(frozen=True, slots=True)
class TimedFacts:
    """What is known of a run before it starts."""

    kind: TimeKind
    static: bool = False
    """Whether the default graph or an ontology holds triples."""
    policy: bool = False
    """Whether a policy consumes what it pairs."""
    entails: bool = False
    """Whether there is an ontology."""


_Stratum: TypeAlias = tuple[Derive, tuple[Rule, ...]]
_ScanKey: TypeAlias = tuple[TriplePattern, tuple[IRI, ...] | None]


class _NoColumnsError(Exception):
    """A construct that has no operator over rows, in words."""


def plan_timed(part: TimedQuery | Rule, facts: TimedFacts) -> Node | str:
    """The operators of a query or a rule; a sentence where a construct of it has none.

    >>> from scepter.algebra.patterns import TriplePattern as T
    >>> price = BGP((T(Variable("c"), Constant(IRI("http://e/price")), Variable("p")),))
    >>> from scepter.algebra.notation import Notation
    >>> query = TimedQuery(Ask(), Join(price, price))
    >>> from scepter.physical.nodes import nodes as every
    >>> [type(node).__name__ for node in every(plan_timed(query, TimedFacts(TimeKind.INTEGER)))]
    ['TripleScan', 'Once', 'TimeJoin', 'Answers']
    >>> plan_timed(TimedQuery(Ask(), Slice(price, 0, 1)), TimedFacts(TimeKind.INTEGER))
    'LIMIT and OFFSET choose among the rows of one end'
    """
    try:
        return _answers(part, _Planner.of(part, facts).node(part.pattern, None, alone=True))
    except _NoColumnsError as reason:
        return str(reason)


def plan_program(program: TimedProgram, facts: TimedFacts) -> tuple[Node, ...] | str:
    """The operators of each query of a program, over the stream and what its rules derive."""
    if facts.entails and program.rules:
        return "what rules derive entails more"
    schema = OntologySchema.from_triples(())
    derives: tuple[_Stratum, ...] = ()
    try:
        for stratum in strata(program.rules, schema):
            together = tuple(program.rules[i] for i in stratum)
            if any(feeds_pattern(rule, each.pattern, schema) for rule in together for each in program.parts):
                scans: dict[_ScanKey, Node] = {}
                made = [
                    _derived(i, program.rules[i], _Planner.of(program.rules[i], facts, derives, together, scans))
                    for i in stratum
                ]
                derives = (*derives, (Derive(tuple(made)), together))
        planners = [(query, _Planner.of(query, facts, derives)) for query in program.queries]
        return tuple(_answers(query, planner.node(query.pattern, None, alone=True)) for query, planner in planners)
    except _NoColumnsError as reason:
        return str(reason)


def _derived(number: int, rule: Rule, planner: _Planner) -> DerivedRule:
    return DerivedRule(number, rule.label, rule.template, planner.node(rule.pattern, None, alone=True), rule.span)


def _answers(part: TimedQuery | Rule, root: Node) -> Node:
    if not any(isinstance(leaf, TripleScan | Picked) for leaf in nodes.nodes(root)):
        raise _NoColumnsError("no triple pattern reads the stream")
    if isinstance(part, TimedQuery) and isinstance(part.result, Select):
        return Answers(root, tuple(variable.name for variable, _ in part.result.columns))
    return Answers(root, root.schema.variables)


def decides_late(part: TimedQuery | Rule) -> bool:
    """Whether something that ends at the same time can change an answer, so that it waits until its instant is closed."""
    if isinstance(part, TimedQuery) and isinstance(part.result, Ask):
        return True  # it answers once, with the first of the instant
    if any(next(find(part.pattern, kind), None) is not None for kind in (LeftJoin, Minus, Exists, Group, Slice)):
        return True
    return any(r.optional is Side.RIGHT and r.relation is Allen.EQUALS for r in find(part.pattern, Related))


def is_plain(pattern: Pattern) -> bool:
    """Whether a pattern says nothing of time: it then keeps SPARQL's multiplicities (rule 8)."""
    if next(find(pattern, Related), None) is not None:
        return False
    return not any(call.function in TIME_FUNCTIONS for call in find(pattern, Call))


def needs_no_triple(pattern: Pattern) -> bool:
    """Whether a pattern can have a solution that needs no triple, streamed or static: it holds at each instant (rule 13)."""
    match pattern:
        case BGP(triples):
            return not triples
        case Values():
            return True
        case PathPattern() | Graph() | Match():
            return False
        case Join(left, right):
            return needs_no_triple(left) and needs_no_triple(right)
        case Union(left, right):
            return needs_no_triple(left) or needs_no_triple(right)
        case Related(left, right, _, optional):
            return all(needs_no_triple(p) for side, p in ((Side.LEFT, left), (Side.RIGHT, right)) if optional is not side)
        case LeftJoin(left) | Minus(left):
            return needs_no_triple(left)
        case Filter() | Extend() | Project() | Distinct() | OrderBy() | Slice() | Group():
            return needs_no_triple(pattern.pattern)
        case _:
            assert_never(pattern)


@dataclass(slots=True)
class _Planner:
    facts: TimedFacts
    streams: tuple[IRI, ...] | None
    plain: bool
    """Whether UNION, VALUES and paths keep how often they give a solution."""
    derives: tuple[_Stratum, ...] = ()
    """What feeds the stream, with its rules."""
    together: tuple[Rule, ...] = ()
    """The rules of the same stratum."""
    _scans: dict[_ScanKey, Node] = field(default_factory=dict)
    """Equal triple patterns over the same streams are one scan."""
    _numbers: Iterator[int] = field(default_factory=count)

    @classmethod
    def of(
        cls,
        part: TimedQuery | Rule,
        facts: TimedFacts,
        derives: tuple[_Stratum, ...] = (),
        together: tuple[Rule, ...] = (),
        scans: dict[_ScanKey, Node] | None = None,
    ) -> _Planner:
        sources = part.sources
        if facts.policy:
            raise _NoColumnsError("a policy consumes what it pairs")
        if sources.default is not None or sources.named is not None:
            raise _NoColumnsError("FROM chooses among the background graphs")
        plain = is_plain(part.pattern) and part.window is None
        return cls(facts, sources.streams, plain, derives, together, {} if scans is None else scans)

    def node(self, pattern: Pattern, longest: int | None, *, alone: bool = False) -> Node:
        """The operator of a pattern. `longest` is the longest duration its rows may have to be of use, `alone` says that no
        join gives its rows a time."""
        if alone and needs_no_triple(pattern):
            raise _NoColumnsError("what needs no triple holds at each instant")
        match pattern:
            case BGP(triples):
                return self._bgp(triples, longest)
            case PathPattern():
                return self._path(pattern)
            case Values(variables, rows):
                return self._values(tuple(v.name for v in variables), rows)
            case Graph():
                number = self._name("row") if self.plain else None
                return StaticScan(pattern, number)
            case Join(left, right):
                return TimeJoin(self.node(left, longest), self.node(right, longest), longest=longest)
            case Related():
                return self._related(pattern, longest)
            case LeftJoin(left, right, condition):
                return self._optional(left, right, None, condition, longest)
            case Minus(left, right):
                source = self.node(left, longest, alone=True)
                return TimeJoin(source, self.node(right, None), kind=Kind.MINUS) if in_scope(left) & in_scope(right) else source
            case Union():
                return self._union(pattern, longest, alone=alone)
            case Filter(condition, inner):
                return self._filter(condition, inner, longest, alone=alone)
            case Extend():
                return self._extend(pattern, longest, alone=alone)
            case Project(inner, variables):
                return self._project(self.node(inner, longest, alone=alone), {v.name for v in variables})
            case Distinct(inner):
                source = self.node(inner, longest, alone=alone)
                return Once(nodes.Project(source, tuple(n for n in source.schema.variables if not n.startswith("_:"))))
            case Group():
                raise _NoColumnsError("aggregates run over groups of solutions")
            case OrderBy() | Slice():
                what = "ORDER BY orders" if isinstance(pattern, OrderBy) else "LIMIT and OFFSET choose among"
                raise _NoColumnsError(f"{what} the rows of one end")
            case Match():
                raise AssertionError("only windows are matched")
            case _:
                assert_never(pattern)

    def _name(self, what: str) -> str:
        return f"_:{what}{next(self._numbers)}"

    # ---- leaves

    def _bgp(self, triples: Sequence[TriplePattern], longest: int | None) -> Node:
        if not triples:
            return Inline((), ((),))
        first, *rest = _in_order(triples)
        found = self._scan(first)
        for triple in rest:
            found = TimeJoin(found, self._scan(triple), longest=longest)
        return found

    def _scan(self, triple: TriplePattern) -> Node:
        known = self._scans.get((triple, self.streams))
        if known is None:
            scan: Node = TripleScan(triple, self.streams)
            if self.facts.static:
                scan = nodes.Union(scan, StaticScan(BGP((triple,))))
            for derive, rules in self.derives:
                if _feed(rules, triple):
                    scan = nodes.Union(scan, Picked(derive, triple))
            if _feed(self.together, triple):
                scan = nodes.Union(scan, Recalled(triple))
            known = self._scans[triple, self.streams] = Once(scan)
        return known

    def _path(self, pattern: PathPattern) -> Node:
        """A negated set is one triple with another predicate; as such it keeps how often it matches."""
        path = pattern.path
        if not isinstance(path, NegatedPropertySet):
            raise _NoColumnsError("a path of any length is matched within one event")
        sides = []
        if path.forward or not path.backward:
            sides.append((pattern.subject, pattern.object, path.forward))
        if path.backward:
            sides.append((pattern.object, pattern.subject, path.backward))
        found: list[Node] = []
        for subject, object, excluded in sides:
            predicate = Variable(self._name("path"))
            scan = self._scan(TriplePattern(subject, predicate, object))
            unwanted = In(predicate, tuple(Constant(iri) for iri in excluded), negated=True)
            found.append(TimeFilter(scan, (unwanted,)) if excluded else scan)
        return found[0] if len(found) == 1 else nodes.Union(found[0], found[1])

    def _values(self, names: tuple[str, ...], rows: tuple[tuple[object, ...], ...]) -> Node:
        if self.plain:
            numbered = tuple((*row, to_literal(number)) for number, row in enumerate(rows))
            return Inline((*names, self._name("row")), numbered)  # type: ignore[arg-type]
        return Inline(names, tuple(dict.fromkeys(rows)))  # type: ignore[arg-type]

    # ---- two sides

    def _related(self, pattern: Related, longest: int | None) -> Node:
        left, right, relation = pattern.left, pattern.right, pattern.relation
        if pattern.optional is Side.LEFT:
            return self._optional(right, left, relation.inverse, pattern.condition, longest)
        if pattern.optional is Side.RIGHT:
            return self._optional(left, right, relation, pattern.condition, longest)
        return TimeJoin(self.node(left, longest), self.node(right, longest), relation, longest=longest)

    def _optional(
        self, mandatory: Pattern, optional: Pattern, relation: Allen | None, condition: Expression | None, longest: int | None
    ) -> Node:
        conditions = () if condition is None else tuple(conjuncts(condition))
        if any(map(_asks_exists, conditions)):
            raise _NoColumnsError("the FILTER of an optional group asks EXISTS")
        # Equal intervals are equally long. Any other optional part may be longer than the bound.
        inner = longest if relation is Allen.EQUALS else None
        sides = self.node(mandatory, longest, alone=True), self.node(optional, inner)
        return TimeJoin(*sides, relation, Kind.OUTER, longest, conditions)

    def _union(self, pattern: Union, longest: int | None, *, alone: bool) -> Node:
        mark = self._name("side")
        sides = [self.node(side, longest, alone=alone) for side in _sides(pattern)]
        if self.plain:
            sides = [nodes.Extend(side, mark, Constant(to_literal(number))) for number, side in enumerate(sides)]
        found = nodes.union_of(sides)
        return found if self.plain else Once(found)

    # ---- one side

    def _filter(self, condition: Expression, inner: Pattern, longest: int | None, *, alone: bool) -> Node:
        kind = self.facts.kind
        limits = [limit for each in duration_bounds(condition) if (limit := each.longest(kind)) is not None]
        tightest = min([*limits, *(() if longest is None else (longest,))], default=None)
        tests = conjuncts(condition)
        found = self.node(inner, tightest, alone=alone or any(map(_asks_exists, tests)))
        if plain := tuple(test for test in tests if not _asks_exists(test)):
            _check_steady(plain)
            found = TimeFilter(found, plain)
        for test in tests:
            if _asks_exists(test):
                found = self._exists(found, test)
        return found

    def _exists(self, source: Node, test: Expression) -> Node:
        """EXISTS is a semi-join where putting the outer row's terms into the pattern only chooses among its solutions."""
        if not isinstance(test, Exists):
            raise _NoColumnsError("EXISTS stands inside another condition")
        inner, conditions = test.pattern, list[Expression]()
        while isinstance(inner, Filter) and not _asks_exists(inner.condition):
            conditions += conjuncts(inner.condition)
            inner = inner.pattern
        if not _only_chooses(inner):
            raise _NoColumnsError("EXISTS asks for more than a join of triple patterns")
        _check_steady(conditions)
        kind = Kind.ANTI if test.negated else Kind.SEMI
        return TimeJoin(source, self.node(inner, None), None, kind, conditions=tuple(conditions))

    def _extend(self, pattern: Extend, longest: int | None, *, alone: bool) -> Node:
        expression = pattern.expression
        if _asks_exists(expression):
            raise _NoColumnsError("BIND asks EXISTS")
        _check_steady((expression,))
        source = self.node(pattern.pattern, longest, alone=alone)
        functions = tuple(sorted({call.function for call in find(expression, Call) if call.function in TIME_FUNCTIONS}))
        if not functions:
            return nodes.Extend(source, pattern.variable.name, expression)
        timed = nodes.Extend(TimeValues(source, functions), pattern.variable.name, with_variables(expression))
        return nodes.Project(timed, (*source.schema.variables, pattern.variable.name))

    def _project(self, source: Node, visible: set[str]) -> Node:
        mark = self._name("hidden")
        names = tuple(name if name in visible else f"{mark}.{name}" for name in source.schema.variables)
        return source if names == source.schema.variables else Rename(source, names)


def _feed(rules: Sequence[Rule], triple: TriplePattern) -> bool:
    schema = OntologySchema.from_triples(())
    return any(feeds_pattern(rule, BGP((triple,)), schema) for rule in rules)


def asks_time(expression: Expression) -> bool:
    """Whether an expression asks when a row happened."""
    return any(call.function in TIME_FUNCTIONS for call in find(expression, Call))


def with_variables(expression: Expression) -> Expression:
    """An expression in which the time functions are variables."""

    def replaced(node: Expression) -> Expression:
        return Variable(hidden(node.function)) if isinstance(node, Call) and node.function in TIME_FUNCTIONS else node

    return rewrite(expression, replaced)  # type: ignore[arg-type]


def _asks_exists(expression: Expression) -> bool:
    return next(find(expression, Exists), None) is not None


def _check_steady(expressions: Iterable[Expression]) -> None:
    for call in (call for expression in expressions for call in find(expression, Call)):
        if call.function in _VOLATILE:
            raise _NoColumnsError(f"{call.function} has another value each time")


def _only_chooses(pattern: Pattern) -> bool:
    """Joins and unions of triple patterns, and filters over what those bind."""
    match pattern:
        case BGP(triples):
            return bool(triples)
        case Join(left, right) | Union(left, right) | Related(left, right, _, None):
            return _only_chooses(left) and _only_chooses(right)
        case Filter(condition, inner):
            return _only_chooses(inner) and not _asks_exists(condition) and mentioned_variables(condition) <= certain(inner)
        case _:
            return False


def _sides(pattern: Union) -> Iterator[Pattern]:
    pending: list[Pattern] = [pattern]
    while pending:  # a long chain of UNIONs is a list, not a deep tree
        node = pending.pop()
        if isinstance(node, Union):
            pending += (node.right, node.left)
        else:
            yield node


def _in_order(triples: Sequence[TriplePattern]) -> list[TriplePattern]:
    """As written, but always one that hangs together with those before it: others would multiply the rows."""
    left, found, bound = list(triples), list[TriplePattern](), set[str]()
    while left:
        names = {id(t): in_scope(BGP((t,))) for t in left}
        best = max(left, key=lambda t: not bound or not names[id(t)] or bool(names[id(t)] & bound))  # the first of equals
        left.remove(best)
        found.append(best)
        bound |= names[id(best)]
    return found
