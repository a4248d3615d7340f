"""Situations of RML-Core, written for this engine: each over CSV and over JSON, as plain triples and as events.

The rows of a situation are dictionaries: CSV has their values as texts, JSON as they are. What is expected is worked out from
the specification of RML-Core (term maps, templates, natural datatypes, graphs, blank nodes), never from the engine's output.
"""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from batches import KEY, events_of
from scepter.errors import OptionError
from scepter.lift.load import read_mapping
from scepter.lift.model import EventSection, Made, Mapping, Reference, TermType
from scepter.lift.plain import plain_quads
from scepter.lift.reader import MappedReaders
from scepter.rdf.batch import DeadLetter
from scepter.rdf.nquads import ReadState
from scepter.rdf.readers import Reading

XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"""PREFIX rml: <http://w3id.org/rml/>
PREFIX ex: <http://e/>
PREFIX xsd: <{XSD}>
"""
Row = dict[str, Any]
PEOPLE: list[Row] = [
    {"ID": 10, "First": "Venus", "Last": "Williams", "Sport": "Tennis"},
    {"ID": 20, "First": "Ann Lee", "Last": "Ö/ß", "Sport": ""},
]


@dataclass(frozen=True)
class Situation:
    name: str
    rows: list[Row]
    mapping: str
    expected: str
    """N-Quads."""
    json: str | None = None
    """What JSON makes, where its own datatypes show."""
    letters: int = 0


def one(subject: str, pairs: str = "", more: str = "") -> str:
    """A triples map over the rows."""
    return f"""<#T> rml:logicalSource [ rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
        rml:subjectMap [ {subject} ] {"; " if pairs else ""}{pairs} . {more}"""


def pair(predicate: str, object: str, more: str = "") -> str:
    return f"rml:predicateObjectMap [ rml:predicate {predicate} ; rml:objectMap [ {object} ] {more} ]"


BY_ID = 'rml:template "http://e/{ID}"'
S10, S20 = "<http://e/10>", "<http://e/20>"

