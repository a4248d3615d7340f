"""Coverage leads to what chance alone does not find; a few inputs of each parser. The long run is by hand (`tools/torture`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from torture.guided import grow
from torture.mutants import doing, seeds
from torture.programs import LANGUAGES

TOY = """
def read(data):
    if data[:1] == b"{":
        if data[1:2] == b"[":
            if data[2:3] == b"(":
                if data[3:4] == b"<":
                    raise ZeroDivisionError
"""


def test_each_step_is_found_by_the_one_before() -> None:
    found: dict[str, Any] = {}
    exec(compile(TOY, "/x/scepter/toy.py", "exec"), found)
    read: Callable[[bytes], None] = found["read"]
    grown = grow("toy", [b"x"], read, 6_000, 1)
    assert any("ZeroDivisionError" in each for each in grown.wrong)
    assert [data[:1] for data in grown.corpus[1:]].count(b"{") == len(grown.corpus) - 1
    blind = {**found}
    exec(compile(TOY, "/x/elsewhere/toy.py", "exec"), blind)
    assert not grow("toy", [b"x"], blind["read"], 6_000, 1).wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_few_of_each_parser(language: str) -> None:
    grown = grow(language, seeds()[language][:1], doing(language), 10, 1)
    assert not grown.wrong
    assert grown.pairs > 100
