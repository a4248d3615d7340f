"""RDF 1.2 in data: terms that RDF 1.1 does not have are refused by their names (docs/decisions/0077)."""

from __future__ import annotations

import re
from typing import Final

import pyoxigraph as ox

_STRING: Final = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_TRIPLE_TERM: Final = re.compile(rb"<<")
_TAG: Final = re.compile(r"[A-Za-z]+(?:-[A-Za-z0-9]+)*")
_DIRECTION: Final = re.compile(rb'"@[A-Za-z]+(?:-[A-Za-z0-9]+)*--[A-Za-z]')

TRIPLE_TERM: Final = "a triple term, which is RDF 1.2: terms are those of RDF 1.1"
DIRECTION: Final = "a language tag with a base direction, which is RDF 1.2: terms are those of RDF 1.1"


def beyond_rdf11(line: bytes) -> str | None:
    """What of RDF 1.2 stands in a line that could not be read; None if nothing does.

    >>> beyond_rdf11(b'<urn:a> <urn:b> <<( <urn:c> <urn:d> <urn:e> )>> .')
    'a triple term, which is RDF 1.2: terms are those of RDF 1.1'
    >>> beyond_rdf11(b'<urn:a> <urn:b> "<<(" .')
    """
    bare = _STRING.sub(b'""', line)
    if _TRIPLE_TERM.search(bare):
        return TRIPLE_TERM
    return DIRECTION if _DIRECTION.search(bare) else None


def refused_tag(tag: str) -> str | None:
    """Why a language tag is none; None for one that is.

    >>> refused_tag("en-GB"), refused_tag("en gb")
    (None, "'en gb' is no language tag")
    >>> refused_tag("english")
    "'english' is no language tag: it begins with a language of two or three letters"
    >>> refused_tag("en--ltr")
    "'en--ltr' is a language tag with a base direction, which is RDF 1.2: terms are those of RDF 1.1"
    """
    if _TAG.fullmatch(tag):
        language = tag.partition("-")[0]
        if len(language) in (2, 3) or (language.lower() in ("i", "x") and language != tag):
            return None
        # longer ones could be registered by BCP 47, and none is
        return f"{tag!r} is no language tag: it begins with a language of two or three letters"
    return (
        f"{tag!r} is {DIRECTION}" if _TAG.fullmatch(tag.partition("--")[0]) and "--" in tag else f"{tag!r} is no language tag"
    )


def spelled(node: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> str:
    """A term as N-Quads write it; pyoxigraph shows a triple term without its brackets, as three terms."""
    return f"<<( {node} )>>" if isinstance(node, ox.Triple) else str(node)
