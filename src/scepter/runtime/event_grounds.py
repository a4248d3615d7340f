"""What events rest on before any item comes: the ontology, the static assertions, and who reasons over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from scepter.algebra.events import CompositeEvent, EventQuery, LogicalEvent
from scepter.errors import Diagnostic, Severity, Source, nearest
from scepter.kernel.events.parts import Assertions, Part
from scepter.kernel.static.background import Background
from scepter.lower.result import Lowered, Word
from scepter.ontology.axioms import read_ontology
from scepter.ontology.explanations import Explainer
from scepter.ontology.recognition import Recogniser
from scepter.physical.explain.event_text import definition_text
from scepter.rdf.terms import IRI, OWL, RDF, RDFS, XSD, Triple
from scepter.runtime.guard_words import words_without_use
from scepter.runtime.why import Why

_BUILT_IN = (RDF, RDFS, OWL, XSD)


class EventGrounds:
    """The grounds of an event query. Raises OptionError where the ontology or the static assertions contradict themselves."""

    def __init__(self, query: EventQuery, background: Background, ontology: tuple[Triple, ...]) -> None:
        dataset = background.dataset
        self._query = query
        self._ontology = read_ontology(ontology)
        self._schema = ontology
        self.recogniser = Recogniser(query.logical, self._ontology, [dataset.default, *dataset.named.values()])

    def doubtful(self, lowered: Lowered) -> list[Diagnostic]:
        """Warnings about words of the query: those that nobody knows, and those of guards that no occurrence can have."""
        unknown = self._unknown(lowered.words, lowered.source)
        told = [warning.span for warning in unknown if warning.span is not None]
        return [*unknown, *words_without_use(self._query, self._ontology, lowered, told)]

    def _unknown(self, words: Iterable[Word], source: Source) -> list[Diagnostic]:
        """A warning for each word that neither the ontology nor the static assertions know; none where there is neither."""
        known = {term for triple in self._schema for term in triple if isinstance(term, IRI)} | self.recogniser.words()
        if not known:
            return []
        local = {_local(iri): iri for iri in sorted(known, key=str) if not iri.value.startswith(_BUILT_IN)}
        return [
            _unknown(word, source, local)
            for word in words
            if word.iri not in known and not word.iri.value.startswith(_BUILT_IN)
        ]

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._query.logical, self._ontology)

    @cached_property
    def _defined(self) -> dict[IRI, LogicalEvent | CompositeEvent]:
        defined: list[LogicalEvent | CompositeEvent] = [*self._query.logical, *self._query.composite]
        return {event.event: event for event in defined}

    def why(self, part: Part) -> Why:
        """What an occurrence rests on, down to triples and axioms."""
        event = self._defined[part.event]
        if isinstance(event, CompositeEvent):
            by: tuple[str, ...] = (definition_text(event),)
        else:
            by = self._explainer.axioms(part.event, part.individual, part.assertions)
        return Why(
            part.event, part.individual, part.start, part.end, _sorted(part.assertions), by, tuple(map(self.why, part.parts))
        )


def _local(iri: IRI) -> str:
    """The name behind the namespace."""
    return re.split(r"[#/:]", iri.value)[-1]


def _unknown(word: Word, source: Source, known: Mapping[str, IRI]) -> Diagnostic:
    written = source.text[word.span.start : word.span.end]
    own = _local(word.iri)
    advice = "only what items themselves say can match it"
    if (close := nearest(own, known)) is not None:
        near = known[close]
        same_namespace = near.value.removesuffix(close) == word.iri.value.removesuffix(own)
        advice = f"did you mean {written.removesuffix(own) + close if same_namespace else near}?"
    message = f"{written} is a {word.kind} that neither the ontology nor the static assertions know"
    return Diagnostic("unknown-word", message, word.span, advice, severity=Severity.WARNING)


def _sorted(assertions: Assertions) -> tuple[Triple, ...]:
    return tuple(sorted(assertions, key=lambda triple: tuple(map(str, triple))))
