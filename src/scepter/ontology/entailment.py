"""What one triple entails under a fixed schema: rdfs2, 3, 5, 7, 9, 11, owl:inverseOf and owl:SymmetricProperty, to a fixpoint.

Every rule has one premise in the data, so that the closure of a triple is what is reachable from it. That is computed once per
predicate (and once per class, for rdf:type) on a triple of placeholders and kept flattened: an entailment is then a lookup and
a substitution, whatever the depth of the hierarchy (spec/50-sparkwave rule 3; the paper's epsilon network, 3.3 and 3.4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from scepter.ontology.vocabulary import TYPE, speaks_of_schema
from scepter.rdf.terms import Literal, Term, Triple


class Slot(Enum):
    """A place in a template that the triple at hand fills."""

    SUBJECT = "subject"
    OBJECT = "object"
    LITERAL = "literal"
    """The object, where it is a literal and can be no subject."""


Filler: TypeAlias = Term | Slot
Template: TypeAlias = tuple[Filler, Term, Filler]
Table: TypeAlias = dict[Term, tuple[Term, ...]]
Wanted: TypeAlias = Callable[[Term, Filler], bool]
"""Whether any pattern can match a triple of this predicate and object."""


@dataclass(frozen=True, slots=True)
class Rules:
    """A schema's direct statements, by what they apply to."""

    superclasses: Table = field(default_factory=dict)
    superproperties: Table = field(default_factory=dict)
    domains: Table = field(default_factory=dict)
    ranges: Table = field(default_factory=dict)
    inverses: Table = field(default_factory=dict)
    """A symmetric property is its own inverse."""

    def count(self) -> int:
        """How many direct links there are."""
        tables = (self.superclasses, self.superproperties, self.domains, self.ranges, self.inverses)
        return sum(len(targets) for table in tables for targets in table.values())

    def steps(self, template: Template) -> Iterator[Template]:
        """What one application of one rule gives."""
        subject, predicate, object = template
        for wider in self.superproperties.get(predicate, ()):
            yield subject, wider, object
        for kind in self.domains.get(predicate, ()):
            yield subject, TYPE, kind
        if predicate == TYPE and not isinstance(object, Slot):
            for kind in self.superclasses.get(object, ()):
                yield subject, TYPE, kind
        if object is Slot.LITERAL or isinstance(object, Literal):
            return  # no literal is a subject, so that it has no type and no inverse
        for inverse in self.inverses.get(predicate, ()):
            yield object, inverse, subject
        for kind in self.ranges.get(predicate, ()):
            yield object, TYPE, kind

    def closure(self, template: Template) -> tuple[Template, ...]:
        """The template and all that follows from it, itself first."""
        found = {template: None}
        pending = [template]
        while pending:
            for step in self.steps(pending.pop()):
                if step not in found:
                    found[step] = None
                    pending.append(step)
        return tuple(found)

    def predicates(self) -> frozenset[Term]:
        """The predicates some rule applies to (superclasses apart, which go by class)."""
        return frozenset({*self.superproperties, *self.domains, *self.ranges, *self.inverses})


@dataclass(frozen=True, slots=True)
class Flattened:
    """The whole of the tables: what the triples of a predicate entail, by whether their object is a literal, and those of
    rdf:type by class. Predicates and classes that are not here entail nothing."""

    by_predicate: dict[tuple[Term, bool], tuple[Template, ...]]
    by_class: dict[Term, tuple[Template, ...]]


