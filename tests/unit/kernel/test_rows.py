"""Rows: what taking, cutting and merging do to each column."""

from __future__ import annotations

import numpy as np

from scepter.kernel.rows import COLUMNS, Rows, concat, cut, empty, lasting, mappings, merged
from scepter.rdf.arena import NO_REF


def rows(*bound: tuple[int, ...], end: tuple[int, ...] = ()) -> Rows:
    """Rows whose ids are given; refs are ids plus 100, and the end is the place unless told."""
    ids, refs, number, scale = mappings(len(bound), len(bound[0]) if bound else 0)
    for i, row in enumerate(bound):
        for j, value in enumerate(row):
            if value:
                ids[i, j], refs[i, j], number[i, j], scale[i, j] = value, value + 100, value, 0
    ends = np.array(end or range(len(bound)), np.int64)
    return Rows(ids, refs, number, scale, ends - 1, ends, *lasting(len(bound)), np.arange(len(bound), dtype=np.int64))


def test_rows_are_taken_by_places_and_by_mask() -> None:
    table = rows((1, 2), (3, 0), (5, 6))
    assert table.take(np.array([2, 0])).ids.tolist() == [[5, 6], [1, 2]]
    by_mask = table.take(np.array([False, True, False]))
    assert (by_mask.ids.tolist(), by_mask.end.tolist(), by_mask.lineage.tolist()) == ([[3, 0]], [1], [1])


def test_columns_are_reordered_and_filled_with_unbound() -> None:
    table = rows((1, 2), (3, 4)).columns((1, -1, 0))
    assert table.ids.tolist() == [[2, 0, 1], [4, 0, 3]]
    assert table.refs[:, 1].tolist() == [NO_REF, NO_REF]
    assert np.isnan(table.number[:, 1]).all()


def test_cut_keeps_the_instant_on_the_left() -> None:
    table = rows((1,), (2,), (3,), end=(4, 5, 6))
    now, later = cut(table, 5)
    assert (now.end.tolist(), later.end.tolist()) == ([4, 5], [6])


def test_by_end_is_stable() -> None:
    table = rows((1,), (2,), (3,), end=(5, 4, 5)).by_end()
    assert table.ids.ravel().tolist() == [2, 1, 3]


def test_concat_of_nothing_has_the_width() -> None:
    assert concat([empty(2), empty(2)], 2).width == 2
    assert concat([rows((1,)), empty(1), rows((2,))], 1).ids.ravel().tolist() == [1, 2]
    assert all(len(getattr(concat([rows((1,)), rows((2,))], 1), name)) == 2 for name in COLUMNS)


def test_merged_takes_the_left_side_where_it_binds() -> None:
    left, right = rows((1, 0), (1, 2)), rows((7, 9), (7, 9))
    ids, refs, number, scale = merged(left.mappings, right.mappings, (1, 2), 3)
    assert ids.tolist() == [[1, 7, 9], [1, 2, 9]]
    assert refs.tolist() == [[101, 107, 109], [101, 102, 109]]
    assert number.tolist() == [[1, 7, 9], [1, 2, 9]]
    assert scale.tolist() == [[0, 0, 0], [0, 0, 0]]
