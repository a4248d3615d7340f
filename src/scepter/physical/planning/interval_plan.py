"""Patterns over triple occurrences to operators over rows (spec/20-ep-sparql).

A triple pattern is a scan, a basic graph pattern a join of scans, and every operator of two sides one `TimeJoin`. Bounds on the
duration go down into both sides of a join and the mandatory side of an optional one (rule 11): an optional part that is out
of bounds still keeps its partner from standing alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from scepter.algebra.expressions import Aggregate, Call, Constant, Exists, Expression, Variable
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
    Side,
    Slice,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.query import Counting, Select
from scepter.algebra.scope import in_scope
from scepter.algebra.timed import TIME_FUNCTIONS, Rule, TimedProgram, TimedQuery
from scepter.algebra.timed_bounds import duration_bounds, least_duration
from scepter.algebra.walk import find, walk
from scepter.ontology.schema import compiled
from scepter.optimizer.conditions import conjuncts
from scepter.physical.nodes import nodes
from scepter.physical.nodes.derive_nodes import Derive, DerivedRule, Recalled
from scepter.physical.nodes.instant_nodes import (
    Asked,
    EventScan,
    Ordered,
    Paired,
    Remembered,
    RowExtend,
    Sliced,
    TimeGroup,
)
from scepter.physical.nodes.nodes import Node
from scepter.physical.nodes.time_nodes import (
    AnsweredOnce,
    Answers,
    EveryInstant,
    GapJoin,
    Inline,
    Instants,
    Kind,
    Once,
    Rename,
    StaticScan,
    TimeFilter,
    TimeJoin,
    TimeValues,
)
from scepter.physical.planning.absences import Absence, absence, gap, push_semi_joins
from scepter.physical.planning.interval_leaves import IntervalFacts, Leaves, ScanKey, Stratum
from scepter.physical.planning.linear_rules import in_one_pass
from scepter.physical.planning.pattern_properties import (
    asks_exists,
    is_constant,
    is_ordered,
    is_plain,
    is_semi_join,
    is_static,
    is_unsteady,
    looks_at_times,
    needs_no_triple,
    outermost,
    outermost_group,
    sides,
    with_variables,
    without_exists,
    without_filters,
)
from scepter.physical.planning.strata import feeds_pattern, strata, whole_nodes
from scepter.rdf.terms import IRI
from scepter.rdf.values import to_literal
from scepter.timeline import Allen

_PASSING = (Union, Filter, Extend, OrderBy, Project, Distinct, Slice)
"""Whose inputs stand alone where they do."""
_EVENT = BGP((TriplePattern(Variable("s"), Variable("p"), Variable("o")),))
_PAIRING = (Allen.BEFORE, Allen.EQUALS)


def plan_program(program: TimedProgram, facts: IntervalFacts) -> tuple[Node, ...]:
    """The operators of each query of a program, over the stream and what its rules derive.

    >>> from scepter.algebra.query import Ask
    >>> from scepter.physical.nodes.nodes import nodes as every
    >>> from scepter.timeline import TimeKind
    >>> anything = BGP((TriplePattern(Variable("s"), Variable("p"), Variable("o")),))
    >>> program = TimedProgram((TimedQuery(Ask(), Join(anything, anything)),))
    >>> [type(node).__name__ for node in every(plan_program(program, IntervalFacts(TimeKind.INTEGER))[0])]
    ['TripleScan', 'Once', 'TimeJoin', 'Answers']
    """
    schema = compiled(facts.ontology)
    graphs = any(next(find(part.pattern, PathPattern), None) is not None for part in program.parts)
    derives: tuple[Stratum, ...] = ()
    for stratum in strata(program.rules, schema):
        together = tuple(program.rules[i] for i in stratum)
        if any(feeds_pattern(rule, each.pattern, schema) for rule in together for each in program.parts):
            scans: dict[ScanKey, Node] = {}
            whole = () if graphs or facts.ontology or facts.policy else whole_nodes(together, program.parts)
            planners = [_Planner.of(rule, facts, derives, together, scans, whole) for rule in together]
            made = [_derived(i, program.rules[i], planner) for i, planner in zip(stratum, planners, strict=True)]
            derive = Derive(tuple(made), graphs, whole, entailing=bool(facts.ontology))
            one_pass = not facts.ontology and facts.policy is None and in_one_pass(derive, facts.kind)
            derives = (*derives, (replace(derive, one_pass=one_pass), together))
    return push_semi_joins([_answers(query, _Planner.of(query, facts, derives)) for query in program.queries])


def _derived(number: int, rule: Rule, planner: _Planner) -> DerivedRule:
    return DerivedRule(number, rule.label, rule.template, planner.node(rule.pattern, None, alone=True), rule.span)


def _answers(part: TimedQuery | Rule, planner: _Planner) -> Node:
    planner.always = not is_static(part.pattern)
    root = planner.node(part.pattern, None, alone=True)
    if not planner.always:
        root = AnsweredOnce(root, planner.instants)
    shown = root.schema.variables
    if isinstance(part, TimedQuery) and isinstance(part.result, Select):
        shown = tuple(variable.name for variable, _ in part.result.columns)
    if not planner.tracked:
        return Answers(root, shown)
    return Answers(root, shown, once=tuple(name for name in root.schema.variables if name not in planner.invented))


@dataclass(slots=True)
class _Planner(Leaves):
    windowed: Group | None = None
    """The grouping that has a window."""
    rows: int | None = None
    duration: int | None = None
    always: bool = True
    """Whether what needs no triple holds at each instant of a plain query."""
    instants: Instants = field(default_factory=Instants)

    @classmethod
    def of(
        cls,
        part: TimedQuery | Rule,
        facts: IntervalFacts,
        derives: tuple[Stratum, ...] = (),
        together: tuple[Rule, ...] = (),
        scans: dict[ScanKey, Node] | None = None,
        whole: tuple[IRI, ...] = (),
    ) -> _Planner:
        window = part.window
        plain = is_plain(part.pattern) and window is None and facts.policy is None
        rows = window.events if isinstance(window, Counting) else None
        duration = None if window is None or isinstance(window, Counting) else window.duration
        try:
            ticks = None if duration is None else duration.ticks(facts.kind, facts.time_unit)
        except ValueError:
            ticks = None  # told with its place when the run is set up
        group = None if window is None else outermost_group(part.pattern)
        shared = {} if scans is None else scans
        return cls(facts, part.sources, plain, derives, together, whole, shared, windowed=group, rows=rows, duration=ticks)

    def node(self, pattern: Pattern, longest: int | None, *, alone: bool = False) -> Node:
        """The operator of a pattern. `longest` is the longest duration its rows may have to be of use, `alone` says that no
        join gives its rows a time: the whole query, or a mandatory side."""
        if not (self.plain and self.always):
            return self._node(pattern, longest, alone=alone)
        if is_constant(pattern):
            # Nothing in it has a time, mandatory sides neither: rows of one kind only can be told to be equal.
            made = replace(self, always=False)._node(pattern, longest, alone=False)
            return EveryInstant(made, self.instants) if alone and needs_no_triple(pattern) else made
        made = self._node(pattern, longest, alone=alone)
        if not alone or isinstance(pattern, _PASSING) or not needs_no_triple(pattern):
            return made
        return EveryInstant(made, self.instants)

    def _node(self, pattern: Pattern, longest: int | None, *, alone: bool) -> Node:
        match pattern:
            case BGP(triples):
                return self.bgp(triples, longest)
            case PathPattern():
                return self.path(pattern)
            case Values(variables, rows):
                return self.values(tuple(v.name for v in variables), rows)
            case Graph():
                return StaticScan(pattern, self.name("row") if self.plain else None, self.sources)
            case Join(left, right):
                return TimeJoin(self._side(left, longest), self._side(right, longest), longest=longest)
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
                return self._group(pattern)
            case OrderBy(inner, conditions):
                return self._ordered(self.node(inner, longest, alone=alone), conditions)
            case Slice(inner, offset, limit):
                # A bound would take rows away before they are counted.
                return Sliced(self.node(inner, None, alone=alone), offset, limit, is_ordered(inner))
            case Match():
                raise AssertionError("only windows are matched")
            case _:
                assert_never(pattern)

    # ---- two sides

    def _side(self, pattern: Pattern, longest: int | None, *, alone: bool = False) -> Node:
        """A side of a join. Rows of DISTINCT or GROUP BY that leave a variable unbound may become equal to others with their
        partners; where multiplicities count, what they bind themselves then tells them apart."""
        found = self.node(pattern, longest, alone=alone)
        while isinstance(pattern, Filter | Extend | OrderBy | Project | Slice):
            pattern = pattern.pattern
        if self.plain and isinstance(pattern, Distinct | Group):
            for name in found.schema.variables:
                if name not in found.schema.certain and not name.startswith("_:"):
                    found = nodes.Extend(found, self.name("own"), Variable(name))
        return found

    def _related(self, pattern: Related, longest: int | None) -> Node:
        left, right, relation = pattern.left, pattern.right, pattern.relation
        if pattern.optional is Side.LEFT:
            return self._optional(right, left, relation.inverse, pattern.condition, longest)
        if pattern.optional is Side.RIGHT:
            return self._optional(left, right, relation, pattern.condition, longest)
        both = self.node(left, longest), self.node(right, longest)
        if self.tracked and relation in _PAIRING:
            return Paired(*both, relation, self.facts.policy == "recent", longest)
        return TimeJoin(*both, relation, longest=longest)

    def _optional(
        self, mandatory: Pattern, optional: Pattern, relation: Allen | None, condition: Expression | None, longest: int | None
    ) -> Node:
        conditions = () if condition is None else tuple(conjuncts(condition))
        # Equal intervals are equally long. Any other optional part may be longer than the bound.
        inner = longest if relation is Allen.EQUALS else None
        both = self._side(mandatory, longest, alone=True), self._side(optional, inner)
        asked = [exists for each in conditions for exists in outermost(each)]
        return TimeJoin(
            *both, relation, Kind.OUTER, longest, conditions, self._remembered(asked) if asked else None, self.plain
        )

    def _union(self, pattern: Union, longest: int | None, *, alone: bool) -> Node:
        mark, apart = self.name("side"), self.plain or self.tracked
        each = [self.node(side, longest, alone=alone) for side in sides(pattern)]
        if apart:
            each = [nodes.Extend(side, mark, Constant(to_literal(number))) for number, side in enumerate(each)]
        found = nodes.union_of(each)
        return found if apart else Once(found)

    # ---- one side

    def _filter(self, condition: Expression, inner: Pattern, longest: int | None, *, alone: bool) -> Node:
        kind = self.facts.kind
        limits = [limit for each in duration_bounds(condition) if (limit := each.longest(kind)) is not None]
        tightest = min([*limits, *(() if longest is None else (longest,))], default=None)
        tests = conjuncts(condition)
        missing = None if needs_no_triple(inner) else absence(tests, inner)
        if missing is not None:
            found, tests = self._absence(missing, inner, tightest), list(missing.rest)
        else:
            found = self.node(inner, tightest, alone=alone or any(map(asks_exists, tests)))
        asking = [test for test in tests if asks_exists(test) and not is_semi_join(test)]
        if plain := tuple(test for test in tests if not asks_exists(test)):
            found = TimeFilter(found, plain)
        for test in tests:
            if isinstance(test, Exists) and is_semi_join(test):
                found = self._semi_join(found, test)
        if asking:
            names = found.schema.variables
            source, rest = self._asked(found, asking)
            found = nodes.Project(TimeFilter(source, tuple(rest)), names)
        return found

    def _absence(self, found: Absence, inner: Pattern, longest: int | None) -> Node:
        """The rows that stay without an optional part; what it would have bound is unbound."""
        missing = gap(found, self._fed) if self._all_timed else None
        if missing is not None:
            ends = self.node(missing.left, longest), self.node(missing.right, longest)
            shortest = max((least_duration(test, self.facts.kind) for test in found.rest), default=0) or None
            made: Node = GapJoin(*ends, self.node(missing.between, longest), longest, shortest)
        else:
            conditions = () if found.condition is None else tuple(conjuncts(found.condition))
            within = longest if found.relation is Allen.EQUALS else None
            both = self.node(found.mandatory, longest, alone=True), self.node(found.optional, within)
            made = TimeJoin(*both, found.relation, Kind.ANTI, longest, conditions)
        left = in_scope(found.mandatory)
        unbound = sorted(name for name in in_scope(found.optional) if name not in left)
        return nodes.Project(made, (*made.schema.variables, *unbound))

    @property
    def _all_timed(self) -> bool:
        """Whether each row of a graph pattern has a time, and nobody consumes it."""
        return not (self.facts.static or self.sources.default or self.tracked)

    def _fed(self, pattern: Pattern) -> bool:
        schema = compiled(self.facts.ontology)
        return any(feeds_pattern(rule, pattern, schema) for rule in self.together)

    def _semi_join(self, source: Node, test: Exists) -> Node:
        inner, conditions = without_filters(test.pattern)
        kind = Kind.ANTI if test.negated else Kind.SEMI
        return TimeJoin(source, self.node(inner, None), None, kind, conditions=tuple(conditions))

    def _asked(self, source: Node, expressions: Sequence[Expression]) -> tuple[Node, list[Expression]]:
        """Rows that have the answers of the EXISTS in some expressions, and the expressions over those."""
        asked = [exists for each in expressions for exists in outermost(each)]
        if not asked:
            return source, list(expressions)
        names = {id(exists): self.name("exists") for exists in asked}
        answers = tuple((names[id(exists)], exists) for exists in asked)
        node = Asked(source, self._remembered(asked), answers, self.plain, self.sources)
        return node, [without_exists(each, names) for each in expressions]

    def _remembered(self, asked: Sequence[Exists]) -> Remembered:
        patterns = [exists.pattern for exists in asked]
        # GRAPH looks at background graphs, which have no occurrences.
        inside = {id(node) for pattern in patterns for graph in find(pattern, Graph) for node in walk(graph)}
        triples = dict.fromkeys(t for p in patterns for t in find(p, TriplePattern) if id(t) not in inside)
        graphs: tuple[Node, ...] = ()
        if any(next(find(p, PathPattern), None) is not None for p in patterns):
            events = EventScan(_EVENT, self.streams, "_:event")
            recalled: tuple[Node, ...] = (Recalled(()),) if self.together else ()
            graphs = (nodes.Project(events, ("s", "p", "o", "_:event")), *(derive for derive, _ in self.derives), *recalled)
        once = not any(map(looks_at_times, patterns))
        scans = tuple((triple, self.scan(triple)) for triple in triples)
        nothing = (_EVENT.triples[0], Inline(("s", "p", "o"), ()))  # a node that is no leaf has an input
        return Remembered(scans or (nothing,), graphs, once)

    def _extend(self, pattern: Extend, longest: int | None, *, alone: bool) -> Node:
        steps: list[tuple[str, Expression]] = []
        inner: Pattern = pattern
        while isinstance(inner, Extend):
            steps.insert(0, (inner.variable.name, inner.expression))
            inner = inner.pattern
        source = self.node(inner, longest, alone=alone or any(asks_exists(expression) for _, expression in steps))
        if any(asks_exists(expression) for _, expression in steps):  # it may see what was bound before it
            for step in steps:
                source = self._extended(source, [step])
            return source
        return self._extended(source, steps)

    def _extended(self, source: Node, steps: Sequence[tuple[str, Expression]]) -> Node:
        """A chain of BINDs; those that have another value each time share one set of blank nodes."""
        names = (*source.schema.variables, *(name for name, _ in steps))
        found, expressions = self._asked(source, [expression for _, expression in steps])
        functions = {call.function for each in expressions for call in find(each, Call) if call.function in TIME_FUNCTIONS}
        if functions:
            found = TimeValues(found, tuple(sorted(functions)))
        named = [(name, with_variables(each)) for (name, _), each in zip(steps, expressions, strict=True)]
        if any(map(is_unsteady, (call for each in expressions for call in find(each, Call)))):
            found = RowExtend(found, tuple(named))
        else:
            for name, expression in named:
                found = nodes.Extend(found, name, expression)
        return found if found.schema.variables == names else nodes.Project(found, names)

    def _ordered(self, source: Node, conditions: Sequence[tuple[Expression, bool]]) -> Node:
        wide, keys = self._columns(source, [expression for expression, _ in conditions])
        descending = [each for _, each in conditions]
        ordered = Ordered(wide, tuple(zip(keys, descending, strict=True)))
        return ordered if wide is source else nodes.Project(ordered, source.schema.variables)

    def _columns(self, source: Node, expressions: Sequence[Expression]) -> tuple[Node, list[str]]:
        """Rows that have the value of each expression in a variable."""
        keys, steps = [], []
        for expression in expressions:
            if isinstance(expression, Variable) and expression.name in source.schema.variables:
                keys.append(expression.name)
            else:
                keys.append(self.name("value"))
                steps.append((keys[-1], expression))
        return (self._extended(source, steps) if steps else source), keys

    def _group(self, pattern: Group) -> Node:
        # What needs no triple is in its group at each instant (rule 13).
        source = self.node(pattern.pattern, None, alone=not is_constant(pattern.pattern))
        functions = [each for _, each in pattern.aggregates if isinstance(each, Aggregate)]
        operands = [each.operand for each in functions if each.operand is not None]
        wide, names = self._columns(source, [*(expression for _, expression in pattern.keys), *operands])
        keys = tuple((variable.name, name) for (variable, _), name in zip(pattern.keys, names, strict=False))
        given = iter(names[len(keys) :])
        over = [each if each.operand is None else replace(each, operand=Variable(next(given))) for each in functions]
        aggregates = tuple((variable.name, each) for (variable, _), each in zip(pattern.aggregates, over, strict=True))
        window = (self.rows, self.duration) if pattern is self.windowed else (None, None)
        return TimeGroup(wide, keys, aggregates, *window)

    def _project(self, source: Node, visible: set[str]) -> Node:
        mark = self.name("hidden")
        names = tuple(name if name in visible else self.hidden(name, mark) for name in source.schema.variables)
        return source if names == source.schema.variables else Rename(source, names)
