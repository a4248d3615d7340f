"""What a SPAseq query makes of its matches: SELECT, CONSTRUCT, ASK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from scepter.algebra.expressions import Constant, Expression, Variable
from scepter.algebra.patterns import Node, Pattern, TriplePattern
from scepter.algebra.query import Ask, Construct, Result, Select
from scepter.errors import QueryError, nearest, query_error
from scepter.lower.clauses import clause_of
from scepter.lower.expressions import Clause, ExpressionLowering, Place
from scepter.lower.gpm import Parts, refuse_bare_aggregate
from scepter.rdf.terms import BlankNode, Literal
from scepter.syntax import spaseq_tree as syntax
from scepter.syntax import tree


def lower_result(query: syntax.SpaseqQuery, bound: Mapping[str, Variable], parts: Parts) -> Result:
    """The result of a query whose positive GPMs bind `bound`."""
    into = clause_of(query, syntax.IntoStream)
    match query.result:
        case tree.SelectClause():
            result: Result = _Selection(bound, parts).select(query.result)
        case syntax.ConstructClause(template):
            iri = None if into is None else into.stream.iri
            return Construct(tuple(_template_triple(t, bound, parts) for t in template.triples), iri)
        case syntax.AskClause():
            result = Ask()
        case _:
            assert_never(query.result)
    if into is not None:
        raise query_error(
            "into-stream",
            "INTO STREAM takes the graphs of a CONSTRUCT",
            into.span,
            help="write CONSTRUCT { … } INTO STREAM <…>",
        )
    return result


def _unbound(variable: tree.Var, clause: str, bound: Mapping[str, object], parts: Parts) -> QueryError:
    binders = parts.binders(variable.name)
    close = nearest(variable.name, bound)
    if binders:
        advice: str | None = f"{binders[0]}! selects no event and binds nothing"
    else:
        advice = f"did you mean ?{close}?" if close else "bind it in a GPM of SEQ"
    return query_error("unbound-variable", f"{clause} uses ?{variable.name}, which no GPM binds", variable.span, help=advice)


@dataclass(frozen=True, slots=True)
class _Selection:
    """The SELECT of a query; also the extension of its expressions."""

    bound: Mapping[str, Variable]
    parts: Parts

    def select(self, clause: tree.SelectClause) -> Select:
        if clause.items is None:
            return Select(tuple((v, None) for v in self.bound.values()), clause.distinct)
        columns: dict[str, tuple[Variable, Expression | None]] = {}
        given: set[str] = set()
        for item in clause.items:
            name = item.variable.name
            if item.expression is not None and (name in self.bound or name in columns):
                raise query_error(
                    "variable-in-scope",
                    f"SELECT gives ?{name} a value, but it already has one",
                    item.variable.span,
                    help="choose another name",
                )
            if item.expression is None and name not in self.bound and name not in given:
                raise _unbound(item.variable, "SELECT", self.bound, self.parts)
            place = Place(Clause.SELECT, frozenset(self.bound) | given)
            expressions = ExpressionLowering(self, _no_group)
            expression = None if item.expression is None else expressions.lower(item.expression, place)
            columns.setdefault(name, (Variable(name, item.variable.span), expression))
            given.add(name)
        return Select(tuple(columns.values()), clause.distinct)

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """No GPM binds it: an error."""
        raise _unbound(variable, "SELECT", self.bound, self.parts)

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """PREV has no meaning outside of its GPM."""
        if call.function.upper() == "PREV":
            raise query_error("prev", "PREV stands only in an outermost FILTER of a Kleene atom's GPM", call.span)
        refuse_bare_aggregate(call)
        return None

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """Over any Kleene atom of the sequence."""
        return self.parts.iteration(call, None)


def _no_group(group: tree.Group, outer: frozenset[str]) -> Pattern:
    raise query_error("syntax", "EXISTS cannot stand in SELECT: a match has no graph of its own", group.span)


def _template_triple(triple: tree.Triple, bound: Mapping[str, Variable], parts: Parts) -> TriplePattern:
    if isinstance(triple.subject, tree.Constant) and isinstance(triple.subject.term, Literal):
        raise query_error("template", "a literal cannot be the subject of a triple", triple.subject.span)
    assert not isinstance(triple.verb, tree.PathOperation)  # the parser refuses it
    subject, verb, object = (_template_node(n, bound, parts) for n in (triple.subject, triple.verb, triple.object))
    return TriplePattern(subject, verb, object)


def _template_node(node: tree.Node, bound: Mapping[str, Variable], parts: Parts) -> Node:
    match node:
        case tree.Var(name, span):
            if name not in bound:
                raise _unbound(node, "CONSTRUCT", bound, parts)
            return Variable(name, span)
        case tree.Constant(term, span):
            return Constant(term, span)
        case tree.Blank(label, span):
            return Constant(BlankNode(label), span)  # fresh for each match
        case _:
            assert_never(node)
