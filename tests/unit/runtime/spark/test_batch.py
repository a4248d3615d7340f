"""What buckets over history are given: events, and where answers are asked for at instants, that there may be none."""

from __future__ import annotations

from collections import Counter

import pytest

from buckets import comparable, job_of, triples
from microbatches import graph_event
from rounds import divided, in_process
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import parse
from scepter.runtime.spark.batch import nothing_read

S = "http://example/s"
PREFIX = "PREFIX : <http://example/> "
COUNT = "SELECT RSTREAM (COUNT(?x) AS ?n) FROM NAMED :s WIN [RANGE 5] AS :w WHERE { WINDOW :w { ?x :p ?y } }"
QUERIES = {
    "rows": COUNT,
    "rows, each once": COUNT.replace("RSTREAM ", ""),
    "by key": COUNT.replace("(COUNT", "?y (COUNT") + " GROUP BY ?y",
    "events": "SELECT RSTREAM (COUNT(*) AS ?n) FROM NAMED :s WIN [RANGE 4 STEP 2] AS :w EVENT ON :w { ?x :p ?y } AS A "
    "EVENT ON :w { ?v :q ?z } AS B WHERE { MATCH { A SEQ B } }",
    "constructed": f"REGISTER STREAM :m AS CONSTRUCT {{ :m :n ?n }} FROM NAMED :s WIN [RANGE 5] AS :w "
    f"WHERE {{ SELECT (COUNT(?x) AS ?n) WHERE {{ WINDOW :w {{ ?x :p ?y }} }} }} "
    f"{COUNT.replace(':s ', ':m ').replace(':p', ':n')}",
}


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("times", [(), (2, 40)])
def test_instants_of_evaluation_are_answered_where_nothing_has_come(name: str, times: tuple[int, ...]) -> None:
    query = parse(PREFIX + QUERIES[name], "rsep-ql")
    options = RunOptions.of(evaluate_at=[1, 3, 20, 41])
    for buckets in (1, 2, 8):
        job = job_of(query, buckets, options=options, given=(S,))
        events = [graph_event(job, S, t, t, triples(":a :p :b .")) for t in times]
        wanted = Counter(comparable(match) for match in in_process(job, events))
        assert wanted or name == "by key"
        assert Counter(comparable(match) for match in divided(job, events, tasks=2)) == wanted


def test_a_sequence_is_told_nothing_of_instants() -> None:
    text = "SELECT ?x WITHIN 9 SLIDING FROM STREAM S :s WHERE { SEQ (A) DEFINE GPM A ON S { ?x :p ?y } }"
    job = job_of(parse(PREFIX + text, "spaseq"), 2, options=RunOptions.of(evaluate_at=[1]))
    assert list(nothing_read(job)) == []
