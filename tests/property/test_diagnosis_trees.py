"""Diagnoses of random EP-SPARQL and Sparkwave queries: there are matches exactly where the definitions have some."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import HealthCheck, event, given, note, settings

from naive import epsparql, sparkwave
from property.epsparql_strategies import events, queries, statics
from property.sparkwave_strategies import Setting, continuous
from property.spaseq_strategies import EXAMPLES
from property.test_epsparql_naive import by_definition as epsparql_answers
from property.test_epsparql_naive import parsed
from property.test_sparkwave_naive import by_definition as sparkwave_answers
from property.test_sparkwave_naive import turtle
from scepter.cases.source import TimelineSource
from scepter.insight.diagnosis.diagnose import diagnose
from scepter.insight.diagnosis.model import Diagnosis, Findings
from scepter.insight.diagnosis.text import diagnosis_text
from scepter.rdf.terms import Triple
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.queries import parse
from scepter.timeline import TimeKind

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
SOME = settings(deadline=None, max_examples=max(10, EXAMPLES // 3), suppress_health_check=SLOW)


def sources(stream: Iterable[epsparql.Event | sparkwave.Event]) -> dict[str, TimelineSource]:
    found: dict[str, list[TimelineEvent]] = {}
    for number, each in enumerate(stream):
        told = TimelineEvent(f"e{number}", each.start, each.end, TimeKind.INTEGER, tuple(each.triples), 1)
        found.setdefault(each.stream, []).append(told)
    return {iri: TimelineSource(iri, told) for iri, told in found.items()}


def check(findings: Findings, expected: bool) -> None:
    text = diagnosis_text(findings)
    note(text)
    matches = sum(diagnosis.matches for diagnosis in findings.diagnoses)
    event(f"matches: {min(2, matches)}")
    assert bool(matches) == expected
    for diagnosis in findings.diagnoses:
        assert not (diagnosis.matches and diagnosis.stopped)
        check_steps(diagnosis)


def check_steps(diagnosis: Diagnosis) -> None:
    for step in diagnosis.steps:
        filters = [stage.count for stage in step.stages if stage.condition.startswith("FILTER")]
        assert filters == sorted(filters, reverse=True)
        assert all(stage.count >= 0 for stage in step.stages)


@SOME
@given(queries(), events(), statics)
def test_epsparql(text: str, stream: list[epsparql.Event], static: list[Triple]) -> None:
    note(text)
    query = parsed(text)
    given_streams = sources(stream)
    if not all(iri in given_streams for iri in query.streams) or not stream:
        return
    findings = diagnose(query, given_streams, background={None: turtle(static)})
    check(findings, bool(epsparql_answers(query, stream, static)))


@SOME
@given(continuous())
def test_sparkwave(setting: Setting) -> None:
    note(setting.text)
    query = parse(setting.text, "sparkwave")
    given_streams = sources(setting.events)
    if not all(iri in given_streams for iri in query.streams) or not setting.events:
        return
    findings = diagnose(query, given_streams, background={None: turtle(setting.static)}, ontology=turtle(setting.schema))
    check(findings, bool(sparkwave_answers(setting)))
