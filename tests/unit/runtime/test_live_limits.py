"""Limits in runs that go on: what asks for too much is let go, and told; everything else stays."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from buckets import job_of
from microbatches import Micro, graph_event
from scepter.errors import DataError, Diagnostic, OptionError
from scepter.kernel.state.container import unpack
from scepter.rdf.batch import DeadLetter
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.terms import IRI
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import load_background
from scepter.runtime.live import LiveInput, LiveRun
from scepter.runtime.matches import Match
from scepter.runtime.options import RunOptions
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.queries import parse
from scepter.runtime.spark.batch import packed_rows
from scepter.runtime.spark.jobs import Job
from scepter.runtime.work import INSTANTS, PerInstant, WorkLimits

S = "http://e/s"
NUMBER = "^^<http://www.w3.org/2001/XMLSchema#integer>"
PREFIX = "PREFIX : <http://e/>\n"
KEYED = {
    "spaseq": "SELECT ?x ?v ?w WITHIN 1000 SLIDING FROM STREAM S <http://e/s> WHERE { SEQ (A ; B) "
    "DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?x :b ?w } }",
    "ep-sparql": "SELECT ?x ?v ?w WHERE { ?x :a ?v . ?x :b ?w FILTER (getDURATION() < 1000) }",
}
WHOLE = {
    "rsep-ql": "SELECT ?x ?v ?w FROM NAMED :s WIN [RANGE 1000] AS :w WHERE { WINDOW :w { ?x :a ?v . ?x :b ?w } }",
    "sparkwave": "SELECT ?x ?v ?w FROM STREAM <http://e/s> [RANGE 1000] WHERE { ?x :a ?v . ?x :b ?w }",
}
FLOOD = [(1, "q", "a"), *((t, "k", "a") for t in range(2, 40)), (40, "q", "b"), (41, "k", "b"), (42, "z", "a")]
"""One event of :q, many of :k, then what would complete both."""


def line(time: int, subject: str, property: str) -> bytes:
    return f'<http://e/{subject}> <http://e/{property}> "{time}"{NUMBER} "{time}"{NUMBER} .\n'.encode()


def answers(language: str, query: str, events: Sequence[tuple[int, str, str]], **options: Any) -> tuple[list[str], list[str]]:
    parsed = parse(PREFIX + query, language)
    told: list[str] = []
    engine = LocalEngine(
        parsed.program, RunOptions.of(**options), load_background(parsed, None), shedding=lambda text, whole: told.append(text)
    )
    input, letters = LiveInput(S), list[DeadLetter]()
    reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, letters.append, run=engine.reading, batch_bytes=1)
    run = LiveRun(engine, (input,), letters.append, lambda: 0)
    found: list[Match] = []
    for event in events:
        batch = reader.feed(line(*event))
        run.take(input, [] if batch is None else [batch])
        found += run.advance()
    input.ended = True
    found += run.finish()
    assert not letters
    return [str(match.bindings["x"]) for match in found], told


@pytest.mark.parametrize("language", KEYED)
def test_a_key_that_keeps_too_much_is_let_go_and_the_others_stay(language: str) -> None:
    found, told = answers(language, KEYED[language], FLOOD, max_runs=10)
    assert found.count("<http://e/q>") == 1
    assert 0 < found.count("<http://e/k>") < 11
    assert told
    assert all("11 rows of state for ?x <http://e/k> in " in each and "--max-runs" in each for each in told)
    everything, nothing = answers(language, KEYED[language], FLOOD)
    assert (everything.count("<http://e/k>"), everything.count("<http://e/q>"), nothing) == (38, 1, [])


@pytest.mark.parametrize("language", WHOLE)
def test_what_cannot_tell_its_keys_apart_begins_anew(language: str) -> None:
    found, told = answers(language, WHOLE[language], [*FLOOD, (50, "n", "a"), (51, "n", "b")], max_runs=10)
    assert "<http://e/n>" in found
    assert told
    assert all("it begins anew, without the events before" in each for each in told)


def test_a_step_that_takes_too_long_costs_its_query_what_it_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    release, slow = Pipeline.release, [True]

    def release_slowly(self: Pipeline, until: int, closed: int) -> Sequence[Match]:
        if closed > 10 and slow.pop():
            slow.append(False)
            an_hour()
        elif closed > 10:
            slow.append(False)
        return release(self, until, closed)

    an_hour = an_hour_passes(monkeypatch)
    monkeypatch.setattr(Pipeline, "release", release_slowly)
    events = [(1, "q", "a"), (20, "q", "b"), (21, "n", "a"), (22, "n", "b"), (23, "z", "a")]
    found, told = answers("spaseq", KEYED["spaseq"], events, max_seconds=3_000)
    assert found == ["<http://e/n>"]
    assert told == ["query 1: a step takes more than 3000 seconds (--max-seconds); it begins anew, without the events before"]


def test_a_step_that_needs_too_much_memory_too(monkeypatch: pytest.MonkeyPatch) -> None:
    release, left = Pipeline.release, [MemoryError()]

    def fail_once(self: Pipeline, until: int, closed: int) -> Sequence[Match]:
        if left:
            raise left.pop()
        return release(self, until, closed)

    monkeypatch.setattr(Pipeline, "release", fail_once)
    found, told = answers("spaseq", KEYED["spaseq"], [(1, "q", "a"), (3, "n", "a"), (4, "n", "b")], max_memory="1 GB")
    assert found == ["<http://e/n>"]
    assert [each.partition(":")[2] for each in told] == [
        " a step needs more than 1073741824 bytes of memory (--max-memory); it begins anew, without the events before"
    ]


@pytest.mark.parametrize("step", ["take", "save", "commit"])
def test_so_does_one_that_takes_events_or_keeps_them(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    plain, left = getattr(Pipeline, step), [MemoryError()]

    def fail_once(self: Pipeline, *given: Any) -> Any:
        if left:
            raise left.pop()
        return plain(self, *given)

    monkeypatch.setattr(Pipeline, step, fail_once)
    found, told = answers("spaseq", KEYED["spaseq"], [(1, "q", "a"), (3, "n", "a"), (4, "n", "b")], max_memory="1 GB")
    assert found == ["<http://e/n>"]
    assert len(told) == 1
    assert "(--max-memory); it begins anew" in told[0]


def test_so_many_matches_at_one_instant() -> None:
    told: list[str] = []
    limit = PerInstant(WorkLimits(matches=2), told.append)
    matches: Any = [SimpleNamespace(query=0, end=end) for end in (1, 5, 5, 5, 5, 6)]
    assert [match.end for match in limit(matches)] == [1, 5, 5, 6]
    assert [match.end for match in limit(matches[-1:])] == [6]
    assert [match.end for match in limit(matches[-1:])] == []  # the instant that was open
    assert told == [
        "query 1: more than 2 matches at 5 (--max-matches), 2 are left out",
        "query 1: more than 2 matches at 6 (--max-matches), 1 are left out",
    ]


def test_a_restart_remembers_what_was_given_at_an_instant(tmp_path: Path) -> None:
    told: list[str] = []
    matches: Any = [SimpleNamespace(query=0, end=5)] * 2

    def given(batch: int, *, begun: PerInstant) -> int:
        return len(begun(matches, batch))

    limits = WorkLimits(matches=5)
    first = PerInstant(limits, told.append, tmp_path)
    assert [given(batch, begun=first) for batch in (0, 1)] == [2, 2]
    again = PerInstant(limits, told.append, tmp_path)
    # killed before it was committed: it comes again, and counts once
    assert [given(batch, begun=again) for batch in (1, 2, 3)] == [2, 1, 0]
    assert [each.rpartition(", ")[2] for each in told] == ["1 are left out", "2 are left out"]
    (tmp_path / INSTANTS).write_bytes(b"torn")
    with pytest.raises(OptionError, match="nobody can tell how many matches an instant has"):
        PerInstant(limits, told.append, tmp_path)
    assert given(0, begun=PerInstant(limits, told.append)) == 2


def micro(
    language: str, query: str, events: Sequence[tuple[int, str, str]] = FLOOD, **options: Any
) -> tuple[list[str], list[str]]:
    parsed = parse(PREFIX + query, language)
    job = job_of(parsed, 2, options=RunOptions.of(**options), live=True, given=[S])
    run = Micro(parsed, job)
    for event in events:
        at, subject, name = event
        triple = (f"<http://e/{subject}>", f"<http://e/{name}>", f'"{at}"{NUMBER}')
        run.batch([graph_event(job, S, at, at, [triple])])
    told = [meta["limit"] for letters in run.letters if "limit" in (meta := unpack(letters)[1])]
    return [row["x"]["value"] for row in run.rows], told


@pytest.mark.parametrize("language", KEYED)
def test_in_a_bucket_other_keys_stay_too(language: str) -> None:
    found, told = micro(language, KEYED[language], max_runs=10)
    assert found.count("http://e/q") == 1
    assert 0 < found.count("http://e/k") < 11
    assert told
    assert all("rows of state for ?x <http://e/k> in " in each for each in told)


@pytest.mark.parametrize("language", WHOLE)
def test_a_bucket_or_a_task_begins_anew(language: str) -> None:
    found, told = micro(language, WHOLE[language], max_runs=10)
    assert len(found) < 39
    assert told
    assert all("begins anew" in each for each in told)


def fails_once(monkeypatch: pytest.MonkeyPatch, trouble: Callable[[], None]) -> None:
    """The step that would complete :q's pair has trouble, the first time."""
    release, left = Pipeline.release, [trouble]

    def fail(self: Pipeline, until: int, closed: int) -> Sequence[Match]:
        if until >= 39 and left:
            left.pop()()
        return release(self, until, closed)

    monkeypatch.setattr(Pipeline, "release", fail)


