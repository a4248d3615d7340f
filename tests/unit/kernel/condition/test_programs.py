from __future__ import annotations

import math

import numpy as np
import pytest
from numba import njit

from scepter.algebra.expressions import Arithmetic, Call, Compare, Constant, Expression, In, Negate, Not, Or, Variable
from scepter.kernel.condition.interpreter import EITHER, FALSE, ROW, RUN, TRUE, UNDECIDED, Values, decide, stack
from scepter.kernel.condition.programs import Place, compile_conjuncts, number_of, thresholds
from scepter.rdf.batch import DOUBLE, INEXACT, NOT_A_NUMBER
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term

KEY = TermKey.fixed()
_decided = njit(lambda programs, first, last, run, row, room: decide(programs, first, last, run, row, room))


def number(text: str, datatype: str = "decimal") -> Literal:
    return Literal(text, XSD + datatype)


def locate(name: str, previous: bool) -> Place | None:
    """x is the run's, y the row's, z bound by either; nothing else has a place."""
    return {"x": (RUN, 0, 0), "y": (ROW, 0, 0), "z": (EITHER, 1, 1)}.get(name)


def columns(terms: tuple[Term | None, Term | None]) -> tuple[object, object, object]:
    ids = np.array([0 if t is None else term_id(KEY, str(t)) for t in terms], np.uint64)
    pairs = [(math.nan, NOT_A_NUMBER) if t is None else number_of(t) for t in terms]
    return ids, np.array([n for n, _ in pairs]), np.array([s for _, s in pairs], np.int8)


def verdict(
    *conjuncts: Expression,
    run: tuple[Term | None, Term | None] = (None, None),
    row: tuple[Term | None, Term | None] = (None, None),
) -> int:
    programs = compile_conjuncts(conjuncts, locate, KEY)
    code = programs._replace(code=programs.code.ravel())
    conjuncts_ = len(programs.offsets) - 1
    return int(_decided(code, 0, conjuncts_, Values(*columns(run)), Values(*columns(row)), stack()))


X, Y, Z = Variable("x"), Variable("y"), Variable("z")


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (number("7", "integer"), (7.0, 0)),
        (number("-2.50"), (-2.5, 1)),
        (number("1e3", "double"), (1000.0, DOUBLE)),
        (number("9007199254740993", "integer"), (9007199254740992.0, INEXACT)),
        (number("0.5", "float"), (0.5, INEXACT)),
        (number("127", "byte"), (127.0, 0)),
    ],
)
def test_numbers_have_a_value_and_a_scale(term: Term, wanted: tuple[float, int]) -> None:
    assert number_of(term) == wanted


def test_a_float_is_rounded_to_its_own_width() -> None:
    assert number_of(number("0.1", "float")) == (float(np.float32(0.1)), INEXACT)


@pytest.mark.parametrize(
    "term",
    [
        number("x", "integer"),
        number(" 7 ", "integer"),
        number("1.5", "integer"),
        number("128", "byte"),
        number("1_0", "double"),
        number("inf", "double"),
        number("٣", "integer"),
        number("", "decimal"),
        number("7", "string"),
        IRI("http://e/7"),
        BlankNode("b7"),
    ],
)
def test_what_is_no_number_is_nan(term: Term) -> None:
    value, scale = number_of(term)
    assert math.isnan(value)
    assert scale == NOT_A_NUMBER


def test_sums_of_decimals_that_float64_cannot_hold_are_told_apart_exactly() -> None:
    a_tenth_and_two = Arithmetic("+", Constant(number("0.1")), Constant(number("0.2")))
    assert verdict(Compare("=", a_tenth_and_two, Constant(number("0.3")))) == TRUE
    assert verdict(Compare("<", a_tenth_and_two, Constant(number("0.3")))) == FALSE
    ten_times = Arithmetic("*", Constant(number("10", "integer")), X)
    assert verdict(Compare("<=", ten_times, Constant(number("7", "integer"))), run=(number("0.7"), None)) == TRUE


def test_doubles_are_compared_as_doubles() -> None:
    a_tenth_and_two = Arithmetic("+", Constant(number("0.1", "double")), Constant(number("0.2", "double")))
    assert verdict(Compare("=", a_tenth_and_two, Constant(number("0.3", "double")))) == FALSE
    assert verdict(Compare(">", a_tenth_and_two, Constant(number("0.3", "double")))) == TRUE


def test_nan_equals_nothing_and_infinities_are_ordered() -> None:
    nan, endless, great = (Constant(number(t, "double")) for t in ("NaN", "INF", "1e308"))
    assert verdict(Compare("=", nan, nan)) == FALSE
    assert verdict(Compare("!=", nan, nan)) == TRUE
    assert verdict(Compare("<=", nan, endless)) == FALSE
    assert verdict(Compare(">", endless, great)) == TRUE
    assert verdict(Compare("=", Arithmetic("*", great, great), endless)) == TRUE


