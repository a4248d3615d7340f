"""Which keys of a live run are found hot, from when on, and what a run does that does not know them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from buckets import job_of
from microbatches import Micro, engine_answers, graph_event, rows_of
from microbatches import comparable as in_micro_batches
from scepter.errors import DataError
from scepter.kernel.row.split_keys import SplitKey
from scepter.kernel.state.container import unpack
from scepter.rdf.terms import IRI, Literal, Triple
from scepter.runtime.queries import parse
from scepter.runtime.spark import live_skew
from scepter.runtime.spark.jobs import Job
from scepter.runtime.spark.live_skew import NOTHING, SKEWED, known_after, read, written

QUERY = parse(
    "PREFIX : <http://example/> SELECT ?c ?x ?y WITHIN 9 SLIDING FROM STREAM S :s "
    "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?c :a ?x } DEFINE GPM B ON S { ?c :b ?y } }",
    "spaseq",
)


def live_job(cores: int = 8) -> Job:
    return replace(job_of(QUERY, 32, live=True), cores=cores)


def judged(counted: dict[str, int], rows: int, cores: int = 8, kept: Any = NOTHING, greatest: int = 50) -> tuple[Any, Any]:
    with SKEWED.told(""):
        kept, news = known_after(live_job(cores), kept, [{"0": (rows, counted)}], greatest)
    return kept, None if news is None else read(news)


def test_a_key_with_half_of_all_rows_has_as_many_places_as_there_are_cores() -> None:
    kept, news = judged({"7": 20_000, "8": 2_000}, 40_000)
    assert news == {0: (SplitKey(7, 50, 8),)}
    assert kept["counted"] == {} and kept["greatest"] == 50


def test_no_more_places_than_it_has_halves_of_a_core() -> None:
    assert judged({"7": 6_000}, 40_000)[1] == {0: (SplitKey(7, 50, 3),)}
    assert judged({"7": 20_000}, 40_000, cores=2)[1] == {0: (SplitKey(7, 50, 2),)}
    assert judged({"7": 9_000}, 40_000, cores=2)[1] is None


def test_few_rows_tell_nothing_until_there_are_more() -> None:
    kept, news = judged({"7": 20}, 20)
    assert news is None
    kept, news = judged({"7": 19_980, "8": 10}, 39_980, kept=kept, greatest=40)
    assert news == {0: (SplitKey(7, 50, 8),)}  # events had come as far as 50


def test_who_does_not_know_what_was_used_stops() -> None:
    used = {**NOTHING, "used": written({0: (SplitKey(7, 50, 8),)})}
    with pytest.raises(DataError, match="does not know which"), SKEWED.told(""):
        known_after(live_job(), used, [], 60)
    with pytest.raises(DataError, match="does not know which"):  # no driver at all
        known_after(live_job(), used, [], 60)
    with SKEWED.told(written({0: (SplitKey(7, 50, 8), SplitKey(9, 55, 2))})):
        assert known_after(live_job(), used, [], 60)[1] is None


def _triple(subject: str, predicate: str, value: int) -> Triple:
    return Triple(IRI(f"http://example/{subject}"), IRI(f"http://example/{predicate}"), Literal(str(value)))


def test_a_run_finds_its_hot_key_and_answers_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_skew, "_ENOUGH", 20)
    job = live_job()
    events = [
        graph_event(job, "http://example/s", t, t, [_triple("hot" if t % 2 else f"x{t % 7}", "ab"[t % 3 > 0], t)])
        for t in range(1, 120)
    ]
    live, told = Micro(QUERY, job), ""
    touched: list[int] = []
    for first in range(0, len(events), 10):
        before = len(live.letters)
        with SKEWED.told(told):
            live.batch(events[first : first + 10])
        news = [unpack(letter)[1]["skew"] for letter in live.letters[before:]]
        told = news[-1] if news else told
        touched.append(len(live.places))
    ((split, *others),) = read(told).values()
    assert (split.since, split.places) == (20, 8)
    assert all(each.places < 8 for each in others)
    assert touched[-1] > touched[1]
    end = 100
    found = in_micro_batches(live.rows, end)
    assert found and found == in_micro_batches(rows_of(engine_answers(job, events, end), live.schema), end)
