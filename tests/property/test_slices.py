"""History in slices of time: however long it is taken to be, and in however many buckets, one answer."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, event, example, given, note, settings
from hypothesis import strategies as st

from buckets import comparable, job_of, triples
from microbatches import graph_event
from property.spaseq_strategies import EXAMPLES
from rounds import divided, in_process
from scepter.physical.distribution.partitioning import PartitionKind, unit_partitioning
from scepter.runtime.queries import parse

S = "http://example/s"
PREFIX = "PREFIX : <http://example/> "
QUERIES = {
    "by start": ("spaseq", "SELECT ?x ?y ?v WITHIN 5 SLIDING FROM STREAM S :s WHERE { SEQ (A ; B) "
        "DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?v :q ?z } }"),
    "by start, looking ahead": ("spaseq", "SELECT ?x ?y WITHIN 4 SLIDING FROM STREAM S :s WHERE { SEQ (N! ; A ; B) "
        "DEFINE GPM N ON S { ?u :r ?w } DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?v :q ?z } }"),
    "by end": ("ep-sparql", "SELECT ?x ?z WHERE { { ?x :p ?y } SEQ { ?v :q ?z } } FILTER(getDURATION() < 5)"),
    "at instants": ("rsep-ql", "SELECT RSTREAM ?x ?z FROM NAMED :s WIN [RANGE 4 STEP 2] AS :w EVENT ON :w { ?x :p ?y } AS A "
        "EVENT ON :w { ?v :q ?z } AS B WHERE { MATCH { A SEQ B } }"),
    "windows": ("sparkwave", "SELECT ?x ?w FROM STREAM :s [RANGE 6] WHERE { ?x :p ?y . ?y :q ?z . ?z :r ?w }"),
}  # fmt: skip
NODES = st.sampled_from(["a", "b", "c"])
EVENTS = st.lists(st.tuples(st.integers(0, 80), NODES, st.sampled_from("ppqqr"), NODES), min_size=4, max_size=60)
SPANS = st.none() | st.tuples(st.integers(-10, 40), st.integers(0, 1000)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))


@settings(max_examples=max(30, EXAMPLES), suppress_health_check=list(HealthCheck), deadline=None)
@given(st.sampled_from(sorted(QUERIES)), EVENTS, st.integers(2, 9), SPANS, st.integers(1, 3))
@example("by end", [(0, "a", "p", "b"), (4, "b", "q", "c"), (8, "a", "p", "b"), (12, "b", "q", "c")], 2, (0, 12), 1)
@example("by start, looking ahead", [(t, "a", "rpq"[t % 3], "b") for t in range(40)], 3, (0, 40), 2)
def test_slices(
    name: str, drawn: list[tuple[int, str, str, str]], buckets: int, span: tuple[int, int] | None, tasks: int
) -> None:
    language, text = QUERIES[name]
    note(text)
    job = job_of(parse(PREFIX + text, language), buckets, given=(S,))
    (unit,) = job.plan.units
    assert unit_partitioning(unit, job.plan.facts).kind is PartitionKind.SLICES
    events = [graph_event(job, S, t, t, triples(f":{s} :{p} :{o} .")) for t, s, p, o in sorted(drawn)]
    wanted = Counter(comparable(match) for match in in_process(job, events))
    event(f"{name}, answers: {bool(wanted)}")
    assert Counter(comparable(match) for match in divided(replace(job, span=span), events, tasks)) == wanted
