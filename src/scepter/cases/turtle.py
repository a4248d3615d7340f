"""Turtle as case files write it: graphs and single terms under the case's prefixes, mistakes with their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pyoxigraph

from scepter.rdf.terms import IRI, LANG_STRING, BlankNode, Literal, Term, Triple

_PLACE = re.compile(r"^Parser error (?:at|between) line .*?: (?=\S)")


class TurtleError(ValueError):
    """What is wrong with a Turtle text, and the 1-based line and column where."""

    def __init__(self, message: str, line: int = 1, column: int = 1, width: int = 1) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.width = width


def prologue(prefixes: Mapping[str, str]) -> str:
    """The declarations that give the prefixes to a Turtle text, one per line."""
    return "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in prefixes.items())


def parse_turtle(text: str, prefixes: Mapping[str, str]) -> list[Triple]:
    """The triples of a Turtle text, literals exactly as written.

    >>> [str(triple.object) for triple in parse_turtle(":a :b 'c' .", {"": "http://example/"})]
    ['"c"']
    """
    head = prologue(prefixes)
    try:
        quads = list(pyoxigraph.parse(head + text, format=pyoxigraph.RdfFormat.TURTLE))
    except SyntaxError as error:
        line = (error.lineno or 1) - head.count("\n")
        column = error.offset or 1
        width = (error.end_offset or column) - column if error.end_lineno == error.lineno else 1
        raise TurtleError(_PLACE.sub("", error.msg), line, column, width) from None
    return [Triple(*(_term(node) for node in (quad.subject, quad.predicate, quad.object))) for quad in quads]


def parse_term(text: str, prefixes: Mapping[str, str]) -> Term:
    """One term in Turtle notation: `3`, `"x"@en`, `:x`, `<iri>`, `_:b`."""
    # The term has lines of its own, so that a comment in it ends there and its places need only one line taken off.
    try:
        triples = parse_turtle(f"<urn:subject> <urn:predicate>\n{text}\n.", prefixes)
    except TurtleError as error:
        raise TurtleError(
            f"{text!r} is no term in Turtle notation: {error}", error.line - 1, error.column, error.width
        ) from None
    if len(triples) != 1 or triples[0][:2] != (IRI("urn:subject"), IRI("urn:predicate")):
        raise TurtleError(f"{text!r} is more than one term")
    return triples[0].object


def parse_iri(text: str, prefixes: Mapping[str, str]) -> IRI:
    """One IRI in Turtle notation."""
    term = parse_term(text, prefixes)
    if not isinstance(term, IRI):
        raise TurtleError(f"{text!r} is no IRI")
    return term


def iris(triples: list[Triple]) -> Iterator[str]:
    """The IRIs that occur in triples, datatypes aside."""
    return (term.value for triple in triples for term in triple if isinstance(term, IRI))


def _term(node: object) -> Term:
    match node:
        case pyoxigraph.NamedNode():
            return IRI(node.value)
        case pyoxigraph.BlankNode():
            return BlankNode(node.value)
        case pyoxigraph.Literal() if node.direction is None:
            if node.language is not None:
                return Literal(node.value, LANG_STRING, node.language.lower())
            return Literal(node.value, node.datatype.value)
        case _:
            raise TurtleError(f"{node} is no RDF 1.1 term")