SITUATIONS = [
    Situation(
        "a reference makes a literal",
        PEOPLE,
        one(BY_ID, pair("ex:first", 'rml:reference "First"')),
        f'{S10} <http://e/first> "Venus" .\n{S20} <http://e/first> "Ann Lee" .',
    ),
    Situation(
        "an empty cell makes no triple",
        PEOPLE,
        one(BY_ID, pair("ex:sport", 'rml:reference "Sport"')),
        f'{S10} <http://e/sport> "Tennis" .',
    ),
    Situation(
        "no value makes no triple",
        [{"ID": 10, "A": None}, {"ID": 20, "A": "x"}],
        one(BY_ID, pair("ex:a", 'rml:reference "A"')),
        f'{S20} <http://e/a> "x" .',
    ),
    Situation(
        "a template of an IRI is percent-encoded",
        PEOPLE,
        one('rml:template "http://e/{First}/{Last}"', pair("ex:p", 'rml:constant "x"')),
        '<http://e/Venus/Williams> <http://e/p> "x" .\n<http://e/Ann%20Lee/Ö%2Fß> <http://e/p> "x" .',
    ),
    Situation(
        "a template of two fields as a literal is not encoded",
        PEOPLE,
        one(BY_ID, pair("ex:name", 'rml:template "{First} {Last}" ; rml:termType rml:Literal')),
        f'{S10} <http://e/name> "Venus Williams" .\n{S20} <http://e/name> "Ann Lee Ö/ß" .',
    ),
    Situation(
        "a template without a field that is there makes no term",
        PEOPLE,
        one('rml:template "http://e/{Sport}"', pair("ex:p", 'rml:reference "First"')),
        '<http://e/Tennis> <http://e/p> "Venus" .',
    ),
    Situation(
        "a class",
        PEOPLE[:1],
        one(f"{BY_ID} ; rml:class ex:Person"),
        f"{S10} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Person> .",
    ),
    Situation(
        "several classes",
        PEOPLE[:1],
        one(f"{BY_ID} ; rml:class ex:A, ex:B"),
        f"{S10} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> .\n"
        f"{S10} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/B> .",
    ),
    Situation(
        "a declared datatype",
        PEOPLE[:1],
        one(BY_ID, pair("ex:id", 'rml:reference "ID" ; rml:datatype xsd:positiveInteger')),
        f'{S10} <http://e/id> "10"^^<{XSD}positiveInteger> .',
    ),
    Situation(
        "the natural datatype of an integer",
        PEOPLE[:1],
        one(BY_ID, pair("ex:id", 'rml:reference "ID"')),
        f'{S10} <http://e/id> "10" .',
        f'{S10} <http://e/id> "10"^^<{XSD}integer> .',
    ),
    Situation(
        "the natural datatype of a number with a point",
        [{"ID": 10, "A": 2.5}],
        one(BY_ID, pair("ex:a", 'rml:reference "A"')),
        f'{S10} <http://e/a> "2.5" .',
        f'{S10} <http://e/a> "2.5"^^<{XSD}double> .',
    ),
    Situation(
        "the natural datatype of a boolean",
        [{"ID": 10, "A": True}],
        one(BY_ID, pair("ex:a", 'rml:reference "A"')),
        f'{S10} <http://e/a> "true" .',
        f'{S10} <http://e/a> "true"^^<{XSD}boolean> .',
    ),
    Situation(
        "values of several types in one field",
        [{"ID": 10, "A": 1}, {"ID": 20, "A": "one"}],
        one(BY_ID, pair("ex:a", 'rml:reference "A"')),
        f'{S10} <http://e/a> "1" .\n{S20} <http://e/a> "one" .',
        f'{S10} <http://e/a> "1"^^<{XSD}integer> .\n{S20} <http://e/a> "one" .',
    ),
    Situation(
        "a datatype declared over a natural one",
        [{"ID": 10, "A": 2.5}],
        one(BY_ID, pair("ex:a", 'rml:reference "A" ; rml:datatype xsd:decimal')),
        f'{S10} <http://e/a> "2.5"^^<{XSD}decimal> .',
    ),
    Situation(
        "xsd:string is a plain literal",
        PEOPLE[:1],
        one(BY_ID, pair("ex:id", 'rml:reference "ID" ; rml:datatype xsd:string')),
        f'{S10} <http://e/id> "10" .',
    ),
    Situation(
        "a language",
        PEOPLE[:1],
        one(BY_ID, pair("ex:s", 'rml:reference "Sport" ; rml:language "en-GB"')),
        f'{S10} <http://e/s> "Tennis"@en-gb .',
    ),
    Situation(
        "a value that is none of its datatype is left out and told",
        [{"ID": 10, "A": "ten"}, {"ID": 20, "A": "7"}],
        one(BY_ID, pair("ex:a", 'rml:reference "A" ; rml:datatype xsd:integer')),
        f'{S20} <http://e/a> "7"^^<{XSD}integer> .',
        letters=1,
    ),
    Situation(
        "a reference as a subject is an IRI as it stands",
        [{"U": "http://e/a?b=c#d", "A": "x"}],
        one('rml:reference "U"', pair("ex:a", 'rml:reference "A"')),
        '<http://e/a?b=c#d> <http://e/a> "x" .',
    ),
    Situation(
        "a reference as an IRI object",
        [{"ID": 10, "U": "http://e/o"}],
        one(BY_ID, pair("ex:u", 'rml:reference "U" ; rml:termType rml:IRI')),
        f"{S10} <http://e/u> <http://e/o> .",
    ),
    Situation(
        "a relative IRI is put behind the base",
        [{"ID": 10, "U": "path/x"}],
        one(BY_ID, pair("ex:u", 'rml:reference "U" ; rml:termType rml:IRI'), "<#T> rml:baseIRI <http://base/> ."),
        f"{S10} <http://e/u> <http://base/path/x> .",
    ),
    Situation(
        "a relative IRI without a base is told",
        [{"ID": 10, "U": "path/x"}],
        one(BY_ID, pair("ex:u", 'rml:reference "U" ; rml:termType rml:IRI')),
        "",
        letters=1,
    ),
    Situation(
        "an IRI with a blank is told",
        [{"U": "http://e/a b", "A": 1}],
        one('rml:reference "U"', pair("ex:a", 'rml:constant "x"')),
        "",
        letters=1,
    ),
    Situation(
        "a constant subject",
        PEOPLE,
        one("rml:constant ex:team", pair("ex:has", 'rml:template "http://e/{ID}"')),
        f"<http://e/team> <http://e/has> {S10} .\n<http://e/team> <http://e/has> {S20} .",
    ),
    Situation(
        "constants in short form",
        PEOPLE[:1],
        "<#T> rml:subject ex:s ; rml:predicateObjectMap [ rml:predicate ex:p ; rml:object ex:o, 5 ] .",
        f'<http://e/s> <http://e/p> <http://e/o> .\n<http://e/s> <http://e/p> "5"^^<{XSD}integer> .',
    ),
    Situation(
        "a constant literal with a language",
        PEOPLE[:1],
        one(BY_ID, pair("ex:p", 'rml:constant "hi"@en')),
        f'{S10} <http://e/p> "hi"@en .',
    ),
    Situation(
        "several predicates and several objects",
        PEOPLE[:1],
        one(
            BY_ID,
            'rml:predicateObjectMap [ rml:predicate ex:p, ex:q ; rml:objectMap [ rml:reference "First" ], [ rml:reference "Last" ] ]',  # noqa: E501
        ),
        "\n".join(f'{S10} <http://e/{p}> "{o}" .' for p in "pq" for o in ("Venus", "Williams")),
    ),
    Situation(
        "a predicate made of a field",
        PEOPLE[:1],
        one(
            BY_ID,
            'rml:predicateObjectMap [ rml:predicateMap [ rml:template "http://e/{Sport}" ] ; rml:objectMap [ rml:reference "First" ] ]',  # noqa: E501
        ),
        f'{S10} <http://e/Tennis> "Venus" .',
    ),
    Situation(
        "equal triples of a row stand once",
        [{"ID": 10, "A": "x", "B": "x"}],
        one(BY_ID, f"""{pair("ex:p", 'rml:reference "A"')} ; {pair("ex:p", 'rml:reference "B"')}"""),
        f'{S10} <http://e/p> "x" .',
    ),
    Situation(
        "a blank node by a template",
        [{"ID": 10, "A": "x"}],
        one('rml:template "n{ID}" ; rml:termType rml:BlankNode', pair("ex:p", 'rml:reference "A"')),
        '_:b0xn10 <http://e/p> "x" .',
    ),
    Situation(
        "a blank node by a reference is the same in all places of a row",
        [{"ID": "a b", "A": "x"}],
        one('rml:reference "ID" ; rml:termType rml:BlankNode', pair("ex:p", 'rml:reference "ID" ; rml:termType rml:BlankNode')),
        "_:b0xa_20_b <http://e/p> _:b0xa_20_b .",
    ),
    Situation(
        "a literal with quotes, line ends and backslashes",
        [{"ID": 10, "A": 'a"b\\c\nd\te'}],
        one(BY_ID, pair("ex:a", 'rml:reference "A"')),
        f'{S10} <http://e/a> "a\\"b\\\\c\\nd\\te" .',
    ),
    Situation(
        "a literal template with a quote in its text",
        [{"ID": 10, "A": "x"}],
        one(BY_ID, pair("ex:a", 'rml:template "\\"{A}\\"" ; rml:termType rml:Literal')),
        f'{S10} <http://e/a> "\\"x\\"" .',
    ),
    Situation(
        "letters beyond ASCII stay as they are",
        [{"ID": "é☃", "A": "日本"}],
        one('rml:template "http://e/{ID}"', pair("ex:a", 'rml:reference "A"')),
        '<http://e/é☃> <http://e/a> "日本" .',
    ),
    Situation(
        "a field whose name has blanks",
        [{"ID": 10, "First Name": "x"}],
        one(BY_ID, pair("ex:a", 'rml:reference "First Name"')),
        f'{S10} <http://e/a> "x" .',
    ),
    Situation(
        "braces that mean themselves",
        [{"ID": 10, "A": "x"}],
        one(BY_ID, pair("ex:a", r'rml:template "\\{{A}\\}" ; rml:termType rml:Literal')),
        f'{S10} <http://e/a> "{{x}}" .',
    ),
    Situation(
        "a graph of the subject",
        PEOPLE[:1],
        one(f"{BY_ID} ; rml:graph ex:g", pair("ex:p", 'rml:reference "First"')),
        f'{S10} <http://e/p> "Venus" <http://e/g> .',
    ),
    Situation(
        "a graph made of a field",
        PEOPLE[:1],
        one(f'{BY_ID} ; rml:graphMap [ rml:template "http://e/g/{{Sport}}" ]', pair("ex:p", 'rml:reference "First"')),
        f'{S10} <http://e/p> "Venus" <http://e/g/Tennis> .',
    ),
    Situation(
        "a graph of a pair",
        PEOPLE[:1],
        one(BY_ID, f"""{pair("ex:p", 'rml:reference "First"', "; rml:graph ex:g")} ; {pair("ex:q", 'rml:reference "Last"')}"""),
        f'{S10} <http://e/p> "Venus" <http://e/g> .\n{S10} <http://e/q> "Williams" .',
    ),
    Situation(
        "two graphs",
        PEOPLE[:1],
        one(f"{BY_ID} ; rml:graph ex:g, ex:h", pair("ex:p", 'rml:reference "First"')),
        f'{S10} <http://e/p> "Venus" <http://e/g> .\n{S10} <http://e/p> "Venus" <http://e/h> .',
    ),
    Situation(
        "the default graph by its name",
        PEOPLE[:1],
        one(f"{BY_ID} ; rml:graph rml:defaultGraph", pair("ex:p", 'rml:reference "First"')),
        f'{S10} <http://e/p> "Venus" .',
    ),
    Situation(
        "two triples maps",
        PEOPLE[:1],
        one(BY_ID, pair("ex:p", 'rml:reference "First"'))
        + """ <#U> rml:logicalSource [ rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
              rml:subjectMap [ rml:template "http://e/s/{Sport}" ] ; rml:predicateObjectMap [ rml:predicate ex:q ; rml:objectMap [ rml:reference "Last" ] ] .""",  # noqa: E501
        f'{S10} <http://e/p> "Venus" .\n<http://e/s/Tennis> <http://e/q> "Williams" .',
    ),
    Situation(
        "the subject of another triples map of the same rows",
        PEOPLE[:1],
        one(BY_ID, pair("ex:plays", "rml:parentTriplesMap <#U>"))
        + """ <#U> rml:logicalSource [ rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
              rml:subjectMap [ rml:template "http://e/s/{Sport}" ; rml:class ex:Sport ] .""",
        f"{S10} <http://e/plays> <http://e/s/Tennis> .\n<http://e/s/Tennis> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/Sport> .",  # noqa: E501
    ),
    Situation(
        "R2RML's own names are understood",
        PEOPLE[:1],
        '<#T> <http://www.w3.org/ns/r2rml#subjectMap> [ <http://www.w3.org/ns/r2rml#template> "http://e/{ID}" ] ; '
        "<http://www.w3.org/ns/r2rml#predicateObjectMap> [ <http://www.w3.org/ns/r2rml#predicate> ex:p ; "
        '<http://www.w3.org/ns/r2rml#objectMap> [ <http://semweb.mmlab.be/ns/rml#reference> "First" ] ] .',
        f'{S10} <http://e/p> "Venus" .',
    ),
    Situation(
        "a template that no scheme begins is encoded and put behind the base",
        [{"ID": "http://x/y z", "A": "x"}],
        one('rml:template "{ID}"', pair("ex:a", 'rml:reference "A"'), "<#T> rml:baseIRI <http://base/> ."),
        '<http://base/http%3A%2F%2Fx%2Fy%20z> <http://e/a> "x" .',
    ),
    Situation(
        "the base of the text is that of the mapping",
        [{"ID": "10", "A": "x"}],
        "@base <http://text/> . " + one('rml:template "n/{ID}"', pair("ex:a", 'rml:reference "A" ; rml:termType rml:IRI')),
        "<http://text/n/10> <http://e/a> <http://text/x> .",
    ),
    Situation(
        "each triples map has its own base",
        [{"ID": "10", "A": "x"}],
        "@base <http://text/> . "
        + one('rml:template "{ID}"', pair("ex:a", "rml:parentTriplesMap <#U>"), "<#T> rml:baseIRI <http://one/> .")
        + """ <#U> rml:logicalSource [ rml:referenceFormulation rml:JSONPath ; rml:iterator "$[*]" ] ;
              rml:baseIRI <http://two/> ; rml:subjectMap [ rml:reference "A" ; rml:class ex:C ] .""",
        "<http://one/10> <http://e/a> <http://two/x> .\n"
        "<http://two/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/C> .",
    ),
    Situation(
        "an unsafe IRI is not encoded, and is told where it is none",
        [{"ID": "a/b", "A": "x"}, {"ID": "a b", "A": "y"}],
        one('rml:template "http://e/{ID}/{A}" ; rml:termType rml:UnsafeIRI', pair("ex:a", 'rml:reference "A"')),
        '<http://e/a/b/x> <http://e/a> "x" .',
        letters=1,
    ),
    Situation(
        "a datatype and a language as constants of maps",
        PEOPLE[:1],
        one(
            BY_ID,
            pair("ex:id", 'rml:reference "ID" ; rml:datatypeMap [ rml:constant xsd:byte ]')
            + " ; "
            + pair("ex:s", 'rml:reference "Sport" ; rml:languageMap [ rml:constant "en" ]'),
        ),
        f'{S10} <http://e/id> "10"^^<{XSD}byte> .\n{S10} <http://e/s> "Tennis"@en .',
    ),
    Situation(
        "a constant of the term type that is said",
        PEOPLE[:1],
        one(BY_ID, pair("ex:p", "rml:constant ex:o ; rml:termType rml:IRI")),
        f"{S10} <http://e/p> <http://e/o> .",
    ),
    Situation("no rows", [], one(BY_ID, pair("ex:p", 'rml:reference "First"')), ""),
]

