"""A whole file's diagnosis: which events are looked at, and which kind of diagnosis each query takes."""

from __future__ import annotations

from collections.abc import Mapping

from scepter.algebra.notation import Notation
from scepter.algebra.query import Program, Unit
from scepter.errors import QueryError
from scepter.insight.diagnosis.focus import Asked, Focus
from scepter.insight.diagnosis.model import Diagnosis, Findings
from scepter.insight.diagnosis.reading import read_excerpt
from scepter.insight.diagnosis.sentences import Sentences
from scepter.insight.diagnosis.sequences import diagnose_sequence
from scepter.insight.diagnosis.trials import TooMany, Trials
from scepter.insight.diagnosis.units import diagnose_unit
from scepter.physical.explain.wording import title
from scepter.physical.nodes.sequence_nodes import Sequence
from scepter.rdf.source import EventSource
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import Query
from scepter.timeline import MAX_INSTANT, MIN_INSTANT, format_instant

MOST_EVENTS = 5_000
_LEAST_EVENTS = 16


def diagnose(
    query: Query,
    streams: Mapping[str, EventSource],
    *,
    background: BackgroundGiven = None,
    ontology: OntologyGiven = None,
    options: RunOptions = RunOptions(),  # noqa: B008 - frozen
    most_events: int = MOST_EVENTS,
    asked: Asked = Asked(),  # noqa: B008 - frozen
) -> Findings:
    """How far the events of bounded sources come through a query, and what stops them; where an event or a key is asked about,
    how far that comes, and what it misses by."""
    notation = Notation(dict(query.lowered.prefixes))
    excerpt = read_excerpt(query, streams, options, most_events, asked.seeker(notation))
    if excerpt is None:
        return Findings((), 0, 0, None, "there is no event")
    static = load_background(query, background, ontology)
    schema = load_ontology(query, ontology)
    limit, why = most_events, f"at most {most_events:,} are looked at"
    while True:
        focus = asked.found_in(excerpt, notation)
        try:
            found = []
            for number in range(len(query.lowered.program.units)):
                trials = Trials(query.lowered.program, number, excerpt, options, static, schema)
                found.append(_diagnosed(query, trials, focus))
            break
        except TooMany as error:
            why = f"more would have {error}"
            limit = min(limit, excerpt.events) // 2
            if limit < _LEAST_EVENTS:
                return Findings((), 0, excerpt.total, None, f"even few events have {error}")
            excerpt = excerpt.shortened(limit)
        except QueryError as error:
            raise QueryError(error.diagnostic, query.lowered.source) from None
    partly = excerpt.events < excerpt.total if focus else excerpt.until < MAX_INSTANT
    since = str(format_instant(excerpt.since, excerpt.kind)) if excerpt.since > MIN_INSTANT else None
    until = str(format_instant(excerpt.until, excerpt.kind)) if partly and excerpt.until < MAX_INSTANT else None
    return Findings(tuple(found), excerpt.events, excerpt.total, until, why if partly else "", focus.title, since)


def _diagnosed(query: Query, trials: Trials, focus: Focus) -> Diagnosis:
    unit: Unit = trials.program.units[trials.number]
    sentences = Sentences(Notation(dict(query.lowered.prefixes)), trials.excerpt)
    heading = title(query.language, trials.number + 1, len(trials.program.units))
    sequence = _sequence(unit, trials)
    if sequence is not None:
        return diagnose_sequence(sequence, trials, sentences, heading, focus)
    return diagnose_unit(unit, trials, sentences, heading, focus)


def _sequence(unit: Unit, trials: Trials) -> Sequence | None:
    """The sequence that a unit is planned as, where no schema takes part."""
    facts = facts_of(trials.options, trials.background, trials.ontology, trials.excerpt.kind)
    root = planned(Program((unit,)), facts).units[0].root
    return root if isinstance(root, Sequence) and root.flattened is None else None
