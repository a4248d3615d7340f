"""Lineage: leaves, joins, and letting go of what no row reaches."""

from __future__ import annotations

import numpy as np

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import NO_LINEAGE


def ints(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def test_a_join_selects_the_leaves_of_both_sides_in_order() -> None:
    lineage = Lineage()
    first = lineage.leaves(0, ints(10, 11), ints(-1, 5))
    second = lineage.leaves(1, ints(20, 21), ints(-1, -1))
    third = lineage.leaves(2, ints(30, 31), ints(-1, -1))
    found = lineage.joined(lineage.joined(first, second), third)
    assert list(lineage.selected(int(found[1]))) == [(0, 11, 5), (1, 21, -1), (2, 31, -1)]


def test_a_side_without_lineage_adds_no_node() -> None:
    lineage = Lineage()
    leaves = lineage.leaves(0, ints(1, 2), ints(-1, -1))
    found = lineage.joined(leaves, ints(NO_LINEAGE, NO_LINEAGE))
    assert found.tolist() == leaves.tolist()
    assert len(lineage) == 2
    assert list(lineage.selected(NO_LINEAGE)) == []


def test_what_no_row_reaches_is_dropped_and_the_rest_moves() -> None:
    lineage = Lineage()
    leaves = lineage.leaves(0, np.arange(100), np.full(100, -1))
    joined = lineage.joined(leaves[:50], leaves[50:])
    places = lineage.keep(lineage.live(joined[3:5]))
    assert len(lineage) == 6
    assert list(lineage.selected(int(places[joined[4]]))) == [(0, 4, -1), (0, 54, -1)]
    assert places[leaves[0]] == NO_LINEAGE
    assert places[NO_LINEAGE] == NO_LINEAGE


def test_a_branch_stays_when_the_whole_goes_on() -> None:
    lineage = Lineage()
    joined = lineage.joined(lineage.leaves(0, ints(1, 2), ints(-1, -1)), lineage.leaves(1, ints(3, 4), ints(-1, -1)))
    branch, places = lineage.branch(joined[1:])
    lineage.truncate(0)
    lineage.leaves(9, np.arange(8), np.full(8, -1))
    assert list(branch.selected(int(places[0]))) == [(0, 2, -1), (1, 4, -1)]


def test_columns_written_are_columns_read() -> None:
    lineage, again = Lineage(), Lineage()
    joined = lineage.joined(lineage.leaves(0, ints(1), ints(7)), lineage.leaves(1, ints(2), ints(8)))
    again.load(lineage.columns())
    assert list(again.selected(int(joined[0]))) == [(0, 1, 7), (1, 2, 8)]
    assert again.events().tolist() == [1, 2]