JSON_ONLY = [
    Situation(
        "a path into a document",
        [{"ID": 10, "a": {"b": {"c": 5}}}],
        one(BY_ID, pair("ex:c", 'rml:reference "a.b.c"')),
        f'{S10} <http://e/c> "5"^^<{XSD}integer> .',
    ),
    Situation(
        "a path with brackets",
        [{"ID": 10, "a b": {"c.d": "x"}}],
        one(BY_ID, pair("ex:c", "rml:reference \"['a b']['c.d']\"")),
        f'{S10} <http://e/c> "x" .',
    ),
    Situation(
        "an item of an array",
        [{"ID": 10, "a": ["x", "y"]}],
        one(BY_ID, pair("ex:a", 'rml:reference "a[1]"')),
        f'{S10} <http://e/a> "y" .',
    ),
    Situation(
        "all items of an array",
        [{"ID": 10, "a": ["x", "y", 3]}, {"ID": 20, "a": []}],
        one(BY_ID, pair("ex:a", 'rml:reference "a[*]"')),
        f'{S10} <http://e/a> "x" .\n{S10} <http://e/a> "y" .\n{S10} <http://e/a> "3"^^<{XSD}integer> .',
    ),
    Situation(
        "an array without a path into it",
        [{"ID": 10, "a": ["x", "y"]}],
        one(BY_ID, pair("ex:a", 'rml:reference "a"')),
        f'{S10} <http://e/a> "x" .\n{S10} <http://e/a> "y" .',
    ),
    Situation(
        "a field of all items",
        [{"ID": 10, "a": [{"n": 1}, {"n": 2}, {}]}],
        one(BY_ID, pair("ex:n", 'rml:reference "a[*].n"')),
        f'{S10} <http://e/n> "1"^^<{XSD}integer> .\n{S10} <http://e/n> "2"^^<{XSD}integer> .',
    ),
    Situation(
        "several values in a template",
        [{"ID": 10, "a": ["x", "y"], "b": ["1", "2"]}],
        one(BY_ID, pair("ex:p", 'rml:template "http://e/{a[*]}/{b[*]}"')),
        "\n".join(f"{S10} <http://e/p> <http://e/{a}/{b}> ." for a in "xy" for b in "12"),
    ),
    Situation(
        "several subjects of a row",
        [{"a": ["x", "y"], "v": "1"}],
        one('rml:template "http://e/{a[*]}"', pair("ex:v", 'rml:reference "v"')),
        '<http://e/x> <http://e/v> "1" .\n<http://e/y> <http://e/v> "1" .',
    ),
    Situation(
        "all fields of an object",
        [{"ID": 10, "a": {"x": 1, "y": 2}}],
        one(BY_ID, pair("ex:a", 'rml:reference "a.*"')),
        f'{S10} <http://e/a> "1"^^<{XSD}integer> .\n{S10} <http://e/a> "2"^^<{XSD}integer> .',
    ),
    Situation(
        "an object in an array",
        [{"ID": 10, "a": [1, {"x": 2}]}],
        one(BY_ID, pair("ex:a", 'rml:reference "a"')),
        f'{S10} <http://e/a> "1"^^<{XSD}integer> .',
        letters=1,
    ),
    Situation(
        "a text of digits stays a text",
        [{"ID": 10, "a": "007"}],
        one(BY_ID, pair("ex:a", 'rml:reference "a"')),
        f'{S10} <http://e/a> "007" .',
    ),
    Situation(
        "a field of an item",
        [{"ID": 10, "a": [{"b": "x"}, {"b": "y"}]}],
        one(BY_ID, pair("ex:a", 'rml:reference "a[1].b"')),
        f'{S10} <http://e/a> "y" .',
    ),
    Situation(
        "an object is no value", [{"ID": 10, "a": {"x": 1}}], one(BY_ID, pair("ex:a", 'rml:reference "a"')), "", letters=1
    ),
    Situation("a path that leads nowhere", [{"ID": 10, "a": 5}], one(BY_ID, pair("ex:a", 'rml:reference "a.b[0].c"')), ""),
    Situation(
        "an iterator into the document",
        [{"list": [{"ID": 10, "v": "a"}, {"ID": 20, "v": "b"}]}],
        one(BY_ID, pair("ex:v", 'rml:reference "v"')).replace('"$[*]"', '"$.list[*]"'),
        f'{S10} <http://e/v> "a" .\n{S20} <http://e/v> "b" .',
    ),
    Situation(
        "an iterator to an array iterates over its items",
        [{"list": [{"ID": 10, "v": "a"}]}],
        one(BY_ID, pair("ex:v", 'rml:reference "v"')).replace('"$[*]"', '"$.list"'),
        f'{S10} <http://e/v> "a" .',
    ),
    Situation(
        "a point before brackets",
        [{"ID": 10, "a": ["x"]}],
        one(BY_ID, pair("ex:a", 'rml:reference "$.a.[*]"')),
        f'{S10} <http://e/a> "x" .',
    ),
    Situation(
        "big integers keep their digits",
        [{"ID": 10, "a": 123456789012345678901}],
        one(BY_ID, pair("ex:a", 'rml:reference "a"')),
        f'{S10} <http://e/a> "123456789012345678901"^^<{XSD}integer> .',
    ),
]


