"""What a diagnosis is asked about: one event, or what belongs to one key (docs/decisions/0090)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from scepter.algebra.expressions import Variable
from scepter.algebra.notation import Notation
from scepter.algebra.walk import find
from scepter.errors import OptionError, a_type, nearest, option_error
from scepter.insight.diagnosis.excerpt import Excerpt, plain_name
from scepter.insight.diagnosis.reading import Seek
from scepter.kernel.texts import Texts
from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import GraphError
from scepter.rdf.hashing import term_id
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from scepter.rdf.turtle import parse_term
from scepter.rdf.values import ExpressionError, equals
from scepter.runtime.queries import Query

KeyGiven = Mapping[str, Any]
"""Terms by variable: `{"card": ":c7"}`; text is a term in Turtle notation."""

T = TypeVar("T")
_DIGITS = 19
"""A number of fewer digits is one of 64 bits."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody asks about: an event by name or number, terms by variable. Nothing: everything."""

    event: str | int | None = None
    key: Mapping[str, Term] = field(default_factory=dict)

    @classmethod
    def of(cls, query: Query, event: object = None, key: object = None) -> Asked:
        """Checked, with the query's prefixes. Raises OptionError."""
        if not (event is None or isinstance(event, (str, int))) or isinstance(event, bool):
            raise option_error("event", f"an event is a name or a number, not {a_type(event)}", help="event='e5'")
        if key is not None and not isinstance(key, Mapping):
            raise option_error("key", f"a key is a dictionary, not {a_type(key)}", help="key={'card': ':c7'}")
        known = sorted({node.name for node in find(query.lowered.program, Variable) if node.name.isidentifier()})
        terms = {}
        for given, value in ({} if key is None else key).items():
            name = str(given).removeprefix("?").removeprefix("$")
            if name not in known:
                raise _unknown_variable(name, known)
            terms[name] = _named(_term(value, dict(query.lowered.prefixes)))
        return cls(event, terms)

    def __bool__(self) -> bool:
        return self.event is not None or bool(self.key)

    def seeker(self, notation: Notation) -> Seek | None:
        """Finds it in what is read; None if nothing is asked for."""
        if self.event is not None:
            event = self.event
            return lambda batch, first, key: _place(event, batch, first, notation)
        if self.key:
            texts = [str(term) for term in self.key.values()]
            return lambda batch, first, key: _first_with(batch, [term_id(key, text) for text in texts])
        return None

    def found_in(self, excerpt: Excerpt, notation: Notation) -> Focus:
        """The same, as numbers of events. Raises OptionError for an event that is not there."""
        words = [f"?{name} = {notation.term(term)}" for name, term in self.key.items()]
        number = None if self.event is None else _number(self.event, excerpt, notation)
        if number is not None:
            words.insert(0, excerpt.title(number, notation))
        return Focus(number, self.key, ", ".join(words))


@dataclass(frozen=True, slots=True)
class Focus:
    """An event of an excerpt by its number, terms by variable."""

    event: int | None = None
    key: Mapping[str, Term] = field(default_factory=dict)
    title: str = ""

    def __bool__(self) -> bool:
        return self.event is not None or bool(self.key)

    def keeps(self, mapping: Mapping[str, Term]) -> bool:
        """Whether a mapping does not contradict the key."""
        return all(_same(mapping[name], term) for name, term in self.key.items() if name in mapping)

    def holds(self, events: Iterable[object]) -> bool:
        """Whether the event asked about, if there is one, is among these."""
        return self.event is None or self.event in events

    def made_with(self, ask: Callable[[Excerpt], list[T]], excerpt: Excerpt, identity: Callable[[T], object]) -> list[T]:
        """Of the answers over the excerpt those that would not be there without the event."""
        found = ask(excerpt)
        if self.event is None or not found:
            return found
        without = Counter(map(identity, ask(excerpt.left_out(self.event))))
        missing = []
        for answer in found:
            if without[identity(answer)] > 0:
                without[identity(answer)] -= 1
            else:
                missing.append(answer)
        return missing


