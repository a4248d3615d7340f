"""The engine against the naive evaluator: random events over random streams, any batch size, any arrival within the delay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, event, given, note, settings
from hypothesis import strategies as st

import scepter
from naive import obep as naive
from property.obep_strategies import EXAMPLES, NS, ObepText, queries, streams
from scepter.algebra.events import EventQuery
from scepter.lower import lower
from scepter.ontology.axioms import read_ontology
from scepter.rdf.formats import parse_graph

PREFIXES = f"""PREFIX : <{NS}>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
ONTOLOGY = PREFIXES + ":C owl:disjointWith :A . :q rdfs:domain :B .\n"
BACKGROUND = PREFIXES + ":y a :B .\n"
MANY = settings(deadline=None, max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def by_definition(query: ObepText, stream: Sequence[naive.Event]) -> Counter[object]:
    (unit,) = lower(query.text, "obep").program.units
    assert isinstance(unit, EventQuery)
    read = {s.iri.value for s in unit.streams}
    ontology = read_ontology(parse_graph(ONTOLOGY))
    items = [item for item in stream if not read or item.stream in read]
    found = naive.evaluate(unit, ontology.axioms, parse_graph(BACKGROUND), items)
    return Counter((each.start, each.end, each.graph) for each in found)


def by_engine(
    query: ObepText, arriving: Sequence[naive.Event], size: int, delay: int, instants: Sequence[int] | None = None
) -> Counter[object]:
    engine = scepter.Engine(
        scepter.parse(query.text, "obep"), max_delay=delay, background=BACKGROUND, ontology=ONTOLOGY, evaluate_at=instants
    )
    read = engine.query.streams
    pushed = [scepter.Event(e.stream, e.triples, e.start, e.end) for e in arriving if not read or e.stream in read]
    matches = []
    for first in range(0, len(pushed), size):
        batch = pushed[first : first + size]
        matches += engine.push(batch[0]) if size == 1 else engine.push_all(batch)
    matches += engine.close()
    return Counter((match.start, match.end, frozenset(match.graph or ())) for match in matches)


@MANY
@given(queries(), streams())
def test_same_occurrences_event_by_event(query: ObepText, stream: list[naive.Event]) -> None:
    wanted = by_definition(query, stream)
    note(query.text)
    event(f"occurrences: {min(3, wanted.total())}")
    assert by_engine(query, sorted(stream, key=lambda e: (e.end, e.start)), 1, 0) == wanted


@MANY
@given(queries(), streams(), st.sampled_from([1, 3, 1_000]), st.integers(0, 6), st.randoms(use_true_random=False))
def test_same_occurrences_in_batches_and_out_of_order(
    query: ObepText, stream: list[naive.Event], size: int, delay: int, random: Any
) -> None:
    arriving = sorted(stream, key=lambda e: e.end + random.randint(0, delay))
    note(query.text)
    assert by_engine(query, arriving, size, delay) == by_definition(query, stream)


@MANY
@given(queries(), streams(), st.sampled_from([1, 3, 1_000]), st.lists(st.integers(0, 12), min_size=1, max_size=3))
def test_at_instants_what_is_before_each_counts(
    query: ObepText, stream: list[naive.Event], size: int, instants: list[int]
) -> None:
    note(query.text)
    wanted: Counter[object] = Counter()
    for instant in instants:  # a match is told once, however many instants find it
        wanted |= by_definition(query, [item for item in stream if item.end < instant])
    event(f"occurrences: {min(3, wanted.total())}")
    assert by_engine(query, sorted(stream, key=lambda e: (e.end, e.start)), size, 0, instants) == wanted
