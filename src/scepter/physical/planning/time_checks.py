"""What in a query over triples with intervals does not fit the streams' timestamps, which is told before the run (rule 2)."""

from __future__ import annotations

from collections.abc import Iterator

from scepter.algebra.expressions import Arithmetic, Call, Compare, Constant, Expression, In, Negate
from scepter.algebra.patterns import Pattern
from scepter.algebra.query import Sliding
from scepter.algebra.timed import SPELLING, TIME_FUNCTIONS, TimedProgram
from scepter.algebra.timed_bounds import counts_units
from scepter.algebra.walk import find
from scepter.errors import Diagnostic, QueryError, Span, query_error
from scepter.rdf.terms import XSD, Literal
from scepter.timeline import TimeKind

_DURATIONS = ("duration", "dayTimeDuration", "yearMonthDuration")
_MOMENTS = ("dateTime", "dateTimeStamp", "date", "time")
_TEMPORAL = {XSD + name: f"an xsd:{name}" for name in (*_DURATIONS, *_MOMENTS)}


def check_times(program: TimedProgram, kind: TimeKind, time_unit: str) -> None:
    """Raise QueryError where a time is compared with what is none of the streams, or a window is finer than their ticks."""
    for each in program.parts:
        _check_comparisons(each.pattern, kind)
        if isinstance(each.window, Sliding):
            try:
                each.window.duration.ticks(kind, time_unit)
            except ValueError as error:
                advice = "choose a longer window or a finer --time-unit"
                raise QueryError(Diagnostic("duration", str(error), each.window.span, advice)) from None


def _check_comparisons(pattern: Pattern, kind: TimeKind) -> None:
    """Raise QueryError where a time function is compared with a constant that no timestamp of the streams is like."""
    for left, right in _comparisons(pattern):
        parts = [*_direct(left), *_direct(right)]
        call = next((p for p in parts if isinstance(p, Call)), None)
        if call is None:
            continue
        literals = [(p.term, p.span) for p in parts if isinstance(p, Constant) and isinstance(p.term, Literal)]
        if kind is TimeKind.INTEGER:
            for literal, span in literals:
                if literal.datatype in _TEMPORAL:
                    raise _mismatch(call, literal, span, _TEMPORAL[literal.datatype], kind)
        elif literals and counts_units(left, right):
            raise _mismatch(call, *literals[0], "a number", kind)


def _comparisons(pattern: Pattern) -> Iterator[tuple[Expression, Expression]]:
    for test in find(pattern, Compare):
        yield test.left, test.right
    for membership in find(pattern, In):
        for choice in membership.choices:
            yield membership.operand, choice


def _direct(expression: Expression) -> Iterator[Call | Constant]:
    """The time functions and constants that an expression adds up; what other functions make of them is another matter."""
    pending = [expression]
    while pending:
        match pending.pop():
            case Call(function) as call if function in TIME_FUNCTIONS:
                yield call
            case Constant() as constant:
                yield constant
            case Arithmetic(_, left, right):
                pending += (left, right)
            case Negate(operand) | Call("+", (operand,)):
                pending.append(operand)
            case _:
                continue


def _mismatch(call: Call, literal: Literal, span: Span | None, what: str, kind: TimeKind) -> QueryError:
    stamps, advice = {
        TimeKind.INTEGER: ("integers", "write a number of time units"),
        TimeKind.DATETIME: ("dateTimes", 'write for example "PT30S"^^xsd:duration'),
    }[kind]
    return query_error(
        "time-kind",
        f"{SPELLING[call.function]}() is compared with {literal.lexical}, {what}, but the streams' timestamps are {stamps}",
        span or call.span,
        help=advice,
    )
