"""Runs that look for the same are searched for once: against the definitions, over few runs as over many."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from naive import spaseq as naive
from property.spaseq_strategies import QueryText
from property.test_spaseq_naive import by_definition, by_engine
from scepter.algebra.query import Selection
from scepter.kernel.sequence import chain, in_flight, moment
from scepter.kernel.sequence.in_flight import Flight, Link
from scepter.kernel.sequence.step_search import StepSearch
from scepter.rdf.terms import IRI, XSD, Literal, Triple

E = "http://example/"
STREAM = E + "s"


@pytest.fixture(autouse=True, params=[moment.MANY, 1])
def begun(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs begin in the order of time, and in that of their keys, which is for many."""
    for module in (moment, chain):
        monkeypatch.setattr(module, "MANY", request.param)


@pytest.fixture
def linked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Of each search by the rows that runs took last: how many runs there were, how many rows had to look, what they took."""
    told, call, of_rows, looked = list[tuple[int, int, int]](), Link.__call__, StepSearch.of_rows, list[int]()

    def noted(link: Link, selection: Selection, flight: Flight, *rest: object) -> object:
        looked.clear()
        found = call(link, selection, flight, *rest)  # type: ignore[arg-type]
        if found is not None:
            told.append((len(flight), sum(looked), found[0]))
        return found

    def looking(search: StepSearch, selection: Selection, time: np.ndarray, *rest: object) -> object:
        looked.append(len(time))
        return of_rows(search, selection, time, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(in_flight, "_IDLE", 0)
    monkeypatch.setattr(Link, "__call__", noted)
    monkeypatch.setattr(StepSearch, "of_rows", looking)
    return told


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
def test_many_runs_come_to_one_event(
    window: str, spelt: tuple[str, ...], last: str, linked: list[tuple[int, int, int]]
) -> None:
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
        runs, looked, took = (sum(column) for column in zip(*linked, strict=True))
        assert looked < runs and took > 40
    if "EVENTS" in window:
        assert not linked


@pytest.mark.parametrize("operator", [";", ",", ":"])
@pytest.mark.parametrize("window", ["4 SLIDING", "9 SLIDING", "7"])
def test_steps_of_one_condition_look_once(operator: str, window: str, linked: list[tuple[int, int, int]]) -> None:
    """Up, down, up: what rows found for the first step they need not look for again at the third."""
    text = f"""PREFIX : <{E}>
      SELECT ?c ?p ?q ?r ?s WITHIN {window} FROM STREAM S :s WHERE {{
        SEQ (A {operator} B {operator} C {operator} D)
        DEFINE GPM A ON S {{ ?c :price ?p }}
        DEFINE GPM B ON S {{ ?c :price ?q FILTER (?q >= ?p) }}
        DEFINE GPM C ON S {{ ?c :price ?r FILTER (?r <= ?q) }}
        DEFINE GPM D ON S {{ ?c :price ?s FILTER (?s >= ?r) }} }}"""
    query = QueryText(text, (E + "s",))
    for seed in range(2):
        stream = prices(seed, PLAIN)
        wanted = by_definition(query, stream, 0)
        linked.clear()
        assert by_engine(query, stream, 0, 48, 0) == wanted != Counter()
        third = [looked for _, looked, _ in linked[2::3]]
        assert len(third) > 0 and not any(third)
        assert by_engine(query, stream, 0, 7, 0) == wanted


def test_a_row_looks_again_where_a_run_may_go_farther() -> None:
    """Two runs come to the price at 3: the one of 0 at its second step, and may go on to 4; the one of 1 at its third, to 5.

    What comes later makes them one batch."""
    stream = [
        naive.Event(STREAM, t, t, frozenset((Triple(IRI(E + "a"), IRI(E + "price"), Literal(price, XSD + "decimal")),)))
        for t, price in ((0, "1.5"), (1, "1"), (2, "1.2"), (3, "2"), (5, "3"), *((9 + n, "0") for n in range(64)))
    ]
    text = f"""PREFIX : <{E}>
      SELECT ?p ?q ?r ?s WITHIN 4 SLIDING FROM STREAM S :s WHERE {{
        SEQ (A ; B ; C ; D)
        DEFINE GPM A ON S {{ ?c :price ?p FILTER (?p < 2 && ?p != 1.2) }}
        DEFINE GPM B ON S {{ ?c :price ?q FILTER (?q > ?p) }}
        DEFINE GPM C ON S {{ ?c :price ?r FILTER (?r > ?q) }}
        DEFINE GPM D ON S {{ ?c :price ?s FILTER (?s > ?r) }} }}"""
    query = QueryText(text, (E + "s",))
    found = by_engine(query, stream, 0, len(stream), 0)
    assert found == by_definition(query, stream, 0)
    assert len(found) == 1
