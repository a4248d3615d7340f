"""The operator contract: the rows that an operator keeps are those whose refs and lineage are exchanged."""

from __future__ import annotations

import numpy as np
import pytest

from scepter.kernel.operator import Operator, Until
from scepter.kernel.rows import Rows, mappings
from scepter.kernel.validity.inner_join import InnerJoin, Matching
from scepter.kernel.validity.outer_join import OuterJoin
from scepter.kernel.window.counted import CountedWindow
from scepter.physical.nodes.nodes import Schema
from scepter.physical.nodes.window_nodes import Partners

SCHEMA = Schema.bound(("x", "y"))
MATCHING = Matching(SCHEMA, SCHEMA)


def rows(first: int) -> Rows:
    """Two rows that are there for long, with refs and lineage of their own."""
    ids, refs, number, scale = mappings(2, 2)
    ids[:] = [[1, 2], [3, 4]]
    refs[:] = np.arange(first, first + 4).reshape(2, 2)
    ends = np.array([5, 6], np.int64)
    return Rows(ids, refs, number, scale, ends, ends, ends, ends + 100, np.arange(first, first + 2, dtype=np.int64))


@pytest.mark.parametrize(
    ("operator", "kept"),
    [
        (InnerJoin(MATCHING), 2),
        (OuterJoin(MATCHING, Partners.MINUS), 2),
        (CountedWindow(SCHEMA, 10, 1, None), 1),
    ],
)
def test_all_that_is_kept_can_be_exchanged(operator: Operator, kept: int) -> None:
    operator.process([rows(10), rows(20)], Until(6))
    refs = sorted(np.concatenate([array.ravel() for array in operator.refs()]).tolist())
    lineage = sorted(np.concatenate(list(operator.lineages())).tolist())
    assert refs == [10, 11, 12, 13, 20, 21, 22, 23][: 4 * kept]
    assert lineage == [10, 11, 20, 21][: 2 * kept]
