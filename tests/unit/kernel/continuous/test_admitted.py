"""Rows that wait, put in order."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest

from scepter.kernel.continuous.admitted import END, EVENT, START, Admitted, in_parts


def part(*rows: tuple[int, int, int]) -> Admitted:
    """Rows of (event, start, end)."""
    made = Admitted.room(len(rows))
    for column in made.columns():
        column[...] = 0
    made.source[:, EVENT] = [event for event, _, _ in rows]
    made.when[:, START] = [start for _, start, _ in rows]
    made.when[:, END] = [end for _, _, end in rows]
    return made


def events(parts: list[Admitted]) -> list[list[int]]:
    return [each.source[:, EVENT].tolist() for each in parts]


def test_parts_in_order_stay_as_they_are() -> None:
    given = [part((0, 1, 1), (1, 2, 2)), part((2, 3, 3))]
    found = in_parts(given, 1)
    assert [a is b for a, b in zip(found, given, strict=True)] == [True, True]


def test_an_instant_is_in_one_part() -> None:
    assert events(in_parts([part((0, 1, 1), (1, 2, 2)), part((2, 2, 2)), part((3, 1, 2)), part((4, 3, 3))], 1)) == [
        [0, 3, 1, 2],  # by end, then start, then arrival
        [4],
    ]


def test_a_late_part_goes_to_all_that_it_reaches_back_to() -> None:
    given = [part((0, 1, 1)), part((1, 5, 5)), part((2, 9, 9)), part((3, 4, 4), (4, 7, 7))]
    assert events(in_parts(given, 1)) == [[0], [3, 1, 4, 2]]


def test_small_parts_come_together() -> None:
    given = [part((i, i, i)) for i in range(10)]
    assert events(in_parts(given, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert in_parts([], 4) == []


@pytest.mark.parametrize("least", [1, 3, 100])
def test_nothing_is_lost_whatever_the_order(least: int) -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        ends = random.integers(0, 30, 40).tolist()
        rows = [(i, int(random.integers(0, end + 1)), end) for i, end in enumerate(ends)]
        cuts = sorted({0, 40, *random.integers(1, 40, 8).tolist()})
        found = in_parts([part(*rows[a:b]) for a, b in pairwise(cuts)], least)
        assert list(chain.from_iterable(events(found))) == [
            i for i, _, _ in sorted(rows, key=lambda row: (row[2], row[1], row[0]))
        ]
        for one, other in pairwise(found):
            assert one.when[-1, END] < other.when[0, END]
