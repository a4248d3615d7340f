"""Filter programs against the exact evaluator: they may leave a filter open, but never say what is not so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import event, example, given, note, settings
from hypothesis import strategies as st
from numba import njit

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
from scepter.kernel.condition.interpreter import EITHER, FALSE, ROW, RUN, TRUE, UNDECIDED, Values, decide, stack
from scepter.kernel.condition.programs import Place, compile_conjuncts, number_of
from scepter.kernel.sparql.context import Context
from scepter.kernel.sparql.expressions import holds
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, XSD, Literal, Term

KEY = TermKey.fixed()
_decided = njit(lambda programs, first, last, run, row, room: decide(programs, first, last, run, row, room))
STACK = 32
# the run's slots: r0 r1 r2 e0; the row's columns: c0 c1 c2 e0. `e0` is bound by either.
OF_RUN, OF_ROW, OF_EITHER = ("r0", "r1", "r2"), ("c0", "c1", "c2"), "e0"
PLACES: dict[str, Place] = {
    **{name: (RUN, i, 0) for i, name in enumerate(OF_RUN)},
    **{name: (ROW, 0, i) for i, name in enumerate(OF_ROW)},
    OF_EITHER: (EITHER, 3, 3),
}


def integer(text: object) -> Literal:
    return Literal(str(text), XSD + "integer")


def decimal(text: str) -> Literal:
    return Literal(text, XSD + "decimal")


def double(text: object) -> Literal:
    return Literal(str(text), XSD + "double")


NEAR = ("0.1", "0.2", "0.3", "0.7", "0.98", "1.02", "1.1", "2.2", "3.3", "7.0", "0.1000000000000000055", "-0.3", "0.0")
ODD = (
    double("INF"), double("-INF"), double("NaN"), double("1e308"), double("-1e308"), double("5e-324"), double("0.1"),
    double("0.3"), double("7"), double("6.999999999999999"), double("-0.0"), double("0.30000000000000004"),
    Literal("0.1", XSD + "float"), Literal("16777217", XSD + "float"), Literal("0.10000000149011612", XSD + "float"),
    Literal("300", XSD + "byte"), Literal("-1", XSD + "unsignedInt"), Literal("7", XSD + "short"),
    Literal("x", XSD + "integer"),
    Literal(" 7 ", XSD + "integer"), Literal("", XSD + "decimal"), Literal("."), Literal("true", XSD + "boolean"),
    Literal("false", XSD + "boolean"), Literal("abc"), Literal(""), Literal("2026-01-01T00:00:00Z", XSD + "dateTime"),
    IRI("http://e/x"),
)  # fmt: skip
numbers: st.SearchStrategy[Term] = st.one_of(
    st.integers(-12, 12).map(integer),
    st.sampled_from(NEAR).map(decimal),
    st.sampled_from(["9007199254740992", "9007199254740993", "999999999999999", "1000000000000000", str(10**40)]).map(integer),
    st.decimals(-100, 100, places=2).map(lambda d: decimal(f"{d:f}")),
    st.decimals(-1, 1, places=20).map(lambda d: decimal(f"{d:f}")),
    st.floats(allow_nan=False, allow_infinity=False).map(double),
    st.sampled_from(ODD),
)
values: st.SearchStrategy[Term | None] = st.one_of(numbers, numbers, numbers, st.none())
names = st.sampled_from([*OF_RUN, *OF_ROW, OF_EITHER])


def combined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from("+-*/"), parts, parts),
        st.builds(Compare, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), parts, parts),
        st.builds(Negate, parts),
        st.builds(Not, parts),
        st.builds(And, parts, parts),
        st.builds(Or, parts, parts),
        st.builds(lambda o, cs, n: In(o, tuple(cs), n), parts, st.lists(parts, max_size=3), st.booleans()),
    )


leaves: st.SearchStrategy[Expression] = st.one_of(
    names.map(Variable),
    names.map(Variable),
    st.builds(Constant, numbers),
    names.map(lambda n: Call("BOUND", (Variable(n),))),
    st.sampled_from(OF_RUN).map(lambda n: Previous(Variable(n))),
)
arithmetic = st.recursive(
    st.one_of(names.map(Variable), st.builds(Constant, numbers)),
    lambda parts: st.builds(Arithmetic, st.sampled_from("+-*/"), parts, parts),
    max_leaves=5,
)
comparisons = st.builds(Compare, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), arithmetic, arithmetic)
conditions = st.one_of(comparisons, comparisons, st.recursive(leaves, combined, max_leaves=8))


@dataclass(frozen=True)
class Sides:
    """A run's and a row's values, as terms."""

    run: tuple[Term | None, ...]
    row: tuple[Term | None, ...]

    def bindings(self) -> dict[str, Term]:
        either = self.row[3] if self.row[3] is not None else self.run[3]
        every = {
            **dict(zip(OF_RUN, self.run[:3], strict=True)),
            **dict(zip(OF_ROW, self.row[:3], strict=True)),
            OF_EITHER: either,
        }
        return {name: term for name, term in every.items() if term is not None}

    def before(self) -> dict[str, Term]:
        return {name: term for name, term in zip(OF_RUN, self.run, strict=False) if term is not None}


sides = st.builds(lambda vs: Sides(tuple(vs[:4]), tuple(vs[4:])), st.lists(values, min_size=8, max_size=8))


def columns(terms: tuple[Term | None, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    ids = np.array([0 if t is None else term_id(KEY, str(t)) for t in terms], np.uint64)
    pairs = [(np.nan, -1) if t is None else number_of(t) for t in terms]
    return ids, np.array([n for n, _ in pairs]), np.array([s for _, s in pairs], np.int8)


def locate(name: str, previous: bool) -> Place | None:
    return PLACES[name]


def verdict(conjuncts: tuple[Expression, ...], given_sides: Sides) -> int:
    programs = compile_conjuncts(conjuncts, locate, KEY)
    code = programs._replace(code=programs.code.ravel())
    conjuncts_ = len(programs.offsets) - 1
    return int(_decided(code, 0, conjuncts_, Values(*columns(given_sides.run)), Values(*columns(given_sides.row)), stack()))


def exact(conjuncts: tuple[Expression, ...], given_sides: Sides) -> bool:
    context = Context(previous=given_sides.before())
    return all(holds(c, given_sides.bindings(), context) for c in conjuncts)


def product(count: int, leaf: Expression) -> Expression:
    made = leaf
    for _ in range(count - 1):
        made = Arithmetic("*", made, leaf)
    return made


NOTHING = Sides((None,) * 4, (None,) * 4)
ZERO_BY_DECIMALS = Arithmetic(
    "-", Arithmetic("+", Constant(decimal("0.1")), Constant(decimal("0.2"))), Constant(decimal("0.3"))
)
HUGE = product(25, Constant(integer(999_999_999_999_999)))
TINY = product(25, Constant(decimal("0.000000000000001")))


@settings(max_examples=400, deadline=None)
@given(st.lists(conditions, min_size=1, max_size=2).map(tuple), sides)
@example((Compare("=", Arithmetic("/", Constant(integer(0)), ZERO_BY_DECIMALS), Constant(integer(0))),), NOTHING)
@example((Compare("=", Arithmetic("-", HUGE, HUGE), Constant(integer(0))),), NOTHING)
@example((Compare("!=", Arithmetic("-", HUGE, HUGE), Constant(integer(0))),), NOTHING)
@example((Compare("=", TINY, Constant(integer(0))),), NOTHING)
@example((Compare(">", TINY, Constant(integer(0))),), NOTHING)
@example((Compare("=", ZERO_BY_DECIMALS, Constant(integer(0))),), NOTHING)
@example((Compare("=", Constant(decimal("0.1")), Constant(double("0.1"))),), NOTHING)
@example((Compare("<", Constant(integer("9007199254740992")), Constant(integer("9007199254740993"))),), NOTHING)
def test_a_program_never_contradicts_the_exact_evaluator(conjuncts: tuple[Expression, ...], given_sides: Sides) -> None:
    said = verdict(conjuncts, given_sides)
    event({TRUE: "true", FALSE: "false", UNDECIDED: "open"}[said])
    note(f"{conjuncts} {given_sides.bindings()}")
    assert said in (TRUE, FALSE, UNDECIDED)
    if said != UNDECIDED:
        assert (said == TRUE) == exact(conjuncts, given_sides)
