"""RML (Turtle, the RML-Core vocabulary; R2RML's names and those of the first RML are understood) to a mapping.

What makes events of rows stands on any node of the file, in a vocabulary of our own: `<urn:scepter:map:time> "field"`, and
likewise `end`, `event` (a template), `timeFormat`, `timeUnit`, `timeZone`.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final, NoReturn

import pyoxigraph as ox

from scepter.errors import nearest, option_error
from scepter.lift.model import Constant, EventSection, Hint, Made, Mapping, Reference, TermMap, TermType, TriplesMap
from scepter.lift.templates import rml_template
from scepter.lift.yarrrml import event_section
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
    "languageMap": "a language from a field is not supported; write rml:language",
    "datatypeMap": "a datatype from a field is not supported; write rml:datatype",
    "sqlQuery": "a source that is a query is not supported; export its rows as CSV or Parquet",
    "query": "a source that is a query is not supported; export its rows as CSV or Parquet",
    "inverseExpression": "inverse expressions are not supported",
}
_FORMULATIONS: Final = {"CSV": "csv", "JSONPath": "json", "Parquet": "parquet"}
_KNOWN: Final = {
    "TriplesMap", "logicalSource", "source", "referenceFormulation", "iterator", "path", "root", "subjectMap", "subject",
    "predicateObjectMap", "predicateMap", "predicate", "objectMap", "object", "graphMap", "graph", "template", "reference",
    "column", "constant", "termType", "class", "datatype", "language", "parentTriplesMap", "logicalTable", "tableName",
    "baseIRI", "null", "encoding", "child", "parent", *_REFUSED,
}  # fmt: skip
_TYPES: Final = {
    "IRI": TermType.IRI, "URI": TermType.IRI, "UnsafeIRI": TermType.IRI, "BlankNode": TermType.BLANK_NODE,
    "Literal": TermType.LITERAL,
}  # fmt: skip

Node = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def read_rml(text: str, name: str) -> Mapping:
    """The mapping of an RML text in Turtle; raises OptionError that says what is wrong."""
    graph = _Rml(name)
    try:
        for quad in ox.parse(text, format=ox.RdfFormat.TURTLE, base_iri=_BASE):
            graph.add(quad)
    except SyntaxError as error:
        place = f"{name}:{error.lineno or 1}"
        raise option_error("mapping", f"{place}: not Turtle: {error.msg.split(': ', 1)[-1]}") from None
    return graph.mapping()


@dataclass(slots=True)
class _Rml:
    """One graph being read; properties by their local names, whichever of RML's namespaces they are in."""

    name: str
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
        bases = {_text(base) for node in nodes for base in self.all(node, "baseIRI")}
        for node in nodes:
            hint, iterator = self.source(node)
            hints.add(hint)
            maps.append(self.triples_map(node, iterator))
        if len(hints) > 1:
            self.refuse(None, "the triples maps have different sources, and a stream has one; write a file for each source")
        return Mapping(self.name, tuple(maps), self.events(), hints.pop(), next(iter(sorted(bases)), None))

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
        pairs: list[tuple[TermMap, TermMap]] = [(Constant(IRI(TYPE)), each) for each in classes]
        own: list[tuple[TermMap, ...]] = [()] * len(pairs)
        for each in self.all(node, "predicateObjectMap"):
            predicates = self.maps(each, "predicateMap", "predicate", TermType.IRI)
            objects = self.maps(each, "objectMap", "object", None)
            if not predicates or not objects:
                self.refuse(each, "a predicate-object map has a predicate and an object")
            of_pair = tuple(self.maps(each, "graphMap", "graph", TermType.IRI))
            pairs += [(predicate, object) for predicate in predicates for object in objects]
            own += [of_pair] * (len(predicates) * len(objects))
        return TriplesMap(str(node), subject, tuple(pairs), graphs, iterator, tuple(own) if any(own) else ())

    def subject(self, node: Node) -> tuple[TermMap, tuple[TermMap, ...], list[TermMap]]:
        found = self.maps(node, "subjectMap", "subject", TermType.IRI)
        if len(found) != 1:
            self.refuse(node, "a triples map has one subject")
        if isinstance(found[0], Made) and found[0].type is TermType.LITERAL:
            self.refuse(node, "a literal cannot be a subject")
        graphs: list[TermMap] = []
        classes: list[TermMap] = []
        for each in self.all(node, "subjectMap"):
            graphs += self.maps(each, "graphMap", "graph", TermType.IRI)
            classes += [Constant(self.term(given)) for given in self.all(each, "class")]
        return found[0], tuple(graphs), classes

    def maps(self, node: Node, long: str, short: str, default: TermType | None) -> list[TermMap]:
        made = [self.term_map(each, default) for each in self.all(node, long)]
        return [*made, *(Constant(self.term(each)) for each in self.all(node, short))]

    def term_map(self, node: Node, default: TermType | None) -> TermMap:
        parent = self.one(node, "parentTriplesMap")
        if parent is not None:
            return self.subject(parent)[0]
        constant = self.one(node, "constant")
        if constant is not None:
            return Constant(self.term(constant))
        template, reference = self.one(node, "template"), self.one(node, "reference") or self.one(node, "column")
        if (template is None) == (reference is None):
            self.refuse(node, "a term map has a constant, a reference or a template")
        datatype, language = self.one(node, "datatype"), self.one(node, "language")
        type = self.term_type(node, default, template is not None, datatype is not None or language is not None)
        parts = self.parts(node, template, reference)
        if type is not TermType.LITERAL:
            return Made(parts, type, template is not None)
        tag = None if language is None else _text(language).lower()
        if tag is not None and (why := refused_tag(tag)) is not None:
            self.refuse(node, why)
        return Made(parts, type, False, None if datatype is None else _text(datatype), tag)

    def parts(self, node: Node, template: Node | None, reference: Node | None) -> tuple[str | Reference, ...]:
        if reference is not None:
            return (Reference(_text(reference)),)
        assert template is not None
        try:
            parts = rml_template(_text(template))
        except ValueError as error:
            self.refuse(node, str(error))
        if not any(isinstance(part, Reference) for part in parts):
            self.refuse(node, f"the template {_text(template)!r} names no field; write rml:constant")
        return parts

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
            _field(given["time"]),
            None if end is None else _field(end),
            None if event is None else Made(rml_template(event), TermType.IRI, True),
            given.get("timeFormat"),
            given.get("timeUnit"),
            given.get("timeZone"),
        )

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


def _field(text: str) -> Made:
    """A field's name, or a template with braces."""
    parts = rml_template(text)
    return Made(parts if any(isinstance(part, Reference) for part in parts) else (Reference(text),), TermType.LITERAL)


def _local(iri: str) -> str | None:
    return next((iri.removeprefix(space) for space in (RML, *_ALIASES) if iri.startswith(space)), None)


def _text(node: Node) -> str:
    return node.value if isinstance(node, (ox.NamedNode, ox.Literal, ox.BlankNode)) else str(node)
