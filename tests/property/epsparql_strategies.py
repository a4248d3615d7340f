"""Random EP-SPARQL queries and streams over a small vocabulary, so that much matches."""

from __future__ import annotations

import os

from hypothesis import strategies as st

from naive.epsparql import Event
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple

EXAMPLES = int(os.environ.get("SCEPTER_EXAMPLES", "40"))
PREFIX = "PREFIX : <http://example/>\n"
STREAM = "http://example/s"
SUBJECTS = ("a", "b")
PREDICATES = ("p", "p", "q", "q", "r")
VARIABLES = ("x", "y", "v", "w")
PLAIN = ("SEQ", "SEQ", "SEQ", "EQUALS", "UNION")
OPTIONAL = ("OPTIONALSEQ", "EQUALSOPTIONAL")
ALLEN = ("DURING", "CONTAINS", "OVERLAPS", "OVERLAPPEDBY", "MEETS", "METBY", "STARTS", "STARTEDBY", "FINISHES", "FINISHEDBY")


def iri(name: str) -> IRI:
    return IRI(f"http://example/{name}")


def number(value: int) -> Literal:
    return Literal(str(value), XSD + "integer")


_objects: st.SearchStrategy[Term] = st.one_of(
    st.integers(1, 3).map(number), st.sampled_from(SUBJECTS).map(iri)
)  # fmt: skip
triples = st.builds(Triple, st.sampled_from(SUBJECTS).map(iri), st.sampled_from(PREDICATES).map(iri), _objects)


@st.composite
def events(draw: st.DrawFn, most: int = 8) -> list[Event]:
    found = []
    for _ in range(draw(st.integers(0, most)) + draw(st.sampled_from([0, 3, 3]))):
        start = draw(st.integers(0, 7))
        length = draw(st.sampled_from([0, 0, 0, 1, 3]))
        graph = draw(st.lists(triples, min_size=1, max_size=2))
        found.append(Event(tuple(dict.fromkeys(graph)), start, start + length, STREAM))
    return found


statics = st.lists(triples, max_size=3)

_subject = st.sampled_from(["?x", "?x", "?x", "?x", "?y", ":a"])
_predicate = st.sampled_from([":p", ":p", ":p", ":q", ":q", ":q", ":r", "?z"])
_object = st.sampled_from(["?v", "?v", "?w", "?w", "?x", "1", "_:b"])
_pattern = st.builds(lambda s, p, o: f"{s} {p} {o}", _subject, _predicate, _object)
_paths = st.builds(
    lambda s, p, o: f"{s} {p} {o}",
    st.sampled_from(["?x", ":a"]),
    st.sampled_from([":p+", ":q*", "(:p|:q)+", "!:p", "!(:p|^:q)", ":p?", ":p/:q", "^:p"]),
    st.sampled_from(["?y", "?v"]),
)
_plain_tests = ["?v > 1", "?w = ?v", "?v <= ?w", "BOUND(?w)", "!BOUND(?v)", "?x != :a"]
_test = st.sampled_from(
    [
        *_plain_tests, "getDURATION() < 4", "getDURATION() <= 2",
        "getENDTIME() - getSTARTTIME() < 6", "getSTARTTIME() > 1", "getENDTIME() > 3 && ?v != 2", "getDURATION() > 1 || ?v = 1",
    ]
)  # fmt: skip
_bound = st.sampled_from(["getDURATION() < 3", "getDURATION() <= 5", "getDURATION() < 8"])


