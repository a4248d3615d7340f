"""Durations that are none: compared with anything they are an error, and would match nothing without a word."""

from __future__ import annotations

from contextlib import suppress

from scepter.errors import Span, query_error
from scepter.rdf.terms import XSD, Literal, Term
from scepter.rdf.values.temporal import parse_duration
from scepter.timeline import with_clock


def check_duration(term: Term, span: Span | None) -> None:
    """Raise `duration` for a constant of type xsd:duration that has no value, with what may be meant."""
    if not isinstance(term, Literal) or term.datatype != XSD + "duration":
        return
    with suppress(ValueError):
        parse_duration(term.lexical)
        return
    advice = "write for example PT1H, PT5M, PT30S, P30D"
    meant = with_clock(term.lexical)
    with suppress(ValueError):
        parse_duration(meant)
        advice = f'write "{meant}"^^xsd:duration: hours, minutes and seconds stand behind a T'
    raise query_error("duration", f'"{term.lexical}" is no xsd:duration', span, help=advice)
