"""Expressions: syntax to algebra. What a variable or a call may be is a matter of where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Protocol, TypeVar, assert_never

from scepter.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Exists,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Variable,
)
from scepter.algebra.patterns import Pattern
from scepter.errors import QueryError, Span, nearest, query_error
from scepter.lower.durations import check_duration
from scepter.rdf.terms import IRI
from scepter.rdf.values import CASTS
from scepter.syntax import tree
from scepter.syntax.elsewhere import SPARQL_12_FUNCTIONS, foreign_function

T = TypeVar("T")

AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"})
"""SPARQL's set functions."""

_MANY = 1_000
_ONE = (
    "STR", "LANG", "DATATYPE", "BOUND", "IRI", "URI", "ABS", "CEIL", "FLOOR", "ROUND", "STRLEN", "UCASE", "LCASE",
    "ENCODE_FOR_URI", "YEAR", "MONTH", "DAY", "HOURS", "MINUTES", "SECONDS", "TIMEZONE", "TZ", "MD5", "SHA1", "SHA256",
    "SHA384", "SHA512", "ISIRI", "ISURI", "ISBLANK", "ISLITERAL", "ISNUMERIC",
)  # fmt: skip
_TWO = ("LANGMATCHES", "CONTAINS", "STRSTARTS", "STRENDS", "STRBEFORE", "STRAFTER", "STRLANG", "STRDT", "SAMETERM")
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(_ONE, (1, 1)),
    **dict.fromkeys(_TWO, (2, 2)),
    **dict.fromkeys(("RAND", "NOW", "UUID", "STRUUID"), (0, 0)),
    **dict.fromkeys(("SUBSTR", "REGEX"), (2, 3)),
    **dict.fromkeys(("CONCAT", "COALESCE"), (0, _MANY)),
    "BNODE": (0, 1),
    "IF": (3, 3),
    "REPLACE": (3, 4),
}
"""SPARQL 1.1's built-ins: least and most arguments."""


class Clause(Enum):
    """Where an expression stands, in the user's word for it."""

    FILTER = "FILTER"
    BIND = "BIND"
    SELECT = "SELECT"
    HAVING = "HAVING"
    ORDER_BY = "ORDER BY"
    GROUP_BY = "GROUP BY"


@dataclass(slots=True)
class Grouping:
    """The aggregates of a grouped SELECT, each under a variable of its own."""

    keys: frozenset[str]
    fresh: Callable[[], Variable]
    found: dict[Aggregate, Variable] = field(default_factory=dict)

    def variable(self, aggregate: Aggregate) -> Variable:
        """The variable that stands for an aggregate; equal aggregates share one."""
        return self.found.setdefault(aggregate, self.found.get(aggregate) or self.fresh())


@dataclass(frozen=True, slots=True)
class Place:
    """Where an expression stands and what it sees."""

    clause: Clause
    visible: AbstractSet[str]
    """The variables that something binds there."""
    outermost: bool = False
    """A FILTER directly in the body of a part of the query, not in a nested group."""
    grouping: Grouping | None = None
    """Set where aggregates may stand."""
    in_aggregate: str | None = None


class Extension(Protocol):
    """What a language adds to SPARQL's expressions, and how it takes a variable that nothing binds."""

    def unbound(self, variable: tree.Var, place: Place) -> None:
        """Called for each variable that an expression reads and nothing binds there."""

    def call(self, call: tree.Call, place: Place) -> Expression | None:
        """The language's own meaning of a call, if it has one."""

    def iteration(self, call: tree.IterationCall, place: Place) -> Expression:
        """The meaning of `COUNT(B.?v)`."""


def fold(node: Callable[[T, T], T], operands: Sequence[T]) -> T:
    """Operands of an associative operator as a binary tree: leaning left, as one reads it, unless that would be deep.

    >>> fold(lambda a, b: f"({a} {b})", ["1", "2", "3"])
    '((1 2) 3)'
    """
    if len(operands) > 16:
        middle = len(operands) // 2
        return node(fold(node, operands[:middle]), fold(node, operands[middle:]))
    left = operands[0]
    for right in operands[1:]:
        left = node(left, right)
    return left