class Names:
    """New names for BIND, and new blank nodes for each group; `plain` is a query that says nothing of time."""

    def __init__(self, *, plain: bool = False) -> None:
        self.count = 0
        self.plain = plain

    def next(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"


@st.composite
def _leaf(draw: st.DrawFn, names: Names, *, paths: bool) -> str:
    patterns = draw(st.lists(_pattern, min_size=1, max_size=draw(st.sampled_from([1, 1, 2]))))
    if paths and draw(st.integers(0, 5)) == 0:
        patterns.append(draw(_paths))
    return " . ".join(patterns).replace("_:b", names.next("_:b"))


@st.composite
def _group(draw: st.DrawFn, names: Names, depth: int, *, exists: bool = True) -> str:
    return f"{{ {draw(_body(names, depth, exists=exists))} }}"


@st.composite
def _body(draw: st.DrawFn, names: Names, depth: int, *, exists: bool = True) -> str:
    """The inside of a group. `exists` is off inside EXISTS, where paths are not tried."""
    shapes = ["leaf", "optional", "minus", "exists", "select", "bind", "values", "union", "constant"]
    shapes += ["constant", "union"] if names.plain else ["chain", "chain", "chain"]
    shape = draw(st.sampled_from(shapes if depth > 0 else ["leaf"]))
    inner = _group(names, depth - 1, exists=exists)
    match shape:
        case "leaf":
            body = draw(_leaf(names, paths=exists))
        case "chain":
            operators = draw(st.lists(st.sampled_from(PLAIN + OPTIONAL + ALLEN), min_size=1, max_size=2))
            body = draw(inner) + "".join(f" {operator} {draw(inner)}" for operator in operators)
        case "optional" | "minus":
            body = f"{draw(_leaf(names, paths=exists))} {shape.upper()} {draw(inner)}"
        case "exists":
            negated = draw(st.sampled_from(["", "NOT "]))
            body = f"{draw(_leaf(names, paths=False))} FILTER {negated}EXISTS {draw(_group(names, depth - 1, exists=False))}"
        case "select":
            shown = draw(st.sampled_from(["?x", "?x ?v", "DISTINCT ?x", "?v"]))
            body = f"{{ SELECT {shown} WHERE {draw(inner)} }} {draw(_leaf(names, paths=False))}"
        case "union":
            body = f"{draw(inner)} UNION {draw(inner)}"
        case "constant":
            lead = draw(st.sampled_from(["", "VALUES ?v { 1 2 }", "VALUES (?v ?w) { (1 UNDEF) (UNDEF 1) }", "BIND (1 AS ?w)"]))
            operator = draw(st.sampled_from(["OPTIONAL", "OPTIONAL", "MINUS", "UNION", "FILTER EXISTS", "FILTER NOT EXISTS"]))
            lead = f"{{ {lead} }}" if operator == "UNION" else lead
            right = draw(_group(names, depth - 1, exists=exists and not operator.startswith("FILTER")))
            body = f"{lead} {operator} {right} {draw(st.sampled_from(['', draw(_leaf(names, paths=False))]))}"
        case "values":
            body = f"VALUES ?v {{ 1 2 }} {draw(_leaf(names, paths=False))}"
        case _:
            value = draw(st.sampled_from(["?v + 1", "?x", *([] if names.plain else ["getDURATION()", "getENDTIME()"])]))
            body = f"{draw(inner)} BIND ({value} AS {names.next('?n')})"
    if draw(st.integers(0, 2)) == 0:
        body += f" FILTER ({draw(st.sampled_from(_plain_tests) if names.plain else _test)})"
    return body


@st.composite
def plain_queries(draw: st.DrawFn) -> str:
    """SPARQL that says nothing of time."""
    body = draw(_body(Names(plain=True), 2))
    columns = draw(st.sampled_from(["*", "*", "?x ?v", "(COUNT(*) AS ?n)", "DISTINCT ?x"]))
    return f"{PREFIX}SELECT {columns} WHERE {{ {body} }}"


@st.composite
def queries(draw: st.DrawFn) -> str:
    """A SELECT over everything, sometimes with aggregates, modifiers, a bound."""
    names = Names()
    body = draw(_body(names, 2))
    if draw(st.booleans()):
        body = f"{{ {body} }} FILTER ({draw(_bound)})"
    shape = draw(st.integers(0, 9))
    if shape == 0:
        function = draw(st.sampled_from(["COUNT(*)", "COUNT(DISTINCT ?v)", "SUM(?v)", "MIN(?v)"]))
        window = draw(st.sampled_from(["", "WINDOW [ROWS 2]", "WINDOW [RANGE 3]"]))
        grouped = draw(st.booleans())
        head, tail = ("?x ", "GROUP BY ?x") if grouped else ("", "")
        return f"{PREFIX}SELECT {head}({function} AS ?agg) WHERE {{ {body} }} {window} {tail}"
    if shape == 1:
        modifiers = draw(st.sampled_from(["LIMIT 1", "ORDER BY ?v LIMIT 1", "ORDER BY DESC(?x) ?v LIMIT 2 OFFSET 1"]))
        return f"{PREFIX}SELECT ?x ?v WHERE {{ {body} }} {modifiers}"
    if shape == 2:
        return f"{PREFIX}ASK {{ {body} }}"
    if shape == 3:
        return f"{PREFIX}CONSTRUCT {{ ?x :made ?v . :it :has ?w }} WHERE {{ {body} }}"
    return f"{PREFIX}SELECT * WHERE {{ {body} }}"


@st.composite
def chains(draw: st.DrawFn) -> str:
    """What policies decide: SEQ and EQUALS over leaves, with and without a bound."""
    names = Names()
    leaf = st.one_of(st.sampled_from(["?x :p ?v", "?y :q ?w", "?x :q ?w", "?x :p ?u . ?y :q ?u"]), _leaf(names, paths=False))
    groups = [f"{{ {draw(leaf)} }}" for _ in range(draw(st.integers(2, 3)))]
    body = groups[0] + "".join(f" {draw(st.sampled_from(['SEQ', 'SEQ', 'EQUALS']))} {group}" for group in groups[1:])
    tests = [t for t in (draw(st.sampled_from([None, "?v > 1"])), draw(st.one_of(st.none(), _bound))) if t is not None]
    return f"{PREFIX}SELECT * WHERE {{ {body} {' '.join(f'FILTER ({t})' for t in tests)} }}"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Rules that feed each other and a query; SEQ keeps recursion from going on at one instant."""
    rules = []
    for _ in range(draw(st.integers(1, 2))):
        made = draw(st.sampled_from(["?x :q ?v", "?x :r ?v", "?x :p ?v . ?x :r 1"]))
        body = draw(
            st.sampled_from(
                [
                    "{ ?x :p ?v } SEQ { ?x :q ?w }",
                    "{ ?x :r ?v } SEQ { ?y :p ?w }",
                    "?x :p ?v FILTER (?v > 1)",
                    "{ ?x :q ?v } SEQ { ?x :p ?w } FILTER (getDURATION() < 5)",
                ]
            )
        )
        rules.append(f"CONSTRUCT {{ {made} }} WHERE {{ {body} }}")
    return PREFIX + "\n".join(rules) + f"\nSELECT * WHERE {{ {draw(_body(Names(), 1))} }}"


@st.composite
def several(draw: st.DrawFn) -> str:
    """Queries of one file that have much in common: rules, patterns, all but a constant; some have nothing in common."""
    bodies = draw(st.lists(st.sampled_from(_ALIKE), min_size=1, max_size=2))
    found = []
    if draw(st.integers(0, 3)) == 0:
        found.append("CONSTRUCT { ?x :q ?v } WHERE { { ?x :p ?v } SEQ { ?x :r ?w } }")
    for _ in range(draw(st.integers(2, 4))):
        tests = draw(st.lists(st.sampled_from(_CONSTANTS), max_size=2, unique=True))
        bound = draw(
            st.sampled_from(["", "FILTER (getDURATION() < 4)", "FILTER (getDURATION() < 4)", "FILTER (getDURATION() <= 5)"])
        )
        shown = draw(st.sampled_from(["*", "*", "?x ?v", "?w"]))
        filters = "".join(f" FILTER ({test})" for test in tests)
        found.append(f"SELECT {shown} WHERE {{ {draw(st.sampled_from(bodies))}{filters} {bound} }}")
    if draw(st.integers(0, 2)) == 0:
        found.append("ASK { ?x :p ?v . ?x :q ?w }")
    return PREFIX + "\n".join(found)


_ALIKE = (
    "{ ?x :p ?v } SEQ { ?x :q ?w }",
    "{ ?x :p ?v } SEQ { ?x :p ?w } SEQ { ?x :q ?u }",
    "{ ?x :p ?v } SEQ { ?x :p ?v }",
    "?x :p ?v . ?x :q ?w",
    "{ ?x :p ?v } OPTIONAL { ?x :q ?w }",
    "{ ?x :q ?w } OPTIONALSEQ { ?x :p ?v }",
)
_CONSTANTS = (
    "?v < 2",
    "?v < 3",
    "?v <= 2.0",
    "?w > 1",
    "?w > 2",
    "?x = :a",
    "?x = :b",
    "?v = 1",
    "?v = 2.0",
    "?v < ?w",
    "?w != :a",
)
