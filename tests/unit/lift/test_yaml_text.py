"""Mappings whose YAML asks too much end in a diagnostic, not in a hang or a traceback."""

from __future__ import annotations

import pytest

from scepter.errors import OptionError
from scepter.lift.yarrrml import read_yarrrml


def _merges(levels: int) -> str:
    """Each level takes the one before ten times, through merge keys: 10 ** levels pairs."""
    lines = ["a: &b0 {k: 1}"]
    lines += [f"b{i}: &b{i} {{<<: [{', '.join([f'*b{i - 1}'] * 10)}]}}" for i in range(1, levels + 1)]
    return "\n".join([*lines, f"mappings: *b{levels}"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_merges(9), "expand to more than 100,000 parts"),
        ("mappings: " + "[" * 5_000, "nests too deep"),
        ("mappings: " + "{a: " * 3_000 + "1" + "}" * 3_000, "nests too deep"),
        ("mappings: &a {m: *a}", "within what it names"),
    ],
)
def test_yaml_that_asks_too_much_is_refused(text: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        read_yarrrml(text, "m.yml")


def test_an_alias_is_still_read() -> None:
    text = "mappings:\n  r: {s: &s 'http://e/$(id)', po: [[http://e/v, $(v)]]}\n  q: {s: *s, po: [[http://e/w, $(w)]]}\n"
    assert len(read_yarrrml(text, "m.yml").maps) == 2
