"""The warnings of a bounded run, once it is over."""

from __future__ import annotations

from collections.abc import Mapping

from scepter.algebra.timed import TimedProgram
from scepter.errors import Diagnostic
from scepter.insight.hints.absent_predicates import absent_predicates
from scepter.insight.hints.filters import false_filters
from scepter.insight.hints.idle_rules import idle_rules
from scepter.insight.hints.times import empty_streams, epoch_unit, streams_apart, window_unit
from scepter.rdf.source import EventSource, Survey
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query


def run_warnings(
    query: Query,
    streams: Mapping[str, EventSource],
    surveys: Mapping[str, Survey],
    matches: int,
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
) -> list[Diagnostic]:
    """What may be wrong: after any run what the look ahead tells, and rules that nothing feeds; after one without a match
    also what takes a longer look."""
    sources = {iri: source.name for iri, source in streams.items()}
    found = [*empty_streams(query, surveys, sources), *epoch_unit(query, surveys, options)]
    used = {iri: streams[iri] for iri, survey in surveys.items() if survey.events}
    rules = any(isinstance(unit, TimedProgram) and unit.rules for unit in query.program.units)
    if matches and not rules:
        return found
    static, schema = load_background(query, background, ontology), load_ontology(query, ontology)
    found += idle_rules(query, used, static, schema)
    if matches:
        return found
    found += window_unit(query, surveys, options)
    found += streams_apart(query, surveys, options)
    found += false_filters(query)
    found += absent_predicates(query, used, static, schema)
    return list(dict.fromkeys(found))
