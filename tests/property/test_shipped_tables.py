"""A table that was packed and unpacked is the same table, whatever of it was left out on the way."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scepter.kernel.lineage import Lineage
from scepter.kernel.rows import Int64, Mappings, Rows, lasting
from scepter.kernel.state.shipping import pack_rows, unpack_rows
from scepter.kernel.texts import FIXED, Texts
from scepter.rdf.batch import NOT_A_NUMBER


def drawn(random: Random, texts: Texts, lineage: Lineage, rows: int, width: int) -> Rows:
    instants, named, windowed, shown = (random.random() < 0.5 for _ in range(4))
    numeric = [random.random() < 0.5 for _ in range(width)]
    refs = [*texts.append(["<urn:a>", '"b"']).tolist(), *texts.append_fixed(["_:c"]).tolist()]

    def cells(cell: object) -> list[list[int]]:
        return [[cell(c) for c in range(width)] for _ in range(rows)]  # type: ignore[operator]

    def column(cell: object) -> Int64:
        return np.array([cell() for _ in range(rows)], np.int64)  # type: ignore[operator]

    end = np.sort(column(lambda: random.randrange(-9, 9)))
    ids = np.array(cells(lambda c: random.randrange(4)), np.uint64).reshape(rows, width)
    held = np.array([[refs[id - 1] if id else -1 for id in row] for row in ids.tolist()], np.int64).reshape(rows, width)
    scale = cells(lambda c: random.choice([NOT_A_NUMBER, 0, 2, 100]) if numeric[c] else NOT_A_NUMBER)
    name = column(lambda: refs[random.randrange(3)] if named and random.random() < 0.7 else -1)
    event = column(lambda: random.randrange(99) if shown and random.random() < 0.7 else -1)
    number = np.array(cells(lambda c: random.randrange(9)), np.float64).reshape(rows, width)
    since, until = (end, end + 7) if windowed else lasting(rows)
    start = end if instants else end - column(lambda: random.randrange(3))
    nodes = lineage.leaves_of(column(lambda: random.randrange(2)), event, name)
    mapping = Mappings(ids, held, number, np.array(scale, np.int8).reshape(rows, width))
    return Rows(*mapping, start, end, since, until, nodes)


def shown(texts: Texts, refs: Int64) -> list[str]:
    return ["" if ref < 0 else str(texts.term(ref)) for ref in refs.ravel().tolist()]


@given(st.randoms(use_true_random=False), st.integers(0, 5), st.integers(0, 3))
def test_nothing_is_lost_on_the_way(random: Random, rows: int, width: int) -> None:
    texts, lineage, elsewhere, there = Texts(), Lineage(), Texts(), Lineage()
    elsewhere.append(['"there already"'])
    table = drawn(random, texts, lineage, rows, width)
    (back,) = unpack_rows(pack_rows([table], texts, lineage, {}, 0), elsewhere, there).exchanges
    for name in ("start", "end", "since", "until", "ids", "scale"):
        wanted, found = getattr(table, name), getattr(back, name)
        assert found.dtype == wanted.dtype and found.shape == wanted.shape and (found == wanted).all(), name
    numbers = table.scale != NOT_A_NUMBER
    assert (back.number[numbers] == table.number[numbers]).all()
    told, told_there = lineage.told(table.lineage), there.told(back.lineage)
    assert [each.tolist() for each in told[:2]] == [each.tolist() for each in told_there[:2]]
    assert shown(elsewhere, told_there[2]) == shown(texts, told[2])
    bound = table.ids != 0
    assert shown(elsewhere, back.refs[bound]) == shown(texts, table.refs[bound])
    assert back.refs.shape == table.refs.shape and back.refs.dtype == np.int64
    assert bool((back.refs < FIXED).all())
