"""Equal rows found by hashing: the same as with a dictionary."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scepter.rdf.distinct import distinct

NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.integers(0, 31).map(lambda i: i << 58))
TABLES = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[NUMBERS] * width), max_size=80))


@given(TABLES)
def test_rows_are_told_apart_in_the_order_they_first_stand(rows: list[tuple[int, ...]]) -> None:
    known: dict[tuple[int, ...], int] = {}
    wanted = [known.setdefault(row, len(known)) for row in rows]
    first, where = distinct(np.array(rows, np.int64).reshape(len(rows), len(rows[0]) if rows else 2))
    assert where.tolist() == wanted
    assert [rows[place] for place in first.tolist()] == list(known)
