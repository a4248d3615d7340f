"""A kernel's state as bytes.

The fixtures `tests/fixtures/state/sequence-*.bin` are states as they are written since form 1; every later version that keeps
the form must read them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import pytest

from buckets import Buckets, job_of, triples
from scepter.kernel.state.container import pack, unpack
from scepter.rdf.terms import Literal
from scepter.runtime.matches import Match
from scepter.runtime.queries import parse
from scepter.runtime.spark.bucket_work import STATE_FORM
from scepter.runtime.spark.sequence_work import SequenceWork

Row: TypeAlias = tuple[int, int, list[tuple[str, str]]]

FIXTURES = Path(__file__).parents[3] / "fixtures" / "state"
STREAM = "http://example/s"
DB = "http://example/db"
BACKGROUND: dict[str | None, str] = {DB: "@prefix : <http://example/> .\n:h1 :owner :ann .\n:h2 :owner :bob .\n"}
SLIDING = """PREFIX : <http://example/>
SELECT ?h ?o ?a (SUM(B.?b) AS ?sum)
WITHIN 10 SLIDING
FROM STREAM S <http://example/s>
WHERE {
  SEQ (N! ; A ; B+ ; C)
  DEFINE GPM N ON S { ?h :broken true }
  DEFINE GPM A ON S { ?h :a ?a GRAPH :db { ?h :owner ?o } }
  DEFINE GPM B ON S { ?h :b ?b }
  DEFINE GPM C ON S { ?h :c ?c FILTER (?c > ?a) }
}
"""
COUNTING = """PREFIX : <http://example/>
SELECT ?a ?b
WITHIN 3 EVENTS PARTITION BY (?h)
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A , B)
  DEFINE GPM A ON S { ?h :a ?a }
  DEFINE GPM B ON S { ?h :b ?b }
}
"""
BOUNDED = """PREFIX : <http://example/>
SELECT ?h (SUM(B.?b) AS ?sum)
AFTER MATCH SKIP PAST LAST WITHIN 10 SLIDING PARTITION BY (?h)
FROM STREAM S <http://example/s>
WHERE {
  SEQ (A ; B{2,3} ; C WITHIN 5 OF A)
  DEFINE GPM A ON S { ?h :a ?a }
  DEFINE GPM B ON S { ?h :b ?b }
  DEFINE GPM C ON S { ?h :c ?c }
}
"""
TIMEOUT = BOUNDED.replace("(SUM(B.?b) AS ?sum)\nAFTER MATCH SKIP PAST LAST", "?a\nON TIMEOUT").replace(
    "WITHIN 5 OF", "WITHIN 4 OF"
)
# 1 broken(h2)   2 a(h1)   3 a(h2)   4 b(h1)   5 b(h1)   | written and read |   6 b(h2)   7 c(h1)   8 c(h2)
BEFORE = [
    (1, ":h2 :broken true ."),
    (2, ":h1 :a 1 ."),
    (3, ":h2 :a 1 ."),
    (4, ":h1 :b 10 ."),
    (5, ":h1 :b 20 ."),
]
AFTER = [(6, ":h2 :b 30 ."), (7, ":h1 :c 2 ."), (8, ":h2 :c 2 ."), (20, ":h3 :quiet true .")]
QUERIES = {"sliding": SLIDING, "counting": COUNTING, "bounded": BOUNDED, "timeout": TIMEOUT}
WANTED = {
    "sliding": [
        (2, 7, [("a", "1"), ("h", "<http://example/h1>"), ("o", "<http://example/ann>"), ("sum", total)])
        for total in ("10", "30")
    ],
    "counting": [(2, 4, [("a", "1"), ("b", "10")]), (3, 6, [("a", "1"), ("b", "30")])],
    "bounded": [(2, 7, [("h", "<http://example/h1>"), ("sum", "30")])],  # :h2 has one B only
    # the C of :h1 comes a tick late; :h2 waits for a second B until 7
    "timeout": [(2, 6, [("a", "1"), ("h", "<http://example/h1>")]), (3, 7, [("a", "1"), ("h", "<http://example/h2>")])],
}
FORMER = ("sliding", "counting")
"""Written before runs had columns for iterations and marks (rules 15 to 18)."""


def run_of(name: str) -> Buckets:
    return Buckets(job_of(parse(QUERIES[name], "spaseq"), background=BACKGROUND))


def halfway(name: str) -> Buckets:
    """All of BEFORE taken, the last two events still waiting for time to pass."""
    run = run_of(name)
    for time, text in BEFORE:
        run.take(STREAM, time, time, triples(text))
        assert not run.release(min(time, 3))
    return run


def shown(match: Match) -> Row:
    values = ((name, term.lexical if isinstance(term, Literal) else str(term)) for name, term in match.bindings.items())
    return match.start, match.end, sorted(values)


def rest(run: Buckets) -> list[Row]:
    run.number = len(BEFORE)
    found: list[Match] = []
    for time, text in AFTER:
        run.take(STREAM, time, time, triples(text))
        found += run.release(time)
    return sorted(shown(match) for match in [*found, *run.finish()])


@pytest.mark.parametrize("name", QUERIES)
def test_the_rest_of_a_stream_gives_the_same_after_a_restart(name: str) -> None:
    run = halfway(name)
    run.cut()
    assert rest(run) == rest(halfway(name)) == WANTED[name]


def test_state_of_every_kind_is_there_to_be_written() -> None:
    (work,) = halfway("sliding").works.values()
    kept = dict(work.pipeline.state_rows())
    assert not kept.pop("counted")
    assert all(kept.values()), kept


@pytest.mark.parametrize("name", QUERIES)
def test_a_state_of_the_form_of_today_is_read(name: str, update_fixtures: bool) -> None:
    path = FIXTURES / f"sequence-{name}.bin"
    if update_fixtures and STATE_FORM == 1:
        (written,) = halfway(name).written().values()
        path.write_bytes(written)
    run = run_of(name)
    run.read({0: path.read_bytes()})
    assert rest(run) == WANTED[name]


def test_a_state_goes_on_under_a_background_that_has_changed() -> None:
    state = halfway("sliding").written()
    changed: dict[str | None, str] = {DB: "@prefix : <http://example/> .\n:h0 :owner :zoe .\n:h1 :owner :zoe .\n"}
    run = Buckets(job_of(parse(SLIDING, "spaseq"), background=changed))
    run.read(state)
    assert rest(run) == WANTED["sliding"], "what was selected before the change keeps its owner"


def test_writing_changes_nothing() -> None:
    run = halfway("sliding")
    assert run.written() == run.written()
    assert rest(run) == WANTED["sliding"]


def test_a_state_does_not_grow_from_being_written_and_read() -> None:
    run = halfway("sliding")
    size = len(run.written()[0])
    for _ in range(5):
        run.cut()
    assert len(run.written()[0]) == size


def test_what_is_over_is_not_written() -> None:
    run = run_of("sliding")
    for time in range(0, 4000, 20):
        run.take(STREAM, time, time, triples(f":h1 :a {time} ."))
        run.release(time)
    (state,) = run.written().values()
    assert len(state) < 20_000


def test_an_empty_state_is_a_state() -> None:
    run = run_of("counting")
    run.read({0: SequenceWork(run.job, run.job.shares[0]).dump("")})
    assert run.finish() == []


def fresh(name: str) -> SequenceWork:
    job = run_of(name).job
    return SequenceWork(job, job.shares[0])


def test_foreign_bytes_are_refused() -> None:
    with pytest.raises(ValueError, match="no packed arrays"):
        fresh("sliding").restore(b"something else, and longer than a header", "")


def test_the_state_of_another_form_is_refused() -> None:
    (state,) = halfway("sliding").written().values()
    arrays, meta = unpack(state)
    with pytest.raises(ValueError, match=f"state of form 99, but this is form {STATE_FORM}"):
        fresh("sliding").restore(pack(arrays, {**meta, "form": 99}), "")
    with pytest.raises(ValueError, match="state of form None"):
        fresh("sliding").restore(pack({}, {}), "")


def test_the_state_of_another_query_is_refused() -> None:
    run = halfway("sliding")
    (work,) = run.works.values()
    state, other = work.dump(run.job.state_of(0)), fresh("counting")
    with pytest.raises(ValueError, match="another query"):
        other.restore(state, other.job.state_of(0))


def test_slices_that_overlap_tell_a_match_once_also_when_it_is_asked_for_before_the_end() -> None:
    query = parse(
        "PREFIX : <http://example/> SELECT ?a ?b WITHIN 6 SLIDING FROM STREAM S <http://example/s>\n"
        "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?s :a ?a } DEFINE GPM B ON S { ?t :b ?b } }",
        "spaseq",
    )
    run = Buckets(job_of(query, 7))
    assert run.job.shares[0].slices is not None
    run.take(STREAM, 0, 0, triples(":x :a 1 ."))
    run.take(STREAM, 2, 2, triples(":x :b 2 ."))
    assert len([*run.release(3), *run.finish()]) == 1
