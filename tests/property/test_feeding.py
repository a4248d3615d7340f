"""Queries that feed each other, in any number of buckets, give what one process gives: over history round after round, live one
behind another."""

from __future__ import annotations

from collections import Counter

from hypothesis import HealthCheck, event, example, given, note, settings
from hypothesis import strategies as st

from buckets import comparable, job_of, triples
from microbatches import Micro, graph_event, rows_of
from microbatches import comparable as comparable_rows
from property.spaseq_strategies import EXAMPLES
from rounds import divided, in_process
from scepter.rdf.formats import events_to_batch
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.queries import parse

FAR = 1000
S = "http://example/s"
MANY = settings(max_examples=max(20, EXAMPLES), suppress_health_check=list(HealthCheck), deadline=None)
MAKERS = [
    "CONSTRUCT {{ ?x :made ?y }} INTO STREAM :{made} WITHIN 5 SLIDING FROM STREAM S :{read} WHERE {{ SEQ (A ; B) "
    "DEFINE GPM A ON S {{ ?x :p ?y }} DEFINE GPM B ON S {{ ?x :q ?z }} }}",  # by key
    "CONSTRUCT {{ ?x :made ?y }} INTO STREAM :{made} WITHIN 5 SLIDING FROM STREAM S :{read} WHERE {{ SEQ (A ; B) "
    "DEFINE GPM A ON S {{ ?x :p ?y }} DEFINE GPM B ON S {{ ?v :q ?z }} }}",  # by slices
    "CONSTRUCT {{ ?x :made ?y }} INTO STREAM :{made} FROM STREAM S :{read} WHERE {{ SEQ (A , B) "
    "DEFINE GPM A ON S {{ ?x :p ?y }} DEFINE GPM B ON S {{ ?v :q ?z }} }}",  # by the first event
    "CONSTRUCT {{ ?x :made ?y }} INTO STREAM :{made} WITHIN 4 SLIDING FROM STREAM S :{read} WHERE {{ SEQ (A ; N!) "
    "DEFINE GPM A ON S {{ ?x :p ?y }} DEFINE GPM N ON S {{ ?x :q ?z }} }}",  # some beyond the end of the input
]
SECOND = (
    "CONSTRUCT {{ ?x :p ?y . ?y :q ?x }} INTO STREAM :{made} WITHIN 9 SLIDING FROM STREAM S :{read} WHERE {{ SEQ (A) "
    "DEFINE GPM A ON S {{ ?x :made ?y }} }}"
)
READERS = [
    "SELECT ?x ?y ?z WITHIN 9 SLIDING FROM STREAM M :{read} FROM STREAM S :s WHERE {{ SEQ (A ; B) "
    "DEFINE GPM A ON M {{ ?x :{verb} ?y }} DEFINE GPM B ON S {{ ?x :r ?z }} }}",
    "SELECT ?x ?u WITHIN 9 SLIDING FROM STREAM M :{read} FROM STREAM S :s WHERE {{ SEQ (A , B) "
    "DEFINE GPM A ON S {{ ?x :p ?y }} DEFINE GPM B ON M {{ ?u :{verb} ?v }} }}",
    "SELECT ?x ?y WITHIN 6 SLIDING FROM STREAM M :{read} WHERE {{ SEQ (A ; N!) "
    "DEFINE GPM A ON M {{ ?x :{verb} ?y }} DEFINE GPM N ON M {{ ?x :{verb} ?x }} }}",
    "ASK WITHIN 9 SLIDING FROM STREAM M :{read} WHERE {{ SEQ (A ; B) "
    "DEFINE GPM A ON M {{ ?x :{verb} ?y }} DEFINE GPM B ON M {{ ?u :{verb} ?x }} }}",
]
NODES = st.sampled_from(["a", "b", "c"])
EVENTS = st.lists(st.tuples(st.integers(0, 12), NODES, st.sampled_from("ppqqr"), NODES), min_size=2, max_size=24)
OFTEN = st.lists(st.tuples(st.integers(0, 12), NODES, st.sampled_from("ppqqr"), NODES), min_size=14, max_size=30)
WINDOWS = [
    "PREFIX : <http://example/> REGISTER :made CONSTRUCT { ?x :made ?y } FROM NAMED :s WIN [RANGE 4 STEP 2] AS :w "
    "EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?x :q ?z } AS B WHERE { MATCH { A SEQ B } } "
    "SELECT ?x ?y ?z FROM NAMED :made WIN [RANGE 6 STEP 3] AS :m FROM NAMED :s WIN [RANGE 6 STEP 3] AS :w "
    "EVENT ON :m { ?x :made ?y } AS A EVENT ON :w { ?x :r ?z } AS B WHERE { MATCH { A SEQ B } }",
    "PREFIX : <http://example/> REGISTER :made CONSTRUCT { ?x :made ?y } FROM NAMED :s WIN [RANGE 4 STEP 2] AS :w "
    "EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?v :q ?z } AS B WHERE { MATCH { A SEQ B } } "
    "SELECT ?x ?y FROM NAMED WINDOW :m ON :made [RANGE 6 STEP 3] WHERE { WINDOW :m { ?x :made ?y } }",
]


