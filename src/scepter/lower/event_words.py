"""The classes and properties that an OBEP file speaks of, with their places: what an ontology should know."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import TypeVar

from scepter.lower.descriptions import iri_of
from scepter.lower.result import Word
from scepter.rdf.terms import IRI, TYPE
from scepter.syntax import obep_tree as syntax
from scepter.syntax import tree

_T = TypeVar("_T")


def words_of(document: syntax.ObepDocument) -> tuple[Word, ...]:
    """Each class and property of a definition or guard once, where it first stands; events defined here are known."""
    defined = {iri_of(definition.name) for definition in document.definitions}
    found: dict[IRI, Word] = {}
    for definition in document.definitions:
        match definition:
            case syntax.LogicalDefinition(_, description):
                words = _described(description)
            case syntax.CompositeDefinition(guards=guards):
                words = _asked(guards)
        for word in sorted(words, key=lambda word: word.span.start):
            if word.iri not in defined:
                found.setdefault(word.iri, word)
    return tuple(found.values())


def _described(description: syntax.Description) -> Iterator[Word]:
    for named in _inside(description, syntax.ClassName):
        if isinstance(named.name, syntax.Name):
            yield Word(iri_of(named.name), "class", named.name.span)
    for property in _inside(description, syntax.PropertyName):
        yield Word(iri_of(property.name), "property", property.name.span)


def _asked(guards: tuple[syntax.WithinClause | syntax.ConditionClause, ...]) -> Iterator[Word]:
    for triple in _inside(guards, tree.Triple):
        for verb in _inside(triple.verb, tree.Constant):
            if isinstance(verb.term, IRI):
                yield Word(verb.term, "property", verb.span)
            about = triple.object
            if verb.term == IRI(TYPE) and isinstance(about, tree.Constant) and isinstance(about.term, IRI):
                yield Word(about.term, "class", about.span)


def _inside(node: object, kind: type[_T]) -> Iterator[_T]:
    """The parts of a syntax tree that are of a kind, in order."""
    if isinstance(node, kind):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from _inside(item, kind)
    elif is_dataclass(node):
        for field in fields(node):
            yield from _inside(getattr(node, field.name), kind)
