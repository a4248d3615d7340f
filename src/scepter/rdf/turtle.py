"""Turtle in pieces: graphs and single terms under prefixes given elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scepter.errors import Diagnostic, Source, Span
from scepter.rdf.formats import GraphError, parse_graph
from scepter.rdf.terms import IRI, BlankNode, Term, Triple

_BEFORE = "<urn:subject> <urn:predicate>\n"


def prologue(prefixes: Mapping[str, str]) -> str:
    """The declarations that give the prefixes to a Turtle text, one per line."""
    return "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in prefixes.items())


def parse_term(text: str, prefixes: Mapping[str, str]) -> Term:
    """One term in Turtle notation: `3`, `"x"@en`, `:x`, `<iri>`, `_:b`. Raises GraphError with the place in `text`.

    >>> str(parse_term("2.50", {}))
    '"2.50"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    """
    try:
        # The term has a line of its own, so that a comment in it ends there.
        triples = parse_graph(f"{_BEFORE}{text}\n.", prefixes)
    except GraphError as error:
        at = error.diagnostic.span or Span(0, 0)
        span = Span(max(0, at.start - len(_BEFORE)), max(0, at.end - len(_BEFORE)))
        raise _no_term(f"{text!r} is no term in Turtle notation: {error.diagnostic.message}", text, span) from None
    if len(triples) != 1 or triples[0][:2] != (IRI("urn:subject"), IRI("urn:predicate")):
        raise _no_term(f"{text!r} is more than one term", text, Span(0, len(text)))
    term = triples[0].object
    # A label keeps its meaning within a row: two variables may show one blank node.
    return BlankNode(text.strip().removeprefix("_:")) if isinstance(term, BlankNode) else term


def parse_iri(text: str, prefixes: Mapping[str, str]) -> IRI:
    """One IRI in Turtle notation."""
    term = parse_term(text, prefixes)
    if not isinstance(term, IRI):
        raise _no_term(f"{text!r} is no IRI", text, Span(0, len(text)))
    return term


def _no_term(message: str, text: str, span: Span) -> GraphError:
    return GraphError(Diagnostic("turtle-term", message, span), Source("term", text))


def iris(triples: Iterable[Triple]) -> Iterator[str]:
    """The IRIs that occur in triples, datatypes aside."""
    return (term.value for triple in triples for term in triple if isinstance(term, IRI))
