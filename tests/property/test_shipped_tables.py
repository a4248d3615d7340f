"""A table that was packed and unpacked is the same table, whatever of it was left out on the way."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scepter.kernel.scan.graph_scan import Solved, Ticks
from scepter.kernel.scan.solutions import Int64, Solutions
from scepter.kernel.state.shipping import pack_solved, unpack_solved
from scepter.kernel.texts import FIXED, Texts
from scepter.rdf.batch import NOT_A_NUMBER

NO_TICKS = Ticks(np.empty(0, np.uint64), np.empty(0, np.int64))


def drawn(random: Random, texts: Texts, rows: int, width: int, scans: int) -> Solutions:
    instants, named, one_branch = random.random() < 0.5, random.random() < 0.5, random.random() < 0.5
    numeric = [random.random() < 0.5 for _ in range(width)]
    refs = [*texts.append(["<urn:a>", '"b"', "_:c"]).tolist(), FIXED + 7]

    def cells(columns: int, cell: object) -> list[list[int]]:
        return [[cell(c) for c in range(columns)] for _ in range(rows)]  # type: ignore[operator]

    time = np.sort(np.array([random.randrange(-9, 9) for _ in range(rows)], np.int64))
    ids = np.array(cells(width, lambda c: random.randrange(4)), np.uint64).reshape(rows, width)
    held = np.array([[refs[id - 1] if id else -1 for id in row] for row in ids.tolist()], np.int64).reshape(rows, width)
    names = cells(scans, lambda c: refs[random.randrange(3)] if named and random.random() < 0.7 else -1)
    scale = cells(width, lambda c: random.choice([NOT_A_NUMBER, 0, 2, 100]) if numeric[c] else NOT_A_NUMBER)
    return Solutions(
        time,
        time if instants else time - np.array([random.randrange(3) for _ in range(rows)], np.int64),
        np.array([0 if one_branch else random.randrange(2) for _ in range(rows)], np.int8),
        np.array(cells(scans, lambda c: random.randrange(99)), np.int64).reshape(rows, scans),
        np.array(names, np.int64).reshape(rows, scans),
        ids,
        held,
        np.array(cells(width, lambda c: random.randrange(9)), np.float64).reshape(rows, width),
        np.array(scale, np.int8).reshape(rows, width),
    )


def shown(texts: Texts, refs: Int64) -> list[str]:
    return ["" if ref < 0 else "fixed" if ref >= FIXED else str(texts.term(ref)) for ref in refs.ravel().tolist()]


@given(st.randoms(use_true_random=False), st.integers(0, 5), st.integers(0, 3), st.integers(1, 2))
def test_nothing_is_lost_on_the_way(random: Random, rows: int, width: int, scans: int) -> None:
    texts, elsewhere = Texts(), Texts()
    elsewhere.append(['"there already"'])
    table = drawn(random, texts, rows, width, scans)
    (back,) = unpack_solved(pack_solved(Solved((table,), NO_TICKS), texts, {}), elsewhere)[0].tables
    for name in ("time", "start", "branch", "events", "ids", "scale"):
        wanted, found = getattr(table, name), getattr(back, name)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape and (found == wanted).all(), name
    numbers = table.scale != NOT_A_NUMBER
    assert (back.number[numbers] == table.number[numbers]).all()
    assert shown(elsewhere, back.names) == shown(texts, table.names)
    bound = table.ids != 0
    assert shown(elsewhere, back.refs[bound]) == shown(texts, table.refs[bound])
    assert back.refs.shape == table.refs.shape and back.refs.dtype == np.int64