def _same(a: Term, b: Term) -> bool:
    """One term, or one value: `2` is `2.0`."""
    return a == b or (isinstance(a, Literal) and isinstance(b, Literal) and _equal(a, b))


def _equal(a: Literal, b: Literal) -> bool:
    try:
        return bool(equals(a, b))
    except ExpressionError:  # no value, or none that can be compared
        return False


def _place(event: str | int, batch: EventBatch, first: int, notation: Notation) -> int | None:
    if isinstance(event, str):
        texts = Texts()
        base = texts.add(batch)
        for place in np.flatnonzero(batch.name_at >= 0).tolist():
            if event in _spellings(plain_name(texts, int(batch.name_at[place]) + base), notation):
                return int(place)
    text = str(event)
    place = int(text) - 1 - first if text.isdecimal() and len(text) < _DIGITS else -1
    return place if 0 <= place < batch.events else None


def _first_with(batch: EventBatch, ids: Sequence[int]) -> int | None:
    """The first event that has one of some terms."""
    rows = np.flatnonzero(np.isin(batch.subject, ids) | np.isin(batch.object, ids))
    return int(np.searchsorted(batch.first, rows[0], side="right")) - 1 if len(rows) else None


def _number(event: str | int, excerpt: Excerpt, notation: Notation) -> int:
    names = excerpt.names()
    if isinstance(event, str):
        found = [number for number, name in names.items() if event in _spellings(name, notation)]
        if len(found) > 1:
            told = ", ".join(excerpt.title(number, notation) for number in found[:3])
            raise option_error("event-twice", f"{len(found)} events are called {event!r}: {told}", help="write the whole IRI")
        if found:
            return found[0]
    text = str(event)
    number = excerpt.numbered(int(text) - 1) if text.isdecimal() and len(text) < _DIGITS else None
    if number is not None:
        return number
    close = nearest(text, [spelling for name in names.values() for spelling in _spellings(name, notation)])
    like = ", ".join(_spellings(name, notation)[-1] for name in list(names.values())[:3])
    wanted = f"events are called {like}, …; or give its number" if like else "events have no names: give its number"
    raise option_error(
        "unknown-event",
        f"no event is called {text!r}, of {excerpt.total:,}",
        help=f"did you mean {close}?" if close else f"{wanted}, from 1 to {excerpt.total:,}",
    )


def _spellings(name: str, notation: Notation) -> list[str]:
    """How a person may write an event's name: whole, with the query's prefix, or its last part."""
    if name.startswith("_:"):
        return [name, name.removeprefix("_:")]
    last = max(name.rfind(mark) for mark in "/#:") + 1
    return [name, f"<{name}>", notation.term(IRI(name)), name[last:]]


def _unknown_variable(name: str, known: list[str]) -> OptionError:
    close = nearest(name, known)
    there = ", ".join(f"?{each}" for each in known)
    help = f"did you mean ?{close}?" if close else f"it has {there}" if known else "it has no variable"
    return option_error("unknown-variable", f"the query has no variable ?{name}", help=help)


def _named(term: Term) -> Term:
    """A term, unless it is a blank node, whose label means nothing outside its event. Raises OptionError."""
    if isinstance(term, BlankNode):
        raise option_error("key", f"_:{term.label} has no name outside its event", help="ask about the event it stands in")
    return term


def _term(value: object, prefixes: Mapping[str, str]) -> Term:
    match value:
        case bool():
            return Literal("true" if value else "false", XSD + "boolean")
        case int() | float():
            return Literal(repr(value), XSD + ("integer" if isinstance(value, int) else "double"))
        case str():
            try:
                return parse_term(value, prefixes)
            except GraphError:
                raise option_error(
                    "key", f"{value!r} is no term", help="write :c7, <http://example/c7>, 7 or '\"text\"', as in the query"
                ) from None
        case IRI() | BlankNode() | Literal():
            return value
        case _:
            raise option_error("key", f"{value!r} is no term", help="write it as in the query: ':c7'")
