"""Rows that meet in a grid of buckets: whatever has no key gives there what one process gives, live and over history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, event, example, given, note, settings
from hypothesis import strategies as st

from buckets import comparable, job_of, triples
from microbatches import Micro, engine_answers, graph_event, rows_of
from microbatches import comparable as comparable_rows
from naive.rsepql import Event
from property import epsparql_strategies, obep_strategies, rsepql_strategies, sparkwave_strategies, spaseq_strategies
from property.test_live_horizon import EP_SPARQL, FAR, STATIC, Given
from property.test_obep_naive import BACKGROUND, ONTOLOGY
from property.test_skew import by_places
from scepter.errors import ScepterError
from scepter.kernel.sequence import chain, moment
from scepter.rdf.formats import events_to_batch
from scepter.runtime.engine import LocalEngine
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark.arrivals import SALT_ROOM

MANY = settings(max_examples=max(10, rsepql_strategies.EXAMPLES // 3), suppress_health_check=list(HealthCheck), deadline=None)
BUCKETS = st.sampled_from([16, 28])
"""Of a key; a grid has 4 or 7."""
SIZES = st.sampled_from([1, 3])
PREFIX = "PREFIX : <http://example/> "


def check(
    query: Query, stream: Sequence[Given], buckets: int, size: int, background: Mapping[str | None, str] | None = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    ontology: str | None = None, *, by_key: bool = False,
) -> None:  # fmt: skip
    """`by_key`: whether a key is to be shown as well, not a grid alone."""
    given: dict[str, Any] = {"background": background, "options": options, "given": {e.stream for e in stream}}
    live = job_of(query, buckets, live=True, ontology=ontology, **given)
    job = job_of(query, buckets, ontology=ontology, **given)
    assume(buckets == 1 or any(share.buckets > 1 and (share.sides or by_key) for each in (live, job) for share in each.shares))
    events = [
        graph_event(job, e.stream, e.start, e.end, e.triples)
        for e in sorted(stream, key=lambda e: (e.end, e.start))
        if e.stream in {iri.value for iri in job.streams}
    ]
    assume(events)
    events.append(graph_event(job, job.streams[0].value, FAR, FAR, triples(":far :away true .")))
    run = Micro(query, live)
    for first in range(0, len(events), size):
        run.number = (len(events) - first) * SALT_ROOM  # tasks draw where they begin to count: here each before the last one
        run.batch(events[first : first + size])
    wanted = comparable_rows(rows_of(engine_answers(live, events, FAR), run.schema), FAR)
    event(f"answers: {bool(wanted)}")
    assert comparable_rows(run.rows, FAR) == wanted
    if not any(share.merges for share in job.shares):  # those meet once more behind the buckets
        batch = events_to_batch(events, job.key, job.kind)
        engine = LocalEngine(job.program, job.options, job.background(), ontology=job.ontology, key=job.key)
        for iri in job.streams:
            engine.stream_number(iri)
        engine.take(batch)
        whole = Counter(comparable(match) for match in [*engine.advance(int(batch.end.max())), *engine.finish()])
        assert Counter(comparable(match) for match in by_places(job, batch)) == whole


@MANY
@given(EP_SPARQL, epsparql_strategies.events(), BUCKETS, SIZES)
def test_ep_sparql(text: str, stream: list[Given], buckets: int, size: int) -> None:
    note(text)
    assume(stream)
    try:
        query = parse(text, "ep-sparql")
    except ScepterError:
        assume(False)
    check(query, stream, buckets, size)


@MANY
@given(rsepql_strategies.queries(), rsepql_strategies.events(), BUCKETS, SIZES)
def test_rsep_ql(text: rsepql_strategies.QueryText, stream: list[Given], buckets: int, size: int) -> None:
    note(text.text)
    assume(stream and text.evaluate_at is None)
    check(parse(text.text, "rsep-ql"), stream, buckets, size, STATIC, RunOptions.of(policy=text.policy))


@MANY
@given(st.one_of(sparkwave_strategies.continuous(), sparkwave_strategies.periodic()), BUCKETS, SIZES)
def test_sparkwave(setting: sparkwave_strategies.Setting, buckets: int, size: int) -> None:
    note(setting.text)
    assume(setting.events)
    check(parse(setting.text, "sparkwave"), setting.events, buckets, size)


@MANY
@given(obep_strategies.queries(), obep_strategies.streams(12), BUCKETS, SIZES)
def test_obep(query: obep_strategies.ObepText, stream: list[Given], buckets: int, size: int) -> None:
    note(query.text)
    assume(stream)
    check(parse(query.text, "obep"), stream, buckets, size, {None: BACKGROUND}, ontology=ONTOLOGY, by_key=True)


@MANY
@given(spaseq_strategies.queries(), st.data(), BUCKETS, SIZES)
def test_spaseq(text: spaseq_strategies.QueryText, data: st.DataObject, buckets: int, size: int) -> None:
    note(text.text)
    stream = data.draw(spaseq_strategies.events(text.streams))
    assume(stream)
    static: dict[str | None, str] = {spaseq_strategies.DB: spaseq_strategies.BACKGROUND}
    check(parse(text.text, "spaseq"), stream, buckets, size, static)


NODES = st.sampled_from(["a", "b", "c", "d", "e"])
EVENTS = st.lists(st.tuples(st.integers(0, 20), NODES, st.sampled_from("pqr"), NODES), min_size=2, max_size=24)
JOINS = {
    "ep-sparql": [
        "SELECT ?x ?z ?w WHERE { { ?x :p ?y } EQUALS { ?y :q ?z } } SEQ { ?z :r ?w }",
        "SELECT ?x ?z WHERE { { ?x :p ?y } UNION { ?x :r ?y } } SEQ { ?v :q ?z }",
        "SELECT ?x ?z ?v WHERE { { ?v :q ?z } OPTIONALSEQ { ?x :p ?y } } SEQ { ?y :r ?u }",
        "SELECT ?x ?y WHERE { ?x :p ?y FILTER NOT EXISTS { ?z :q ?y } }",
    ],
    "sparkwave": [
        "SELECT ?x ?z FROM STREAM :s [RANGE 6] WHERE { ?x :p ?y . ?y :q ?z }",
        "SELECT ?x ?w FROM STREAM :s [RANGE 6] WHERE { ?x :p ?y . ?y :q ?z . ?z :p ?w }",
        "SELECT ?x ?z ?w FROM STREAM :s [RANGE 6] WHERE { ?x :p ?y . ?y :q ?z OPTIONAL { ?z :r ?w } }",
        "SELECT ?y (COUNT(?x) AS ?n) FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?x :p ?y . ?x :q ?z } GROUP BY ?y",
    ],
    "rsep-ql": [
        "SELECT * FROM NAMED :s WIN [RANGE 6 STEP 1] AS :w EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?y :q ?z } AS B "
        "EVENT ON :w { ?z :r ?u } AS C WHERE { MATCH { A SEQ B SEQ C } }",
    ],
}


@MANY
@given(st.sampled_from([(language, text) for language, texts in JOINS.items() for text in texts]), EVENTS, BUCKETS, SIZES)
def test_joins_with_different_keys(
    which: tuple[str, str], drawn: list[tuple[int, str, str, str]], buckets: int, size: int
) -> None:
    language, text = which
    note(text)
    stream = [Event("http://example/s", t, t, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    background: dict[str | None, str] = {None: "@prefix : <http://example/> .\n:a :q :b . :c :p :d ."}
    check(parse(PREFIX + text, language), stream, buckets, size, background if language == "sparkwave" else None)


CHAIN = """SELECT ?x ?w WITHIN 6 SLIDING FROM STREAM S :s WHERE { SEQ (A ; B ; C) DEFINE GPM A ON S { ?x :p ?y }
DEFINE GPM B ON S { ?y :q ?z } DEFINE GPM C ON S { ?z :p ?w } }"""


@MANY
@given(st.lists(st.tuples(st.integers(0, 20), NODES, st.sampled_from("pq"), NODES), min_size=12, max_size=60))
def test_beginnings_in_the_order_of_their_key(drawn: list[tuple[int, str, str, str]]) -> None:
    """Steps with different keys are divided by where a match begins, whatever the order in which runs begin."""
    stream = [Event("http://example/s", t, t, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    with pytest.MonkeyPatch.context() as patch:
        for module in (chain, moment):
            patch.setattr(module, "MANY", 2)
        check(parse(PREFIX + CHAIN, "spaseq"), stream, 28, 30)


CONSUMING = [
    "SELECT ?x ?y ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } }",
    "SELECT ?y ?z WHERE { { ?x :p ?y } SEQ { ?x :p ?z } }",  # one triple on both sides; the key is not shown
    "SELECT ?x ?w WHERE { { { ?x :p ?y } SEQ { ?x :q ?z } } SEQ { ?x :r ?w } }",
    "SELECT ?x ?y ?z WHERE { { { ?x :p ?y } UNION { ?x :r ?y } } SEQ { ?x :p ?z } }",
    "SELECT ?x ?y WHERE { { ?x :p ?y } EQUALS { ?x :p ?z } }",
    "SELECT ?x ?y ?z WHERE { { ?x :p ?y } SEQ { ?y :p ?z } }",  # one triple could be taken by two keys
    "SELECT ?x ?y ?w WHERE { { { ?x :p ?y } SEQ { ?x :q ?z } } OPTIONALSEQ { ?x :r ?w } }",
    "SELECT ?x ?v WHERE { { { ?x :p ?y } SEQ { ?x :q ?z } } OPTIONAL { ?v :r ?y } }",  # a grid above what is consumed
]


@MANY
@example(CONSUMING[0], [(3, "a", "p", "b"), (3, "a", "p", "a"), (6, "a", "q", "c")], "chronological", 16, 1)  # a tie
@example(CONSUMING[5], [(3, "a", "p", "b"), (6, "b", "p", "c"), (9, "c", "p", "d"), (12, "d", "p", "e")], "recent", 16, 1)
@given(st.sampled_from(CONSUMING), EVENTS, st.sampled_from(["chronological", "recent"]), BUCKETS, SIZES)
def test_pairs_that_consume(text: str, drawn: list[tuple[int, str, str, str]], policy: str, buckets: int, size: int) -> None:
    note(text)
    stream = [Event("http://example/s", t // 3, t // 3, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    check(parse(PREFIX + text, "ep-sparql"), stream, buckets, size, options=RunOptions.of(policy=policy), by_key=True)


PAIR = "FROM STREAM S :s WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :p ?y } DEFINE GPM B ON S { ?x :q ?z } }"
APART = PAIR.replace("?x :q", "?u :q")
WINDOW = "FROM NAMED WINDOW :w ON :s [RANGE 6 STEP 2] WHERE"
STAGED = [
    ("ep-sparql", "SELECT DISTINCT ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } }"),
    ("ep-sparql", "SELECT DISTINCT ?y ?u WHERE { { { ?x :p ?y } OPTIONAL { ?x :r ?u } } SEQ { ?x :q ?z } }"),
    ("ep-sparql", "ASK { { ?x :p ?y } SEQ { ?x :q ?z } }"),
    ("ep-sparql", "SELECT (COUNT(?z) AS ?n) WHERE { { ?x :p ?y } SEQ { ?x :q ?z } FILTER (getDURATION() < 5) }"),
    ("ep-sparql", "SELECT ?y ?z WHERE { { ?x :p ?y } SEQ { ?x :q ?z } FILTER (getDURATION() < 5) } ORDER BY ?y LIMIT 2"),
    ("sparkwave", "SELECT (COUNT(?x) AS ?n) FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?x :p ?y . ?x :q ?z }"),
    ("sparkwave", "SELECT (MAX(?n) AS ?m) FROM STREAM :s [RANGE 6 STEP 3] "
     "WHERE { SELECT ?x (COUNT(?y) AS ?n) WHERE { ?x :p ?y } GROUP BY ?x }"),
    ("rsep-ql", f"REGISTER ISTREAM :o AS SELECT ?y ?z {WINDOW} {{ WINDOW :w {{ ?x :p ?y OPTIONAL {{ ?x :q ?z }} }} }}"),
    ("rsep-ql", f"REGISTER DSTREAM :o AS SELECT ?y ?z {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }}"),
    ("rsep-ql", f"REGISTER RSTREAM :o AS SELECT ?y ?z {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }} ORDER BY ?y LIMIT 3"),
    ("rsep-ql", f"REGISTER RSTREAM :o AS SELECT (COUNT(?z) AS ?n) {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }}"),
    ("rsep-ql", f"REGISTER RSTREAM :o AS ASK {WINDOW} {{ WINDOW :w {{ ?x :p ?y . ?x :q ?z }} }}"),
    *(("spaseq", f"{result} WITHIN 6 SLIDING {how}") for result in ("ASK", "SELECT DISTINCT ?y ?z") for how in (PAIR, APART)),
]  # fmt: skip


TIES = [(0, "a", "p", "a"), (0, "a", "p", "b"), (0, "a", "q", "a"), (0, "b", "p", "c"), (4, "b", "q", "b"), (0, "a", "p", "c")]


@MANY
@example(STAGED[9], TIES, 1, 1)  # LIMIT cuts through rows that ORDER BY does not tell apart
@given(st.sampled_from(STAGED), EVENTS, st.sampled_from([1, 2, 7, 28]), SIZES)
def test_stages_one_behind_another(
    which: tuple[str, str], drawn: list[tuple[int, str, str, str]], buckets: int, size: int
) -> None:
    language, text = which
    note(text)
    stream = [Event("http://example/s", t // 2, t // 2, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    query = parse(PREFIX + text, language)
    check(query, stream, buckets, size, by_key=True)
    first_event = language == "spaseq" and APART in text
    assert job_of(query, buckets, live=True, given=["http://example/s"]).depth == (
        1 if buckets < (8 if first_event else 2) else 2
    )


MATCHED = """SELECT ?x ?y ?z FROM NAMED :s WIN [RANGE 6 STEP 1] AS :w
    EVENT ON :w { ?x :p ?y } AS A EVENT ON :w { ?x :q ?z } AS B EVENT ON :w { ?x :r ?u } AS C WHERE { MATCH { PATTERN } }"""
CHOOSING = [
    "A SEQ NAIVE B", "A SEQ LAST B", "A SEQ FIRST B", "(A SEQ NAIVE B) SEQ C", "(A SEQ C) SEQ NAIVE B", "A SEQ NAIVE (C SEQ B)",
    "LAST A SEQ B", "LAST (A SEQ C) SEQ B", "LAST A SEQ NAIVE B", "FIRST (A SEQ B)",
]  # fmt: skip
COUNTED = [
    "SELECT ?y ?z FROM NAMED WINDOW :w ON :s [ELEMENTS 4 STEP 2] WHERE { WINDOW :w { ?x :p ?y . ?x :q ?z } }",
    "SELECT ?x ?y FROM NAMED WINDOW :w ON :s [ELEMENTS 3] WHERE { WINDOW :w { ?x :p ?y FILTER NOT EXISTS { ?x :q ?z } } }",
]
WINDOWS = [
    *(("rsep-ql", MATCHED.replace("PATTERN", pattern)) for pattern in CHOOSING),
    *(("rsep-ql", f"REGISTER {output} :out AS {text}") for output in ("RSTREAM", "ISTREAM") for text in COUNTED),
    # every row of an evaluation is told: what is not shown is a key
    ("sparkwave", "SELECT ?y ?z FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?x :p ?y . ?x :q ?z }"),
]


@MANY
@given(st.sampled_from(WINDOWS), EVENTS, BUCKETS, SIZES)
def test_windows_whose_items_are_chosen_or_counted(
    which: tuple[str, str], drawn: list[tuple[int, str, str, str]], buckets: int, size: int
) -> None:
    language, text = which
    note(text)
    stream = [Event("http://example/s", t // 2, t // 2, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    check(parse(PREFIX + text, language), stream, buckets, size, by_key=True)


SCHEMA = """@prefix : <http://example/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    :p rdfs:subPropertyOf :q . :q rdfs:domain :Giver ; rdfs:range :Taker . :Taker rdfs:subClassOf :Known ."""
ENTAILING = [
    ("spaseq", "SELECT ?x ?y ?z WITHIN 6 FROM STREAM S :s WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?x :q ?y } "
     "DEFINE GPM B ON S { ?x a :Giver . ?x :q ?z } }"),
    ("spaseq", "SELECT ?x ?z WITHIN 6 SLIDING FROM STREAM S :s WHERE { SEQ (A , B) DEFINE GPM A ON S { ?x a :Known } "
     "DEFINE GPM B ON S { ?z :q ?x } }"),
    ("rsep-ql", "REGISTER RSTREAM :out AS SELECT ?x ?y FROM NAMED WINDOW :w ON :s [RANGE 6 STEP 2] "
     "WHERE { WINDOW :w { ?x :q ?y . ?x a :Known } }"),
    ("rsep-ql", "SELECT ?x ?y FROM NAMED :s WIN [RANGE 6 STEP 1] AS :w EVENT ON :w { ?x :q ?y } AS A "
     "EVENT ON :w { ?x a :Known } AS B WHERE { MATCH { A SEQ B } GRAPH <http://example/g> { ?y a :Known } }"),
]  # fmt: skip


