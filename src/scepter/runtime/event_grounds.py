"""What events rest on before any item comes: the ontology, the static assertions, and who reasons over them."""

from __future__ import annotations

from functools import cached_property

from scepter.algebra.events import CompositeEvent, EventQuery, LogicalEvent
from scepter.kernel.background import Background
from scepter.kernel.occurrences.model import Assertions, Part
from scepter.ontology.axioms import read_ontology
from scepter.ontology.explanations import Explainer
from scepter.ontology.recognition import Recogniser
from scepter.physical.event_plan import definition_text
from scepter.rdf.terms import IRI, Triple
from scepter.runtime.why import Why


class EventGrounds:
    """The grounds of an event query. Raises OptionError where the ontology or the static assertions contradict themselves."""

    def __init__(self, query: EventQuery, background: Background, ontology: tuple[Triple, ...]) -> None:
        dataset = background.dataset
        static = (*dataset.default, *(triple for graph in dataset.named.values() for triple in graph))
        self._query = query
        self._ontology = read_ontology(ontology)
        self.recogniser = Recogniser(query.logical, self._ontology, static)

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


def _sorted(assertions: Assertions) -> tuple[Triple, ...]:
    return tuple(sorted(assertions, key=lambda triple: tuple(map(str, triple))))
