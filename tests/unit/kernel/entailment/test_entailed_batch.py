"""Events with what they entail: columns against the schema's rules, triple by triple."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from batches import KEY, at_time, events_of
from scepter.kernel.entailment.entailed_batch import EntailedEvents
from scepter.ontology.schema import Schema
from scepter.ontology.vocabulary import (
    DOMAIN,
    INVERSE_OF,
    RANGE,
    SUB_CLASS_OF,
    SUB_PROPERTY_OF,
    SYMMETRIC_PROPERTY,
    TYPE,
)
from scepter.rdf.batch import EventBatch
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import IRI, XSD, Literal, Triple

NS = "http://e/"
CLASSES = st.sampled_from([IRI(f"{NS}C{i}") for i in range(5)])
PROPERTIES = st.sampled_from([IRI(f"{NS}p{i}") for i in range(4)])
THINGS = st.sampled_from([IRI(f"{NS}x{i}") for i in range(3)])
VALUES = st.sampled_from([Literal("1", XSD + "integer"), Literal("2.50", XSD + "decimal"), Literal("one")])
STATEMENTS = st.one_of(
    st.builds(Triple, CLASSES, st.just(SUB_CLASS_OF), CLASSES),
    st.builds(Triple, PROPERTIES, st.just(SUB_PROPERTY_OF), PROPERTIES),
    st.builds(Triple, PROPERTIES, st.sampled_from([DOMAIN, RANGE]), CLASSES),
    st.builds(Triple, PROPERTIES, st.just(INVERSE_OF), PROPERTIES),
    st.builds(Triple, PROPERTIES, st.just(TYPE), st.just(SYMMETRIC_PROPERTY)),
)
STREAMED = st.one_of(st.builds(Triple, THINGS, st.just(TYPE), CLASSES), st.builds(Triple, THINGS, PROPERTIES, THINGS | VALUES))


def batch_of(events: list[list[Triple]]) -> EventBatch:
    """One event at each instant."""
    reader = NQuadsReader(KEY, 0, "s.nq", dead_letter=print)
    for number, triples in enumerate(events):
        lines = "".join(f"{s} {p} {o} <{NS}e{number}> .\n" for s, p, o in triples)
        reader.feed((lines + at_time(f"e{number}", number)).encode())
    batch = reader.finish()
    assert batch is not None
    return batch


@given(st.lists(STATEMENTS, max_size=12), st.lists(st.lists(STREAMED, min_size=1, max_size=4), min_size=1, max_size=5))
def test_events_have_what_the_rules_make_of_each_triple(statements: list[Triple], events: list[list[Triple]]) -> None:
    schema = Schema.from_triples(statements)
    flattened = schema.flattened()
    assert flattened is not None
    entailed = EntailedEvents(flattened, KEY)(batch_of(events))
    found = events_of([entailed])
    assert [(start, end) for start, end, _, _ in found] == [(i, i) for i in range(len(events))]
    for (_, _, _, got), stated in zip(found, events, strict=True):
        expected = {tuple(map(str, t)) for triple in stated for t in schema.entailed(triple)}
        assert set(got) == expected
        assert len(got) == len(expected)  # a graph is a set


def test_numbers_come_with_the_objects_that_are_carried() -> None:
    p, q, some = IRI(NS + "p0"), IRI(NS + "p1"), IRI(NS + "C0")
    flattened = Schema.from_triples([Triple(p, SUB_PROPERTY_OF, q), Triple(p, DOMAIN, some)]).flattened()
    assert flattened is not None
    entailed = EntailedEvents(flattened, KEY)(batch_of([[Triple(IRI(NS + "x"), p, Literal("2.50", XSD + "decimal"))]]))
    assert entailed.triples == 3
    assert sorted(np.isnan(entailed.number).tolist()) == [False, False, True]
    assert set(entailed.number[~np.isnan(entailed.number)].tolist()) == {2.5}


def test_nothing_entailed_is_the_same_batch() -> None:
    flattened = Schema.from_triples([Triple(IRI(NS + "C0"), SUB_CLASS_OF, IRI(NS + "C1"))]).flattened()
    assert flattened is not None
    given = batch_of([[Triple(IRI(NS + "x"), IRI(NS + "p"), IRI(NS + "y"))]])
    assert EntailedEvents(flattened, KEY)(given) is given
