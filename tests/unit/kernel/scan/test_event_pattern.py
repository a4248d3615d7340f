"""Patterns of one event that are operators: each batch is for itself."""

from __future__ import annotations

import scepter
from scepter import Engine, Event

S = "http://e/s"


def query(body: str) -> scepter.Query:
    text = (
        f"PREFIX : <http://e/> SELECT * WITHIN 5 SLIDING FROM STREAM S <{S}> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}"
    )
    return scepter.parse(text, "spaseq")


def event(time: int, triples: str) -> Event:
    return Event(S, triples, time, prefixes={"": "http://e/"})


def shown(match: scepter.Match) -> dict[str, str]:
    return {name: str(term).partition("^^")[0].strip('"') for name, term in match.bindings.items()}


def test_a_batch_meets_nothing_of_the_one_before() -> None:
    engine = Engine(query("?x :p ?v OPTIONAL { ?x :r ?w }"))
    pushed = [event(1, ":a :p 1 ; :r 7 ."), event(2, ":a :p 2 ."), event(3, ":b :r 8 ."), event(4, ":b :p 3 .")]
    found = [shown(match) for each in pushed for match in engine.push(each)] + [shown(match) for match in engine.close()]
    assert [(match["v"], match.get("w")) for match in found] == [("1", "7"), ("2", None), ("3", None)]


def test_a_filter_stands_above_an_optional_part() -> None:
    events = [event(1, ":a :p 'one' ; :r 7 ."), event(2, ":a :p 'two' ."), event(3, ":a :p 'onto' .")]
    found = scepter.run_local(query("?x :p ?v OPTIONAL { ?x :r ?w } FILTER (STRSTARTS(?v, 'on'))"), events)
    assert [(shown(match)["v"], shown(match).get("w")) for match in found] == [("one", "7"), ("onto", None)]
