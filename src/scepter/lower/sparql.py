"""Group graph patterns: syntax to the SPARQL algebra (SPARQL 1.1 §18.2.2)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import assert_never

from scepter.algebra.expressions import And, Constant, Expression, Variable
from scepter.algebra.patterns import (
    BGP,
    EMPTY,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Node,
    Pattern,
    TriplePattern,
    Union,
    Values,
)
from scepter.algebra.scope import in_scope
from scepter.errors import Span, query_error
from scepter.lower.epsparql_chains import lower_chain
from scepter.lower.expressions import Clause, ExpressionLowering, Extension, Place, fold
from scepter.lower.limits import refuse_many
from scepter.lower.paths import connect
from scepter.lower.result import NamedGraph
from scepter.lower.subselect import lower_subselect
from scepter.rdf.terms import IRI
from scepter.syntax import tree


@dataclass(slots=True)
class GroupLowering:
    """The groups of one part of a query (a GPM, say): blank node labels mean the same all through it, and nothing outside.

    `scope` goes into the names of blank nodes and generated variables, so that those of two parts never meet.
    """

    extension: Extension
    scope: str = ""
    graphs: list[NamedGraph] = field(default_factory=list)
    _homes: dict[str, int] = field(default_factory=dict)
    _patterns: int = 0
    _generated: int = 0
    expressions: ExpressionLowering = field(init=False)

    def __post_init__(self) -> None:
        self.expressions = ExpressionLowering(self.extension, self.group)

    def fresh(self) -> Variable:
        """A variable that no user can write and no result shows."""
        self._generated += 1
        return Variable(f"_:{self.scope}..{self._generated}")

    def group(self, group: tree.Group, outer: frozenset[str] = frozenset()) -> Pattern:
        """The pattern of a group. `outer` are the variables substituted into it (inside EXISTS)."""
        pattern, filters = self.parts(group, outer)
        visible = in_scope(pattern) | outer
        conditions = self.conditions(filters, Place(Clause.FILTER, visible))
        if not conditions:
            return pattern
        return Filter(fold(And, conditions), pattern, filters[0].span if len(filters) == 1 else None)

    def conditions(self, filters: list[tree.FilterClause], place: Place) -> list[Expression]:
        """The conditions of a group's FILTERs: they see all of the group, wherever in it they stand."""
        return [self.expressions.lower(f.condition, place) for f in filters]

    def parts(self, group: tree.Group, outer: frozenset[str]) -> tuple[Pattern, list[tree.FilterClause]]:
        """A group's pattern without its own FILTERs, and those."""
        pattern: Pattern = EMPTY
        filters: list[tree.FilterClause] = []
        run: list[tree.Triple] = []  # a FILTER does not end a basic graph pattern (§5.1), anything else does
        for element in group.elements:
            if isinstance(element, tree.Triples):
                run += element.triples
            elif isinstance(element, tree.FilterClause):
                filters.append(element)
            else:
                pattern = self._add(_join(pattern, self._triples(run)), element, outer)
                run = []
        return _join(pattern, self._triples(run)), filters

    def _add(self, pattern: Pattern, element: tree.Element, outer: frozenset[str]) -> Pattern:
        match element:
            case tree.OptionalClause():
                return self._optional(pattern, element, outer)
            case tree.MinusClause(group):
                return Minus(pattern, self.group(group, outer))
            case tree.BindClause():
                return self._bind(pattern, element, outer)
            case tree.Alternatives(groups, span):
                refuse_many(
                    groups, "groups of a UNION", span, "give what differs between them as VALUES, or write several queries"
                )
                return _join(pattern, fold(Union, [self.group(g, outer) for g in groups]))
            case tree.Chain():
                return _join(pattern, lower_chain(self, element, outer))
            case tree.GraphClause():
                return _join(pattern, self._graph(element, outer))
            case tree.ValuesClause():
                return _join(pattern, self.values(element))
            case tree.SubSelect():
                return _join(pattern, lower_subselect(self, element, outer))
            case tree.ServiceClause(_, _, span):
                raise query_error(
                    "service",
                    "SERVICE is not supported: no query asks a remote endpoint while events wait",
                    Span(span.start, span.start + len("SERVICE")),
                    help="give the remote data as a background graph and use GRAPH",
                )
            case tree.LanguageElement():
                return _join(pattern, self.language_element(element, outer))
            case tree.Triples() | tree.FilterClause():
                raise AssertionError("collected by parts()")
            case _:
                assert_never(element)

    def language_element(self, element: tree.LanguageElement, outer: frozenset[str]) -> Pattern:
        """The pattern of an element that only one language has; that language's own lowering overrides this."""
        raise AssertionError(f"no language lowers {element!r}")

    def _optional(self, left: Pattern, clause: tree.OptionalClause, outer: frozenset[str]) -> LeftJoin:
        right, filters = self.parts(clause.group, outer)
        visible = in_scope(left) | in_scope(right) | outer
        conditions = self.conditions(filters, Place(Clause.FILTER, visible))
        return LeftJoin(left, right, fold(And, conditions) if conditions else None)

    def _bind(self, pattern: Pattern, clause: tree.BindClause, outer: frozenset[str]) -> Extend:
        visible = in_scope(pattern)
        if clause.variable.name in visible:
            raise query_error(
                "variable-in-scope",
                f"BIND gives ?{clause.variable.name} a value, but the patterns before it already bind it",
                clause.variable.span,
                help="choose another name, or compare the two in a FILTER",
            )
        expression = self.expressions.lower(clause.expression, Place(Clause.BIND, visible | outer))
        return Extend(pattern, Variable(clause.variable.name, clause.variable.span), expression)

    def _graph(self, clause: tree.GraphClause, outer: frozenset[str]) -> Graph:
        name = self.node(clause.name)
        if isinstance(clause.name, tree.Constant):
            assert isinstance(clause.name.term, IRI)  # by the grammar
            self.graphs.append(NamedGraph(clause.name.term, clause.name.span))
        return Graph(name, self.group(clause.group, outer), clause.span)

    def values(self, clause: tree.ValuesClause) -> Values:
        """Inline data."""
        names: set[str] = set()
        for variable in clause.variables:
            if variable.name in names:
                raise query_error("duplicate-variable", f"VALUES names ?{variable.name} twice", variable.span)
            names.add(variable.name)
        rows = tuple(tuple(None if cell is None else cell.term for cell in row) for row in clause.rows)
        return Values(tuple(Variable(v.name, v.span) for v in clause.variables), rows)

    # ---- triples

    def _triples(self, triples: list[tree.Triple]) -> Pattern:
        if not triples:
            return EMPTY
        refuse_many(triples, "triple patterns", triples[0].span, "write several queries")
        self._patterns += 1
        plain: list[TriplePattern] = []
        others: list[Pattern] = []
        for triple in triples:
            subject, object = self.node(triple.subject), self.node(triple.object)
            if isinstance(triple.verb, tree.Var):
                plain.append(TriplePattern(subject, self.node(triple.verb), object))
                continue
            more, rest = connect(subject, triple.verb, object, self.fresh)
            plain += more
            others += rest
        parts: list[Pattern] = [BGP(tuple(plain))] if plain else []
        return fold(Join, [*parts, *others])

    def node(self, node: tree.Node) -> Node:
        """A variable or a term of a pattern; a blank node is a variable that stays inside the pattern."""
        match node:
            case tree.Var(name, span):
                return Variable(name, span)
            case tree.Constant(term, span):
                return Constant(term, span)
            case tree.Blank(label, span):
                home = self._homes.setdefault(label, self._patterns)
                if home != self._patterns:
                    raise query_error(
                        "blank-node-scope",
                        f"_:{label} is used in two groups; a blank node label belongs to one basic graph pattern",
                        span,
                        help="use a variable instead",
                    )
                return Variable(f"_:{self.scope}.{label}", span)
            case _:
                assert_never(node)


def _join(left: Pattern, right: Pattern) -> Pattern:
    if left == EMPTY:
        return right
    return left if right == EMPTY else Join(left, right)
