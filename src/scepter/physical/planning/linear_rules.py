"""Rules that carry on what they derived: one new row, by one row that comes later (spec/20-ep-sparql rule 9).

    CONSTRUCT { ?a :reaches ?c } WHERE { { ?a :reaches ?b } SEQ { ?b :link ?c } }

What such a rule derives ends with the row that came later, and can itself be carried on only by rows that begin behind that:
one pass in order of end derives all there is, without rounds. The pass needs to know of each column of a derived row where it
comes from. A value may be computed, but not where rows are found or told apart by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from scepter.algebra.arithmetic import can_calculate
from scepter.algebra.expressions import Arithmetic, Compare, Constant, Expression, Negate, Variable
from scepter.algebra.patterns import Node as TermNode
from scepter.algebra.patterns import TriplePattern
from scepter.algebra.scope import mentioned_variables
from scepter.algebra.timed_bounds import duration_bounds
from scepter.algebra.walk import find
from scepter.physical.nodes import nodes
from scepter.physical.nodes.derive_nodes import Derive, DerivedRule, Recalled
from scepter.physical.nodes.nodes import Extend, Node, Project, TripleScan
from scepter.physical.nodes.time_nodes import GapJoin, Inline, Kind, Once, TimeFilter, TimeJoin
from scepter.rdf.terms import BlankNode, Literal, Term
from scepter.rdf.values import Duration, value_or_none
from scepter.timeline import Allen, TimeKind

LEFT, RIGHT, VALUE, CONSTANT, NODE, NOTHING = range(6)
"""Where a term comes from: the row carried on, the one that carries it, an expression, the rule's text; or it is new."""
Source: TypeAlias = tuple[int, int]
"""From where, and which column or number there."""
_COPIED: Final = (LEFT, RIGHT, CONSTANT)


@dataclass(frozen=True, slots=True)
class Value:
    """A variable that is computed, and where what its expression asks for comes from."""

    variable: str
    expression: Expression
    asked: Mapping[str, Source]


@dataclass(frozen=True, slots=True)
class Linear:
    """How a rule carries on what it derived."""

    join: GapJoin
    """What is carried on, by what, with nothing between."""
    given: Node
    """What is carried on first."""
    made: tuple[Source, ...]
    """Of each column of a derived row."""
    recalled: tuple[int, ...]
    """Of each column of the left side, which column of a derived row it is."""
    constants: tuple[Term, ...]
    values: tuple[Value, ...]
    """What is computed, in order."""

    @property
    def carried(self) -> tuple[Source, ...]:
        """Of each column of the left side, where a derived row has it from."""
        return tuple(self.made[column] for column in self.recalled)

    def holding(self, kind: int) -> frozenset[int]:
        """The columns of the left side in which a derived row may have something of a kind, also by way of rows before it."""
        found = frozenset[int]()
        while True:
            more = {j for j, (of, which) in enumerate(self.carried) if of == kind or (of == LEFT and which in found)}
            if found == more:
                return found
            found = frozenset(more)


def in_one_pass(derive: Derive, kind: TimeKind) -> bool:
    """Whether one pass derives all there is: the rule is linear, all rows have a time, and filters only bound the duration."""
    found = linear(derive)
    if found is None:
        return False
    leaves = [node for each in found.join.inputs for node in nodes.nodes(each) if not node.inputs]
    if not all(isinstance(leaf, TripleScan | Recalled) or leaf == _NOTHING_BETWEEN for leaf in leaves):
        return False
    (rule,) = derive.rules
    tests = [test for node in _steps(rule) if isinstance(node, TimeFilter) for test in node.conditions]
    return all(_only_bounds(test, kind, found.join.longest) for test in tests)


def _only_bounds(test: Expression, kind: TimeKind, longest: int | None) -> bool:
    """Whether a condition holds for all rows that are no longer than that."""
    if not isinstance(test, Compare) or test.operator in ("=", "!=") or longest is None:
        return False
    values = [value_or_none(each.term) for each in find(test, Constant) if isinstance(each.term, Literal)]
    if any(isinstance(value, Duration) and value.months for value in values):
        return False  # months have no one length
    return any((limit := bound.longest(kind)) is not None and limit >= longest for bound in duration_bounds(test))


_NOTHING_BETWEEN: Final = Inline((), ())


def linear(derive: Derive) -> Linear | None:
    """How the one rule of a stratum carries on what it derived, if that is all it does."""
    if len(derive.rules) != 1 or not derive.inner:
        return None
    (rule,) = derive.rules
    join = _join_of(rule)
    if join is None:
        return None
    left = join.left.input if isinstance(join.left, Once) else join.left
    if not (isinstance(left, nodes.Union) and isinstance(left.right, Recalled)):
        return None
    recalled, given = left.right, left.left
    others = [node for each in (given, join.right, join.between) for node in nodes.nodes(each)]
    if any(isinstance(node, Recalled) for node in others):
        return None
    sources = _sources(rule, join)
    if sources is None:
        return None
    known, values, constants = sources
    shown = {*join.left.schema.variables, *join.right.schema.variables, *(value.variable for value in values)}
    if not shown <= {*rule.root.schema.variables}:  # solutions that differ in what is hidden would be one
        return None
    made = _made(derive, rule, known, constants, join)
    columns = _columns(derive, recalled, made, constants)
    if made is None or columns is None or set(columns) != set(join.left.schema.variables):
        return None
    places = tuple(columns[name] for name in join.left.schema.variables)
    found = Linear(join, given, made, places, tuple(constants), tuple(values))
    keys = [column for column, name in enumerate(join.left.schema.variables) if name in join.keys]
    told_apart = [found.carried[column][0] for column in keys] if derive.whole else [kind for kind, _ in made]
    if any(kind not in _COPIED for kind in told_apart) or found.holding(VALUE) & {*keys}:
        return None
    return found


