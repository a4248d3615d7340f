"""GROUP BY as rows come and go, against SPARQL's definition at each instant."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from property.spaseq_strategies import EXAMPLES
from property.validity_strategies import HORIZON, Feeding, Given, feedings, given_rows, run, table
from scepter.algebra.expressions import Aggregate, Variable
from scepter.algebra.patterns import EMPTY
from scepter.algebra.patterns import Group as GroupPattern
from scepter.kernel.encoding import encoded
from scepter.kernel.group.incremental import Group
from scepter.kernel.operator import Until
from scepter.kernel.rows import Rows
from scepter.kernel.sparql.aggregates import compile_group
from scepter.kernel.sparql.context import Context
from scepter.kernel.texts import Texts
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.rdf.hashing import TermKey
from scepter.rdf.terms import IRI, XSD, Literal, Term
from scepter.rdf.values import order_key

MANY = settings(deadline=None, max_examples=EXAMPLES)


def number(text: str, datatype: str) -> Literal:
    return Literal(text, XSD + datatype)


EXACT = [number("1", "integer"), number("2", "integer"), number("2.0", "decimal"), number("-0.25", "decimal")]
DOUBLES = [number("0.1", "double"), number("1e100", "double"), number("-1e100", "double"), number("3e-310", "double")]
ODD = [number("INF", "double"), number("-INF", "double"), number("NaN", "double"), number("0.1", "float")]
LONG = [number("12345678901234567890.5", "decimal"), number("999999999999999", "integer"), number("1e-15", "decimal")]
LONG += [number("0.000000000000001", "decimal"), number("-999999999999999", "integer")]
OTHER: list[Term] = [Literal("a"), IRI("http://a"), number("x", "integer")]
POOLS: list[list[Term]] = [
    [*EXACT],
    [*DOUBLES],
    [*EXACT, *DOUBLES],
    [*EXACT, *LONG],
    [*EXACT, *DOUBLES, *ODD],
    [*EXACT, *OTHER],
]
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")
V = Variable("v")
INPUT = Schema(("g", "v"))


def named(function: str, distinct: bool) -> tuple[str, Aggregate]:
    return f"{function}{distinct}", Aggregate(function, V, distinct)


EVERY = [named(function, distinct) for function in FUNCTIONS for distinct in (False, True)]
EVERY += [("rows", Aggregate("COUNT", None)), ("different", Aggregate("COUNT", None, distinct=True))]


class _Coded:
    """The operator over terms: ids 1, 2, … of the second column stand for the terms of a pool."""

    def __init__(self, pool: list[Term], keys: tuple[str, ...], aggregates: list[tuple[str, Aggregate]], texts: Texts) -> None:
        self.operator = Group(INPUT, keys, aggregates, TermKey.fixed(), texts)
        self.schema = self.operator.schema
        self._codes = encoded([None, *pool], TermKey.fixed(), texts)
        for name in ("save", "undo", "evict", "dump", "load", "refs", "lineages", "state_rows"):
            setattr(self, name, getattr(self.operator, name))

    def process(self, inputs: list[Rows], until: Until) -> Rows:
        (rows,) = inputs
        at = rows.ids[:, 1].astype(np.int64)
        ids, refs, number, scale = self._codes
        rows.ids[:, 1], rows.refs[:, 1], rows.number[:, 1], rows.scale[:, 1] = ids[at], refs[at], number[at], scale[at]
        return self.operator.process([rows], until)


def comparable(name: str, term: Term | None) -> object:
    """Values that any order of members may give."""
    if term is None:
        return None
    if name.startswith(("MIN", "MAX")):  # of `2` and `2.0` either
        return order_key(term)
    if name.startswith("SAMPLE"):
        return True
    if name.startswith("GROUP_CONCAT"):
        assert isinstance(term, Literal)
        return Counter(term.lexical.split(" "))
    return str(term)


def by_definition(rows: list[Given], keys: tuple[str, ...], pool: list[Term], aggregates: list[tuple[str, Aggregate]],
                  instant: int) -> Counter[object]:  # fmt: skip
    pattern = GroupPattern(
        EMPTY, tuple((Variable(k), Variable(k)) for k in keys), tuple((Variable(n), a) for n, a in aggregates)
    )
    inside = []
    for row in rows:
        if row.since <= instant < row.until:
            found: dict[str, Term] = {}
            if row.ids[0]:
                found["g"] = number(str(row.ids[0]), "integer")
            if row.ids[1]:
                found["v"] = pool[row.ids[1] - 1]
            inside.append(found)
    groups = compile_group(pattern)(inside, Context())
    return Counter(
        (str(group.get("g")), *(_told(name, group.get(name)) for name, _ in aggregates)) for group in groups
    )  # fmt: skip


def _told(name: str, term: Term | None) -> object:
    found = comparable(name, term)
    return frozenset(found.items()) if isinstance(found, Counter) else found


def given_out(rows: Rows, keys: tuple[str, ...], names: list[str], texts: Texts, instant: int) -> Counter[object]:
    here = rows.take((rows.since <= instant) & (instant < rows.until))
    found: Counter[object] = Counter()
    for row in range(len(here)):
        pairs = [*zip(here.ids[row].tolist(), here.refs[row].tolist(), strict=True)]
        key = str(number(str(pairs[0][0]), "integer")) if keys and pairs[0][0] else "None"
        terms = [texts.term(ref) if id else None for id, ref in pairs[len(keys) :]]
        found[(key, *(_told(name, term) for name, term in zip(names, terms, strict=True)))] += 1
    return found


@MANY
@given(
    st.integers(0, len(POOLS) - 1), st.booleans(), given_rows(2, most=10), feedings(),
    st.lists(st.sampled_from(EVERY), min_size=1, max_size=4, unique=True),
)  # fmt: skip
def test_groups(pool: int, keyed: bool, rows: list[Given], feeding: Feeding, aggregates: list[tuple[str, Aggregate]]) -> None:
    terms = POOLS[pool]
    rows = [
        Given((r.ids[0], min(r.ids[1] + pool % 2 * 2, len(terms)) if r.ids[1] else 0), r.end, r.since, r.until) for r in rows
    ]
    keys, texts = (("g",) if keyed else ()), Texts()
    made = run(lambda: _Coded(terms, keys, aggregates, texts), [(rows, 2)], feeding)  # type: ignore[arg-type, return-value]
    names = [name for name, _ in aggregates]
    for instant in range(HORIZON):
        wanted = by_definition(rows, keys, terms, aggregates, instant)
        assert given_out(made, keys, names, texts, instant) == wanted


def test_between_multiples_of_the_grid_nothing_is_cut() -> None:
    texts = Texts()
    operator = Group(Schema(("g",)), ("g",), [("n", Aggregate("COUNT", None))], TermKey.fixed(), texts, Grid(10))
    assert len(operator.process([table([Given((1,), 3, 10, 30)], 1)], Until(9))) == 0
    pieces = [operator.process([table([], 1)], Until(t)) for t in (10, 13, 19, 20, 45)]
    assert [len(piece) for piece in pieces] == [1, 0, 0, 1, 1]
    assert pieces[-1].until.tolist() == [30]


def test_sums_near_the_end_of_the_word_are_exact() -> None:
    long = number("999999999999999", "integer")
    texts, rows = Texts(), [Given((0, 1), 0, 0, 9) for _ in range(20)]
    rows += [Given((0, 2), 1, 1, 9)]
    keys: tuple[str, ...] = ()
    pool: list[Term] = [long, number("0.000000000000001", "decimal")]
    aggregates = [named("SUM", False)]
    made = run(lambda: _Coded(pool, keys, aggregates, texts), [(rows, 2)], Feeding((0,), frozenset(), frozenset()))  # type: ignore[arg-type, return-value]
    for instant in (0, 1, 9):
        wanted = by_definition(rows, keys, pool, aggregates, instant)
        assert given_out(made, keys, [n for n, _ in aggregates], texts, instant) == wanted