def as_csv(rows: list[Row]) -> bytes:
    out = io.StringIO(newline="")
    names = list(dict.fromkeys(name for row in rows for name in row)) or ["ID", "First"]
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: str(value).lower() if isinstance(value, bool) else value for key, value in row.items()})
    return out.getvalue().encode()


def as_json(rows: list[Row]) -> bytes:
    return json.dumps([{key: None if value == "" else value for key, value in row.items()} for row in rows]).encode()


def as_lines(rows: list[Row]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def quads(data: bytes, extension: str, mapping: Mapping, letters: list[DeadLetter]) -> list[str]:
    found = plain_quads(io.BytesIO(data), extension, mapping, "f", letters.append)
    return sorted(" ".join(filter(None, quad)) + " ." for quad in found)


FORMS = {".csv": as_csv, ".json": as_json, ".jsonl": as_lines}


@pytest.mark.parametrize("extension", FORMS)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda each: each.name)
def test_situation(situation: Situation, extension: str) -> None:
    mapping = read_mapping(PREFIXES + situation.mapping, "m.ttl")
    letters: list[DeadLetter] = []
    expected = situation.expected if extension == ".csv" or situation.json is None else situation.json
    assert quads(FORMS[extension](situation.rows), extension, mapping, letters) == sorted(filter(None, expected.split("\n")))
    assert len(letters) == situation.letters, letters