def _steps(rule: DerivedRule) -> Iterator[Node]:
    """What stands above the join, from the top."""
    node = rule.root
    while isinstance(node, Extend | Project | TimeFilter):
        yield node
        node = node.input


def _join_of(rule: DerivedRule) -> GapJoin | None:
    node = rule.root
    for step in _steps(rule):
        node = step.inputs[0]
    if isinstance(node, GapJoin):
        return node
    if not isinstance(node, TimeJoin) or node.kind is not Kind.INNER or node.relation is not Allen.BEFORE:
        return None
    if node.loose or node.conditions or node.fleeting or node.expiring:
        return None
    return GapJoin(node.left, node.right, _NOTHING_BETWEEN, node.longest)


def _sources(rule: DerivedRule, join: GapJoin) -> tuple[dict[str, Source], list[Value], list[Term]] | None:
    """Where each variable of a solution comes from; what is computed; which constants there are."""
    left, right = join.left.schema, join.right.schema
    if not {*left.variables, *right.variables} <= join.schema.certain:
        return None
    known: dict[str, Source] = {name: (RIGHT, column) for column, name in enumerate(right.variables)}
    known |= {name: (LEFT, column) for column, name in enumerate(left.variables)}
    values: list[Value] = []
    constants: list[Term] = []
    for step in reversed([*_steps(rule)]):
        match step:
            case Project(variables=names):
                known = {name: known.get(name, (NOTHING, 0)) for name in names}
            case Extend(variable=name, expression=Variable(other)) if other in known:
                known[name] = known[other]
            case Extend(variable=name, expression=Constant(term)) if not isinstance(term, BlankNode):
                known[name] = CONSTANT, len(constants)
                constants.append(term)
            case Extend(variable=name, expression=Arithmetic() | Negate() as expression) if can_calculate(expression):
                asked = {each: known.get(each, (NOTHING, 0)) for each in mentioned_variables(expression)}
                if any(kind not in (LEFT, RIGHT, VALUE) for kind, _ in asked.values()):
                    return None
                values.append(Value(name, expression, asked))
                known[name] = VALUE, len(values) - 1
            case TimeFilter():
                continue
            case _:
                return None
    return known, values, constants


def _made(
    derive: Derive, rule: DerivedRule, known: Mapping[str, Source], constants: list[Term], join: GapJoin
) -> tuple[Source, ...] | None:
    """Of each column of a derived row, where it comes from."""
    if derive.whole:
        objects = {triple.predicate: triple.object for triple in rule.template}
        terms: list[TermNode] = [objects[Constant(predicate)] for predicate in derive.whole]
        found = [(NODE, 0), *(_source(term, known, constants) for term in terms)]
    elif len(rule.template) != 1 or derive.graphs or not _fits(rule.template[0], join):
        return None
    else:
        (triple,) = rule.template
        found = [_source(term, known, constants) for term in triple.places]
    return None if any(kind == NOTHING for kind, _ in found) else tuple(found)


def _fits(triple: TriplePattern, join: GapJoin) -> bool:
    """Whether all terms may stand where a template has them: a literal is no subject, and only IRIs are predicates."""
    if not isinstance(triple.predicate, Constant):
        return False
    if not isinstance(triple.subject, Variable):
        return True
    for side in (join.left, join.right):
        patterns = [p for node in nodes.nodes(side) for p in _patterns(node) if triple.subject in (p.subject, p.object)]
        if patterns and all(pattern.subject == triple.subject for pattern in patterns):
            return True
    return False


def _patterns(node: Node) -> tuple[TriplePattern, ...]:
    if isinstance(node, TripleScan):
        return (node.pattern,)
    return node.patterns if isinstance(node, Recalled) else ()


def _source(term: TermNode, known: Mapping[str, Source], constants: list[Term]) -> Source:
    if isinstance(term, Variable):
        return known.get(term.name, (NOTHING, 0))
    if isinstance(term.term, BlankNode):
        return NOTHING, 0
    constants.append(term.term)
    return CONSTANT, len(constants) - 1


def _columns(
    derive: Derive, recalled: Recalled, made: tuple[Source, ...] | None, constants: list[Term]
) -> dict[str, int] | None:
    """The column of a derived row for each variable of what is recalled, where every derived row matches, and tells the
    variables as they tell it."""
    if made is None:
        return None
    if derive.whole:
        places = [(0, recalled.patterns[0].subject)]
        for pattern in recalled.patterns:
            assert isinstance(pattern.predicate, Constant)
            column = 1 + [Constant(each) for each in derive.whole].index(pattern.predicate)
            places.append((column, pattern.object))
    else:
        (pattern,) = recalled.patterns
        places = list(enumerate(pattern.places))
    found: dict[str, int] = {}
    for column, term in places:
        if isinstance(term, Variable):
            if term.name in found:
                return None
            found[term.name] = column
        elif made[column][0] != CONSTANT or constants[made[column][1]] != term.term:
            return None
    return found
