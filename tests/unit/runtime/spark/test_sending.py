"""Rows that cross from one stage to another take along what they were made of."""

from __future__ import annotations

from buckets import job_of, triples
from microbatches import Micro, engine_answers, graph_event, rows_of
from scepter.runtime.queries import parse
from scepter.runtime.spark.tables import PARTS, arrow_schema

S = "http://example/s"
QUERY = """PREFIX : <http://example/> SELECT DISTINCT ?y ?z WITHIN 9 SLIDING FROM STREAM S :s
    WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?x :q ?z } }"""


def test_the_events_of_a_match_are_shown_behind_an_exchange() -> None:
    query = parse(QUERY, "spaseq")
    job = job_of(query, 7, live=True, given=(S,))
    assert [(share.buckets, share.depth) for share in job.shares] == [(7, 0), (7, 1)]
    events = [
        graph_event(job, S, t, t, triples(f":n{t % 3} :{'pq'[t % 2]} {t} ."))._replace(name=f"<http://e/{t}>")
        for t in range(1, 30)
    ]
    events.append(graph_event(job, S, 1000, 1000, triples(":far :away true .")))
    run = Micro(query, job)
    run.schema = arrow_schema(query.variables, query.constructs, query.asks, job.kind, query.occurrences, parts=True)
    for first in range(0, len(events), 4):
        run.batch(events[first : first + 4])
    wanted = rows_of(engine_answers(job, events, 1000), run.schema)
    assert len(wanted) > 10 and {len(row[PARTS]) for row in wanted} == {2}
    assert sorted(map(repr, run.rows)) == sorted(map(repr, wanted))