@pytest.mark.parametrize("situation", JSON_ONLY, ids=lambda each: each.name)
def test_situation_of_json(situation: Situation) -> None:
    mapping = read_mapping(PREFIXES + situation.mapping, "m.ttl")
    letters: list[DeadLetter] = []
    for extension in (".json", ".jsonl"):
        assert quads(FORMS[extension](situation.rows), extension, mapping, letters) == sorted(
            filter(None, situation.expected.split("\n"))
        )
        assert len(letters) == situation.letters, letters
        letters.clear()


def timed(mapping: Mapping) -> Mapping:
    """The same mapping, each row an event at the time of its field T."""
    section = EventSection(Made((Reference("T"),), TermType.LITERAL))
    return replace(mapping, events=section, maps=tuple(replace(each, graphs=(), object_graphs=()) for each in mapping.maps))


ON_ROWS = [each for each in [*SITUATIONS, *JSON_ONLY] if "iterator" not in each.name and each.rows]


@pytest.mark.parametrize("situation", ON_ROWS, ids=lambda each: each.name)
def test_events_hold_the_triples_of_their_rows(situation: Situation) -> None:
    mapping = timed(read_mapping(PREFIXES + situation.mapping, "m.ttl"))
    rows = [{**row, "T": 5 + number} for number, row in enumerate(situation.rows)]
    extensions = [*FORMS] if situation in SITUATIONS else [".json", ".jsonl"]
    for extension in extensions:
        reader = MappedReaders(mapping).reader(extension)
        assert reader is not None
        letters: list[DeadLetter] = []
        reading = Reading(KEY, 0, "f", letters.append, None, ReadState(), 1 << 20, {})
        events = events_of(reader(io.BytesIO(FORMS[extension](rows)), reading))
        assert [event[0] for event in events] == [5 + number for number in range(len(rows))]
        told: list[DeadLetter] = []
        plain = replace(mapping, events=None)
        for number, event in enumerate(events):
            expected = quads(FORMS[extension]([rows[number]]), extension, plain, told)
            # the n-th event of a run salts its blank nodes with n
            assert sorted(" ".join(t) + " ." for t in event[3]) == [q.replace("_:b0x", f"_:b{number + 1}x") for q in expected]
        assert len(letters) == len(told) == situation.letters