def test_long_numbers_are_left_to_the_exact_evaluator() -> None:
    near = number("9007199254740993", "integer"), number("9007199254740992", "integer")
    assert verdict(Compare(">", X, Y), run=(near[0], None), row=(near[1], None)) == UNDECIDED


def test_a_divisor_that_may_be_zero_is_left_to_the_exact_evaluator() -> None:
    zero = Arithmetic("-", Arithmetic("+", Constant(number("0.1")), Constant(number("0.2"))), Constant(number("0.3")))
    nothing = Constant(number("0", "integer"))
    assert verdict(Compare("=", Arithmetic("/", nothing, zero), nothing)) == UNDECIDED
    assert verdict(Compare("=", Arithmetic("/", nothing, nothing), nothing)) == UNDECIDED


def test_an_unbound_variable_is_an_error_and_errors_are_not_true() -> None:
    assert verdict(Compare("=", X, X)) == FALSE
    assert verdict(Not(Compare("=", X, X))) == FALSE
    known = Compare("=", Constant(number("1")), Constant(number("1")))
    assert verdict(Or(Compare("=", X, X), known)) == TRUE
    assert verdict(Call("BOUND", (X,))) == FALSE
    assert verdict(Not(Call("BOUND", (X,)))) == TRUE


def test_either_side_may_bind_a_variable_and_the_row_comes_first() -> None:
    one, two = number("1", "integer"), number("2", "integer")
    is_two = Compare("=", Z, Constant(two))
    assert verdict(is_two, run=(None, two)) == TRUE
    assert verdict(is_two, run=(None, one), row=(None, two)) == TRUE
    assert verdict(is_two, run=(None, two), row=(None, one)) == FALSE
    assert verdict(is_two) == FALSE


def test_a_failed_conjunct_decides_though_another_is_open() -> None:
    text = Compare("=", Constant(Literal("a")), Constant(Literal("a")))
    assert verdict(text) == UNDECIDED
    assert verdict(text, Compare("<", Constant(number("2")), Constant(number("1")))) == FALSE


def test_membership_is_a_chain_of_equalities() -> None:
    choices = (Constant(number("1")), Constant(number("2.0")))
    assert verdict(In(X, choices), run=(number("2", "integer"), None)) == TRUE
    assert verdict(In(X, choices, True), run=(number("2", "integer"), None)) == FALSE
    assert verdict(In(X, choices, True), run=(number("3", "integer"), None)) == TRUE
    assert verdict(In(X, ()), run=(number("3", "integer"), None)) == UNDECIDED


def test_what_needs_more_than_numbers_is_left_open() -> None:
    assert verdict(Compare("=", Call("STR", (X,)), Y), run=(number("1"), None), row=(number("1"), None)) == UNDECIDED
    assert verdict(Compare("=", Variable("nowhere"), X), run=(number("1"), None)) == UNDECIDED


def test_an_expression_deeper_than_the_stack_is_left_open() -> None:
    deep: Expression = Constant(number("1"))
    for _ in range(40):
        deep = Arithmetic("+", Constant(number("1")), deep)
    assert verdict(Compare(">", deep, Constant(number("0")))) == UNDECIDED
    wide: Expression = Constant(number("1"))
    for _ in range(400):
        wide = Arithmetic("+", wide, Constant(number("1")))
    assert verdict(Compare("=", wide, Constant(number("401")))) == TRUE


def test_a_threshold_is_a_bound_that_the_run_sets() -> None:
    bound = Arithmetic("*", X, Constant(number("1.02")))
    (above,) = thresholds((Compare(">=", Y, bound),), locate, KEY)
    assert (above.column, above.operator) == (0, ">=")
    (turned,) = thresholds((Compare(">=", bound, Y),), locate, KEY)
    assert turned.operator == "<="


@pytest.mark.parametrize(
    "condition",
    [
        Compare("=", Y, X),
        Compare("<", Z, X),
        Compare("<", X, Constant(number("1"))),
        Compare("<", Y, Y),
        Compare("<", Y, Constant(Literal("a"))),
        Not(Compare("<", Y, X)),
        Compare("<", Negate(Y), X),
    ],
)
def test_other_filters_give_no_threshold(condition: Expression) -> None:
    assert thresholds((condition,), locate, KEY) == ()


def test_a_long_constant_decides_all_that_is_not_as_near() -> None:
    below = Compare("<", X, Constant(number("0.12345678901234567")))
    assert verdict(below, run=(number("0.12"), None)) == TRUE
    assert verdict(below, run=(number("0.13"), None)) == FALSE
    assert verdict(below, run=(number("0.123456789012346"), None)) == FALSE
    assert verdict(below, run=(number("0.12345678901234567", "double"), None)) == UNDECIDED
    assert verdict(Compare("<", X, Constant(number("9007199254740993", "integer"))), run=(number("7"), None)) == TRUE
    assert verdict(Compare("<", X, Constant(number("0.1234567", "float"))), run=(number("0.1"), None)) == UNDECIDED
