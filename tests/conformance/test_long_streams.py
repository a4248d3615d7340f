"""Every golden case over its streams many times over: small steps answer as one step does, whatever is let go of between them.

Cases are small, so that what sweeps, makes room and moves rows hardly runs in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from buckets import comparable, job_of
from microbatches import graph_event
from scepter.cases.loader import load_case
from scepter.errors import ScepterError
from scepter.kernel.interrupts import bounded_rows
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.runtime.engine import LocalEngine
from scepter.runtime.matches import Match
from scepter.runtime.spark.jobs import Job
from scepter.timeline import TimeKind
from spark_answers import case_query

CASES = sorted((Path(__file__).parents[2] / "cases").rglob("*.case.yaml"))
TIMES, STEP = 15, 7
_MOST = 5_000
"""Rows that an operator makes at once: some queries find ever more, and show nothing more."""


def repeated(job: Job, path: Path) -> list[GraphEvent]:
    """The events of a case one after the other, in order of their ends; copies overlap by a half."""
    _, _, streams = case_query(load_case(path))
    given = sorted(((iri, event) for iri, events in streams.items() for event in events), key=lambda pair: pair[1].end)
    if not given:
        return []
    shift = max(1, (given[-1][1].end - min(event.start for _, event in given)) // 2)
    events = [
        graph_event(job, iri, event.start + shift * turn, event.end + shift * turn, event.triples)
        for turn in range(TIMES)
        for iri, event in given
    ]
    return sorted(events, key=lambda event: event.end)


def answered(job: Job, events: list[GraphEvent], step: int) -> Iterator[Match]:
    """What an engine finds that is given so many events at a time."""
    engine = LocalEngine(job.program, job.options, job.background(), ontology=job.ontology, key=job.key)
    for stream in job.streams:
        engine.stream_number(stream)
    for first in range(0, len(events), step):
        some = events[first : first + step]
        engine.take(events_to_batch(some, job.key, job.kind, run=engine.reading))
        if first + step < len(events):  # more may come at the last instant
            yield from engine.advance(some[-1].end - 1)
            engine.commit()
    yield from engine.advance(events[-1].end)
    yield from engine.finish()


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name.removesuffix('.case.yaml')}"


@pytest.mark.parametrize("path", CASES, ids=named)
def test_small_steps_over_a_long_stream_give_what_one_step_gives(path: Path) -> None:
    compared(path, None)


@pytest.mark.parametrize("policy", ["chronological", "recent"])
@pytest.mark.parametrize("path", [path for path in CASES if path.parent.name == "ep-sparql"], ids=named)
def test_so_do_policies(path: Path, policy: str) -> None:
    compared(path, policy)


def compared(path: Path, policy: str | None) -> None:
    case = load_case(path)
    try:
        query, options, streams = case_query(case)
        options = options if policy is None else replace(options, policy=policy)
        kind = next((event.kind for events in streams.values() for event in events), TimeKind.INTEGER)
        job = job_of(query, background=case.background, options=options, kind=kind, ontology=case.ontology, given=streams)
        events = repeated(job, path)
        if not events:
            pytest.skip("no event")
        with bounded_rows(_MOST):
            whole = list(answered(job, events, len(events)))
    except ScepterError as error:
        pytest.skip(f"no answers: {error.diagnostic.message}")
    assert Counter(map(comparable, answered(job, events, STEP))) == Counter(map(comparable, whole))