@MANY
@given(st.sampled_from(ENTAILING), EVENTS, BUCKETS, SIZES)
def test_events_come_with_what_they_entail(
    which: tuple[str, str], drawn: list[tuple[int, str, str, str]], buckets: int, size: int
) -> None:
    language, text = which
    note(text)
    stream = [Event("http://example/s", t // 2, t // 2, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    background: dict[str | None, str] = {"http://example/g": "@prefix : <http://example/> .\n:a :p :b . :c :q :d ."}
    given = background if "GRAPH" in text else None
    check(parse(PREFIX + text, language), stream, buckets, size, given, ontology=SCHEMA, by_key=True)


RULES = [
    # carried on, by the subject
    "CONSTRUCT { ?x :t ?y } WHERE { ?x :p ?y } "
    "CONSTRUCT { ?x :t ?z } WHERE { { ?x :t ?y } SEQ { ?x :q ?z } FILTER (getDURATION() < 6) } "
    "SELECT ?x ?y ?w WHERE { { ?x :t ?y } SEQ { ?x :r ?w } }",
    # carried on from place to place: no key
    "CONSTRUCT { ?x :t ?y } WHERE { ?x :p ?y } "
    "CONSTRUCT { ?z :t ?x } WHERE { { ?x :t ?y } SEQ { ?x :q ?z } FILTER (getDURATION() < 6) } "
    "SELECT ?x ?y ?w WHERE { { ?x :t ?y } SEQ { ?x :r ?w } }",
    # nodes, by what they are of
    "CONSTRUCT { _:b :of ?x . _:b :val ?y } WHERE { ?x :p ?y } "
    "CONSTRUCT { _:b :of ?x . _:b :val ?z } WHERE { { ?n :of ?x ; :val ?y } SEQ { ?x :q ?z } FILTER (getDURATION() < 6) } "
    "SELECT ?x ?v ?w WHERE { { ?n :of ?x ; :val ?v } SEQ { ?x :r ?w } }",
    # a rule without a key, a grid by either side of what it derives
    "CONSTRUCT { ?x :t ?z } WHERE { { ?x :p ?y } SEQ { ?u :q ?z } } SELECT ?x ?z ?w WHERE { { ?x :t ?z } SEQ { ?x :r ?w } }",
    # one that rests on another, and a triple that both derive
    "CONSTRUCT { ?x :t ?y } WHERE { ?x :p ?y } CONSTRUCT { ?x :t ?y . ?x :u ?y } WHERE { ?x :t ?y . ?x :q ?z } "
    "SELECT ?x ?y ?w WHERE { { ?x :t ?y . ?x :u ?y } UNION { ?x :p ?y } ?x :r ?w }",
    # asked for by both of its places
    "CONSTRUCT { ?x :t ?y } WHERE { ?x :p ?y } SELECT ?x ?z WHERE { { ?x :t ?y } SEQ { ?y :t ?z } }",
    # what is also said is there once
    "CONSTRUCT { ?x :q ?y } WHERE { ?y :p ?x } SELECT ?x ?y WHERE { ?x :q ?y OPTIONAL { ?x :r ?z } }",
]


@MANY
@given(st.sampled_from(RULES), EVENTS, BUCKETS, SIZES)
def test_rules(text: str, drawn: list[tuple[int, str, str, str]], buckets: int, size: int) -> None:
    note(text)
    stream = [Event("http://example/s", t // 2, t // 2, tuple(triples(f":{s} :{p} :{o} ."))) for t, s, p, o in drawn]
    check(parse(PREFIX + text, "ep-sparql"), stream, buckets, size, by_key=True)