class Entailment:
    """The flattened tables: from a predicate or a class to what its triples entail."""

    __slots__ = ("_by_class", "_by_predicate", "_concerned", "_rules", "_wanted")

    def __init__(self, rules: Rules, wanted: Wanted | None = None) -> None:
        self._rules = rules
        self._wanted = wanted
        self._concerned = rules.predicates()
        # Filled when first asked for, by keys of the schema alone: never larger than the schema, however long the stream.
        self._by_predicate: dict[tuple[Term, bool], tuple[Template, ...] | None] = {}
        self._by_class: dict[Term, tuple[Template, ...] | None] = {}

    def consequences(self, triple: Triple) -> tuple[Triple, ...]:
        """The triple, and all it entails that is wanted, each once. Entailed schema statements are left out: no pattern
        matches them."""
        subject, predicate, object = triple
        if predicate == TYPE and object in self._rules.superclasses:
            templates = self._of_class(object)
        elif predicate in self._concerned:
            templates = self._of_predicate(predicate, isinstance(object, Literal))
        else:
            return (triple,)
        if templates is None:
            templates = self._kept(self._rules.closure(triple))
        if not templates:
            return (triple,)
        fillers: dict[Slot, Term] = {Slot.SUBJECT: subject, Slot.OBJECT: object, Slot.LITERAL: object}
        filled = (Triple(_fill(s, fillers), p, _fill(o, fillers)) for s, p, o in templates)
        return tuple(dict.fromkeys((triple, *filled)))

    def flattened(self) -> Flattened | None:
        """All tables; None where a class is entailed that only the triple knows, or rdf:type itself has rules."""
        if TYPE in self._concerned:
            return None
        predicates = {(p, literal): self._of_predicate(p, literal) for p in self._concerned for literal in (False, True)}
        self._fill_classes()
        classes = {kind: self._of_class(kind) for kind in self._rules.superclasses}
        by_predicate = {key: templates for key, templates in predicates.items() if templates is not None}
        by_class = {key: templates for key, templates in classes.items() if templates is not None}
        if len(by_predicate) < len(predicates) or len(by_class) < len(classes):
            return None
        return Flattened(by_predicate, by_class)

    def _fill_classes(self) -> None:
        """The classes' tables from those of their superclasses, each made once: a tree of 40,080 classes is eight levels deep,
        and to climb it from every class costs eight times as much. rdf:type has no rules here, so nothing else leads on.
        Classes in a circle are left to the closure."""
        own: dict[Term, tuple[Template, ...]] = {}
        found: dict[Term, dict[Template, None]] = {}
        for kind in _upwards(self._rules.superclasses):
            above: dict[Template, None] = {}
            for high in self._rules.superclasses.get(kind, ()):
                if high not in own:
                    template = (Slot.SUBJECT, TYPE, high)
                    own[high] = (template,) if self._is_wanted(template) else ()
                above.update(dict.fromkeys(own[high]))
                above.update(found.get(high, {}))
            found[kind] = above
            if kind in self._rules.superclasses:
                self._by_class[kind] = tuple(above)

    def _of_predicate(self, predicate: Term, literal: bool) -> tuple[Template, ...] | None:
        key = predicate, literal
        if key not in self._by_predicate:
            self._by_predicate[key] = self._flatten((Slot.SUBJECT, predicate, Slot.LITERAL if literal else Slot.OBJECT))
        return self._by_predicate[key]

    def _of_class(self, kind: Term) -> tuple[Template, ...] | None:
        if kind not in self._by_class:
            self._by_class[kind] = self._flatten((Slot.SUBJECT, TYPE, kind))
        return self._by_class[kind]

    def _flatten(self, template: Template) -> tuple[Template, ...] | None:
        """None where a class is entailed that only the triple knows (a property below or against rdf:type)."""
        closure = self._rules.closure(template)
        unknown = any(p == TYPE and o in (Slot.SUBJECT, Slot.OBJECT) for _, p, o in closure[1:])
        return None if unknown else self._kept(closure)

    def _kept(self, closure: tuple[Template, ...]) -> tuple[Template, ...]:
        return tuple(t for t in closure[1:] if self._is_wanted(t))

    def _is_wanted(self, template: Template) -> bool:
        _, predicate, object = template
        if speaks_of_schema(predicate, None if isinstance(object, Slot) else object):
            return False
        return self._wanted is None or self._wanted(predicate, object)

    def entries(self) -> int:
        """How many entailed triples the flattened tables hold, once complete."""
        known = [self._of_class(kind) or () for kind in self._rules.superclasses]
        known += [self._of_predicate(predicate, False) or () for predicate in self._concerned]
        return sum(map(len, known))


def _upwards(superclasses: Table) -> list[Term]:
    """The classes, each behind all of its superclasses; those that lead into a circle are left out.

    >>> from scepter.rdf.terms import IRI
    >>> a, b, c, x, y = map(IRI, "abcxy")
    >>> [kind.value for kind in _upwards({c: (b,), b: (a,), x: (y,), y: (x,)})]
    ['a', 'b', 'c']
    """
    below: dict[Term, list[Term]] = {}
    waits = {kind: len(highs) for kind, highs in superclasses.items()}
    for kind, highs in superclasses.items():
        for high in highs:
            below.setdefault(high, []).append(kind)
    ready = [high for high in below if high not in superclasses]
    for kind in ready:  # it grows while it is walked
        for low in below.get(kind, ()):
            waits[low] -= 1
            if not waits[low]:
                ready.append(low)
    return ready


def _fill(filler: Filler, fillers: dict[Slot, Term]) -> Term:
    return fillers[filler] if isinstance(filler, Slot) else filler
