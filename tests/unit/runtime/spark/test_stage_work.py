"""A plan in stages: rows meet by key, and state is read back by whoever takes over, also years later.

The fixtures `tests/fixtures/state/stages-v*.bin` are states that a version wrote; every later version must read them, or refuse
them by name.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from buckets import job_of, triples
from microbatches import Micro, engine_answers, graph_event, rows_of
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query, parse
from scepter.runtime.spark.jobs import Job, new_work
from scepter.runtime.spark.shares import Form
from scepter.runtime.spark.stage_work import StageWork

FIXTURES = Path(__file__).parents[3] / "fixtures" / "state"
S = "http://example/s"


def test_what_is_ordered_at_an_evaluation_is_told_in_order_by_one_bucket() -> None:
    text = """PREFIX : <http://example/> REGISTER RSTREAM :out AS SELECT ?x ?y FROM NAMED WINDOW :w ON :s [RANGE 6 STEP 2]
        WHERE { WINDOW :w { ?x :p ?y } } ORDER BY DESC(?y)"""
    query = parse(text, "rsep-ql")
    job = job_of(query, 16, live=True)
    assert [(share.form, share.buckets) for share in job.shares] == [(Form.ROWS, 1)]
    events = [graph_event(job, S, t, t, triples(f":n{t % 5} :p {t * 7 % 11} .")) for t in range(1, 20)]
    events.append(graph_event(job, S, 1000, 1000, triples(":far :away true .")))
    run = Micro(query, job)
    for first in range(0, len(events), 4):
        run.batch(events[first : first + 4])
    wanted = rows_of(engine_answers(job, events, 1000), run.schema)
    assert len(wanted) > 50 and run.rows == wanted


ONTOLOGY = "@prefix : <http://example/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . :A owl:disjointWith :D .\n"
PREFIX = "PREFIX : <http://example/> "
JOIN = parse(
    PREFIX + "SELECT ?c ?x ?z WHERE { { ?c :a ?x } UNION { ?c :b ?x } } SEQ { ?c :d ?z } FILTER (getDURATION() < 20)",
    "ep-sparql",
)
GROUP = parse(PREFIX + "SELECT ?c (SUM(?x) AS ?n) FROM STREAM :s [RANGE 6 STEP 3] WHERE { ?c :a ?x } GROUP BY ?c", "sparkwave")
STAR = parse(PREFIX + "SELECT ?x ?y FROM STREAM :s [RANGE 20] WHERE { ?c :a ?x . ?c :d ?y OPTIONAL { ?c :b ?z } }", "sparkwave")
MATCH = parse(
    PREFIX + "SELECT ?c ?x ?y FROM NAMED :s WIN [RANGE 20 STEP 1] AS :w EVENT ON :w { ?c :a ?x } AS A "
    "EVENT ON :w { ?c :d ?y } AS B WHERE { MATCH { A SEQ B } }",
    "rsep-ql",
)
RULE = parse(
    PREFIX + "CONSTRUCT { ?c :e ?x } WHERE { { ?c :a ?x } SEQ { ?c :b ?y } FILTER (getDURATION() < 20) } "
    "SELECT ?c ?x ?z WHERE { { ?c :e ?x } SEQ { ?d :d ?z } FILTER (getDURATION() < 20) }",
    "ep-sparql",
)
CONSUMING = parse(MATCH.text.replace("A SEQ B", "A SEQ CHRONOLOGICAL B"), "rsep-ql")
EVENTS = parse(
    PREFIX + "EVENT Ea AS A EVENT Ed AS D "
    "EVENT Pair MATCH (Ea AS x) SEQ (Ed AS y) WITHIN 20 IF { EVENT x { ?c a :A } EVENT y { ?c a :D } } "
    "EVENT Back MATCH Pair SEQ Ea WITHIN 20 EVENT Other MATCH Ed AND NOT Pair RETURN Pair, Back, Other AS RDF STREAM",
    "obep",
)
BY_KEY = {"join": JOIN, "group": GROUP, "star": STAR, "match": MATCH}
QUERIES = {**BY_KEY, "rule": RULE, "consuming": CONSUMING, "events": EVENTS}
SHORT = "FILTER (getDURATION() < 20)"
FAMILIES = {
    **QUERIES,
    "policy": parse(f"{PREFIX}SELECT ?c ?x ?z WHERE {{ {{ ?c :a ?x }} SEQ {{ ?c :d ?z }} {SHORT} }}", "ep-sparql"),
    "rule-by-key": parse(RULE.text.replace("?d :d", "?c :d"), "ep-sparql"),
    "optional": parse(
        f"{PREFIX}SELECT ?c ?y ?z WHERE {{ {{ {{ ?c :a ?x }} OPTIONALSEQ {{ ?c :b ?y }} }} SEQ {{ ?c :d ?z }} {SHORT} }}",
        "ep-sparql",
    ),
    "sums": parse(
        f"{PREFIX}SELECT ?c (COUNT(?x) AS ?n) WHERE {{ {{ ?c :a ?x }} SEQ {{ ?c :d ?z }} {SHORT} }} GROUP BY ?c", "ep-sparql"
    ),
    "window": parse(
        PREFIX + "REGISTER RSTREAM :out AS SELECT ?c ?x ?y FROM NAMED WINDOW :w ON :s [RANGE 12 STEP 2] "
        "WHERE { WINDOW :w { ?c :a ?x OPTIONAL { ?c :b ?y } } }",
        "rsep-ql",
    ),
    "first": parse(MATCH.text.replace("A SEQ B", "A SEQ FIRST B"), "rsep-ql"),
    "grid": parse(PREFIX + "SELECT ?c ?x ?z FROM STREAM :s [RANGE 4] WHERE { ?c :a ?x . ?d :d ?z }", "sparkwave"),
    "instants": parse(
        PREFIX + "EVENT Ea AS A EVENT Ed AS D EVENT Pair MATCH Ea SEQ Ed WITHIN 20 "
        "EVENT Final MATCH LAST Pair RETURN Pair, Final AS RDF STREAM",
        "obep",
    ),
}
"""Of each language, what its operators are put together of; each has state of a released form."""
OPTIONS = {"policy": RunOptions.of(policy="chronological"), "instants": RunOptions.of(evaluate_at=[20, 40, 65])}


def job(query: Query, buckets: int = 3, *, live: bool = True, options: RunOptions = RunOptions()) -> Job:  # noqa: B008 - frozen
    ontology = ONTOLOGY if query.language == "obep" else None
    return job_of(query, buckets, live=live, given=(S,), options=options, ontology=ontology)


def event(of: Job, time: int, text: str) -> GraphEvent:
    return graph_event(of, S, time, time, triples(text))


def story(of: Job) -> list[GraphEvent]:
    """time   1     2     3     4 …: five companies in turn, each with :a, :b and :d, of classes :A, :B and :D."""
    kinds = [(t, "abd"[t // 5 % 3]) for t in range(1, 60)]
    return [event(of, t, f":c{t % 5} :{kind} {t} ; a :{kind.upper()} .") for t, kind in kinds]


class Run:
    """The buckets of a job, which are written and read back whenever they are asked to be."""

    def __init__(self, of: Job) -> None:
        self.job = of
        (self.share,) = of.shares
        self.works: dict[int, StageWork] = {}
        self.reading = ReadState(of.kind)
        self.found: list[Match] = []
        self.number = 0

    def take(self, events: list[GraphEvent]) -> None:
        batch = events_to_batch(events, self.job.key, self.job.kind, run=self.reading)
        solver = self._new()
        for bucket, _, blob in solver.solve([batch], self.number):
            self.works.setdefault(bucket, self._new(bucket)).accept(blob)
        self.number += len(events)

    def release(self, until: int) -> None:
        for work in self.works.values():
            self.found += [match for part in work.released(until) for match in part]

    def _new(self, bucket: int = 0) -> StageWork:
        made = new_work(self.job, self.share, bucket)
        assert isinstance(made, StageWork)
        return made

    def written(self) -> dict[int, bytes]:
        return {bucket: work.dump(self.job.state_of(0)) for bucket, work in self.works.items()}

    def read(self, state: dict[int, bytes]) -> None:
        self.works = {}
        for bucket, data in state.items():
            self.works[bucket] = self._new(bucket)
            self.works[bucket].restore(data, self.job.state_of(0))


def rows(matches: list[Match]) -> Counter[str]:
    told = ((m.start, m.end, sorted((n, str(t)) for n, t in m.bindings.items()), m.graph, m.why) for m in matches)
    return Counter(map(repr, told))


def answered(
    query: Query, buckets: int, cut_every: int | None, options: RunOptions = RunOptions()  # noqa: B008 - frozen
) -> Counter[str]:  # fmt: skip
    run = Run(job(query, buckets, options=options))
    events = story(run.job)
    for number, at in enumerate(range(0, len(events), 4)):
        run.take(events[at : at + 4])
        run.release(at)
        if cut_every is not None and number % cut_every == 0:
            run.read(run.written())
    run.release(70)
    return rows(run.found)


@pytest.mark.parametrize("name", QUERIES)
def test_buckets_and_restarts_change_nothing(name: str) -> None:
    once = answered(QUERIES[name], 1, None)
    assert sum(once.values()) > 10
    for buckets, cut in ((1, 1), (3, None), (3, 1), (7, 2), (28, 1)):
        assert answered(QUERIES[name], buckets, cut) == once, (buckets, cut)


def test_occurrences_are_divided_by_when_they_start_and_end_and_tell_why_they_are() -> None:
    why = RunOptions.of(why=True)
    (share,) = job(EVENTS, 28, options=why).shares
    assert share.buckets > 1 and share.stages is not None and share.stages.variables == ("the end", "the start")
    once = answered(EVENTS, 1, None, why)
    assert "Why(" in next(iter(once)) and answered(EVENTS, 28, 1, why) == once


def test_items_that_contradict_are_told_where_they_are_read() -> None:
    run = Run(job(EVENTS, 28))
    letters: list[DeadLetter] = []
    events = [event(run.job, 1, ":c a :A , :D ."), event(run.job, 2, ":c a :A .")]
    batch = events_to_batch(events, run.job.key, run.job.kind, run=run.reading)
    sent = list(run._new().solve([batch], 0, letters.append))
    assert [letter.reason for letter in letters] == ["inconsistent: the item at 1 contradicts the ontology"]
    assert letters[0].text is not None and letters[0].text.count(" . ") == 1 and sent


@pytest.mark.parametrize("name", BY_KEY)
def test_they_are_divided_by_the_company(name: str) -> None:
    (share,) = job(QUERIES[name]).shares
    assert share.form is Form.ROWS and share.buckets == 3
    assert share.stages is not None and share.stages.variables == ("c",)


@pytest.mark.parametrize("name", QUERIES.keys() - BY_KEY.keys())
def test_what_has_no_key_keeps_its_tables_in_one_bucket(name: str) -> None:
    (share,) = job(QUERIES[name]).shares
    assert share.form is Form.ROWS and share.buckets == 1


def halfway(name: str) -> Run:
    run = Run(job(FAMILIES[name], 16 if name == "grid" else 1, options=OPTIONS.get(name, RunOptions())))
    events = story(run.job)
    run.take(events[:30])
    run.release(28)
    return run


@pytest.mark.parametrize("name", FAMILIES)
def test_state_of_a_released_form_is_read(name: str, update_fixtures: bool) -> None:
    run = halfway(name)
    assert run.share.sides == ((2, 2) if name == "grid" else ())
    parts = {bucket: FIXTURES / f"stages-v1-{name}{f'-{bucket}' if run.share.sides else ''}.bin" for bucket in run.works}
    for bucket, path in parts.items():
        if update_fixtures and not path.exists():  # what a release has written is never written again
            path.write_bytes(run.written()[bucket])
    whole, went_on, forgot = halfway(name), halfway(name), halfway(name)
    went_on.read({bucket: path.read_bytes() for bucket, path in parts.items()})
    forgot.read({})
    for each in (whole, went_on, forgot):
        each.found.clear()
        each.take(story(each.job)[30:])
        each.release(70)
    assert rows(went_on.found) == rows(whole.found) and whole.found
    assert rows(forgot.found) != rows(whole.found), "nothing hangs on the state"


def test_state_of_another_query_or_a_torn_one_is_refused() -> None:
    run, other = halfway("join"), Run(job(GROUP, 1))
    (state,) = run.written().values()
    with pytest.raises(ValueError, match="another query"):
        other.read({0: state})
    with pytest.raises(ValueError, match="damaged"):
        run.read({0: state[:-9] + b"123456789"})


def test_texts_travel_with_the_rows_and_only_those_needed() -> None:
    run = Run(job(JOIN, 1))
    long = "x" * 1000
    batch = events_to_batch(
        [event(run.job, 1, f':c :a "kept" ; :other "{long}" .')], run.job.key, run.job.kind, run=run.reading
    )
    ((_, _, blob),) = run._new().solve([batch], 0)
    assert b"kept" in blob and long.encode() not in blob
