"""What a live program forgets concerns no later answer: random programs, all memory lost after every micro-batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from hypothesis import HealthCheck, assume, event, example, given, note, settings
from hypothesis import strategies as st

from buckets import job_of, triples
from microbatches import Micro, comparable, engine_answers, graph_event, rows_of
from naive.rsepql import Event
from property import epsparql_strategies, rsepql_strategies, sparkwave_strategies
from scepter.errors import ScepterError
from scepter.rdf.terms import Triple
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark import whole

MANY = settings(max_examples=max(10, rsepql_strategies.EXAMPLES // 2), suppress_health_check=list(HealthCheck))
FAR = 1000
LEAVES_LATE = (
    "PREFIX : <http://example/> REGISTER DSTREAM :out AS SELECT * FROM NAMED :s1 WIN [RANGE 3] AS :w\n"
    "EVENT ON :w { ?x :p ?y } AS E0 EVENT ON :w { ?y :q ?z } AS E1 WHERE { MATCH { E0 SEQ E1 } }"
)
"""What leaves the window does so long after its last event, when there is another one."""
WAITS_NO_MORE = (
    "PREFIX : <http://example/> SELECT * FROM NAMED :s1 WIN [RANGE 1] AS :w REPORT ON WINDOW CLOSE\n"
    "EVENT ON :w { ?x :p ?y } AS E0 EVENT ON :w { ?y :q ?z } AS E1 WHERE { MATCH { E0 SEQ CHRONOLOGICAL E1 } }"
)
"""A right side has had its turn, and the table it stood in is written down empty."""
STATIC = {None: rsepql_strategies.BACKGROUND, rsepql_strategies.DB: rsepql_strategies.BACKGROUND}
EP_SPARQL = st.one_of(epsparql_strategies.queries(), epsparql_strategies.chains(), epsparql_strategies.programs())


class Given(Protocol):
    """An event of any language's strategy."""

    @property
    def stream(self) -> str: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def triples(self) -> Iterable[Triple]: ...


def check(
    query: Query, options: RunOptions, stream: Sequence[Given], size: int, background: Mapping[str | None, str] | None = None
) -> None:
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    # the same again and again, later and later: so that there is much to forget
    length = max(e.end for e in in_order) + 7
    repeated = [(e, round * length) for round in range(4) for e in in_order]
    job = job_of(query, 2, background=background, options=options, live=True, given={e.stream for e in stream})
    wanted_streams = {iri.value for iri in job.streams}
    events = [
        graph_event(job, e.stream, e.start + by, e.end + by, e.triples) for e, by in repeated if e.stream in wanted_streams
    ]
    assume(events)
    events.append(graph_event(job, job.streams[0].value, FAR, FAR, triples(":far :away true .")))
    live = Micro(query, job)
    for first in range(0, len(events), size):
        live.batch(events[first : first + size])
        whole._AT_HAND.clear()
    event(f"forgets: {any(len(place.log.values) < len(events) // size for place in live.places.values() if place.log.values)}")
    assert comparable(live.rows, FAR) == comparable(rows_of(engine_answers(job, events, FAR), live.schema), FAR)


@MANY
@given(
    EP_SPARQL,
    epsparql_strategies.events(),
    st.sampled_from([1, 3]),
)
def test_ep_sparql(text: str, stream: list[Given], size: int) -> None:
    note(text)
    assume(stream)
    try:
        query = parse(text, "ep-sparql")
    except ScepterError:
        assume(False)
    check(query, RunOptions(), stream, size)


@MANY
@given(
    epsparql_strategies.chains(),
    epsparql_strategies.events(),
    st.sampled_from(["chronological", "recent"]),
    st.sampled_from([1, 3]),
)
def test_ep_sparql_under_a_policy(text: str, stream: list[Given], policy: str, size: int) -> None:
    note(text)
    assume(stream)
    try:
        query = parse(text, "ep-sparql")
    except ScepterError:
        assume(False)
    check(query, RunOptions.of(policy=policy), stream, size)


@MANY
@example(
    rsepql_strategies.QueryText(LEAVES_LATE, None, None),
    [Event("http://example/s1", t, t, tuple(triples(text))) for t, text in [*[(0, ":a :p :a .")] * 3, (1, ":a :q :a .")]],
    1,
)
@example(
    rsepql_strategies.QueryText(WAITS_NO_MORE, None, None),
    [Event("http://example/s1", 0, 0, tuple(triples(text))) for text in [*[":a :p :a ."] * 3, ":a :q :a ."]],
    1,
)
@given(rsepql_strategies.queries(), rsepql_strategies.events(), st.sampled_from([1, 3]))
def test_rsep_ql(text: rsepql_strategies.QueryText, stream: list[Given], size: int) -> None:
    note(text.text)
    assume(stream and text.evaluate_at is None)
    check(parse(text.text, "rsep-ql"), RunOptions.of(policy=text.policy), stream, size, STATIC)


@MANY
@given(st.one_of(sparkwave_strategies.continuous(), sparkwave_strategies.periodic()), st.sampled_from([1, 3]))
def test_sparkwave(setting: sparkwave_strategies.Setting, size: int) -> None:
    note(setting.text)
    assume(setting.events)
    check(parse(setting.text, "sparkwave"), RunOptions(), setting.events, size)
