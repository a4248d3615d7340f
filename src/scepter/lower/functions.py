"""Functions named by IRIs: casts. Any other is an error where it is called, not before (SPARQL 1.1 §17.6), and a warning."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import cache

from scepter.errors import Diagnostic, Severity, nearest
from scepter.lower.expressions import FUNCTIONS
from scepter.rdf.terms import IRI, XSD
from scepter.rdf.values import CASTS
from scepter.syntax import tree
from scepter.syntax.elsewhere import foreign_function


def unknown_functions(document: object) -> tuple[Diagnostic, ...]:
    """A warning for each function of a syntax tree that nobody knows, once."""
    found: dict[str, Diagnostic] = {}
    for call in _calls(document):
        assert isinstance(call.function.term, IRI)  # the grammar has an IRI there
        iri = call.function.term.value
        if iri not in CASTS:
            message = f"<{iri}> is no function: what calls it has no value"
            warning = Diagnostic("unknown-function", message, call.function.span, _advice(iri), severity=Severity.WARNING)
            found.setdefault(iri, warning)
    return tuple(found.values())


def _advice(iri: str) -> str:
    local = re.split(r"[#/:]", iri)[-1]
    if iri.startswith(XSD) and (close := nearest(local, [name.removeprefix(XSD) for name in CASTS])) is not None:
        return f"did you mean xsd:{close}?"
    if (whose := foreign_function(local)) is not None:
        return whose
    plain = local.upper().replace("-", "")
    if not iri.startswith(XSD) and (built_in := nearest(plain, FUNCTIONS)) is not None:
        return f"SPARQL's own is {built_in}"
    return (
        "the functions with IRIs are the casts: xsd:integer, xsd:decimal, xsd:double, xsd:float, "
        "xsd:boolean, xsd:string, xsd:dateTime"
    )


def _calls(document: object) -> Iterator[tree.IriCall]:
    """In the order of the text, as far as the fields are."""
    pending = [document]
    while pending:
        node = pending.pop()
        if isinstance(node, tree.IriCall):
            yield node
        if isinstance(node, tuple):
            pending.extend(reversed(node))
        else:
            kind: type = type(node)
            pending.extend(getattr(node, name) for name in _fields(kind))


@cache
def _fields(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node, the last one first; of what is no node there are none."""
    return tuple(field.name for field in reversed(dataclasses.fields(kind))) if dataclasses.is_dataclass(kind) else ()
