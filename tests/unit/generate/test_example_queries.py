"""The queries that come with a dataset are queries, and find something in it."""

from __future__ import annotations

from pathlib import Path

import pyoxigraph as ox
import pytest

from naive.spaseq import Event, evaluate_program
from scepter import generate
from scepter.lower import lower
from scepter.rdf.terms import Triple, parse_term

SMALL = {"stocks": (150, 2), "cards": (200, 5), "smartgrid": (60, 4), "traffic": (60, 2), "vessels": (60, 2)}


def triples(path: Path) -> list[Triple]:
    quads = ox.parse(path=str(path))
    return [Triple(*(parse_term(str(term)) for term in (quad.subject, quad.predicate, quad.object))) for quad in quads]


@pytest.mark.parametrize("dataset", SMALL)
def test_spaseq_examples_have_matches(dataset: str, tmp_path: Path) -> None:
    count, keys = SMALL[dataset]
    manifest = generate.write(dataset, tmp_path, events=count, keys=keys)
    background = {graph: triples(path) for graph, path in manifest.background.items()}
    events = [
        Event(event.stream, event.start, event.end, frozenset(event.triples), event.name)
        for event in generate.events(dataset, events=count, keys=keys)
    ]
    for query in manifest.queries:
        lowered = lower(query.read_text(), name=query.name)
        assert not lowered.warnings
        (matches,) = evaluate_program(lowered.program, events, background=background)
        assert matches, query.name