REFUSED = [
    (
        one(BY_ID, pair("ex:p", 'rml:parentTriplesMap <#T> ; rml:joinCondition [ rml:child "a" ]')),
        "<#T>: rml:joinCondition: joins",
    ),
    (one(BY_ID, pair("ex:p", "rml:functionExecution ex:f")), "functions are not supported"),
    (one(BY_ID, pair("ex:p", 'rml:referance "x"')), "did you mean rml:reference"),
    (one(BY_ID, pair("ex:p", 'rml:reference "x" ; rml:template "{x}"')), "a constant, a reference or a template"),
    (one(BY_ID, pair("ex:p", 'rml:template "x" ; rml:termType rml:Literal')), "names no field"),
    (one(BY_ID, pair("ex:p", 'rml:template "{}"')), "without a name"),
    (one(BY_ID, "rml:predicateObjectMap [ rml:predicate ex:p ]"), "a predicate and an object"),
    (one('rml:reference "x" ; rml:termType rml:Literal'), "a literal cannot be a subject"),
    (one(f"{BY_ID} ; rml:termType ex:Odd"), "is no term type"),
    (one('rml:constant "School"'), "a literal cannot be a subject"),
    (one(f'{BY_ID} ; rml:graphMap [ rml:reference "x" ; rml:termType rml:Literal ]'), "a literal cannot be a graph"),
    (one(BY_ID, pair('"p"', 'rml:reference "x"')), "a literal cannot be a predicate"),
    (one(BY_ID, pair("[]", 'rml:reference "x"')), "a blank node cannot be a predicate"),
    (one("rml:constant ex:s ; rml:termType rml:BlankNode"), "is no blank node, as rml:termType says"),
    (one(BY_ID, pair("ex:p", 'rml:reference "x" ; rml:language "english"')), "'english' is no language tag"),
    (one(BY_ID, pair("ex:p", 'rml:reference "x" ; rml:languageMap [ rml:reference "y" ]')), "a language from a field"),
    (one(BY_ID, pair("ex:p", 'rml:reference "x" ; rml:datatypeMap [ rml:template "{y}" ]')), "a datatype from a field"),
    (one('rml:template "http://e/{{ID}}"'), "has a brace by itself"),
    (one(r'rml:template "http://e/{I\\D}"'), "a backslash before neither"),
    (one('rml:template "n/{ID}"'), "makes relative IRIs"),
    (one('rml:template "http://e/a b/{ID}"'), "a character that an IRI must not hold"),
    (one(BY_ID, "", '<#X> <urn:scepter:map:time> "t" ; <urn:scepter:map:event> "all" .'), "names no field"),
    (one(BY_ID, "", '<#X> <urn:scepter:map:time> "{t" .'), "has a brace by itself"),
    ("<#T> rml:predicateObjectMap [ rml:predicate ex:p ] .", "no triples map"),
    (one(BY_ID).replace("rml:JSONPath", "rml:XPath"), "a source in XPath is not supported"),
    (one(BY_ID, "", '<#X> <urn:scepter:map:tme> "t" .'), "did you mean time"),
    ("<#T> rml:subjectMap [", "not Turtle"),
]


