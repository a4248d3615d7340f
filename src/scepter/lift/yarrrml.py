"""YARRRML to a mapping: prefixes, subjects, predicates and objects, graphs, sources, and the section about events.

Joins, functions, conditions, targets and external references are refused by name: what a mapping says is done or refused, never
left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from scepter.errors import nearest, option_error
from scepter.lift import yaml_text
from scepter.lift.model import (
    EventSection,
    Hint,
    Made,
    Mapping,
    Reference,
    TermMap,
    TermType,
    TriplesMap,
)
from scepter.lift.yarrrml_terms import PREFIXES, TermReader

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
                     "fn", "parameters", "pms", "targets"}  # fmt: skip
_BRACKETS: Final = re.compile(r"(?<![\"'])(\$\([^()\"']*\[[^()\"']*\))")
"""A reference with brackets that no quote stands before."""
_FORMATS: Final = {
    "csv": "csv", "tsv": "tsv", "json": "json", "jsonpath": "json", "jsonl": "json", "ndjson": "json", "parquet": "parquet",
}  # fmt: skip


def read_yarrrml(text: str, name: str) -> Mapping:
    """The mapping of a YARRRML text; raises OptionError that says what is wrong where."""
    try:
        document = yaml_text.load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark is not None else name
        # YAML takes a bracket for the end of a list, and a star for a name
        bare = None if mark is None else _BRACKETS.search("".join(text.splitlines()[mark.line : mark.line + 1]))
        raise option_error(
            "mapping", f"{place}: not YAML: {getattr(error, 'problem', None) or error}",
            help=None if bare is None else f'a reference with brackets needs quotes: "{bare[1]}"',
        ) from None  # fmt: skip
    if not isinstance(document, dict):
        raise option_error("mapping", f"{name}: a mapping is a YAML dictionary with the key mappings")
    return _Yarrrml(name, document=document).mapping()


@dataclass(slots=True)
class _Yarrrml(TermReader):
    """One document being read."""

    document: dict[str, Any] = field(default_factory=dict)

    def mapping(self) -> Mapping:
        document = self.document
        self.known(document, _TOP, "")
        self.prefixes = {**PREFIXES, **self.texts(document.get("prefixes") or {}, "prefixes")}
        self.base = None if document.get("base") is None else str(document["base"])
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
        return Mapping(self.name, tuple(maps), self.events(), hint, self.base)

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
