"""The datatypes that a mapping may declare: any IRI, but of XSD's namespace only what XSD has."""

from __future__ import annotations

from typing import Final

from scepter.errors import nearest
from scepter.rdf.terms import XSD

_NAMES: Final = frozenset(
    {
        "anyAtomicType", "anySimpleType", "anyType", "anyURI", "base64Binary", "boolean", "byte", "date", "dateTime",
        "dateTimeStamp", "dayTimeDuration", "decimal", "double", "duration", "ENTITIES", "ENTITY", "error", "float",
        "gDay", "gMonth", "gMonthDay", "gYear", "gYearMonth", "hexBinary", "ID", "IDREF", "IDREFS", "int", "integer",
        "language", "long", "Name", "NCName", "negativeInteger", "NMTOKEN", "NMTOKENS", "nonNegativeInteger",
        "nonPositiveInteger", "normalizedString", "NOTATION", "positiveInteger", "precisionDecimal", "QName", "short",
        "string", "time", "token", "unsignedByte", "unsignedInt", "unsignedLong", "unsignedShort", "yearMonthDuration",
    }
)  # fmt: skip


def refused_datatype(iri: str) -> tuple[str, str | None] | None:
    """What is wrong with a datatype and what would be right; None of a good one. No number is known by a misspelt name: its
    literals would compare with nothing, without a word.

    >>> refused_datatype("http://www.w3.org/2001/XMLSchema#intger")
    ('xsd:intger is no datatype of XSD', 'did you mean xsd:integer?')
    """
    name = iri.removeprefix(XSD)
    if name == iri or name in _NAMES:
        return None
    close = nearest(name, _NAMES)
    return f"xsd:{name} is no datatype of XSD", None if close is None else f"did you mean xsd:{close}?"
