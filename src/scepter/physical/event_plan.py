"""The plan of events: which reasoner serves each logical one, and of what each composite one is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from scepter.algebra.classes import manchester
from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    EventQuery,
    First,
    Keep,
    Labelled,
    Last,
    LogicalEvent,
    Occurs,
    Related,
    Rest,
)
from scepter.ontology.axioms import Ontology
from scepter.ontology.recognition import Routing, route
from scepter.timeline import Allen


def explain_events(query: EventQuery, ontology: Ontology | None = None, prefixes: Mapping[str, str] | None = None) -> str:
    """The plan as text; `prefixes` shorten its IRIs. Without the ontology, the reasoners are those that definitions alone need.

    >>> from scepter.algebra.classes import Named
    >>> from scepter.rdf.terms import IRI
    >>> event = LogicalEvent(IRI("http://e/H"), Named(IRI("http://e/A")))
    >>> print(explain_events(EventQuery((), (event,), (), (event.event,)), prefixes={"": "http://e/"}))
    Returns       :H as RDF STREAM
    Streams       every one given
    :H            logical, by rules: :A
    """
    shown = dict(prefixes or {})
    routing = route(ontology or Ontology(), query.logical)
    lines = [
        _line("Returns", f"{', '.join(shortened(str(iri), shown) for iri in query.returned)} as {query.form.value}"),
        _line("Streams", ", ".join(str(s.iri) for s in query.streams) or "every one given"),
    ]
    if routing.hard:
        axioms = sorted({reason for _, reason in routing.hard})
        lines.append(_line("Ontology", f"HermiT serves all events of items that {', '.join(axioms)} can bear on"))
    lines += [_line(shortened(str(e.event), shown), shortened(_logical(e, routing), shown)) for e in query.logical]
    lines += [_line(shortened(str(e.event), shown), shortened(_composite(e), shown)) for e in query.composite]
    return "\n".join(lines)


def _line(heading: str, text: str) -> str:
    return f"{heading:<13} {text}"


def shortened(text: str, prefixes: Mapping[str, str]) -> str:
    """A text with its IRIs shortened.

    >>> shortened("<http://e/A> and <http://other/B>", {"": "http://e/"})
    ':A and <http://other/B>'
    """
    for prefix, namespace in sorted(prefixes.items(), key=lambda item: -len(item[1])):
        parts = text.split(f"<{namespace}")
        text = parts[0] + "".join(f"{prefix}:{part.replace('>', '', 1)}" for part in parts[1:])
    return text


def reasoner(event: LogicalEvent, routing: Routing) -> str:
    """Which reasoner serves an event, and why if it is not the rules."""
    reason = routing.reasons.get(event.event)
    return "by rules" if reason is None else f"by HermiT ({reason})"


def _logical(event: LogicalEvent, routing: Routing) -> str:
    return f"logical, {reasoner(event, routing)}: {manchester(event.description)}"


def _composite(event: CompositeEvent) -> str:
    within = "" if event.within is None else f", within {event.within}"
    guarded = "" if event.guard is None else ", if its guard holds"
    return f"composite: {_pattern(event.pattern)}{within}{guarded}"


def _pattern(pattern: EventPattern) -> str:
    match pattern:
        case Occurs(event):
            return str(event)
        case Labelled(label, operand):
            return f"{_pattern(operand)} AS {label}"
        case First(operand):
            return f"FIRST ({_pattern(operand)})"
        case Last(operand):
            return f"LAST ({_pattern(operand)})"
        case Rest(operand):
            return f"NOT ({_pattern(operand)})"
        case Either(left, right):
            return f"({_pattern(left)} OR {_pattern(right)})"
        case Related(relation, left, right, assertions):
            word = "SEQ" if relation is Allen.BEFORE and assertions is Keep.RIGHT else relation.value
            return f"({_pattern(left)} {word} {_pattern(right)})"
        case _:
            assert_never(pattern)
