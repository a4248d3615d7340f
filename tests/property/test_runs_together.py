"""Runs that look for the same are searched for once: against the definitions, over few runs as over many."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, note

from naive import spaseq as naive
from property.spaseq_strategies import QueryText
from property.test_spaseq_naive import MANY, by_definition, by_engine, runs
from scepter.kernel.sequence import step_search
from scepter.rdf.terms import IRI, XSD, Literal, Triple

E = "http://example/"
STREAM = E + "s"


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many pairs each search gave that was made for several runs at once; it is tried from two runs on."""
    found, together = list[int](), step_search.StepSearch._together
    monkeypatch.setattr(step_search, "_MANY", 2)
    monkeypatch.setattr(step_search, "_IDLE", 0)

    def noted(*given: object) -> tuple[np.ndarray, np.ndarray] | None:
        pairs = together(*given)  # type: ignore[arg-type]
        if pairs is not None:
            found.append(len(pairs[0]))
        return pairs

    with mock.patch.object(step_search.StepSearch, "_together", noted):
        yield found


def prices(seed: int, spelt: Sequence[str]) -> list[naive.Event]:
    drawn, found = random.Random(seed), []
    for now in range(48):
        price = Literal(drawn.choice(spelt), XSD + "decimal")
        triple = Triple(IRI(E + drawn.choice("ab")), IRI(E + "price"), price)
        found.append(naive.Event(STREAM, now // 2, now // 2, frozenset((triple,))))
    return found


PLAIN, LONG = ("1", "2", "3", "2.5"), ("1", "2", "2.00000000000000000001", "3")


@pytest.mark.parametrize("window", ["4 SLIDING", "30 SLIDING", "6 EVENTS"])
@pytest.mark.parametrize("spelt", [PLAIN, LONG])
@pytest.mark.parametrize("last", ["?r < ?q", "?r < ?q && ?r > ?p", "?r < 3"])
def test_many_runs_come_to_one_event(window: str, spelt: tuple[str, ...], last: str, searched: list[int]) -> None:
    """Each has a limit of its own: what one of them finds may lie beyond another's."""
    text = f"""PREFIX : <{E}>
      SELECT ?c ?p ?q ?r WITHIN {window} FROM STREAM S :s WHERE {{
        SEQ (A ; B ; C)
        DEFINE GPM A ON S {{ ?c :price ?p }}
        DEFINE GPM B ON S {{ ?c :price ?q FILTER (?q > ?p) }}
        DEFINE GPM C ON S {{ ?c :price ?r FILTER ({last}) }} }}"""
    query = QueryText(text, (E + "s",))
    for seed in range(2):
        stream = prices(seed, spelt)
        wanted = by_definition(query, stream, 0)
        assert by_engine(query, stream, 0, 48, 0) == wanted != Counter()
        assert by_engine(query, stream, 0, 17, 0) == wanted
    if window == "30 SLIDING" and spelt == PLAIN and "?p" not in last:
        assert sum(searched) > 40
    if "EVENTS" in window:
        assert not searched


@MANY
@given(runs())
def test_as_by_definition(run: tuple[QueryText, list[naive.Event]]) -> None:
    query, stream = run
    note(query.text)
    in_order: Sequence[naive.Event] = sorted(stream, key=lambda e: (e.end, e.start))
    with mock.patch.multiple(step_search, _MANY=2, _IDLE=0):
        found: Counter[object] = by_engine(query, in_order, 0, 1_000, 0)
    assert found == by_definition(query, stream, 0)
