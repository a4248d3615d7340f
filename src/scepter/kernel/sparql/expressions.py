"""Expressions over one solution: compiled once into nested closures, three-valued by ExpressionError (SPARQL 1.1 §17)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar, assert_never

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
    IterationAggregate,
    Negate,
    Not,
    Or,
    Previous,
    Variable,
)
from scepter.kernel.sparql.builtins import FUNCTIONS
from scepter.kernel.sparql.casts import cast, is_cast
from scepter.kernel.sparql.context import Bindings, Context
from scepter.optimizer.conditions import uses_previous
from scepter.rdf.terms import Term
from scepter.rdf.values import (
    ExpressionError,
    arithmetic,
    boolean,
    effective_boolean_value,
    equals,
    less,
    less_or_equal,
    negated,
)

Compiled: TypeAlias = Callable[[Bindings, Context], Term]
"""An expression ready to run: a term, or ExpressionError."""
Test: TypeAlias = Callable[[Bindings, Context], bool]
"""An expression's effective boolean value, or ExpressionError."""

_N = TypeVar("_N")
_R = TypeVar("_R")
_COMPARISONS: dict[str, Callable[[Term, Term], bool]] = {
    "=": equals,
    "!=": lambda a, b: not equals(a, b),
    "<": less,
    ">": lambda a, b: less(b, a),
    "<=": less_or_equal,
    ">=": lambda a, b: less_or_equal(b, a),
}


def once_per_node(function: Callable[[_N], _R], keep: int = 1024) -> Callable[[_N], _R]:
    """Remember the last results by the node's identity: hashing a deep tree would cost more than it saves, or recurse."""
    kept: OrderedDict[int, tuple[_N, _R]] = OrderedDict()

    def remembered(node: _N) -> _R:
        entry = kept.get(id(node))
        if entry is None:
            entry = kept[id(node)] = (node, function(node))
            if len(kept) > keep:
                kept.popitem(last=False)
        return entry[1]

    return remembered


def evaluate(expression: Expression, bindings: Bindings, context: Context) -> Term:
    """The value of an expression for a solution, or ExpressionError.

    >>> from scepter.rdf.values import to_literal
    >>> evaluate(Arithmetic("+", Constant(to_literal(1)), Variable("x")), {"x": to_literal(2)}, Context()).lexical
    '3'
    """
    return _compiled(expression)(bindings, context)


def holds(expression: Expression, bindings: Bindings, context: Context) -> bool:
    """Whether a FILTER keeps the solution: the effective boolean value, false for an error."""
    return _condition(expression)(bindings, context)


def compile_condition(expression: Expression) -> Test:
    """A FILTER ready to run; it never raises ExpressionError.

    A conjunct that uses PREV is true where there is no previous iteration (SPAseq rule 7).
    """
    conjuncts = [(compile_test(c), uses_previous(c)) for c in _flatten(expression, And)]

    def condition(bindings: Bindings, context: Context) -> bool:
        try:
            for test, needs_previous in conjuncts:
                if not (needs_previous and context.previous is None) and not test(bindings, context):
                    return False
        except ExpressionError:
            return False
        return True

    return condition


def compile_test(expression: Expression) -> Test:
    """The effective boolean value of an expression, ready to run."""
    match expression:
        case Or():
            return _connective([compile_test(e) for e in _flatten(expression, Or)], decides=True)
        case And():
            return _connective([compile_test(e) for e in _flatten(expression, And)], decides=False)
        case Not():
            operand = compile_test(expression.operand)
            return lambda b, c: not operand(b, c)
        case Compare():
            left, right = compile_expression(expression.left), compile_expression(expression.right)
            compare = _COMPARISONS[expression.operator]
            return lambda b, c: compare(left(b, c), right(b, c))
        case In():
            return _membership(expression)
        case Exists():
            return _existence(expression)
        case Call(function="BOUND", arguments=(Variable(name),)):
            return lambda b, _: name in b
        case _:
            value = compile_expression(expression)
            return lambda b, c: effective_boolean_value(value(b, c))


def compile_expression(expression: Expression) -> Compiled:
    """An expression ready to run. Aggregates have no value for one solution: `aggregates` computes them over groups."""
    match expression:
        case Variable(name):
            return lambda b, _: _lookup(b, name)
        case Constant(term):
            return lambda _, __: term
        case Or() | And() | Not() | Compare() | In() | Exists():
            test = compile_test(expression)
            return lambda b, c: boolean(test(b, c))
        case Arithmetic():
            return _calculation(expression)
        case Negate():
            operand = compile_expression(expression.operand)
            return lambda b, c: negated(operand(b, c))
        case Call():
            return _call(expression)
        case Previous(Variable(name)):
            return lambda _, c: _lookup(c.previous or {}, name)
        case IterationAggregate():
            return lambda _, c: _iterations(expression, c)
        case Aggregate():
            raise ValueError(f"{expression.function} stands outside of a Group")
        case _:
            assert_never(expression)


