"""Terms as YARRRML writes them: templates, prefixed names, constants with a datatype or a language; and how what is wrong with
one is told."""

from __future__ import annotations

import re
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from scepter.errors import OptionError, nearest, option_error
from scepter.lift.datatypes import refused_datatype
from scepter.lift.model import Constant, FreshBlankNode, Made, Reference, TermMap, TermType
from scepter.lift.templates import yarrrml_template
from scepter.rdf.rdf12 import refused_tag
from scepter.rdf.terms import IRI, LANG_STRING, STRING, TYPE, WELL_KNOWN_PREFIXES, XSD, BlankNode, Literal

PREFIXES: Final = {**WELL_KNOWN_PREFIXES, "sosa": "http://www.w3.org/ns/sosa/"}
"""Predeclared in mappings."""
_CURIE: Final = re.compile(r"([A-Za-z][\w.\-]*|):(?!//)")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_SCHEMES: Final = frozenset({"urn", "mailto", "tag", "did", "tel", "data", "doi", "geo", "info", "ark", "about", "uuid"})
"""Schemes that no // follows: any other word before a colon is a prefix, and must be declared."""


@dataclass(slots=True)
class TermReader:
    """Reads the terms of a mapping of some name."""

    name: str
    prefixes: dict[str, str] = field(default_factory=dict)
    base: str | None = None
    fresh: int = 0

    def refuse(self, where: str, message: str, help: str | None = None) -> NoReturn:
        """Raise what is wrong at a place of the document."""
        raise self.error(where, message, help)

    def error(self, where: str, message: str, help: str | None = None) -> OptionError:
        """What is wrong at a place of the document."""
        place = f"{self.name}: {where}: " if where else f"{self.name}: "
        return option_error("mapping", place + message, help=help)

    def fresh_node(self) -> FreshBlankNode:
        """A blank node that no other term of the mapping is."""
        self.fresh += 1
        return FreshBlankNode(self.fresh)

    def subject(self, given: Any, where: str) -> TermMap:
        """The term of a subject."""
        if isinstance(given, dict):
            self.refuse(f"{where}.s", "a subject made by a function is not supported", "make the value a field of the rows")
        return self.resource(given, f"{where}.s")

    def graph(self, given: Any, where: str) -> TermMap:
        """The term of a graph's name."""
        return self.resource(given, f"{where}.graphs")

    def predicate(self, given: Any, where: str) -> TermMap:
        """The term of a predicate."""
        if given == "a":
            return Constant(IRI(TYPE))
        return self.resource(given, where)

    def literal_or_iri(self, given: Any, where: str, kind: Any) -> TermMap:
        """The term of an object: an IRI where it is marked or begins with a prefix, else a literal."""
        text = self.text(given, where)
        if text.endswith("~iri") or kind == "iri":
            return self.resource(text, where)
        datatype, language = self.kind(kind, where)
        parts = self.parts(text, where)
        if kind is None and isinstance(given, str) and self.prefixed(text):
            return self.resource(text, where)
        if any(isinstance(part, Reference) for part in parts):
            return Made(parts, TermType.LITERAL, False, datatype, language)
        if language is not None:
            return Constant(Literal(text, LANG_STRING, language))
        return Constant(Literal(text, datatype or _natural(given)))

    def kind(self, kind: Any, where: str) -> tuple[str | None, str | None]:
        """Datatype and language of what stands behind an object."""
        if kind is None:
            return None, None
        text = str(kind)
        if text.endswith("~lang"):
            tag = text.removesuffix("~lang")
            if (why := refused_tag(tag)) is not None:
                self.refuse(where, why, "write for example en~lang; a tag from a field is not supported")
            return None, tag.lower()
        if "$(" in text:
            self.refuse(where, f"a datatype from a field is not supported: {text}")
        iri = self.known_iri(text)
        if iri is None:
            self.refuse(where, f"{text!r} is no datatype", "write for example xsd:integer, or en~lang for a language")
        if (wrong := refused_datatype(iri)) is not None:
            self.refuse(where, *wrong)
        return iri, None

    def resource(self, given: Any, where: str) -> TermMap:
        """An IRI, or a blank node."""
        text = self.text(given, where).removesuffix("~iri")
        if text.startswith("_:"):
            return self.made(text.removeprefix("_:"), TermType.BLANK_NODE, where)
        return self.made(text, TermType.IRI, where)

    def made(self, given: Any, type: TermType, where: str) -> TermMap:
        """A term of a type, constant or made of fields."""
        text = self.text(given, where)
        parts = self.parts(text, where)
        if type is TermType.BLANK_NODE:
            if not any(isinstance(part, Reference) for part in parts):
                return Constant(BlankNode(text))
            return Made(parts, type, True)
        if parts and isinstance(parts[0], str):
            first = self.expanded(parts[0])
            scheme = _ABSOLUTE.match(first)
            if scheme is None or not (first.startswith("//", scheme.end()) or scheme.group()[:-1].lower() in _SCHEMES):
                base = self.base
                if base is None or scheme is not None:
                    self.refuse(where, f"{text!r} is no IRI: neither a known prefix nor a scheme begins it", self.near(text))
                first = base + first
            parts = (first, *parts[1:])
        if not any(isinstance(part, Reference) for part in parts):
            return Constant(IRI("".join(part for part in parts if isinstance(part, str))))
        return Made(parts, type, len(parts) > 1)

    def near(self, text: str) -> str:
        """Advice for a text that no prefix begins."""
        close = nearest(text.partition(":")[0], self.prefixes)
        return f"did you mean {close}:?" if close else f"declare its prefix; known are {', '.join(sorted(self.prefixes))}"

    def parts(self, text: str, where: str) -> tuple[Any, ...]:
        """The texts and references of a template."""
        try:
            return yarrrml_template(text)
        except ValueError as error:
            raise self.error(where, str(error)) from None

    def expanded(self, text: str) -> str:
        """A text with its prefix written out."""
        found = _CURIE.match(text)
        if found is not None and found.group(1) in self.prefixes:
            return self.prefixes[found.group(1)] + text[found.end() :]
        return text.removeprefix("<").removesuffix(">")

    def prefixed(self, text: str) -> bool:
        """Whether a declared prefix begins a text without blanks: then it is meant as an IRI, with or without ~iri."""
        found = _CURIE.match(text)
        return found is not None and found.group(1) in self.prefixes and not re.search(r"\s", text)

    def known_iri(self, text: str) -> str | None:
        """The IRI that a text is by a declared prefix or in angle brackets; None of any other text."""
        found = _CURIE.match(text)
        if found is not None and found.group(1) in self.prefixes and " " not in text:
            return self.prefixes[found.group(1)] + text[found.end() :]
        if re.match(r"<[^<>\s]+>\Z|https?://[^<>\s]+\Z", text):
            return text.removeprefix("<").removesuffix(">")
        return None

    def known(self, given: Dictionary[str, Any], keys: set[str], where: str) -> None:
        """Refuse keys that are none."""
        for key in given:
            if key not in keys:
                close = nearest(str(key), keys)
                self.refuse(
                    where, f"{key!r} is no key here", f"did you mean {close}?" if close else f"one of {', '.join(sorted(keys))}"
                )

    def no_condition(self, given: Dictionary[str, Any], where: str) -> None:
        """Refuse conditions."""
        if given.get("condition") or given.get("conditions"):
            self.refuse(where, "conditions are functions, which are not supported", "say it in the query's FILTER")

    def text(self, given: Any, where: str) -> str:
        """A scalar as text."""
        if isinstance(given, bool):
            return "true" if given else "false"
        if given is None or isinstance(given, (dict, list)):
            self.refuse(where, f"{given!r} is no text")
        return str(given)

    def texts(self, given: Any, where: str) -> dict[str, str]:
        """A dictionary of texts."""
        if not isinstance(given, dict):
            self.refuse(where, "it is a dictionary of names")
        return {str(key).removesuffix(":"): str(value) for key, value in given.items()}


def _natural(given: Any) -> str:
    """The datatype of a value as YAML reads it."""
    if isinstance(given, bool):
        return XSD + "boolean"
    if isinstance(given, int):
        return XSD + "integer"
    return XSD + "double" if isinstance(given, float) else STRING
