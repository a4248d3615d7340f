"""Literals as instances of datatypes, by the datatype they are written with and those above it (XSD 1.1 §3)."""

from __future__ import annotations

from functools import lru_cache

from scepter.rdf.terms import IRI, RDF, RDFS, XSD, Literal, Term

_BELOW = {
    "decimal": "integer",
    "integer": "nonPositiveInteger nonNegativeInteger long",
    "nonPositiveInteger": "negativeInteger",
    "nonNegativeInteger": "positiveInteger unsignedLong",
    "long": "int",
    "int": "short",
    "short": "byte",
    "unsignedLong": "unsignedInt",
    "unsignedInt": "unsignedShort",
    "unsignedShort": "unsignedByte",
    "string": "normalizedString",
    "normalizedString": "token",
    "token": "language NMTOKEN Name",
    "dateTime": "dateTimeStamp",
}
_ABOVE = {XSD + each: XSD + above for above, below in _BELOW.items() for each in below.split()}
_LITERAL = IRI(RDFS + "Literal")


def is_datatype(iri: IRI) -> bool:
    """Whether a name is that of a datatype."""
    return iri.value.startswith(XSD) or iri == _LITERAL or iri == IRI(RDF + "langString")


def datatypes(term: Term) -> tuple[IRI, ...]:
    """The datatypes of a literal; none of other terms.

    >>> [iri.value.rpartition("#")[2] for iri in datatypes(Literal("5", XSD + "long"))]
    ['long', 'integer', 'decimal', 'Literal']
    """
    return _datatypes(term.datatype) if isinstance(term, Literal) else ()


@lru_cache(maxsize=1_024)
def _datatypes(name: str) -> tuple[IRI, ...]:
    found = [IRI(name)]
    while (above := _ABOVE.get(found[-1].value)) is not None:
        found.append(IRI(above))
    return (*found, _LITERAL)
