"""A run that begins with the last horizon of history tells what one that has been there for ever tells: random programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from hypothesis import HealthCheck, assume, event, given, note, settings
from hypothesis import strategies as st

from buckets import job_of, triples
from microbatches import Micro, comparable, engine_answers, graph_event, rows_of
from property import epsparql_strategies, rsepql_strategies, sparkwave_strategies, spaseq_strategies
from property.test_live_horizon import EP_SPARQL, FAR, STATIC, Given
from scepter.errors import OptionError, ScepterError
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark import whole
from scepter.runtime.spark.warm_up import Place, Timed, began, looked_back

MANY = settings(max_examples=max(10, rsepql_strategies.EXAMPLES // 4), suppress_health_check=list(HealthCheck))
SIZES = st.sampled_from([1, 3, 100])
NOW = st.floats(0.3, 1)


def check(
    query: Query,
    options: RunOptions,
    stream: Sequence[Given],
    size: int,
    now: float,
    background: Mapping[str | None, str] | None = None,
) -> None:
    assume(not query.asks)  # answered once, of the history that is read: an engine that has been there answered long ago
    in_order = sorted(stream, key=lambda e: (e.end, e.start))
    length = max(e.end for e in in_order) + 7
    repeated = [(e, round * length) for round in range(4) for e in in_order]
    options = replace(options, warm_up="auto")
    job = job_of(query, 2, background=background, options=options, live=True, given={e.stream for e in stream})
    wanted = {iri.value for iri in job.streams}
    events = [graph_event(job, e.stream, e.start + by, e.end + by, e.triples) for e, by in repeated if e.stream in wanted]
    assume(events)
    events.append(graph_event(job, job.streams[0].value, FAR, FAR, triples(":far :away true .")))
    until = 1 + int(now * (4 * length + 9))
    ends = [each.end for each in events]
    below = max((end for end in ends if end < until), default=None)
    try:
        back = looked_back(job)
    except OptionError:  # for ever
        assume(False)
    begin = began([Timed(Place(0, "", 0, 1, 1, ""), min(ends), max(ends), below)], until, back)
    event(f"leaves out events: {any(end < begin.since for end in ends)}")
    warm = replace(job, beginning=begin)
    live = Micro(query, warm)
    for first in range(0, len(events), size):
        live.batch(events[first : first + size])
        whole._AT_HAND.clear()
    told = rows_of(engine_answers(job, events, FAR, until), live.schema)
    event(f"tells something: {bool(told)}")
    assert comparable(live.rows, FAR) == comparable(told, FAR)


@MANY
@given(EP_SPARQL, epsparql_strategies.events(), SIZES, NOW)
def test_ep_sparql(text: str, stream: list[Given], size: int, now: float) -> None:
    note(text)
    assume(stream)
    try:
        query = parse(text, "ep-sparql")
    except ScepterError:
        assume(False)
    check(query, RunOptions(), stream, size, now)


@MANY
@given(rsepql_strategies.queries(), rsepql_strategies.events(), SIZES, NOW)
def test_rsep_ql(text: rsepql_strategies.QueryText, stream: list[Given], size: int, now: float) -> None:
    note(text.text)
    assume(stream and text.evaluate_at is None)
    check(parse(text.text, "rsep-ql"), RunOptions.of(policy=text.policy), stream, size, now, STATIC)


@MANY
@given(st.one_of(sparkwave_strategies.continuous(), sparkwave_strategies.periodic()), SIZES, NOW)
def test_sparkwave(setting: sparkwave_strategies.Setting, size: int, now: float) -> None:
    note(setting.text)
    assume(setting.events)
    check(parse(setting.text, "sparkwave"), RunOptions(), setting.events, size, now)


@MANY
@given(spaseq_strategies.queries(), st.data(), SIZES, NOW)
def test_spaseq(text: spaseq_strategies.QueryText, data: st.DataObject, size: int, now: float) -> None:
    note(text.text)
    assume("DISTINCT" not in text.text)  # live, equal rows of two buckets are told by both
    stream = data.draw(spaseq_strategies.events(text.streams))
    assume(stream)
    static: dict[str | None, str] = {spaseq_strategies.DB: spaseq_strategies.BACKGROUND}
    check(parse(text.text, "spaseq"), RunOptions(), stream, size, now, static)
