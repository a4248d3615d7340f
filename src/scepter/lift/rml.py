"""RML (Turtle, the RML-Core vocabulary; R2RML's names and those of the first RML are understood) to a mapping.

What makes events of rows stands on any node of the file, in a vocabulary of our own: `<urn:scepter:map:time> "field"`, and
likewise `end`, `event` (a template), `timeFormat`, `timeUnit`, `timeZone`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, NoReturn

import pyoxigraph as ox

from scepter.errors import nearest, option_error
from scepter.lift.datatypes import refused_datatype
from scepter.lift.model import Constant, EventSection, Hint, Made, Mapping, Part, Reference, TermMap, TermType, TriplesMap
from scepter.lift.templates import rml_template
from scepter.lift.yarrrml import event_section
from scepter.rdf.limits import DEFAULT, BeyondLimit, check_turtle
from scepter.rdf.rdf12 import DIRECTION, TRIPLE_TERM, refused_tag, spelled
from scepter.rdf.terms import IRI, LANG_STRING, TYPE, BlankNode, Literal, Term

RML: Final = "http://w3id.org/rml/"
_ALIASES: Final = ("http://www.w3.org/ns/r2rml#", "http://semweb.mmlab.be/ns/rml#", "http://semweb.mmlab.be/ns/ql#")
EVENTS: Final = "urn:scepter:map:"
_BASE: Final = "urn:scepter:mapping"
_SECTION: Final = ("time", "end", "event", "timeFormat", "timeUnit", "timeZone")
_REFUSED: Final = {
    "joinCondition": "joins between sources are not supported; join the tables first, or take the other one as background",
    "functionExecution": "functions are not supported; make the value a field of the rows",
    "functionValue": "functions are not supported; make the value a field of the rows",
    "return": "functions are not supported; make the value a field of the rows",
    "logicalTarget": "logical targets are not supported: the events are what the queries read",
    "sqlQuery": "a source that is a query is not supported; export its rows as CSV or Parquet",
    "query": "a source that is a query is not supported; export its rows as CSV or Parquet",
    "inverseExpression": "inverse expressions are not supported",
}
_FORMULATIONS: Final = {"CSV": "csv", "JSONPath": "json", "Parquet": "parquet"}
_KNOWN: Final = {
    "TriplesMap", "logicalSource", "source", "referenceFormulation", "iterator", "path", "root", "subjectMap", "subject",
    "predicateObjectMap", "predicateMap", "predicate", "objectMap", "object", "graphMap", "graph", "template", "reference",
    "column", "constant", "termType", "class", "datatype", "language", "parentTriplesMap", "logicalTable", "tableName",
    "baseIRI", "null", "encoding", "child", "parent", "languageMap", "datatypeMap", *_REFUSED,
}  # fmt: skip
_TYPES: Final = {
    "IRI": TermType.IRI, "URI": TermType.IRI, "UnsafeIRI": TermType.IRI, "BlankNode": TermType.BLANK_NODE,
    "Literal": TermType.LITERAL,
}  # fmt: skip

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_NOT_IN_IRI: Final = re.compile(r'[\x00-\x20<>"{}|^`\\]')
_KIND: Final = {IRI: TermType.IRI, BlankNode: TermType.BLANK_NODE, Literal: TermType.LITERAL}
_RESOURCE: Final = (TermType.IRI, TermType.BLANK_NODE)
_PLACES: Final = {"subject": _RESOURCE, "predicate": (TermType.IRI,), "graph": _RESOURCE}
"""What a term may be where it stands; an object may be any."""

Node = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def read_rml(text: str, name: str) -> Mapping:
    """The mapping of an RML text in Turtle; raises OptionError that says what is wrong."""
    graph = _Rml(name)
    try:
        check_turtle(text.encode("utf-8", errors="surrogatepass"), DEFAULT)
        quads = ox.parse(text, format=ox.RdfFormat.TURTLE, base_iri=_BASE)
        for quad in quads:
            graph.add(quad)
        graph.base = None if quads.base_iri == _BASE else quads.base_iri
    except BeyondLimit as error:
        raise option_error("mapping", f"{name}: not read: {error}") from None
    except SyntaxError as error:
        place = f"{name}:{error.lineno or 1}"
        raise option_error("mapping", f"{place}: not Turtle: {error.msg.split(': ', 1)[-1]}") from None
    return graph.mapping()


@dataclass(slots=True)
class _Rml:
    """One graph being read; properties by their local names, whichever of RML's namespaces they are in."""

    name: str
    base: str | None = None
    """That of the text, by `@base`: it is that of triples maps without one of their own."""
    triples: dict[Node, dict[str, list[Node]]] = field(default_factory=dict)
    section: dict[str, str] = field(default_factory=dict)
    refused: list[tuple[Node, str]] = field(default_factory=list)

    def add(self, quad: ox.Quad) -> None:
        iri = quad.predicate.value
        if iri.startswith(EVENTS):
            self._event_property(iri.removeprefix(EVENTS), quad.object)
            return
        local = _local(iri)
        if local in _REFUSED:
            self.refused.append((quad.subject, local))  # told when it is known where it stands
        if local is not None and local not in _KNOWN:
            close = nearest(local, _KNOWN)
            self.refuse(None, f"rml:{local} is not known" + (f"; did you mean rml:{close}?" if close else ""))
        if local is None:
            local = "a" if iri == TYPE else iri
        self.triples.setdefault(quad.subject, defaultdict(list))[local].append(quad.object)

    def _event_property(self, local: str, object: Node) -> None:
        if local not in _SECTION:
            close = nearest(local, _SECTION)
            self.refuse(None, f"<{EVENTS}{local}> is not known" + (f"; did you mean {close}?" if close else ""))
        if not isinstance(object, ox.Literal) or self.section.setdefault(local, object.value) != object.value:
            self.refuse(None, f"<{EVENTS}{local}> has one text, once in the mapping")

    def refuse(self, node: Node | None, message: str) -> NoReturn:
        message, _, help = message.partition("; ")
        raise option_error("mapping", f"{self.name}: {self.place(node)}{message}", help=help or None)

    def place(self, node: Node | None) -> str:
        """What a person would look for: a blank node is in the triples map above it."""
        above = {
            object: subject for subject, properties in self.triples.items() for each in properties.values() for object in each
        }
        for _ in range(len(above)):  # a circle has no end
            if not isinstance(node, ox.BlankNode):
                break
            node = above.get(node)
        if node is None or isinstance(node, ox.BlankNode):
            return ""
        return f"{str(node).replace(_BASE, '')}: "

    def mapping(self) -> Mapping:
        for node, local in self.refused:
            self.refuse(node, f"rml:{local}: {_REFUSED[local]}")
        maps: list[TriplesMap] = []
        hints: set[Hint] = set()
        nodes = [n for n, properties in self.triples.items() if properties.get("subjectMap") or properties.get("subject")]
        if not nodes:
            self.refuse(None, "there is no triples map: a node with rml:subjectMap or rml:subject")
        for node in nodes:
            hint, iterator = self.source(node)
            hints.add(hint)
            maps.append(self.triples_map(node, iterator))
        if len(hints) > 1:
            self.refuse(None, "the triples maps have different sources, and a stream has one; write a file for each source")
        return Mapping(self.name, tuple(maps), self.events(), hints.pop(), self.base)

    # ------------------------------------------------------------------ sources

    def source(self, node: Node) -> tuple[Hint, str | None]:
        for source in [*self.all(node, "logicalSource"), *self.all(node, "logicalTable")]:
            given = self.one(source, "referenceFormulation")
            formulation = None
            if given is not None:
                local = _local(_text(given)) or _text(given)
                if local not in _FORMULATIONS:
                    self.refuse(source, f"a source in {local} is not supported; one of {', '.join(_FORMULATIONS)}")
                formulation = _FORMULATIONS[local]
            iterator = self.one(source, "iterator")
            return Hint(self.access(source), formulation), None if iterator is None else _text(iterator)
        return Hint(), None

    def access(self, source: Node) -> str | None:
        found = self.one(source, "source")
        if found is None or isinstance(found, ox.Literal):
            return None if found is None else found.value
        path = self.one(found, "path")
        return None if path is None else _text(path)

    # ------------------------------------------------------------------ triples

    def triples_map(self, node: Node, iterator: str | None) -> TriplesMap:
        subject, graphs, classes = self.subject(node)
        base = self.base_of(node)
        pairs: list[tuple[TermMap, TermMap]] = [(Constant(IRI(TYPE)), each) for each in classes]
        own: list[tuple[TermMap, ...]] = [()] * len(pairs)
        for each in self.all(node, "predicateObjectMap"):
            predicates = self.maps(each, "predicate", TermType.IRI, base)
            objects = self.maps(each, "object", None, base)
            if not predicates or not objects:
                self.refuse(each, "a predicate-object map has a predicate and an object")
            of_pair = tuple(self.maps(each, "graph", TermType.IRI, base))
            pairs += [(predicate, object) for predicate in predicates for object in objects]
            own += [of_pair] * (len(predicates) * len(objects))
        return TriplesMap(str(node), subject, tuple(pairs), graphs, iterator, tuple(own) if any(own) else ())

    def base_of(self, node: Node) -> str | None:
        own = self.one(node, "baseIRI")
        return self.base if own is None else _text(own)

    def subject(self, node: Node) -> tuple[TermMap, tuple[TermMap, ...], list[TermMap]]:
        base = self.base_of(node)
        found = self.maps(node, "subject", TermType.IRI, base)
        if len(found) != 1:
            self.refuse(node, "a triples map has one subject")
        graphs: list[TermMap] = []
        classes: list[TermMap] = []
        for each in self.all(node, "subjectMap"):
            graphs += self.maps(each, "graph", TermType.IRI, base)
            classes += [Constant(self.term(given)) for given in self.all(each, "class")]
        return found[0], tuple(graphs), classes

    def maps(self, node: Node, place: str, default: TermType | None, base: str | None) -> list[TermMap]:
        """The terms that stand in some place: those of its maps, and constants in the short form."""
        made = [self.term_map(each, default, base) for each in self.all(node, f"{place}Map")]
        made += (Constant(self.term(each)) for each in self.all(node, place))
        for each in made:
            kind = each.type if isinstance(each, Made) else _KIND[type(each.term)] if isinstance(each, Constant) else None
            if kind is not None and kind not in _PLACES.get(place, TermType):
                self.refuse(node, f"a {kind.value} cannot be a {place}")
        return made

    def term_map(self, node: Node, default: TermType | None, base: str | None) -> TermMap:
        parent = self.one(node, "parentTriplesMap")
        if parent is not None:
            return self.subject(parent)[0]
        constant = self.one(node, "constant")
        if constant is not None:
            return self.constant(node, constant)
        template, reference = self.one(node, "template"), self.one(node, "reference") or self.one(node, "column")
        if (template is None) == (reference is None):
            self.refuse(node, "a term map has a constant, a reference or a template")
        datatype, language = self.typing(node, "datatype"), self.typing(node, "language")
        if datatype is not None and (wrong := refused_datatype(datatype)) is not None:
            self.refuse(node, "; ".join(filter(None, wrong)))
        type = self.term_type(node, default, template is not None, datatype is not None or language is not None)
        parts = self.parts(node, template, reference)
        if type is TermType.IRI and template is not None:
            return self.template(node, parts, base)
        if type is not TermType.LITERAL:
            return Made(parts, type, template is not None, base=base)
        tag = None if language is None else language.lower()
        if tag is not None and (why := refused_tag(tag)) is not None:
            self.refuse(node, why)
        return Made(parts, type, False, datatype, tag)

    def constant(self, node: Node, given: Node) -> Constant:
        made = Constant(self.term(given))
        if self.one(node, "termType") is not None:
            type = self.term_type(node, None, False, False)
            if type is not _KIND[made.term.__class__]:
                self.refuse(node, f"the constant {made.term} is no {type.value}, as rml:termType says")
        return made

    def typing(self, node: Node, of: str) -> str | None:
        """The datatype or the language that a literal has, in the short form or as a map's constant."""
        made = self.one(node, f"{of}Map")
        if made is None:
            given = self.one(node, of)
            return None if given is None else _text(given)
        constant = self.one(made, "constant")
        if constant is None:
            self.refuse(node, f"rml:{of}Map: a {of} from a field is not supported; write rml:{of}")
        return _text(constant)

    def template(self, node: Node, parts: tuple[Part, ...], base: str | None) -> Made:
        """An IRI by a template. One that no scheme begins is relative whatever its values are: their colons are encoded."""
        written = _text(self.all(node, "template")[0])
        if any(isinstance(part, str) and _NOT_IN_IRI.search(part) for part in parts):
            self.refuse(node, f"the template {written!r} has a character that an IRI must not hold")
        first = parts[0] if isinstance(parts[0], str) else ""
        if any(_local(_text(given)) == "UnsafeIRI" for given in self.all(node, "termType")):
            return Made(parts, TermType.IRI, False, base=base)
        if _SCHEME.match(first):
            return Made(parts, TermType.IRI, True)
        if base is None:
            self.refuse(node, f"the template {written!r} makes relative IRIs; give the triples map an rml:baseIRI")
        return Made((base + first, *parts[bool(first) :]), TermType.IRI, True)

    def parts(self, node: Node, template: Node | None, reference: Node | None) -> tuple[str | Reference, ...]:
        if reference is not None:
            return (Reference(_text(reference)),)
        assert template is not None
        parts = self.split(node, _text(template))
        if not any(isinstance(part, Reference) for part in parts):
            self.refuse(node, f"the template {_text(template)!r} names no field; write rml:constant")
        return parts

    def split(self, node: Node | None, template: str) -> tuple[Part, ...]:
        try:
            return rml_template(template)
        except ValueError as error:
            self.refuse(node, str(error))

    def term_type(self, node: Node, default: TermType | None, template: bool, typed: bool) -> TermType:
        given = self.one(node, "termType")
        if given is not None:
            local = _local(_text(given))
            if local not in _TYPES:
                self.refuse(node, f"{given} is no term type; one of {', '.join(_TYPES)}")
            return _TYPES[local]
        if default is not None:
            return default
        return TermType.IRI if template and not typed else TermType.LITERAL

    # ------------------------------------------------------------------ events

    def events(self) -> EventSection | None:
        given = self.section
        if "time" not in given:
            if given:
                self.refuse(None, f"<{EVENTS}{next(iter(given))}> has no <{EVENTS}time> beside it")
            return None
        end, event = given.get("end"), given.get("event")
        return event_section(
            self.name,
            self.field(given["time"]),
            None if end is None else self.field(end),
            None if event is None else self.event(event),
            given.get("timeFormat"),
            given.get("timeUnit"),
            given.get("timeZone"),
        )

    def field(self, text: str) -> Made:
        """A field's name, or a template with braces."""
        parts = self.split(None, text)
        return Made(parts if any(isinstance(part, Reference) for part in parts) else (Reference(text),), TermType.LITERAL)

    def event(self, text: str) -> Made:
        """What names events: an IRI, or any text of a field."""
        parts = self.split(None, text)
        if not any(isinstance(part, Reference) for part in parts):
            self.refuse(None, f"<{EVENTS}event> {text!r} names no field, and every row would be one event; write {{field}}")
        if not (isinstance(parts[0], str) and _SCHEME.match(parts[0])):
            parts = ("urn:scepter:event:", *parts)
        return Made(parts, TermType.IRI, True)

    # ------------------------------------------------------------------ nodes

    def all(self, node: Node, local: str) -> list[Node]:
        return self.triples.get(node, {}).get(local, [])

    def one(self, node: Node, local: str) -> Node | None:
        found = self.all(node, local)
        if len(found) > 1:
            self.refuse(node, f"rml:{local} stands more than once")
        return found[0] if found else None

    def term(self, node: Node) -> Term:
        if isinstance(node, ox.NamedNode):
            return IRI(node.value)
        if isinstance(node, ox.BlankNode):
            return BlankNode(node.value)
        if not isinstance(node, ox.Literal):
            self.refuse(None, f"{spelled(node)} is {TRIPLE_TERM}")
        if node.direction is not None:
            self.refuse(None, f"{node} is {DIRECTION}")
        if node.language is not None:
            return Literal(node.value, LANG_STRING, node.language.lower())
        return Literal(node.value, node.datatype.value)


def _local(iri: str) -> str | None:
    return next((iri.removeprefix(space) for space in (RML, *_ALIASES) if iri.startswith(space)), None)


def _text(node: Node) -> str:
    return node.value if isinstance(node, (ox.NamedNode, ox.Literal, ox.BlankNode)) else str(node)
