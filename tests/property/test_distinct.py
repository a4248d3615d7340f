"""Equal numbers found by hashing: the same as with a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scepter.rdf.distinct import distinct, distinct_pairs

NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.integers(0, 31).map(lambda i: i << 58))


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=80))
def test_pairs_are_told_apart_in_the_order_they_first_stand(pairs: list[tuple[int, int]]) -> None:
    left, right = np.array(pairs, np.int64).reshape(-1, 2).T
    known: dict[tuple[int, int], int] = {}
    wanted = [known.setdefault(pair, len(known)) for pair in pairs]
    first, where = distinct_pairs(np.ascontiguousarray(left), np.ascontiguousarray(right))
    assert where.tolist() == wanted
    assert [pairs[place] for place in first.tolist()] == list(known)


@given(st.lists(NUMBERS, max_size=80))
def test_single_numbers(values: list[int]) -> None:
    first, where = distinct(np.array(values, np.int64))
    assert [values[first[i]] for i in where.tolist()] == values
    assert len(first) == len(set(values))