@pytest.mark.parametrize(("mapping", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_what_is_refused_is_refused_by_name(mapping: str, message: str) -> None:
    with pytest.raises(OptionError, match=message) as refused:
        read_mapping(PREFIXES + mapping, "m.ttl")
    assert str(refused.value).startswith("error[mapping]: m.ttl")


def test_a_bare_field_of_any_text_names_an_event() -> None:
    text = PREFIXES + one(BY_ID, "", '<#X> <urn:scepter:map:time> "t" ; <urn:scepter:map:event> "{ID}" .')
    section = read_mapping(text, "m.ttl").events
    assert section is not None
    assert section.event == Made(("urn:scepter:event:", Reference("ID")), TermType.IRI, True)


@pytest.mark.parametrize("path", ["$..a", "a[?(@.b)]", "a[0:2]", "a[0,1]"])
def test_paths_that_are_refused(path: str) -> None:
    mapping = read_mapping(PREFIXES + one(BY_ID, pair("ex:p", f'rml:reference "{path}"')), "m.ttl")
    with pytest.raises(OptionError, match=r"not supported|cannot be read"):
        quads(as_json([{"ID": 10, "a": 1}]), ".json", mapping, [])


def test_triple_terms_that_nest_deep_are_refused_before_they_are_parsed() -> None:
    """Where the parser lets go of them it takes a piece of stack for each level; at its end the process was killed."""
    deep = "<http://e> rml:subject " + "<<( <http://e> <http://e> " * 200_000 + "1" + " )>>" * 200_000 + " ."
    with pytest.raises(OptionError, match=r"m\.ttl: not read: more than 200 levels of nesting \(limit depth\)"):
        read_mapping(PREFIXES + deep, "m.ttl")


def test_there_are_at_least_sixty_situations() -> None:
    assert 2 * len(SITUATIONS) + len(JSON_ONLY) >= 60
