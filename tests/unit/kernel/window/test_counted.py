"""Windows of the last n, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from scepter.kernel.operator import Until
from scepter.kernel.rows import NO_LINEAGE, Rows, lasting, mappings
from scepter.kernel.window.counted import CountedWindow
from scepter.kernel.window.extent import Grid
from scepter.physical.nodes.nodes import Schema
from scepter.timeline import MAX_INSTANT


def rows(*times: int) -> Rows:
    at = np.array(times, np.int64)
    return Rows(*mappings(len(at), 0), at, at, *lasting(len(at)), np.full(len(at), NO_LINEAGE, np.int64))


def pieces(found: Rows) -> list[tuple[int, int, int]]:
    return sorted(zip(found.end.tolist(), found.since.tolist(), found.until.tolist(), strict=True))


def window(count: int, step: int = 1, grid: Grid | None = None) -> CountedWindow:
    return CountedWindow(Schema(()), count, step, grid)


def test_a_row_goes_when_n_more_have_come() -> None:
    found = window(2).process([rows(1, 2, 4), rows(1, 2, 3, 4)], Until(4))
    assert pieces(found) == [(1, 1, 3), (2, 2, 4), (4, 4, 5)]


def test_a_row_whose_end_is_not_known_is_given_in_pieces() -> None:
    last = window(2)
    assert pieces(last.process([rows(1), rows(1)], Until(1))) == [(1, 1, 2)]
    assert pieces(last.process([rows(), rows()], Until(5))) == [(1, 2, 6)]
    assert pieces(last.process([rows(7), rows(7, 7)], Until(7))) == [(1, 6, 7), (7, 7, 8)]
    assert pieces(last.process([rows(), rows()], Until(9, last=True))) == [(7, 8, MAX_INSTANT)]


def test_it_moves_on_with_every_m() -> None:
    found = window(2, step=2).process([rows(1, 2, 3), rows(1, 2, 3, 4, 5)], Until(5))
    assert pieces(found) == [(1, 2, 4), (2, 2, 4), (3, 4, 6)]


def test_one_instant_comes_and_goes_together() -> None:
    found = window(1).process([rows(1, 1, 2), rows(1, 1, 1, 2)], Until(2))
    assert pieces(found) == [(1, 1, 2), (1, 1, 2), (2, 2, 3)]


def test_nothing_is_cut_between_two_multiples() -> None:
    last = window(2, grid=Grid(5))
    assert pieces(last.process([rows(1), rows(1)], Until(3))) == []
    assert pieces(last.process([rows(), rows()], Until(7))) == [(1, 1, 6)]


def test_an_open_instant_is_undone() -> None:
    last = window(1)
    last.process([rows(1), rows(1)], Until(1))
    last.save()
    last.process([rows(2), rows(2, 2)], Until(2))
    last.undo()
    assert pieces(last.process([rows(), rows(2)], Until(2))) == []
    assert last.state_rows() == {"content": 0}


@pytest.mark.parametrize("step", [1, 3])
def test_what_is_written_is_read(step: int) -> None:
    one, other = window(2, step), window(2, step)
    one.process([rows(1, 2), rows(1, 2)], Until(2))
    other.load(one.dump())
    following = [rows(3, 5), rows(3, 4, 5)], Until(5)
    assert pieces(one.process(*following)) == pieces(other.process(*following))
    assert [a.tolist() for a in one.lineages()] == [a.tolist() for a in other.lineages()]