def an_hour_passes(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What makes a step an hour long, by the clock of its limit, and has the timer ring. Real seconds would also pass while a
    busy machine loads a kernel."""
    monotonic, passed = time.monotonic, [0.0]

    def pass_by() -> None:
        passed[0] += 3_600
        signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr("scepter.runtime.work.time.monotonic", lambda: monotonic() + passed[0])
    return pass_by


def no_memory() -> None:
    np.zeros(1 << 50, np.uint8)


@pytest.mark.parametrize(
    ("trouble", "options", "why"),
    [
        (an_hour_passes, {"max_seconds": 3_000}, "a step takes more than 3000 seconds (--max-seconds)"),
        (
            lambda monkeypatch: no_memory,
            {"max_memory": "8 GB"},
            "a step needs more than 8589934592 bytes of memory (--max-memory)",
        ),
    ],
)
@pytest.mark.parametrize("query", [("spaseq", KEYED["spaseq"]), ("sparkwave", WHOLE["sparkwave"])])
def test_a_bucket_whose_step_asks_for_too_much_begins_anew(
    monkeypatch: pytest.MonkeyPatch,
    query: tuple[str, str],
    trouble: Callable[[pytest.MonkeyPatch], Callable[[], None]],
    options: dict[str, Any],
    why: str,
) -> None:
    fails_once(monkeypatch, trouble(monkeypatch))
    found, told = micro(*query, [*FLOOD, (50, "q", "a"), (51, "q", "b"), (60, "z", "a")], **options)
    # the second pair; and with its first half what waits for a later instant, which only memory lets go of
    assert found.count("http://e/q") == (2 if query[0] == "sparkwave" and "max_seconds" in options else 1)
    assert len(told) == 1
    assert told[0].startswith(f"query 1: {why}; ")
    assert told[0].endswith("begins anew, without the events before")


CROWD = "SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x :a ?v . ?y :a ?w . ?z :a ?u } }"
ROWS = "query 1: an operator makes more than 1000000 rows at one instant (--max-runs); "


def crowd(time: int, triples: int) -> bytes:
    text = f'<http://e/x{{}}> <http://e/a> "{{}}"{NUMBER} <urn:g{time}> .\n'
    stamp = f'<urn:g{time}> <http://www.w3.org/ns/prov#generatedAtTime> "{time}"{NUMBER} .\n'
    return (stamp + "".join(text.format(i, i) for i in range(triples))).encode()


def test_a_query_that_makes_too_many_rows_of_one_event_begins_anew() -> None:
    parsed, told, found = parse(PREFIX + CROWD, "spaseq"), list[str](), list[Match]()
    engine = LocalEngine(
        parsed.program, RunOptions.of(max_runs=10), load_background(parsed, None),
        shedding=lambda text, whole: told.append(text),
    )  # fmt: skip
    input, letters = LiveInput(S), list[DeadLetter]()
    reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, letters.append, run=engine.reading, batch_bytes=1)
    run = LiveRun(engine, (input,), letters.append, lambda: 0)
    for event in (crowd(1, 2), crowd(2, 200), crowd(3, 2), crowd(4, 1)):
        batch = reader.feed(event)
        run.take(input, [] if batch is None else [batch])
        found += run.advance()
    input.ended = True
    if (batch := reader.finish()) is not None:
        run.take(input, [batch])
    found += run.finish()
    assert not letters
    assert told == [ROWS + "it begins anew, without the events before"]
    assert {match.end for match in found} == {1, 3, 4}


def test_so_does_a_bucket() -> None:
    query = "SELECT ?x FROM STREAM <http://e/s> [RANGE 10] WHERE { ?x :a ?v . ?y :a ?w . ?z :a ?u }"
    later = [(time, f"n{time}", "a") for time in (50, 100, 150)]  # the first comes with the step that is broken off, and waits
    found, told = micro("sparkwave", query, [*((1, f"k{i}", "a") for i in range(160)), *later], max_runs=1000)
    assert [each.partition("; ")[0] + "; " for each in told] == [ROWS]
    assert found == ["http://e/n50", "http://e/n100"]


PATTERNS = {
    "spaseq": CROWD,
    "rsep-ql": "SELECT ?x FROM NAMED :s WIN [RANGE 100] AS :w EVENT ON :w { ?x :a ?v . ?y :a ?w . ?z :a ?u } AS E "
    "WHERE { MATCH { E } }",
}
OTHER = ("<http://e/n>", "<http://e/o>", "<http://e/n>")


def crowds(job: Job, *sizes: int) -> list[GraphEvent]:
    def triples(at: int, size: int) -> list[tuple[str, str, str]]:
        return [OTHER, *((f"<http://e/x{at}n{i}>", "<http://e/a>", f'"{i}"{NUMBER}') for i in range(size))]

    return [graph_event(job, S, at, at, triples(at, size)) for at, size in enumerate(sizes, 1)]


@pytest.mark.parametrize("language", PATTERNS)
def test_an_event_of_which_a_pattern_makes_too_many_rows_is_a_dead_letter_where_it_is_read(language: str) -> None:
    """Its neighbours in the batch are seen as if it had not been there."""
    parsed = parse(PREFIX + PATTERNS[language], language)
    job = job_of(parsed, 2, options=RunOptions.of(max_runs=10), live=True, given=[S])
    run = Micro(parsed, job)
    run.batch(crowds(job, 2, 1, 200, 2, 200, 1))
    run.batch([graph_event(job, S, 50, 50, [OTHER])])
    assert {row["x"]["value"][len("http://e/") :] for row in run.rows} == {"x1n0", "x1n1", "x2n0", "x4n0", "x4n1", "x6n0"}
    reason = "of the event at {} alone an operator makes more than 1000000 rows (--max-runs)"
    assert [(letter.source, letter.reason) for letter in run.reported] == [(S, reason.format(3)), (S, reason.format(5))]


@pytest.mark.parametrize("language", PATTERNS)
def test_over_history_it_ends_the_run(language: str) -> None:
    parsed = parse(PREFIX + PATTERNS[language], language)
    job = job_of(parsed, 2, options=RunOptions.of(max_runs=10), given=[S])
    read = events_to_batch(crowds(job, 2, 200), job.key, job.kind, run=ReadState(job.kind))
    with pytest.raises(DataError, match="an operator makes more than 1000000 rows at one instant"):
        list(packed_rows(job, [read], 0))


def test_so_is_what_one_query_makes_for_another() -> None:
    many = ", ".join(map(str, range(120)))
    made = f"REGISTER :made CONSTRUCT {{ ?x :b {many} }} FROM NAMED :s WIN [RANGE 4 STEP 2] AS :w "
    made += "EVENT ON :w { ?x :a ?v } AS A WHERE { MATCH { A } } "
    read = PATTERNS["rsep-ql"].replace(":s", ":made").replace(":a", ":b")
    parsed = parse(PREFIX + made + read, "rsep-ql")
    job = job_of(parsed, 2, options=RunOptions.of(max_runs=10), live=True, given=[S])
    run = Micro(parsed, job)
    for event in crowds(job, 0, 0, 1, 0, 0, 0, 0):  # time goes on step by step: what is known late is late for others
        run.batch([event])
    told = [meta["limit"] for letters in run.letters if "limit" in (meta := unpack(letters)[1])]
    assert told == ["of the event at 4 alone an operator makes more than 1000000 rows (--max-runs)"]


COUNTING = """
import numpy as np
from scepter.errors import DataError
from scepter.runtime.work import WorkLimits, taken, watched

before = taken()
kept = np.ones(300 << 20, np.uint8)
try:
    with watched(WorkLimits(memory=400 << 20), before):
        np.ones(200 << 20, np.uint8)
    print("nothing told")
except DataError as error:
    print(error.code)
with watched(WorkLimits(memory=400 << 20)):
    print(len(np.ones(200 << 20, np.uint8)) < len(kept))
"""


def test_memory_is_counted_from_what_the_process_had() -> None:
    # in a process of its own: one that has let go of much takes it again before it asks for more
    told = subprocess.run([sys.executable, "-c", COUNTING], capture_output=True, text=True, check=True).stdout
    assert told.split() == ["max-memory", "True"]


def test_what_has_gathered_is_taken_in_small_steps_first() -> None:
    parsed, told = parse(PREFIX + KEYED["spaseq"], "spaseq"), list[str]()
    engine = LocalEngine(
        parsed.program, RunOptions.of(max_runs=100), load_background(parsed, None),
        shedding=lambda text, whole: told.append(text),
    )  # fmt: skip
    input = LiveInput(S)
    reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, lambda letter: None, run=engine.reading)
    run = LiveRun(engine, (input,), lambda letter: None, lambda: 0)
    reader.feed(b"".join(line(time, "k", "a") for time in range(1, 5_001)) + line(5_001, "z", "a"))
    batch = reader.finish()
    assert batch is not None
    run.take(input, [batch])
    assert run.advance() == []
    kept = [int(each.split(": ")[1].split(" rows")[0]) for each in told]
    assert 100 < kept[0] <= 64 + 128  # of 5,000 at once


LATER = [(1, "q", "a"), *((t, "k", "a") for t in range(2, 40)), (40, "q", "b"), (60, "n", "a"), (61, "n", "b")]


@pytest.mark.parametrize(("language", "query"), [*WHOLE.items(), *KEYED.items()])
@pytest.mark.parametrize("code", ["max-runs", "max-seconds"])
def test_what_waits_for_later_instants_stays(monkeypatch: pytest.MonkeyPatch, language: str, query: str, code: str) -> None:
    parsed, told = parse(PREFIX + query, language), list[str]()
    engine = LocalEngine(
        parsed.program, RunOptions.of(max_runs=1_000, max_seconds=3_000), load_background(parsed, None),
        shedding=lambda text, whole: told.append(text),
    )  # fmt: skip
    reader = NQuadsReader(engine.key, engine.stream_number(IRI(S)), S, lambda letter: None, run=engine.reading)
    reader.feed(b"".join(line(*event) for event in LATER))
    batch = reader.finish()
    assert batch is not None
    breaks_off_at(monkeypatch, 50, code)
    engine.take(batch)
    engine.save()
    assert len(engine.advance(50)) == 0
    engine.commit()
    assert len(told) == 1
    engine.save()
    found = [*engine.advance(62), *engine.finish()]
    assert [str(match.bindings["x"]) for match in found] == ["<http://e/n>"]


def breaks_off_at(monkeypatch: pytest.MonkeyPatch, time: int, code: str) -> None:
    """The step of that time is broken off when the operators have been given its rows."""
    run = Pipeline._run

    def broken(self: Pipeline, until: Any) -> Any:
        found = run(self, until)
        if until.time == time:
            raise DataError(Diagnostic(code, "too much"))
        return found

    monkeypatch.setattr(Pipeline, "_run", broken)
