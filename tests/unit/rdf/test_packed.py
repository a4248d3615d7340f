"""Texts in one buffer."""

from __future__ import annotations

import pytest

from scepter.rdf.packed import Packed
from scepter.rdf.terms import STRING


def test_texts_behind_others() -> None:
    found = Packed.together([Packed.of(["a", ""]), Packed.of([]), Packed.of(["é"])])
    assert [found.text(at) for at in range(len(found))] == ["a", "", "é"]


@pytest.mark.parametrize(
    ("text", "unusual"),
    [
        ("<http://e/a@b>", False),
        ("_:b", False),
        ('"@"', True),  # parsed for nothing, which does no harm
        ('"a"@en', True),
        ('"a\\tb"', True),
        ('"a\tb"', True),
        ('"\x7f"', True),
        ('"\x80é"', False),
        ("<<( <s> <p> <o> )>>", True),
        (f'"a"^^<{STRING}>', True),
        (f'"a"^^<{STRING}s>', False),
        (f"<{STRING}>", False),
        ('"5"^^<http://e/i>', False),
    ],
)
def test_which_terms_are_not_spelt_as_they_are_shown(text: str, unusual: bool) -> None:
    assert Packed.of(["<a>", text, "<b>"]).unusual().tolist() == [False, unusual, False]
