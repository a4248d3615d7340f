"""Composite events in words: of what each is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from scepter.algebra.events import (
    CompositeEvent,
    Either,
    EventPattern,
    First,
    Keep,
    Labelled,
    Last,
    Occurs,
    Related,
    Rest,
)
from scepter.timeline import Allen


def shortened(text: str, prefixes: Mapping[str, str]) -> str:
    """A text with its IRIs shortened.

    >>> shortened("<http://e/A> and <http://other/B>", {"": "http://e/"})
    ':A and <http://other/B>'
    """
    for prefix, namespace in sorted(prefixes.items(), key=lambda item: -len(item[1])):
        parts = text.split(f"<{namespace}")
        text = parts[0] + "".join(f"{prefix}:{part.replace('>', '', 1)}" for part in parts[1:])
    return text


def definition_text(event: CompositeEvent) -> str:
    """A composite event's definition in one line, with full IRIs; of a guard it says that there is one.

    >>> from scepter.rdf.terms import IRI
    >>> definition_text(CompositeEvent(IRI("http://e/X"), First(Occurs(IRI("http://e/A")))))
    '<http://e/X> MATCH FIRST (<http://e/A>)'
    """
    pattern = _pattern(event.pattern)
    if isinstance(event.pattern, (Either, Related)):
        pattern = pattern[1:-1]
    within = "" if event.within is None else f" WITHIN {event.within}"
    return f"{event.event} MATCH {pattern}{within}{'' if event.guard is None else ' IF { … }'}"


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
