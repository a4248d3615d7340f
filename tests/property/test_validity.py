"""Operators on validities against the operators of SPARQL, instant by instant."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from property.spaseq_strategies import EXAMPLES
from property.validity_strategies import (
    HORIZON,
    Bag,
    Feeding,
    Given,
    at,
    bag,
    compatible,
    feedings,
    given_rows,
    mapping,
    run,
)
from scepter.kernel.rows import Mask, Rows
from scepter.kernel.validity.coalesce import Coalesce, Latest
from scepter.kernel.validity.inner_join import InnerJoin, Matching
from scepter.kernel.validity.intervals import gaps
from scepter.kernel.validity.outer_join import OuterJoin
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.window_nodes import Partners

MANY = settings(deadline=None, max_examples=EXAMPLES)
LEFT = Schema(("x", "y", "z"), frozenset("x"))
RIGHT = Schema(("x", "w", "z"), frozenset("x"))
APART = Schema(("v",), frozenset("v"))
JOINED = ("x", "y", "z", "w")


def differ(rows: Rows) -> Mask:
    """y < w, false where one is unbound."""
    y, w = rows.ids[:, 1], rows.ids[:, -1]
    passing: Mask = (y != 0) & (w != 0) & (y < w)
    return passing


def pairs(left: list[Given], right: list[Given], instant: int, *, condition: bool) -> list[tuple[int, dict[str, int]]]:
    """(place of the left, merged mapping) of all partners."""
    found = []
    for i, a in enumerate(at(left, instant)):
        for b in at(right, instant):
            one, other = mapping(LEFT.variables, a), mapping(RIGHT.variables, b)
            both = one | other
            if compatible(one, other) and (not condition or both.get("y", 9) < both.get("w", 0)):
                found.append((i, both))
    return found


def tuples(mappings: list[dict[str, int]], names: tuple[str, ...]) -> Bag:
    return Counter(tuple(m.get(name, 0) for name in names) for m in mappings)


@MANY
@given(given_rows(3, (0,)), given_rows(3, (0,)), feedings())
def test_join(left: list[Given], right: list[Given], feeding: Feeding) -> None:
    made = run(lambda: InnerJoin(Matching(LEFT, RIGHT)), [(left, 3), (right, 3)], feeding)
    for instant in range(HORIZON):
        wanted = tuples([m for _, m in pairs(left, right, instant, condition=False)], JOINED)
        assert bag(made, instant) == wanted


@MANY
@given(given_rows(3, (0,)), given_rows(1, (0,)), feedings())
def test_join_without_a_shared_variable(left: list[Given], right: list[Given], feeding: Feeding) -> None:
    made = run(lambda: InnerJoin(Matching(LEFT, APART)), [(left, 3), (right, 1)], feeding)
    for instant in range(HORIZON):
        assert bag(made, instant) == Counter((*a, *b) for a in at(left, instant) for b in at(right, instant))


@MANY
@given(given_rows(3, (0,)), given_rows(3, (0,)), feedings(), st.booleans())
def test_optional(left: list[Given], right: list[Given], feeding: Feeding, condition: bool) -> None:
    test = differ if condition else None
    made = run(lambda: OuterJoin(Matching(LEFT, RIGHT), Partners.OPTIONAL, condition=test), [(left, 3), (right, 3)], feeding)
    for instant in range(HORIZON):
        found = pairs(left, right, instant, condition=condition)
        paired = {i for i, _ in found}
        alone = [mapping(LEFT.variables, a) for i, a in enumerate(at(left, instant)) if i not in paired]
        assert bag(made, instant) == tuples([*(m for _, m in found), *alone], JOINED)


@MANY
@pytest.mark.parametrize("partners", [Partners.MINUS, Partners.EXISTS, Partners.NOT_EXISTS])
@given(given_rows(3), given_rows(3), feedings(), st.booleans())
def test_minus_and_exists(partners: Partners, left: list[Given], right: list[Given], feeding: Feeding, condition: bool) -> None:
    wide, other = Schema(LEFT.variables), Schema(RIGHT.variables)
    condition = condition and partners is not Partners.MINUS
    test = differ if condition else None
    made = run(lambda: OuterJoin(Matching(wide, other), partners, condition=test), [(left, 3), (right, 3)], feeding)
    for instant in range(HORIZON):
        met = {i for i, _ in pairs(left, right, instant, condition=condition)}
        if partners is Partners.MINUS:
            met = {i for i, a in enumerate(at(left, instant)) if any(_takes_away(a, b) for b in at(right, instant))}
        kept = [a for i, a in enumerate(at(left, instant)) if (i in met) == (partners is Partners.EXISTS)]
        assert bag(made, instant) == Counter(kept)


def _takes_away(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    one, other = mapping(LEFT.variables, a), mapping(RIGHT.variables, b)
    return bool(one.keys() & other.keys()) and compatible(one, other)


@MANY
@given(given_rows(2, most=14), feedings())
def test_coalesce(rows: list[Given], feeding: Feeding) -> None:
    made = run(lambda: Coalesce(Schema(("x", "y"))), [(rows, 2)], feeding)
    for instant in range(HORIZON):
        assert bag(made, instant) == Counter(set(at(rows, instant)))


INTERVALS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.integers(0, 9)), max_size=9)


@MANY
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=3), INTERVALS)
def test_gaps(bounds: list[tuple[int, int]], intervals: list[tuple[int, int, int]]) -> None:
    low, high = (np.array([b[i] for b in bounds], np.int64) for i in (0, 1))
    owner, since, until = (np.array([i[k] for i in intervals], np.int64) for k in range(3))
    found = [*zip(*(column.tolist() for column in gaps(low, high, owner, since, until)), strict=True)]
    for of in range(3):
        open = {t for o, a, b in found if o == of for t in range(a, b)}
        taken = {t for o, a, b in intervals if o == of for t in range(a, b)}
        assert open == set(range(*bounds[of])) - taken
    assert len(found) == len(set(found)) and all(a < b for _, a, b in found)


@MANY
@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9)), max_size=14), st.integers(1, 6), feedings())
def test_latest(seen: list[tuple[int, int]], width: int, feeding: Feeding) -> None:
    rows = [Given((id,), end, end, end + width) for id, end in sorted(seen, key=lambda each: each[1])]
    made = run(lambda: Latest(Schema(("x",))), [(rows, 1)], feeding)
    for instant in range(HORIZON):
        there = [row for row in rows if row.since <= instant < row.until]
        wanted = {row.ids: row.end for row in there}  # the last in order of end
        assert bag(made, instant) == Counter(wanted.keys())
        here = made.take((made.since <= instant) & (instant < made.until))
        assert dict(zip(map(tuple, here.ids.tolist()), here.end.tolist(), strict=True)) == wanted
