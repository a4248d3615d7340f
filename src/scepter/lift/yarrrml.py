"""YARRRML to a mapping: prefixes, subjects, predicates and objects, graphs, sources, and the section about events.

Joins, functions, conditions, targets and external references are refused by name: what a mapping says is done or refused, never
left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

import yaml

from scepter.errors import OptionError, nearest, option_error
from scepter.lift.model import (
    Constant,
    EventSection,
    FreshBlankNode,
    Hint,
    Made,
    Mapping,
    Reference,
    TermMap,
    TermType,
    TriplesMap,
)
from scepter.lift.templates import yarrrml_template
from scepter.rdf.rdf12 import refused_tag
from scepter.rdf.terms import IRI, LANG_STRING, STRING, TYPE, WELL_KNOWN_PREFIXES, BlankNode, Literal

PREFIXES: Final = {**WELL_KNOWN_PREFIXES, "sosa": "http://www.w3.org/ns/sosa/"}
"""Predeclared in mappings."""
_TOP: Final = {
    "prefixes", "base", "mappings", "mapping", "sources", "authors", "author", "targets", "external", "functions",
    "time", "end", "event", "time-format", "time-unit", "time-zone",
}  # fmt: skip
_OF_MAP: Final = {
    "s", "subject", "subjects", "po", "predicateobject", "predicateobjects", "source", "sources", "graph", "graphs", "g",
    "condition", "conditions", "targets", "target",
}  # fmt: skip
_OF_PAIR: Final = {"p", "predicate", "predicates", "o", "object", "objects", "graph", "graphs", "g", "condition", "conditions"}
_OF_OBJECT: Final = {"value", "v", "datatype", "type", "language", "mapping", "mappings", "condition", "conditions", "function",
                     "fn", "targets"}  # fmt: skip
_CURIE: Final = re.compile(r"([A-Za-z][\w.\-]*|):(?!//)")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_SCHEMES: Final = frozenset({"urn", "mailto", "tag", "did", "tel", "data", "doi", "geo", "info", "ark", "about", "uuid"})
"""Schemes that no // follows: any other word before a colon is a prefix, and must be declared."""
_FORMATS: Final = {
    "csv": "csv", "tsv": "tsv", "json": "json", "jsonpath": "json", "jsonl": "json", "ndjson": "json", "parquet": "parquet",
}  # fmt: skip


def read_yarrrml(text: str, name: str) -> Mapping:
    """The mapping of a YARRRML text; raises OptionError that says what is wrong where."""
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark is not None else name
        raise option_error("mapping", f"{place}: not YAML: {getattr(error, 'problem', None) or error}") from None
    if not isinstance(document, dict):
        raise option_error("mapping", f"{name}: a mapping is a YAML dictionary with the key mappings")
    return _Yarrrml(name, document).mapping()


