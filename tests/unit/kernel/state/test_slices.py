"""Slices of history: which places are given what, and how evenly."""

from __future__ import annotations

import numpy as np
import pytest

from scepter.kernel.state.slices import NOWHERE, Slices, cut

TIMES = np.arange(-300, 7_000)


@pytest.mark.parametrize(("before", "after"), [(10, 0), (0, 10), (10, 10)])
@pytest.mark.parametrize("places", [2, 3, 8, 64])
@pytest.mark.parametrize("span", [None, (0, 500), (100, 6_900), (0, 100_000)])
def test_a_slice_is_given_what_its_answers_need_and_no_answer_spans_two(
    before: int, after: int, places: int, span: tuple[int, int] | None
) -> None:
    slices = cut(10, places, before, after, span)
    turns = list(slices.of(TIMES))
    owner = np.array([slices.owns(place, TIMES) for place in range(places)])
    assert (owner.sum(axis=0) == 1).all()
    for place in range(places):
        given = np.logical_or.reduce([turn == place for turn in turns])
        assert sum(int((turn == place).sum()) for turn in turns) == given.sum(), "once each"
        for by in {-before, 0, after}:
            needed = TIMES[owner[place]] + by
            needed = needed[(needed >= TIMES[0]) & (needed <= TIMES[-1])]
            assert np.isin(needed, TIMES[given]).all()
        gaps = np.diff(TIMES[given])
        assert (gaps[gaps > 1] > 10).all()


@pytest.mark.parametrize("back", [1, 100, 1_000])
def test_all_places_have_as_much_of_a_known_span(back: int) -> None:
    times = np.arange(5_000, 105_000)
    slices = cut(back, 64, before=back, after=0, span=(5_000, 104_999))
    (first, *more) = (np.bincount(turn[turn != NOWHERE].astype(int), minlength=64) for turn in slices.of(times))
    given = first + sum(more)
    assert given.max() <= 1.1 * given.mean() and given.sum() <= 1.7 * len(times)
    assert slices == Slices(slices.length, 64, back, 0, origin=5_000)


def test_an_unknown_span_is_cut_as_short_as_overlaps_allow() -> None:
    assert cut(10, 8, 10, 0, None) == Slices(40, 8, 10, 0)
