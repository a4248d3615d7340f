"""Policies over a stream that is long against the duration: what waits is let go of again and again, in the memory it has."""

from __future__ import annotations

import random

import pytest

from scepter.kernel.static.background import Background
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

STREAM, LONGEST = "http://e/s", 40
QUERY = f"""PREFIX : <http://e/>
SELECT ?c ?p ?v FROM STREAM <{STREAM}> WHERE {{ {{ ?c :price ?p }} SEQ {{ ?c :volume ?v }} FILTER (getDURATION() < {LONGEST}) }}
"""


def drawn(events: int) -> list[tuple[int, str, str, str]]:
    """(time, company, property, value): one at a time; most prices find no volume."""
    random_ = random.Random(7)
    kinds = ["price", "price", "price", "volume"]
    return [(at, f"c{random_.randrange(25)}", random_.choice(kinds), f'"{at}"') for at in range(events)]


def paired(events: list[tuple[int, str, str, str]], *, recent: bool) -> set[tuple[int, int]]:
    """(start, end) by the definition: each volume with the earliest or latest price before it that is not consumed."""
    found, prices = set(), list[tuple[int, str]]()
    for at, company, kind, _ in events:
        if kind == "price":
            prices.append((at, company))
            continue
        fit = [price for price in prices if price[1] == company and at - price[0] < LONGEST]
        if fit:
            price = fit[-1] if recent else fit[0]
            prices.remove(price)
            found.add((price[0], at))
    return found


@pytest.mark.parametrize("policy", ["chronological", "recent"])
@pytest.mark.parametrize("step", [50, 400])
def test_pairs_are_those_of_the_definition_however_often_what_waits_is_let_go_of(policy: str, step: int) -> None:
    events = drawn(6_000)
    engine = LocalEngine(parse(QUERY, "ep-sparql").program, RunOptions(policy=policy), Background())
    stream = engine.stream_number(IRI(STREAM))
    answers = []
    for first in range(0, len(events), step):
        some = [
            GraphEvent(stream, None, at, at, [(f"<http://e/{company}>", f"<http://e/{kind}>", value)])
            for at, company, kind, value in events[first : first + step]
        ]
        engine.take(events_to_batch(some, engine.key, TimeKind.INTEGER, run=engine.reading))
        answers += [(match.start, match.end) for match in engine.advance(some[-1].end)]
    answers += [(match.start, match.end) for match in engine.finish()]
    assert len(answers) > 500
    assert sorted(answers) == sorted(paired(events, recent=policy == "recent"))