@dataclass(slots=True)
class _Yarrrml:
    """One document being read."""

    name: str
    document: dict[str, Any]
    prefixes: dict[str, str] = field(default_factory=dict)
    fresh: int = 0

    def refuse(self, where: str, message: str, help: str | None = None) -> NoReturn:
        raise self.error(where, message, help)

    def error(self, where: str, message: str, help: str | None = None) -> OptionError:
        place = f"{self.name}: {where}: " if where else f"{self.name}: "
        return option_error("mapping", place + message, help=help)

    def mapping(self) -> Mapping:
        document = self.document
        self.known(document, _TOP, "")
        self.prefixes = {**PREFIXES, **self.texts(document.get("prefixes") or {}, "prefixes")}
        for key in ("targets", "functions", "external"):
            if document.get(key):
                self.refuse(key, f"{key} are not supported", f"leave out {key}")
        given = document.get("mappings", document.get("mapping"))
        if not isinstance(given, dict) or not given:
            self.refuse("mappings", "there is none", "write mappings: {name: {s: …, po: …}}")
        sources = document.get("sources") or {}
        if not isinstance(sources, dict):
            self.refuse("sources", "sources are a dictionary of names")
        hints: list[Hint] = []
        maps: list[TriplesMap] = []
        for key, value in given.items():
            found, iterator = self.source_of(str(key), value, sources)
            hints.append(found)
            maps += self.triples_maps(str(key), value, iterator, given)
        hint = next((each for each in hints if each != Hint()), Hint())
        if any(each != hint for each in hints if each != Hint()):
            self.refuse("sources", "the mappings have different sources, and a stream has one", "write a file for each source")
        return Mapping(self.name, tuple(maps), self.events(), hint, self.base())

    def base(self) -> str | None:
        base = self.document.get("base")
        return None if base is None else str(base)

    # ------------------------------------------------------------------ sources

    def source_of(self, key: str, value: Any, sources: Dictionary[str, Any]) -> tuple[Hint, str | None]:
        where = f"mappings.{key}"
        if not isinstance(value, dict):
            self.refuse(where, "a mapping is a dictionary with the keys s and po")
        given = value.get("sources", value.get("source"))
        if given is None:
            return Hint(), None
        many = given if isinstance(given, list) and not _is_source(given) else [given]
        if len(many) != 1:
            self.refuse(where, "it has several sources, and a stream has one", "give each stream its own --map")
        source = many[0]
        if isinstance(source, str) and "~" not in source:
            if source not in sources:
                close = nearest(source, sources)
                self.refuse(where, f"there is no source {source!r}", f"did you mean {close}?" if close else None)
            source = sources[source]
        return self.hint(source, where)

    def hint(self, source: Any, where: str) -> tuple[Hint, str | None]:
        if isinstance(source, str):
            source = [source]
        if isinstance(source, list):
            access, _, formulation = str(source[0]).partition("~")
            iterator = str(source[1]) if len(source) > 1 else None
        elif isinstance(source, dict):
            if "query" in source or "queryFormulation" in source:
                self.refuse(where, "a source that is a query is not supported", "export its rows as CSV or Parquet")
            access, formulation = str(source.get("access", "")), str(source.get("referenceFormulation", ""))
            iterator = None if source.get("iterator") is None else str(source["iterator"])
        else:
            self.refuse(where, f"{source!r} is no source", "write [file.csv~csv], or a dictionary with access and iterator")
        if formulation and formulation.lower() not in _FORMATS:
            self.refuse(where, f"a source in {formulation} is not supported", f"one of {', '.join(_FORMATS)}")
        return Hint(access or None, _FORMATS.get(formulation.lower())), iterator

    # ------------------------------------------------------------------ triples

    def triples_maps(
        self, key: str, value: dict[str, Any], iterator: str | None, others: Dictionary[str, Any]
    ) -> list[TriplesMap]:
        where = f"mappings.{key}"
        self.known(value, _OF_MAP, where)
        self.no_condition(value, where)
        if value.get("targets") or value.get("target"):
            self.refuse(where, "targets are not supported: the events are what the queries read")
        subjects = _listed(_first(value, "subjects", "subject", "s"))
        graphs = tuple(self.graph(each, where) for each in _listed(_first(value, "graphs", "graph", "g")))
        pairs: list[tuple[TermMap, TermMap]] = []
        own: list[tuple[TermMap, ...]] = []
        for number, pair in enumerate(_listed(_first(value, "predicateobjects", "predicateobject", "po"))):
            made, of_pair = self.pairs(pair, f"{where}.po[{number}]", others)
            pairs += made
            own += [of_pair] * len(made)
        made_subjects = [self.subject(each, where) for each in subjects] or [self.fresh_node()]
        objects = tuple(pairs)
        object_graphs = tuple(own) if any(own) else ()
        return [TriplesMap(key, each, objects, graphs, iterator, object_graphs) for each in made_subjects]

    def fresh_node(self) -> FreshBlankNode:
        self.fresh += 1
        return FreshBlankNode(self.fresh)

    def subject(self, given: Any, where: str) -> TermMap:
        if isinstance(given, dict):
            self.refuse(f"{where}.s", "a subject made by a function is not supported", "make the value a field of the rows")
        return self.resource(given, f"{where}.s")

    def graph(self, given: Any, where: str) -> TermMap:
        return self.resource(given, f"{where}.graphs")

    def pairs(
        self, given: Any, where: str, others: Dictionary[str, Any]
    ) -> tuple[list[tuple[TermMap, TermMap]], tuple[TermMap, ...]]:
        graphs: tuple[TermMap, ...] = ()
        if isinstance(given, list):
            if len(given) < 2 or len(given) > 3:
                self.refuse(where, "a pair is [predicate, object] or [predicate, object, datatype or language]")
            predicates, objects = _listed(given[0]), _listed(given[1])
            made = [self.object(each, where, given[2] if len(given) == 3 else None, others) for each in objects]
        elif isinstance(given, dict):
            self.known(given, _OF_PAIR, where)
            self.no_condition(given, where)
            predicates = _listed(_first(given, "predicates", "predicate", "p"))
            made = [self.described(each, where, others) for each in _objects(_first(given, "objects", "object", "o"))]
            graphs = tuple(self.graph(each, where) for each in _listed(_first(given, "graphs", "graph", "g")))
        else:
            self.refuse(where, f"{given!r} is no pair of predicate and object", "write [ex:value, $(value), xsd:integer]")
        if not predicates or not made:
            self.refuse(where, "a pair has a predicate and an object")
        found = [self.predicate(each, where) for each in predicates]
        return [(predicate, each) for predicate in found for each in made], graphs

    def predicate(self, given: Any, where: str) -> TermMap:
        if given == "a":
            return Constant(IRI(TYPE))
        return self.resource(given, where)

    def described(self, given: Any, where: str, others: Dictionary[str, Any]) -> TermMap:
        if isinstance(given, list):
            if not 1 <= len(given) <= 2:
                self.refuse(where, "an object is [value] or [value, datatype or language]")
            return self.object(given[0], where, given[1] if len(given) == 2 else None, others)
        return self.object(given, where, None, others)

    def object(self, given: Any, where: str, kind: Any, others: Dictionary[str, Any]) -> TermMap:
        if not isinstance(given, dict):
            return self.literal_or_iri(given, where, kind)
        self.known(given, _OF_OBJECT, where)
        if "function" in given or "fn" in given:
            self.refuse(where, "functions are not supported", "make the value a field of the rows")
        if "mapping" in given or "mappings" in given:
            return self.joined(given, where, others)
        self.no_condition(given, where)
        value = _first(given, "value", "v")
        if given.get("type") in ("iri", "IRI"):
            return self.resource(value, where)
        if given.get("type") == "blank":
            return self.made(value, TermType.BLANK_NODE, where)
        if given.get("language") is not None:
            return self.literal_or_iri(value, where, f"{given['language']}~lang")
        return self.literal_or_iri(value, where, given.get("datatype"))

    def joined(self, given: dict[str, Any], where: str, others: Dictionary[str, Any]) -> TermMap:
        """The subject of another mapping of the same rows; a join between sources is refused."""
        if given.get("condition") or given.get("conditions"):
            self.refuse(
                where,
                "joins between sources are not supported",
                "join the tables first, or take the other one as background",
            )
        other = str(_first(given, "mapping", "mappings"))
        if other not in others:
            close = nearest(other, others)
            self.refuse(where, f"there is no mapping {other!r}", f"did you mean {close}?" if close else None)
        subjects = _listed(_first(others[other], "subjects", "subject", "s"))
        if len(subjects) != 1:
            self.refuse(where, f"{other} has not one subject")
        return self.subject(subjects[0], f"mappings.{other}")

    # ------------------------------------------------------------------ terms

    def literal_or_iri(self, given: Any, where: str, kind: Any) -> TermMap:
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
        return iri, None

    def resource(self, given: Any, where: str) -> TermMap:
        text = self.text(given, where).removesuffix("~iri")
        if text.startswith("_:"):
            return self.made(text.removeprefix("_:"), TermType.BLANK_NODE, where)
        return self.made(text, TermType.IRI, where)

    def made(self, given: Any, type: TermType, where: str) -> TermMap:
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
                base = self.base()
                if base is None or scheme is not None:
                    self.refuse(where, f"{text!r} is no IRI: neither a known prefix nor a scheme begins it", self.near(text))
                first = base + first
            parts = (first, *parts[1:])
        if not any(isinstance(part, Reference) for part in parts):
            return Constant(IRI("".join(part for part in parts if isinstance(part, str))))
        return Made(parts, type, len(parts) > 1)

    def near(self, text: str) -> str:
        close = nearest(text.partition(":")[0], self.prefixes)
        return f"did you mean {close}:?" if close else f"declare its prefix; known are {', '.join(sorted(self.prefixes))}"

    def parts(self, text: str, where: str) -> tuple[Any, ...]:
        try:
            return yarrrml_template(text)
        except ValueError as error:
            raise self.error(where, str(error)) from None

    def expanded(self, text: str) -> str:
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

    # ------------------------------------------------------------------ events

    def events(self) -> EventSection | None:
        document = self.document
        if document.get("time") is None:
            for key in ("end", "event", "time-format", "time-unit", "time-zone"):
                if document.get(key) is not None:
                    self.refuse(key, "there is no time beside it", "add time: $(field)")
            return None
        event = document.get("event")
        return event_section(
            self.name,
            self.field("time"),
            None if document.get("end") is None else self.field("end"),
            None if event is None else self.event(event),
            *(None if document.get(key) is None else str(document[key]) for key in ("time-format", "time-unit", "time-zone")),
        )

    def event(self, given: Any) -> TermMap:
        text = self.text(given, "event")
        parts = self.parts(text, "event")
        if not any(isinstance(part, Reference) for part in parts):
            self.refuse("event", "every row would be one event: it names no field", "write for example event: ex:event/$(id)")
        if isinstance(parts[0], Reference):  # a bare field: any text of it names an event
            return Made(("urn:scepter:event:", *parts), TermType.IRI, True)
        return self.resource(text, "event")

    def field(self, key: str) -> Made:
        text = self.text(self.document[key], key)
        parts = self.parts(text, key)
        if not any(isinstance(part, Reference) for part in parts):
            self.refuse(key, f"{text!r} names no field", f"write for example {key}: $(time)")
        return Made(parts, TermType.LITERAL)

    # ------------------------------------------------------------------ checks

    def known(self, given: Dictionary[str, Any], keys: set[str], where: str) -> None:
        for key in given:
            if key not in keys:
                close = nearest(str(key), keys)
                self.refuse(
                    where, f"{key!r} is no key here", f"did you mean {close}?" if close else f"one of {', '.join(sorted(keys))}"
                )

    def no_condition(self, given: Dictionary[str, Any], where: str) -> None:
        if given.get("condition") or given.get("conditions"):
            self.refuse(where, "conditions are functions, which are not supported", "say it in the query's FILTER")

    def text(self, given: Any, where: str) -> str:
        if isinstance(given, bool):
            return "true" if given else "false"
        if given is None or isinstance(given, (dict, list)):
            self.refuse(where, f"{given!r} is no text")
        return str(given)

    def texts(self, given: Any, where: str) -> dict[str, str]:
        if not isinstance(given, dict):
            self.refuse(where, "it is a dictionary of names")
        return {str(key).removesuffix(":"): str(value) for key, value in given.items()}