@dataclass(frozen=True, slots=True)
class ExpressionLowering:
    """Expressions of one query. `group` lowers the group of an EXISTS, which sees the variables around it."""

    extension: Extension
    group: Callable[[tree.Group, frozenset[str]], Pattern]

    def lower(self, expression: tree.Expression, place: Place) -> Expression:
        """The algebra's expression; QueryError where the text is no expression for this place."""
        match expression:
            case tree.Var():
                return self._variable(expression, place)
            case tree.Constant(term, span):
                check_duration(term, span)
                return Constant(term, span)
            case tree.Operation():
                return self._operation(expression, place)
            case tree.Call():
                return self._call(expression, place)
            case tree.IriCall():
                return self._iri_call(expression, place)
            case tree.IterationCall():
                return self.extension.iteration(expression, place)
            case tree.ExistsTest(group, negated, span):
                return Exists(self.group(group, frozenset(place.visible)), negated, span)
            case _:
                assert_never(expression)

    def _variable(self, variable: tree.Var, place: Place) -> Variable:
        grouping = place.grouping
        grouped = grouping is not None and place.in_aggregate is None
        if grouping is not None and grouped and variable.name not in grouping.keys:
            raise query_error(
                "not-grouped",
                f"{place.clause.value} uses ?{variable.name}, which is neither in GROUP BY nor inside an aggregate",
                variable.span,
                help=f"add ?{variable.name} to GROUP BY, or aggregate it, for example SAMPLE(?{variable.name})",
            )
        if variable.name not in place.visible and not grouped:
            self.extension.unbound(variable, place)
        return Variable(variable.name, variable.span)

    def _operation(self, operation: tree.Operation, place: Place) -> Expression:
        operands = tuple(self.lower(o, place) for o in operation.operands)
        match operation.operator:
            case "||":
                return fold(Or, operands)
            case "&&":
                return fold(And, operands)
            case "!":
                return Not(operands[0])
            case "NEGATE":
                return Negate(operands[0])
            case "PLUS":
                return Call("+", operands, operation.span)
            case "IN" | "NOT IN":
                return In(operands[0], operands[1:], operation.operator == "NOT IN")
            case "+" | "-" | "*" | "/":
                return Arithmetic(operation.operator, operands[0], operands[1])
            case _:
                return Compare(operation.operator, operands[0], operands[1])

    def _call(self, call: tree.Call, place: Place) -> Expression:
        name = call.function.upper()
        if (own := self.extension.call(call, place)) is not None:
            return own
        if name in AGGREGATES:
            return self._aggregate(name, call, place)
        if name not in FUNCTIONS:
            raise _unknown_function(call)
        if call.distinct or call.star or call.separator is not None:
            raise query_error("syntax", f"{name} is no aggregate: it takes no DISTINCT, * or SEPARATOR", call.span)
        _check_arity(name, len(call.arguments), call.span)
        if name == "BOUND" and not isinstance(call.arguments[0], tree.Var):
            raise query_error("syntax", "BOUND takes a variable", call.arguments[0].span)
        base = () if call.base is None else (Constant(IRI(call.base), call.span),)
        return Call(name, (*(self.lower(a, place) for a in call.arguments), *base), call.span)

    def _aggregate(self, name: str, call: tree.Call, place: Place) -> Variable:
        if place.in_aggregate is not None:
            raise query_error("aggregate", f"{name} stands inside {place.in_aggregate}; aggregates do not nest", call.span)
        if place.grouping is None:
            raise query_error(
                "aggregate",
                f"{name} cannot stand in {place.clause.value} here: an aggregate needs a SELECT that groups",
                call.span,
                help="aggregate in a sub-SELECT, in its SELECT, HAVING or ORDER BY",
            )
        if call.star != (not call.arguments) or (call.star and name != "COUNT") or len(call.arguments) > 1:
            wanted = "one argument or *" if name == "COUNT" else "one argument"
            raise query_error("syntax", f"{name} takes {wanted}", call.span)
        if call.separator is not None and name != "GROUP_CONCAT":
            raise query_error("syntax", "only GROUP_CONCAT takes a SEPARATOR", call.span)
        inner = replace(place, in_aggregate=name)
        operand = None if call.star else self.lower(call.arguments[0], inner)
        separator = " " if call.separator is None else call.separator
        return place.grouping.variable(Aggregate(name, operand, call.distinct, separator, call.span))

    def _iri_call(self, call: tree.IriCall, place: Place) -> Call:
        assert isinstance(call.function.term, IRI)  # the grammar has an IRI there
        iri = call.function.term.value
        if iri in CASTS and len(call.arguments) != 1:
            raise query_error("arity", f"a cast takes 1 argument, not {len(call.arguments)}", call.span)
        return Call(iri, tuple(self.lower(a, place) for a in call.arguments), call.span)


def _check_arity(name: str, given: int, span: Span) -> None:
    least, most = FUNCTIONS[name]
    if least <= given <= most:
        return
    wanted = str(least) if least == most else f"{least} {'or' if most == least + 1 else 'to'} {most}"
    plural = "" if wanted == "1" else "s"
    raise query_error("arity", f"{name} takes {wanted} argument{plural}, not {given}", span)


def _unknown_function(call: tree.Call) -> QueryError:
    name = call.function.upper()
    if name in SPARQL_12_FUNCTIONS:
        help = "leave it out; what is said of a triple can be said of its event, or of an rdf:Statement"
        message = f"{call.function} is a function of SPARQL 1.2, and queries match terms of RDF 1.1"
        return query_error("rdf-1.2", message, call.name_span, help=help)
    close = nearest(name, [*FUNCTIONS, *AGGREGATES])
    advice = foreign_function(call.function) or (f"did you mean {close}?" if close else None)
    return query_error("unknown-function", f"{call.function} is no function", call.name_span, help=advice)