def check(text: str, language: str, drawn: list[tuple[int, str, str, str]], buckets: int, tasks: int) -> None:
    note(text)
    job = job_of(parse(text, language), buckets, given=(S,))
    assert job.rounds > 1
    events = [graph_event(job, S, t, t, triples(f":{s} :{p} :{o} .")) for t, s, p, o in sorted(drawn)]
    wanted = Counter((match.query, comparable(match)) for match in in_process(job, events))
    event(f"answers: {bool(wanted)}")
    assert Counter((match.query, comparable(match)) for match in divided(job, events, tasks)) == wanted


def check_live(text: str, language: str, drawn: list[tuple[int, str, str, str]], buckets: int, size: int) -> None:
    query = parse(text, language)
    job = job_of(query, buckets, given=(S,), live=True)
    assert job.depth > 1 and job.whole is None
    events = [graph_event(job, S, 1 + t, 1 + t, triples(f":{s} :{p} :{o} .")) for t, s, p, o in sorted(drawn)]
    events.append(graph_event(job, S, FAR, FAR, triples(":far :away true .")))
    run = Micro(query, job)
    engine = LocalEngine(job.program, job.options, job.background(), key=job.key)
    for stream in job.streams:
        engine.stream_number(stream)
    wanted: list[Match] = []
    for first in range(0, len(events), size):
        some = events[first : first + size]
        run.batch(some)
        # one process that hears of time as the run does: what is known later than it ends is late for others
        engine.take(events_to_batch(some, job.key, job.kind, run=engine.reading))
        wanted += engine.advance(some[-1].end - 1)
        engine.commit()
    assert comparable_rows(run.rows, FAR) == comparable_rows(rows_of(wanted, run.schema), FAR)


@MANY
@given(st.sampled_from(MAKERS), st.sampled_from(READERS), st.booleans(), EVENTS, st.sampled_from([1, 2, 28]), st.integers(1, 3))
@example(MAKERS[3], READERS[2], False, [(1, "a", "p", "b"), (2, "b", "p", "a")], 28, 2)
def test_sequences(
    maker: str, reader: str, twice: bool, drawn: list[tuple[int, str, str, str]], buckets: int, tasks: int
) -> None:
    units = [
        maker.format(made="made", read="s"),
        reader.format(read="again" if twice else "made", verb="p" if twice else "made"),
    ]
    if twice:
        units.insert(1, SECOND.format(made="again", read="made"))
    text = "PREFIX : <http://example/> " + "\n".join(units)
    check(text, "spaseq", drawn, buckets, tasks)
    check_live(text, "spaseq", drawn, buckets, tasks)


@MANY
@given(st.sampled_from(WINDOWS), OFTEN, st.sampled_from([1, 8, 28]), st.integers(1, 3))
def test_windows(text: str, drawn: list[tuple[int, str, str, str]], buckets: int, tasks: int) -> None:
    check(text, "rsep-ql", drawn, buckets, tasks)
    check_live(text, "rsep-ql", drawn, buckets, tasks)
