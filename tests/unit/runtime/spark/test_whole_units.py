"""Units that run as in one process on Spark, when they are some of a program's."""

from __future__ import annotations

from buckets import job_of
from microbatches import graph_event
from scepter.rdf.formats import events_to_batch
from scepter.runtime.queries import parse
from scepter.runtime.spark.shares import Form, Share
from scepter.runtime.spark.whole import engine_of

S = "http://e/s"
QUERIES = """PREFIX : <http://e/>
SELECT ?x ?v WHERE { ?x :a ?v . ?x :b ?w FILTER (getDURATION() < 100) }
SELECT ?v ?w WHERE { { ?x :a ?v } SEQ { ?y :c ?w } FILTER (getDURATION() < 100) }
SELECT ?w WHERE { { ?x :a ?v } SEQ { ?y :c ?w } FILTER (getDURATION() < 100) }
"""


def test_units_that_share_operators_are_found_by_their_places_among_those_that_run() -> None:
    job = job_of(parse(QUERIES, "ep-sparql"), 2, live=True, given=[S])
    assert job.plan.shared == ((1, 2),)
    for units in ((1, 2), (2,), (0, 2)):
        engine = engine_of(job, Share(0, units, Form.EVENTS, 1))
        events = [
            graph_event(job, S, at, at, [("<http://e/1>", f"<http://e/{name}>", f'"{at}"')])
            for at, name in [(1, "a"), (2, "c"), (3, "b")]
        ]
        engine.take(events_to_batch(events, job.key, job.kind, run=engine.reading))
        assert sorted(match.query for match in engine.advance(9)) == sorted(units)
