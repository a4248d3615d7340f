"""Expressions whose value the query itself says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scepter.algebra.expressions import (
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
)
from scepter.algebra.patterns import Filter, LeftJoin
from scepter.algebra.query import Scan
from scepter.algebra.timed import TIME_FUNCTIONS
from scepter.algebra.walk import Algebra, find
from scepter.optimizer.conditions import uses_previous
from scepter.optimizer.places import U, rewrite_everywhere
from scepter.rdf.terms import Term
from scepter.rdf.values import (
    FALSE,
    TRUE,
    ExpressionError,
    arithmetic,
    boolean,
    effective_boolean_value,
    equals,
    less,
    less_or_equal,
    negated,
)

_TRUE, _FALSE = Constant(TRUE), Constant(FALSE)
_COMPARISONS: dict[str, Callable[[Term, Term], bool]] = {
    "=": equals,
    "!=": lambda a, b: not equals(a, b),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": less_or_equal,
    ">=": lambda a, b: less_or_equal(b, a),
}


def fold_constants(unit: U) -> U:
    """Compute what is constant, and drop what `true` and `false` decide.

    What would be an error stays an error (`1 / 0`), a filter that is never true stays, simplified, and one that is always
    true goes. A conjunct over PREV counts as true in the first iteration (SPAseq rule 7): it keeps its PREV and its reach. A
    condition that speaks of time goes on doing so: whether a query does decides how often its solutions count (spec/20).

    >>> from scepter.algebra.query import Query
    >>> from scepter.algebra.text import format_node, parse_node
    >>> before = '''(query (ask) ((stream <http://s>)) (sequence (step (scan "A" <http://s>
    ...     (bgp (triple ?s <p> ?o)) (filters (and true (> ?o (* 2 3))) (= ?o (/ 1 0)) (or ?o (< 1 2.5)))))))'''
    >>> [format_node(f) for f in fold_constants(parse_node(before, Query)).pattern.steps[0].atom.filters]
    ['(> ?o 6)', '(= ?o (/ 1 0))']
    """
    return rewrite_everywhere(unit, _fold)


def _fold(node: Algebra) -> Algebra:
    match node:
        case Compare(operator, Constant(left), Constant(right)):
            compare = _COMPARISONS[operator]
            return _computed(node, lambda: boolean(compare(left, right)))
        case Arithmetic(operator, Constant(left), Constant(right)):
            return _computed(node, lambda: arithmetic(operator, left, right))
        case Negate(Constant(term)):
            return _computed(node, lambda: negated(term))
        case And() | Or() | Not():
            return _keeping_previous(node, _connective(node))
        case In():
            return _keeping_previous(node, _membership(node))
        case Call("IF", (test, then, otherwise)):
            return _keeping_previous(node, _conditional(node, test, then, otherwise))
        case Filter(condition, pattern):
            simple = _condition(condition)
            return pattern if simple == _TRUE else node if simple is condition else replace(node, condition=simple)
        case LeftJoin(condition=condition) if condition is not None:
            simple = _condition(condition)
            simple_or_none = None if simple == _TRUE else simple
            return node if simple_or_none is condition else replace(node, condition=simple_or_none)
        case Scan(filters=filters):
            kept = tuple(c for c in map(_condition, filters) if c != _TRUE)
            return node if _same(kept, filters) else replace(node, filters=kept)
        case _:
            return node


def _computed(node: Expression, compute: Callable[[], Term]) -> Expression:
    try:
        return Constant(compute())
    except ExpressionError:
        return node


def _keeping_previous(node: Expression, simple: Expression) -> Expression:
    """The simpler expression, unless it would lose sight of PREV, by which a filter is known to be true at first, or bring
    to light an `&&` that the user did not write as the outermost one."""
    if simple is node or (_asks_time(node) and not _asks_time(simple)):
        return node
    if not uses_previous(node):
        return simple
    same_reach = isinstance(node, And) or type(simple) is type(node)
    return simple if same_reach and uses_previous(simple) else node


def _asks_time(node: Expression) -> bool:
    return any(call.function in TIME_FUNCTIONS for call in find(node, Call))


def _connective(node: And | Or | Not) -> Expression:
    """`&&`, `||` and `!` of something constant; the value of the whole is a boolean, whatever the operands are."""
    if isinstance(node, Not):
        return _negation(node)
    left, right = _condition(node.left), _condition(node.right)
    neutral, decisive = (_TRUE, _FALSE) if isinstance(node, And) else (_FALSE, _TRUE)
    if decisive in (left, right):
        return decisive  # also where the other is an error
    for one, other in ((left, right), (right, left)):
        if one == neutral and _is_boolean(other):
            return other
    return node if left is node.left and right is node.right else replace(node, left=left, right=right)


def _negation(node: Not) -> Expression:
    match operand := _condition(node.operand):
        case Constant() if operand in (_TRUE, _FALSE):
            return _FALSE if operand == _TRUE else _TRUE
        case Not(inner) if _is_boolean(inner):
            return inner
        case _:
            return node if operand is node.operand else Not(operand)


def _membership(node: In) -> Expression:
    """`a IN ()` is false even if `a` is an error; of constants it is known unless comparing them is an error."""
    terms = [e.term if isinstance(e, Constant) else None for e in (node.operand, *node.choices)]
    if not node.choices:
        return Constant(boolean(node.negated))
    if any(term is None for term in terms):
        return node
    operand, *choices = (term for term in terms if term is not None)
    try:
        found = [equals(operand, choice) for choice in choices]  # all of them, so that every error shows
    except ExpressionError:
        return node
    return Constant(boolean(any(found) is not node.negated))


def _conditional(node: Call, test: Expression, then: Expression, otherwise: Expression) -> Expression:
    simple = _condition(test)
    if simple in (_TRUE, _FALSE):
        return then if simple == _TRUE else otherwise
    return node if simple is test else replace(node, arguments=(simple, then, otherwise))


def _condition(expression: Expression) -> Expression:
    """The expression where only its effective boolean value counts."""
    match expression:
        case Constant(term):
            simple = _computed(expression, lambda: boolean(effective_boolean_value(term)))
            return expression if simple == expression else simple
        case And(left, right) if left == _TRUE:
            return _condition(right)
        case And(left, right) if right == _TRUE:
            return _condition(left)
        case Or(left, right) if left == _FALSE:
            return _keeping_previous(expression, _condition(right))
        case Or(left, right) if right == _FALSE:
            return _keeping_previous(expression, _condition(left))
        case Not(Not(operand)):
            return _keeping_previous(expression, _condition(operand))
        case _:
            return expression


def _is_boolean(expression: Expression) -> bool:
    """Whether the value, if there is one, is true or false, and not merely something with an effective boolean value."""
    if isinstance(expression, Constant):
        return expression in (_TRUE, _FALSE)
    return isinstance(expression, Or | And | Not | Compare | In | Exists)


def _same(new: tuple[Expression, ...], old: tuple[Expression, ...]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))
