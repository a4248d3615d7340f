"""Lines put together as bytes."""

from __future__ import annotations

import numpy as np

from scepter.rdf import lines
from scepter.rdf.lines import Column, Lines, Part, either, grouped, joined, listed, own
from scepter.rdf.packed import Packed


def shown(column: Column) -> list[str | None]:
    return [None if place < 0 else column.texts.text(place) for place in column.place.tolist()]


def test_texts_numbers_and_columns_stand_in_turn() -> None:
    texts = Packed.of(["", "é", "longer than a word"])
    parts: list[Part] = ["<", Column(texts, np.array([1, 0, 2])), "|", np.array([7, -80, 0]), "|", own(texts), ">"]
    assert shown(joined(parts, 3)) == ["<é|7|>", "<|-80|é>", "<longer than a word|0|longer than a word>"]


def test_numbers_of_every_length() -> None:
    numbers = [sign * (10**figures + more) for figures in range(19) for sign in (1, -1) for more in (-1, 0, 1)]
    numbers += [2**63 - 1, -(2**63), 9_999_999_999_999_999]
    assert shown(joined([np.array(numbers, np.int64), ";"], len(numbers))) == [f"{number};" for number in numbers]


def test_a_text_that_all_lines_have_is_there_where_the_column_behind_it_has_none() -> None:
    column = Column.of(["a"], np.array([0, -1]))
    assert shown(joined(["x=", column, ".", column], 2)) == ["x=a.a", "x=."]
    assert shown(joined([column], 2)) == ["a", ""]


def test_what_is_listed_has_something_between() -> None:
    texts = Packed.of(["1", "2"])
    x, y = Column(texts, np.array([0, -1, 0, -1])), Column(texts, np.array([1, 1, -1, -1]))
    always = Column(texts, np.array([0, 0, 0, 0]))
    assert shown(joined(["{", *listed([("x", x), ("y", y)], ", "), "}"], 4)) == ["{x1, y2}", "{y2}", "{x1}", "{}"]
    assert shown(joined(listed([("a", always), ("y", y), ("b", always)], ","), 4))[1:3] == ["a1,y2,b1", "a1,b1"]
    assert shown(joined(listed([], ","), 2)) == ["", ""]


def test_one_of_two_columns() -> None:
    yes, no = Column.of(["y"], np.zeros(2, np.int64)), Column.of(["m", "n"], np.array([1, 0]))
    assert shown(either(np.array([True, False]), yes, no)) == ["y", "m"]


def test_lines_of_a_row_stand_side_by_side() -> None:
    letters = Column.of(["a", "b"], np.array([0, 1, 1]))
    assert shown(grouped([letters, ";"], np.array([0, 2, 2, 3]))) == ["a;b;", "", "b;"]


def test_pieces_are_whole_lines_also_where_one_is_longer() -> None:
    texts = ["x" * 10, "y" * (2 * lines._PIECE), "é" * (lines._PIECE // 4), "z" * (lines._PIECE // 2 - 1)]
    place = np.array([0, 1, 0, 2, 3, 2, 0])
    found = Lines([Column.of(texts, place), "\n"], len(place))
    pieces = [str(piece, "utf-8") for piece in found.pieces()]
    assert "".join(pieces) == "".join(f"{texts[at]}\n" for at in place)
    assert len(pieces) > 3 and all(piece.endswith("\n") for piece in pieces)


def test_no_lines() -> None:
    assert list(Lines(["a"], 0).pieces()) == []
    assert shown(joined(["a", own(Packed.of([]))], 0)) == []