def _lookup(bindings: Bindings, name: str) -> Term:
    try:
        return bindings[name]
    except KeyError:
        raise ExpressionError(f"?{name} is unbound") from None


def _iterations(expression: IterationAggregate, context: Context) -> Term:
    if context.iterations is None:
        raise ExpressionError(f"no iterations of {expression.part} to aggregate")
    return context.iterations(expression)


def _flatten(expression: Expression, kind: type[And] | type[Or]) -> Iterator[Expression]:
    """The operands of a chain of one connective, left to right, however it is nested."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, kind):
            pending += (node.right, node.left)
        else:
            yield node


def _connective(tests: Sequence[Test], *, decides: bool) -> Test:
    """`||` (one true decides) and `&&` (one false decides): an error counts only when nothing decides."""

    def connective(bindings: Bindings, context: Context) -> bool:
        error: ExpressionError | None = None
        for test in tests:
            try:
                if test(bindings, context) is decides:
                    return decides
            except ExpressionError as raised:
                error = raised
        if error is not None:
            raise error
        return not decides

    return connective


def _membership(expression: In) -> Test:
    """`a IN (b, …)` is `a = b || …`, and of nothing it is false (SPARQL 1.1 §17.4.1.9)."""
    operand = compile_expression(expression.operand)
    choices = [compile_expression(e) for e in expression.choices]
    found = _connective([_equality(operand, choice) for choice in choices], decides=True)
    return (lambda b, c: not found(b, c)) if expression.negated else found


def _equality(left: Compiled, right: Compiled) -> Test:
    return lambda b, c: equals(left(b, c), right(b, c))


def _calculation(expression: Arithmetic) -> Compiled:
    """A chain to the left is a loop, so that long sums need no deep stack."""
    steps: list[tuple[str, Compiled]] = []
    node: Expression = expression
    while isinstance(node, Arithmetic):
        steps.append((node.operator, compile_expression(node.right)))
        node = node.left
    first = compile_expression(node)
    steps.reverse()

    def calculation(bindings: Bindings, context: Context) -> Term:
        value = first(bindings, context)
        for operator, operand in steps:
            value = arithmetic(operator, value, operand(bindings, context))
        return value

    return calculation


def _existence(expression: Exists) -> Test:
    # A pattern holds expressions and an expression may hold a pattern: the two modules are one recursion.
    from scepter.kernel.sparql.patterns import compile_pattern

    plan = compile_pattern(expression.pattern)

    def existence(bindings: Bindings, context: Context) -> bool:
        inner = replace(context, substituted={**context.substituted, **bindings})
        return (next(iter(plan(inner)), None) is not None) is not expression.negated

    return existence


def _call(expression: Call) -> Compiled:
    name = expression.function
    match name, expression.arguments:
        case ("IF", (condition, consequent, alternative)):
            test, then, otherwise = compile_test(condition), compile_expression(consequent), compile_expression(alternative)
            return lambda b, c: then(b, c) if test(b, c) else otherwise(b, c)
        case ("COALESCE", choices):
            return _coalesce([compile_expression(choice) for choice in choices])
        case ("BOUND", (Variable(variable),)):
            return lambda b, _: boolean(variable in b)
        case (_, arguments) if name in FUNCTIONS:
            return _builtin(name, [compile_expression(argument) for argument in arguments])
        case (_, (operand,)) if is_cast(name):
            argument = compile_expression(operand)
            return lambda b, c: cast(name, argument(b, c))
        case (_, arguments) if ":" in name:
            return _unknown(name)
        case (_, arguments):
            raise ValueError(f"{name} with {len(arguments)} arguments is no SPARQL function")


def _coalesce(arguments: Sequence[Compiled]) -> Compiled:
    def coalesce(bindings: Bindings, context: Context) -> Term:
        for argument in arguments:
            try:
                return argument(bindings, context)
            except ExpressionError:
                continue
        raise ExpressionError("COALESCE found no value")

    return coalesce


def _builtin(name: str, arguments: Sequence[Compiled]) -> Compiled:
    function = FUNCTIONS[name]
    if len(arguments) < function.least or (function.most is not None and len(arguments) > function.most):
        raise ValueError(f"{name} does not take {len(arguments)} arguments")
    call = function.call
    return lambda b, c: call(tuple([argument(b, c) for argument in arguments]), c)


def _unknown(name: str) -> Compiled:
    """SPARQL 1.1 §17.6: a function nobody knows is an error where it is called, not before."""

    def unknown(_: Bindings, __: Context) -> Term:
        raise ExpressionError(f"<{name}> is no function")

    return unknown


_compiled = once_per_node(compile_expression)
_condition = once_per_node(compile_condition)
