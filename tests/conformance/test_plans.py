"""The operators that process rows are the operators that `explain` prints: every case, from files, by push and in buckets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn, cast
from unittest.mock import patch

import pytest

import scepter
from buckets import job_of
from microbatches import graph_event
from scepter.algebra.notation import Notation
from scepter.cases.loader import load_case
from scepter.cases.model import Case, Refusal
from scepter.cases.query import query_of
from scepter.cases.runner import find_cases
from scepter.cases.source import TimelineSource
from scepter.cli.inputs import assign_streams
from scepter.cli.options import run_options
from scepter.errors import ScepterError
from scepter.physical.distribution.cutting import Owned
from scepter.physical.explain.description import UnitFacts, describe
from scepter.physical.explain.notes import notes_of
from scepter.physical.nodes.nodes import Received, nodes
from scepter.physical.plan import PhysicalPlan
from scepter.rdf.formats import events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.runtime.engine import LocalEngine
from scepter.runtime.inputs import load_background, load_ontology
from scepter.runtime.local import run_in_parts
from scepter.runtime.pipeline import Pipeline
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import Query
from scepter.runtime.spark import batch
from scepter.runtime.spark.jobs import work as kept_work
from scepter.runtime.spark.shares import Form
from scepter.runtime.spark.tables import arrow_schema
from scepter.timeline import format_instant
from spark_answers import case_query

ROOT = Path(__file__).parents[2]
FLOORS = {"spaseq": 90, "rsep-ql": 50, "ep-sparql": 44, "sparkwave": 36, "obep": 30}
"""Of each language, at least so many cases are run and compared with what is printed."""
CASES = [pytest.param(path, id=str(path.relative_to(ROOT))) for path in find_cases([ROOT / "cases", ROOT / "examples"])]


def printed(plan: PhysicalPlan, query: Query) -> tuple[UnitFacts, ...]:
    return describe(plan, query.language, dict(query.lowered.prefixes)).units


def check(engine: LocalEngine, query: Query, case: Case) -> None:
    """The plan that ran is the one that is made from what was known before, and what worked is printed."""
    kind = next((event.kind for events in case.streams.values() for event in events), None)
    if kind is None:
        pytest.skip("no events")
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    static = load_background(query, case.background, case.ontology)
    facts = facts_of(run_options(query.lowered, **given), static, load_ontology(query, case.ontology), kind)
    before = printed(planned(query.program, facts), query)
    assert printed(engine.plan, query) == before
    for unit, work in zip(before, engine.work, strict=True):
        assert [operator.id for operator in unit.operators] == list(range(len(work)))
        assert any(metrics.worked for metrics in work), "something ran"
        for operator, metrics in zip(unit.operators, work, strict=True):
            given_rows = any(work[each].rows_out for each in operator.inputs)
            assert not metrics.rows_in or given_rows or not operator.inputs, f"#{operator.id} had rows from nowhere"


def refused(case: Case, error: ScepterError) -> NoReturn:
    """Nothing ran: that is right of a case that expects just this error, and of no other."""
    if not isinstance(case.expectation, Refusal) or case.expectation.words not in str(error):
        raise error
    pytest.skip(f"a case about an error: {error.code}")


def prepared(path: Path) -> tuple[Case, Query]:
    case = load_case(path)
    try:
        return case, query_of(case)
    except ScepterError as error:
        refused(case, error)


def test_there_are_cases_whose_plans_run() -> None:
    """The tests below look at each of these: a case without events or about an error has no plan that runs."""
    run: Counter[str] = Counter()
    for each in CASES:
        case = load_case(cast("Path", each.values[0]))
        if any(case.streams.values()) and not isinstance(case.expectation, Refusal):
            run[query_of(case).language] += 1
    assert all(run[language] >= least for language, least in FLOORS.items()), run


@pytest.mark.parametrize("path", CASES)
def test_from_files(path: Path) -> None:
    case, query = prepared(path)
    engines: list[LocalEngine] = []
    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    try:
        options = run_options(query.lowered, **given)
        streams, _ = assign_streams(query, [(name, TimelineSource(name, events)) for name, events in case.streams.items()])
        parts = run_in_parts(
            query, streams, background=case.background, ontology=case.ontology, options=options, counting=engines.append
        )
        for _ in parts:
            pass
    except ScepterError as error:
        refused(case, error)
    check(engines[0], query, case)


def pushed(case: Case) -> Iterator[scepter.Event]:
    events = [(event, iri) for iri, events in case.streams.items() for event in events]
    for event, iri in sorted(events, key=lambda each: each[0].end):
        triples = [(t.subject, t.predicate, t.object) for t in event.triples]
        start, end = (format_instant(instant, event.kind) for instant in (event.start, event.end))
        yield scepter.Event(iri, triples, start, end)


@pytest.mark.parametrize("path", CASES)
def test_by_push(path: Path) -> None:
    case, query = prepared(path)
    engines: list[LocalEngine] = []

    def counting(*args: Any, **options: Any) -> LocalEngine:
        engines.append(partial(LocalEngine, counting=True)(*args, **options))
        return engines[-1]

    given: dict[str, Any] = {name.replace("-", "_"): value for name, value in case.options.items()}
    if "evaluate_at" in given:
        given["evaluate_at"] = str(given["evaluate_at"]).split(",")
    try:
        with patch("scepter.runtime.push.LocalEngine", counting):
            engine = scepter.Engine(query, background=case.background, ontology=case.ontology, **given)
            for event in pushed(case):
                engine.push(event)
            engine.close()
    except ScepterError as error:
        refused(case, error)
    check(engines[0], query, case)


@pytest.mark.parametrize("path", CASES)
def test_in_buckets(path: Path) -> None:
    """What reading tasks and buckets do on Spark over history, without a session."""
    case = load_case(path)
    made: list[Pipeline] = []
    build = Pipeline.__init__

    def noted(pipeline: Pipeline, *args: Any, **options: Any) -> None:
        build(pipeline, *args, **options)
        made.append(pipeline)

    try:
        query, options, streams = case_query(case)
        kind = next((event.kind for events in streams.values() for event in events), None)
        if kind is None:
            pytest.skip("no events")
        job = job_of(query, 3, background=case.background, options=options, kind=kind, ontology=case.ontology, given=streams)
        events = [graph_event(job, iri, e.start, e.end, e.triples) for iri, given in streams.items() for e in given]
        reading = cast("batch.Reading", SimpleNamespace(job=SimpleNamespace(value=job), report=lambda letter: None))
        schema = arrow_schema(query.variables, query.constructs, query.asks, kind, query.occurrences, parts=False)
        with patch.object(Pipeline, "__init__", noted):
            packed = batch.packed_rows(job, [events_to_batch(events, job.key, kind, run=ReadState(kind))], 0)
            blobs = [part.filter(part.column("blob").is_valid()) for part in packed]
            for _ in batch._run_buckets(reading, schema, blobs):
                pass
    except ScepterError as error:
        refused(case, error)
    notation = Notation(dict(query.lowered.prefixes))
    lines = {node.line(notation) for unit in job.plan.units for node in nodes(unit.root)}
    if any(Owned.says in note for unit in job.plan.units for note in notes_of(unit, job.plan, notation)):
        lines.add(Owned.says)
    read = [
        (list(nodes(job.plan.units[share.units[0]].root))[number], metrics)
        for share in job.at_work
        if share.form is not Form.EVENTS
        for number, metrics in kept_work(job, share).read_work().items()
    ]
    assert any(metrics.worked for pipeline in made for metrics in pipeline.metrics) or any(
        metrics.worked for _, metrics in read
    ), "something ran"
    for node, metrics in read:
        assert not metrics.worked or node.line(notation) in lines, "explain prints it"
    for pipeline in made:
        for node, metrics in zip(pipeline.nodes, pipeline.metrics, strict=True):
            below = nodes(node.below) if isinstance(node, Received) else [node]
            assert not metrics.worked or {each.line(notation) for each in below} <= lines, "explain prints it"