def event_section(
    name: str, time: Made, end: Made | None, event: TermMap | None, format: str | None, unit: str | None, zone: str | None
) -> EventSection:
    """The section about events, checked."""
    from scepter.lift.times import check_zone
    from scepter.timeline import TIME_UNITS

    if unit is not None and unit not in TIME_UNITS:
        raise option_error("mapping", f"{name}: time-unit cannot be {unit!r}", help=f"one of {', '.join(TIME_UNITS)}")
    if unit is not None and format is not None:
        raise option_error("mapping", f"{name}: time-unit is for numbers and time-format for texts: give one of them")
    if zone is not None:
        check_zone(name, zone)
    return EventSection(time, end, event, format, unit, zone)


def _is_source(given: list[Any]) -> bool:
    """Whether a list is one source, [file~format, iterator], rather than several."""
    plain = [each for each in given if isinstance(each, str)]
    return len(plain) == len(given) and "~" in plain[0] and not any("~" in each for each in plain[1:])


def _objects(given: Any) -> list[Any]:
    """`objects` is one value, [value, datatype], or a list of either."""
    if not isinstance(given, list):
        return [] if given is None else [given]
    if given and all(not isinstance(each, (list, dict)) for each in given) and len(given) == 2:
        second = str(given[1])
        if second.endswith("~lang") or (":" in second and "$(" not in second and not second.startswith("http")):
            return [given]
    return given


def _first(given: Dictionary[str, Any], *keys: str) -> Any:
    return next((given[key] for key in keys if given.get(key) is not None), None)


def _listed(given: Any) -> list[Any]:
    return [] if given is None else given if isinstance(given, list) else [given]


def _natural(given: Any) -> str:
    """The datatype of a value as YAML reads it."""
    from scepter.rdf.terms import XSD

    if isinstance(given, bool):
        return XSD + "boolean"
    if isinstance(given, int):
        return XSD + "integer"
    return XSD + "double" if isinstance(given, float) else STRING
