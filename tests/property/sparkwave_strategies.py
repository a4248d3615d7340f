"""Random Sparkwave queries, as text, with random small streams, static data and schemas for them."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from naive.entailment import DOMAIN, INVERSE_OF, RANGE, SUB_CLASS_OF, SUB_PROPERTY_OF, SYMMETRIC, A
from naive.sparkwave import Event
from scepter.rdf.terms import IRI, XSD, Literal, Term, Triple

NS = "http://example/"
STREAMS = (f"{NS}s1", f"{NS}s2")
THINGS: list[Term] = [IRI(NS + name) for name in "xyz"]
NUMBERS: list[Term] = [Literal(str(n), XSD + "integer") for n in (1, 2)]
PREDICATES = [IRI(NS + name) for name in "pq"]
CLASSES = [IRI(NS + name) for name in ("C", "D")]
ELEMENTS = ["optional", "optional", "union", "values", "bind", "minus", "group", "select"]


@dataclass(frozen=True)
class Setting:
    """A query with all that it reads."""

    text: str
    events: tuple[Event, ...]
    static: tuple[Triple, ...]
    schema: tuple[Triple, ...]

    def __repr__(self) -> str:
        rows = [f"  {e.stream[-2:]} {e.start}..{e.end} {[_short(t) for t in e.triples]}" for e in self.events]
        static, schema = [_short(t) for t in self.static], [_short(t) for t in self.schema]
        return "\n".join([self.text, *rows, f"  static {static}", f"  schema {schema}"])


def _short(triple: Triple) -> str:
    return " ".join(str(term).replace(NS, ":") for term in triple)


def triples() -> st.SearchStrategy[Triple]:
    things, objects = st.sampled_from(THINGS), st.sampled_from([*THINGS, *NUMBERS])
    related = st.builds(Triple, things, st.sampled_from(PREDICATES), objects)
    return st.one_of(related, related, st.builds(Triple, things, st.just(A), st.sampled_from(CLASSES)))


def schemas() -> st.SearchStrategy[list[Triple]]:
    properties, classes = st.sampled_from(PREDICATES), st.sampled_from(CLASSES)
    statement = st.one_of(
        st.builds(Triple, classes, st.just(SUB_CLASS_OF), classes),
        st.builds(Triple, properties, st.sampled_from([SUB_PROPERTY_OF, INVERSE_OF]), properties),
        st.builds(Triple, properties, st.sampled_from([DOMAIN, RANGE]), classes),
        st.builds(Triple, properties, st.just(A), st.just(SYMMETRIC)),
    )
    return st.lists(statement, max_size=2)


@st.composite
def events(draw: st.DrawFn, most: int = 6) -> list[Event]:
    found = []
    for _ in range(draw(st.sampled_from([0, 1, *range(2, most + 1)]))):
        end = draw(st.integers(0, 12))
        start = end - draw(st.sampled_from([0, 0, 0, 0, 1, 3]))
        graph = draw(st.lists(triples(), min_size=1, max_size=3))
        found.append(Event(draw(st.sampled_from(STREAMS)), tuple(dict.fromkeys(graph)), start, end))
    return found


@st.composite
def blocks(draw: st.DrawFn, most: int = 2) -> str:
    """Triple patterns."""
    patterns = []
    for _ in range(draw(st.integers(1, most))):
        subject = draw(st.sampled_from(["?a", "?a", "?a", "?a", "?b", ":x"]))
        verb = draw(st.sampled_from([":p", ":p", ":q", ":q", "a", "?r"]))
        object = draw(st.sampled_from([":C", ":D", "?k"] if verb == "a" else ["?b", "?v", "?v", "?v", "?w", "?w", ":y", "1"]))
        patterns.append(f"{subject} {verb} {object} .")
    return " ".join(patterns)


def conditions(*, periodic: bool) -> st.SearchStrategy[str]:
    known = ["?a != :z", "?a = :x || ?a = :y", "BOUND(?a)", "EXISTS { ?a :q ?e }", "NOT EXISTS { ?a :p ?e . ?a :q ?e }"]
    return st.sampled_from([*known, "COALESCE(timestamp(?a, :p, ?a2), 5) > 4", *(["true"] if periodic else [])])


TIMED = [
    "timestamp(?a, :p, ?v) > 3",
    "timestamp(?a, :p, ?v) < timestamp(?a, :q, ?w)",
    "COALESCE(timestamp(?a, :q, ?v), 4) > 3 && ?a != :z",
    "!BOUND(?v) || timestamp(?a, ?r, ?v) >= 5",
    "timestamp(:x, :p, 1) > 2",
    "EXISTS { ?a :q ?e FILTER (timestamp(?a, :q, ?e) > 4) }",
]
"""Conditions that ask for the latest such triple: one that the group names, another one, or one that may be unbound."""


@st.composite
def timed(draw: st.DrawFn) -> Setting:
    """A periodic query that asks when, over triples that come again."""
    step = draw(st.sampled_from([1, 2, 3]))
    windows = [f"[RANGE {n} STEP {step}]" for n in (3, 5, 9)]
    sources = [f"FROM STREAM <{stream}> {draw(st.sampled_from(windows))}" for stream in STREAMS]
    group = draw(st.sampled_from(["?a :p ?v .", "?a :p ?v . ?a :q ?w .", "?a ?r ?v .", "{ ?a :p ?v } UNION { ?a :q ?v }"]))
    if draw(st.booleans()):
        group += f" OPTIONAL {{ {draw(blocks())} }}"
    bound = [each for each in TIMED if all(name in group for name in ("?w", "?r") if name in each)]
    group += f" FILTER ({draw(st.sampled_from(bound))})"
    if draw(st.booleans()):
        group += " BIND (timestamp(?a, :p, ?v) AS ?t)"
    heads = [("SELECT *", ""), ("SELECT *", "ORDER BY timestamp(?a, :p, ?v) ?a"), ("SELECT DISTINCT ?a", "")]
    heads += [("SELECT ?a (MAX(timestamp(?a, :p, ?v)) AS ?m)", "GROUP BY ?a")]
    heads += [("SELECT ?a ?v (COUNT(*) AS ?n)", "GROUP BY ?a ?v HAVING (timestamp(?a, :p, ?v) > 4)")]
    head, tail = draw(st.sampled_from(heads))
    text = f"PREFIX : <{NS}>\n{head} {' '.join(sources)}\nWHERE {{ {group} }} {tail}"
    few = st.builds(Triple, st.sampled_from(THINGS[:2]), st.sampled_from(PREDICATES), st.sampled_from(NUMBERS))
    again = draw(st.lists(few, min_size=1, max_size=4))
    found = []
    for _ in range(draw(st.integers(1, 9))):
        end = draw(st.integers(0, 12))
        graph = draw(st.lists(st.sampled_from(again), min_size=1, max_size=3))
        found.append(Event(draw(st.sampled_from(STREAMS)), tuple(dict.fromkeys(graph)), end, end))
    static = draw(st.lists(st.sampled_from(again), max_size=1))
    return Setting(text, tuple(found), tuple(static), tuple(draw(schemas())))


@st.composite
def groups(draw: st.DrawFn, *, periodic: bool) -> str:
    """A WHERE clause."""
    walks = ["?a :p+ ?b .", "?a :q/:p+ :y .", "?a (:p|^:q)+ :y .", "?a :p* ?b ."] if periodic else []
    parts = [draw(blocks(draw(st.sampled_from([1, 2, 2, 3])))).replace("?b :", "?a :", 1)]
    if "?a" not in parts[0]:
        parts[0] = "?a :p ?v . " + parts[0]
    for kind in draw(
        st.lists(st.sampled_from(["optional", "union", "values", "bind", "minus", "group", "select", *walks]), max_size=2)
    ):
        inner = draw(blocks())
        match kind:
            case "optional":
                condition = draw(st.sampled_from(["", "", "FILTER (?a != :y)"]))
                parts.append(f"OPTIONAL {{ {inner} {condition} }}")
            case "union":
                parts.append(f"{{ {inner} }} UNION {{ {draw(blocks())} }}")
            case "values":
                parts.append(draw(st.sampled_from(["VALUES ?a { :x :y }", "VALUES (?a ?v) { (:x UNDEF) (UNDEF 1) (:x 2) }"])))
            case "bind":
                parts.append(f"BIND (STR(?a) AS ?n{len(parts)})")
            case "minus":
                parts.append(f"MINUS {{ {inner} }}")
            case "group":
                parts.append(f"{{ {inner} }}")
            case walk if walk in walks:
                parts.append(walk)
            case _:
                parts.append(f"{{ SELECT {draw(st.sampled_from(['?a', 'DISTINCT ?a ?v', '*']))} WHERE {{ {inner} }} }}")
    if draw(st.integers(0, 2)) == 0:
        parts.append(f"FILTER ({draw(conditions(periodic=periodic)).replace('?a2', '?a')})")
    return " ".join(parts)


@st.composite
def continuous(draw: st.DrawFn) -> Setting:
    """A continuous query."""
    windows = ["[RANGE 3]", "[RANGE 3]", "[RANGE 6]", "[RANGE 20]", "[RANGE TRIPLES 1]", "[RANGE TRIPLES 3]", ""]
    sources = [f"FROM STREAM <{stream}> {draw(st.sampled_from(windows))}" for stream in STREAMS]
    head = draw(
        st.sampled_from(
            ["SELECT *", "SELECT *", "SELECT ?a ?v", "SELECT DISTINCT ?a", "CONSTRUCT { ?a :r ?v . ?a :t [] }", "ASK"]
        )
    )
    tail = draw(st.sampled_from(["", "", "", "LIMIT 1", "ORDER BY DESC(?v) LIMIT 2", "OFFSET 1"]))
    group = draw(groups(periodic=False))
    text = f"PREFIX : <{NS}>\n{head} {' '.join(sources)}\nWHERE {{ {group} }} {tail if head != 'ASK' else ''}"
    return Setting(text, tuple(draw(events())), tuple(draw(st.lists(triples(), max_size=3))), tuple(draw(schemas())))


@st.composite
def periodic(draw: st.DrawFn) -> Setting:
    """A periodic query."""
    step = draw(st.sampled_from([1, 3, 5]))
    windows = [f"[RANGE {n} STEP {step}]" for n in (2, 5, 9)] + [f"[RANGE {step} TUMBLING]"]
    sources = [f"FROM STREAM <{stream}> {draw(st.sampled_from(windows))}" for stream in STREAMS]
    group = draw(groups(periodic=True))
    head, tail = draw(
        st.sampled_from(
            [
                ("SELECT *", ""),
                ("SELECT ?a ?v", ""),
                ("SELECT DISTINCT ?a", ""),
                ("SELECT ?a (COUNT(*) AS ?count)", "GROUP BY ?a"),
                ("SELECT (COUNT(?v) AS ?count) (SUM(?v) AS ?sum)", ""),
                ("SELECT ?a (COUNT(DISTINCT ?v) AS ?count)", "GROUP BY ?a HAVING (COUNT(?v) > 0)"),
                ("CONSTRUCT { ?a :r ?v }", ""),
                ("ASK", ""),
            ]
        )
    )
    if "?v" in head + tail and "?v" not in group:
        group = "?a :p ?v . " + group
    report = draw(st.sampled_from(["", "", " REPORT ON WINDOW CLOSE"]))
    text = f"PREFIX : <{NS}>\n{head} {' '.join(sources)}{report}\nWHERE {{ {group} }} {tail}"
    return Setting(text, tuple(draw(events(8))), tuple(draw(st.lists(triples(), max_size=3))), tuple(draw(schemas())))
