"""A whole file's diagnosis: which events are looked at, and which kind of diagnosis each query takes."""

from __future__ import annotations

from collections.abc import Mapping

from scepter.algebra.notation import Notation
from scepter.algebra.query import Query as SequenceQuery
from scepter.algebra.query import Unit
from scepter.algebra.timed import TimedProgram
from scepter.errors import QueryError
from scepter.optimizer.lift_sequences import lift_sequence
from scepter.physical.wording import title
from scepter.rdf.source import EventSource
from scepter.runtime.diagnosis.excerpt import read_excerpt
from scepter.runtime.diagnosis.model import Diagnosis, Findings
from scepter.runtime.diagnosis.sentences import Sentences
from scepter.runtime.diagnosis.sequences import diagnose_sequence
from scepter.runtime.diagnosis.trials import TooMany, Trials
from scepter.runtime.diagnosis.units import diagnose_unit
from scepter.runtime.inputs import BackgroundGiven, OntologyGiven, load_background, load_ontology
from scepter.runtime.options import RunOptions
from scepter.runtime.queries import Query
from scepter.timeline import MAX_INSTANT, format_instant

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
) -> Findings:
    """How far the events of bounded sources come through a query, and what stops them."""
    excerpt = read_excerpt(query, streams, options, most_events)
    if excerpt is None:
        return Findings((), 0, 0, None, "there is no event")
    static = load_background(query, background, ontology)
    schema = load_ontology(query, ontology)
    limit, why = most_events, f"at most {most_events:,} are looked at"
    while True:
        try:
            found = []
            for number in range(len(query.lowered.program.units)):
                trials = Trials(query.lowered.program, number, excerpt, options, static, schema)
                found.append(_diagnosed(query, trials))
            break
        except TooMany as error:
            why = f"more would have {error}"
            limit = min(limit, excerpt.events) // 2
            if limit < _LEAST_EVENTS:
                return Findings((), 0, excerpt.total, None, f"even few events have {error}")
            excerpt = excerpt.shortened(limit)
        except QueryError as error:
            raise QueryError(error.diagnostic, query.lowered.source) from None
    partly = excerpt.until < MAX_INSTANT
    until = str(format_instant(excerpt.until, excerpt.kind)) if partly else None
    return Findings(tuple(found), excerpt.events, excerpt.total, until, why if partly else "")


def _diagnosed(query: Query, trials: Trials) -> Diagnosis:
    unit: Unit = trials.program.units[trials.number]
    sentences = Sentences(Notation(dict(query.lowered.prefixes)), trials.excerpt)
    heading = title(query.language, trials.number + 1, len(trials.program.units))
    if isinstance(unit, SequenceQuery):
        return diagnose_sequence(unit, trials, sentences, heading)
    lifted = _lifted(unit, trials)
    if lifted is not None:
        return diagnose_sequence(lifted, trials, sentences, heading)
    return diagnose_unit(unit, trials, sentences, heading)


def _lifted(unit: Unit, trials: Trials) -> SequenceQuery | None:
    """The sequence that a unit is, where nothing static takes part."""
    given = trials.background.dataset
    if not isinstance(unit, TimedProgram) or len(given.default) or given.named or trials.ontology:
        return None
    if trials.options.policy not in (None, "unrestricted"):
        return None
    return lift_sequence(unit, trials.excerpt.kind)
