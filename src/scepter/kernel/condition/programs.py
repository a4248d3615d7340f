"""Filters as data: a stack program per conjunct, run by one compiled interpreter over numbers and ids.

A program answers TRUE, FALSE, ERROR or UNDECIDED. UNDECIDED means that float64 cannot tell for certain, or that the expression
needs more than numbers and ids; the exact evaluator then decides (decision 0001). Nothing is ever guessed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scepter.algebra.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Expression,
    In,
    Negate,
    Not,
    Or,
    Previous,
    Variable,
)
from scepter.kernel.condition.interpreter import (
    ADD,
    AND,
    BOUND_EITHER,
    BOUND_ROW,
    BOUND_RUN,
    DIV,
    EITHER,
    EQ,
    GE,
    GT,
    LE,
    LONG,
    LT,
    MUL,
    NE,
    NEG,
    NOT,
    OR,
    PUSH_CONST,
    PUSH_EITHER,
    PUSH_ROW,
    PUSH_RUN,
    ROW,
    RUN,
    SMALLEST,
    STACK,
    SUB,
    UNKNOWN,
    Programs,
)
from scepter.rdf.batch import INEXACT, NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.numerals import exact_number
from scepter.rdf.terms import XSD, Literal, Term

_ARITHMETIC = {"+": ADD, "-": SUB, "*": MUL, "/": DIV}
_COMPARISON = {"=": EQ, "!=": NE, "<": LT, ">": GT, "<=": LE, ">=": GE}
_PUSH = {RUN: PUSH_RUN, ROW: PUSH_ROW, EITHER: PUSH_EITHER}
_BOUND = {RUN: BOUND_RUN, ROW: BOUND_ROW, EITHER: BOUND_EITHER}

Place = tuple[int, int, int]
"""(RUN | ROW | EITHER, the run's slot, the row's column)."""


@dataclass(frozen=True, slots=True)
class Threshold:
    """`row column OP expression of the run`: lets the search skip blocks of rows that cannot pass."""

    column: int
    operator: str
    """One of `< <= > >=`, seen from the row."""
    bound: Programs
    """A program of one conjunct that leaves the run's side as a number."""


def number_of(term: Term) -> tuple[float, int]:
    """A term's float64 and scale, as the scanner gives them for objects; NaN where it is no number."""
    value, scale = exact_number(term) if isinstance(term, Literal) else (math.nan, NOT_A_NUMBER)
    return (math.nan if scale == NOT_A_NUMBER else value), scale


def _constant(term: Term) -> tuple[float, int]:
    """As `number_of`; a long integer or decimal is known up to half a unit of float64's last place, which decides all but what
    is as near."""
    value, scale = number_of(term)
    if scale != INEXACT or not isinstance(term, Literal) or term.datatype == XSD + "float":
        return value, scale
    return value, LONG if SMALLEST < abs(value) < math.inf else INEXACT


@dataclass(slots=True)
class _Writer:
    locate: Callable[[str, bool], Place | None]
    key: TermKey
    code: list[tuple[int, int, int]]
    constants: list[tuple[float, int, int]]

    def emit(self, expression: Expression) -> None:
        match expression:
            case Variable(name):
                self.push(self.locate(name, False))
            case Previous(Variable(name)):
                self.push(self.locate(name, True))
            case Constant(term):
                value, scale = _constant(term)
                self.constants.append((value, scale, term_id(self.key, str(term))))
                self.code.append((PUSH_CONST, len(self.constants) - 1, 0))
            case Compare(operator, left, right):
                self.binary(_COMPARISON[operator], left, right)
            case Arithmetic(operator, left, right):
                self.binary(_ARITHMETIC[operator], left, right)
            case And(left, right):
                self.binary(AND, left, right)
            case Or(left, right):
                self.binary(OR, left, right)
            case Not(operand):
                self.emit(operand)
                self.code.append((NOT, 0, 0))
            case Negate(operand):
                self.emit(operand)
                self.code.append((NEG, 0, 0))
            case In(operand, choices, negated) if choices:
                self.choice(operand, choices, negated)
            case Call("BOUND", (Variable(name),)) if (place := self.locate(name, False)) is not None:
                self.code.append((_BOUND[place[0]], place[1], place[2]))
            case _:
                self.code.append((UNKNOWN, 0, 0))

    def push(self, place: Place | None) -> None:
        self.code.append((UNKNOWN, 0, 0) if place is None else (_PUSH[place[0]], place[1], place[2]))

    def binary(self, operation: int, left: Expression, right: Expression) -> None:
        self.emit(left)
        self.emit(right)
        self.code.append((operation, 0, 0))

    def choice(self, operand: Expression, choices: tuple[Expression, ...], negated: bool) -> None:
        for i, choice in enumerate(choices):
            self.binary(EQ, operand, choice)
            if i:
                self.code.append((OR, 0, 0))
        if negated:
            self.code.append((NOT, 0, 0))


def compile_conjuncts(conjuncts: tuple[Expression, ...], locate: Callable[[str, bool], Place | None], key: TermKey) -> Programs:
    """Compile filters; `locate(variable, previous)` says where a variable's value is, None where it has no place."""
    writer = _Writer(locate, key, [], [])
    offsets = [0]
    for conjunct in conjuncts:
        start = len(writer.code)
        writer.emit(conjunct)
        if _depth(writer.code[start:]) > STACK:
            del writer.code[start:]
            writer.code.append((UNKNOWN, 0, 0))
        offsets.append(len(writer.code))
    return Programs(
        np.array(writer.code or [(0, 0, 0)], np.int64),
        np.array(offsets, np.int64),
        np.array([c[0] for c in writer.constants] or [0.0]),
        np.array([c[1] for c in writer.constants] or [0], np.int64),
        np.array([c[2] for c in writer.constants] or [0], np.uint64),
    )


def _depth(code: list[tuple[int, int, int]]) -> int:
    depth = most = 0
    for operation, _, _ in code:
        if operation in (ADD, SUB, MUL, DIV) or EQ <= operation <= OR:
            depth -= 1
        elif operation not in (NEG, NOT):
            depth += 1
        most = max(most, depth)
    return most


_FLIP = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def thresholds(
    conjuncts: tuple[Expression, ...], locate: Callable[[str, bool], Place | None], key: TermKey
) -> tuple[Threshold, ...]:
    """The conjuncts of the form `candidate's variable < expression of the run`, for skipping."""
    found = []
    for conjunct in conjuncts:
        if not isinstance(conjunct, Compare) or conjunct.operator not in _FLIP:
            continue
        sides = ((conjunct.left, conjunct.operator, conjunct.right), (conjunct.right, _FLIP[conjunct.operator], conjunct.left))
        for candidate, operator, bound in sides:
            if not isinstance(candidate, Variable) or not _is_of_run(bound, locate):
                continue
            place = locate(candidate.name, False)
            if place is not None and place[0] == ROW:
                found.append(Threshold(place[2], operator, compile_conjuncts((bound,), locate, key)))
                break
    return tuple(found)


def _is_of_run(expression: Expression, locate: Callable[[str, bool], Place | None]) -> bool:
    match expression:
        case Variable(name):
            return (place := locate(name, False)) is not None and place[0] == RUN
        case Previous(Variable(name)):
            return (place := locate(name, True)) is not None and place[0] == RUN
        case Constant(term):
            return number_of(term)[1] != NOT_A_NUMBER
        case Arithmetic(_, left, right):
            return _is_of_run(left, locate) and _is_of_run(right, locate)
        case Negate(operand):
            return _is_of_run(operand, locate)
        case _:
            return False
