"""Sequences that a plan would have to write out in more ways than there is room for."""

from __future__ import annotations

import pytest

from scepter.errors import QueryError
from scepter.runtime.queries import parse


def query(sequence: str, names: list[str]) -> str:
    gpms = " ".join(f"DEFINE GPM {name} ON S {{ ?x <http://e/{name}> ?v }}" for name in names)
    return f"SELECT ?x WITHIN 10 FROM STREAM S <http://e/s> WHERE {{ SEQ ({sequence}) {gpms} }}"


def test_optional_parts() -> None:
    names = [f"A{n}" for n in range(60)]
    assert parse(query("; ".join(f"{name}?" for name in names[:10]), names[:10]), "spaseq")
    with pytest.raises(QueryError) as caught:
        parse(query("; ".join(f"{name}?" for name in names), names), "spaseq")
    assert caught.value.code == "too-complex"
    assert "60 optional GPMs can be taken or left in 2^60 ways, and 1,024 are allowed" in str(caught.value)


def test_combinations() -> None:
    pairs = [(f"A{n}", f"B{n}") for n in range(40)]
    names = [name for pair in pairs for name in pair]
    combined = " & ".join(f"({a} | {b})" for a, b in pairs)
    with pytest.raises(QueryError) as caught:
        parse(query(f"({combined})", names), "spaseq")
    assert caught.value.code == "too-complex"
    assert "'&' and '|' make more than a thousand million combinations of GPMs here" in str(caught.value)
