"""Random RSEP-QL queries, as text, and random small streams for them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from hypothesis import strategies as st

from naive.rsepql import Event
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

EXAMPLES = int(os.environ.get("SCEPTER_EXAMPLES", "40"))
"""How many runs a property is tried on; set it to thousands to search for a while."""

NS = "http://example/"
STREAMS = (f"{NS}s1", f"{NS}s2")
DB = f"{NS}db"
BACKGROUND = f"<{NS}a> <{NS}name> <{NS}ann> , <{NS}bob> .\n<{NS}b> <{NS}name> <{NS}ann> .\n"

POLICIES = ("unrestricted", "chronological", "recent", "naive")
_LEFT = "?x :p ?y"
_RIGHT = "?y :q ?z"
_BODIES = (
    "?x :p ?y . ?y :q ?z",
    "?x :p ?y OPTIONAL { ?y :q ?z }",
    "{ ?x :p ?y } UNION { ?z :q ?y }",
    "?x :p [] ",
    "?x ?r ?y FILTER (?y != :a)",
    "?x :p ?y BIND (1 AS ?one)",
    "?x :p ?y GRAPH <http://example/db> { ?x :name ?n }",
)


@dataclass(frozen=True)
class QueryText:
    """A query, and the options it is run with."""

    text: str
    policy: str | None
    evaluate_at: tuple[int, ...] | None

    def __repr__(self) -> str:
        return f"QueryText(policy={self.policy}, evaluate_at={self.evaluate_at}):\n{self.text}"


def background() -> frozenset[Triple]:
    """The triples of `BACKGROUND`."""
    names = (("a", "ann"), ("a", "bob"), ("b", "ann"))
    return frozenset(Triple(IRI(NS + who), IRI(f"{NS}name"), IRI(NS + name)) for who, name in names)


@st.composite
def _windows(draw: st.DrawFn, time_window: bool, *, counted: bool = False) -> list[str]:
    clauses = []
    for number in range(draw(st.integers(1, 3))):
        stream = draw(st.sampled_from([":s1", ":s1", ":s1", ":s1", ":s2"]))
        landmark = draw(st.booleans()) and not (time_window and number == 0)
        if counted and draw(st.booleans()) and not (time_window and number == 0):
            what, step = (
                draw(st.sampled_from(["ELEMENTS", "TRIPLES"])),
                draw(st.sampled_from(["", " STEP 1", " STEP 2", " STEP 3"])),
            )
            extent = f"{what} {draw(st.integers(1, 4))}{step}"
        elif landmark:
            extent = f"LND {draw(st.integers(0, 4))}"
        else:
            extent = f"RANGE {draw(st.sampled_from([1, 3, 5, 8, 12]))}" + draw(
                st.sampled_from(["", " STEP 1", " STEP 2", " SLIDE 3", " STEP 5"])
            )
        spelling = draw(st.sampled_from(["FROM NAMED {s} WIN [{e}] AS :w{n}", "FROM NAMED WINDOW :w{n} ON {s} [{e}]"]))
        clauses.append(spelling.format(s=stream, e=extent, n=number))
    return clauses


_POLICY = st.sampled_from(["", "", "", " NAIVE", " CHRONOLOGICAL", " RECENT", " UNRESTRICTED"])


@st.composite
def _event_pattern(draw: st.DrawFn, labels: int, depth: int) -> str:
    kind = draw(st.sampled_from(["label", "seq", "seq", "seq", "first", "last"] if depth else ["label"]))
    if kind == "label":
        return f"E{draw(st.integers(0, labels - 1))}"
    if kind in ("first", "last"):
        return f"{kind.upper()} ({draw(_event_pattern(labels, depth - 1))})"
    left, right = draw(_event_pattern(labels, depth - 1)), draw(_event_pattern(labels, depth - 1))
    return f"({left}) SEQ{draw(_POLICY)} ({right})"


@st.composite
def _usual_pattern(draw: st.DrawFn, labels: int) -> str:
    """Left before right, as people write it."""
    left, right = (draw(st.sampled_from(["", "", "", "FIRST ", "LAST "])) + label for label in ("E0", "E1"))
    pattern = f"{left} SEQ{draw(_POLICY)} {right}"
    return draw(
        st.sampled_from([pattern, pattern, pattern, f"LAST ({pattern})", f"{pattern} SEQ{draw(_POLICY)} E{labels - 1}"])
    )


@st.composite
def _event_body(draw: st.DrawFn, number: int) -> str:
    usual = (_LEFT, _RIGHT, _LEFT)[number]
    return draw(st.sampled_from([usual] * 8 + list(_BODIES)))


@st.composite
def queries(draw: st.DrawFn) -> QueryText:
    """A query that every check accepts."""
    at = draw(st.sampled_from(["change", "change", "close", "given"]))
    windows = draw(_windows(at == "close"))
    labels = draw(st.sampled_from([2, 2, 3]))
    events = [
        f"EVENT ON :w{draw(st.integers(0, len(windows) - 1))} {{ {draw(_event_body(number))} }} AS E{number}"
        for number in range(labels)
    ]
    any_pattern = _event_pattern(labels, draw(st.sampled_from([0, 1, 2, 2, 3])))
    match = f"MATCH {{ {draw(st.one_of(_usual_pattern(labels), _usual_pattern(labels), any_pattern))} }}"
    another = f"MATCH {{ {draw(st.one_of(st.just('E0'), _usual_pattern(labels), any_pattern))} }}"
    window = f":w{len(windows) - 1}"
    where = draw(
        st.sampled_from(
            [match] * 6
            + [f"{match} {another}"] * 2
            + [
                f"{match} WINDOW {window} {{ ?a :p ?b }}",
                f"{match} OPTIONAL {{ WINDOW {window} {{ ?y :q ?b }} }}",
                f"{match} FILTER NOT EXISTS {{ WINDOW {window} {{ ?y :q ?b }} }}",
                f"{match} GRAPH <{DB}> {{ ?m :name ?n }}",
                f"{match} MINUS {{ ?m :name ?n }}",
                f"WINDOW {window} {{ ?x :p ?y OPTIONAL {{ ?y :q ?z }} }}",
                f"OPTIONAL {{ {match} }} WINDOW {window} {{ ?a :p ?b }}",
                f"{match} {another} MATCH {{ E1 }}",
                f"{{ {match} }} UNION {{ {another} }}",
                f"{match} OPTIONAL {{ {another} }}",
                f"{{ {match} }} UNION {{ WINDOW {window} {{ ?x :p ?y }} }}",
            ]
        )
    )
    result, tail = draw(
        st.sampled_from(
            [("SELECT *", "")] * 5
            + [
                ("SELECT DISTINCT *", ""),
                ("SELECT (COUNT(*) AS ?count)", ""),
                ("SELECT (1 AS ?k) ", ""),
                ("ASK", ""),
                ("CONSTRUCT { :it :is :so }", ""),
                ("SELECT (SAMPLE(1) AS ?k) (COUNT(*) AS ?count)", "HAVING (COUNT(*) > 1)"),
            ]
        )
    )
    register = draw(
        st.sampled_from(["", "", "REGISTER ISTREAM :out AS", "REGISTER RSTREAM :out AS", "REGISTER DSTREAM :out AS"])
    )
    policy = draw(st.sampled_from(["", "", "", "", *(f"POLICY {name}" for name in POLICIES)]))
    report = "REPORT ON WINDOW CLOSE" if at == "close" else draw(st.sampled_from(["", "REPORT ON CONTENT CHANGE"]))
    lines = [f"PREFIX : <{NS}>", register, result, *windows, *events, policy, report, f"WHERE {{ {where} }}", tail]
    instants = tuple(draw(st.lists(st.integers(0, 14), min_size=1, max_size=4))) if at == "given" else None
    option = draw(st.sampled_from([None, *POLICIES, "chronological", "recent"]))
    return QueryText("\n".join(line for line in lines if line), option, instants)


def _term() -> st.SearchStrategy[Term]:
    iris: list[Term] = [IRI(NS + name) for name in "ab"]
    return st.sampled_from([*iris * 5, BlankNode("n"), Literal("1", f"{XSD}integer")])


@st.composite
def events(draw: st.DrawFn) -> list[Event]:
    """Items of both streams, most of them instants, many at equal times."""
    found = []
    for _ in range(draw(st.sampled_from([0, 4, 6, 8, 10, 12]))):
        start = draw(st.integers(0, 11))
        end = start + draw(st.sampled_from([0, 0, 0, 0, 1, 3]))
        triples = []
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
            subject = draw(_term().filter(lambda term: not isinstance(term, Literal)))
            triples.append(Triple(subject, IRI(NS + draw(st.sampled_from("pq"))), draw(_term())))
        found.append(Event(draw(st.sampled_from([STREAMS[0]] * 4 + [STREAMS[1]])), start, end, tuple(dict.fromkeys(triples))))
    return found


@st.composite
def window_queries(draw: st.DrawFn) -> QueryText:
    """A query over windows without event patterns."""
    at = draw(st.sampled_from(["change", "change", "close", "given"]))
    windows = draw(_windows(at == "close", counted=True))
    one, other = ":w0", f":w{len(windows) - 1}"
    where = draw(
        st.sampled_from(
            [
                f"WINDOW {one} {{ ?x :p ?y . ?y :q ?z }}",
                f"WINDOW {one} {{ ?x :p ?y }} WINDOW {other} {{ ?y :q ?z }}",
                f"WINDOW {one} {{ ?x :p ?y OPTIONAL {{ ?y :q ?z }} }}",
                f"WINDOW {one} {{ ?x :p ?y }} MINUS {{ WINDOW {other} {{ ?y :q ?z }} }}",
                f"WINDOW {one} {{ ?x :p ?y FILTER NOT EXISTS {{ ?y :q ?x }} }}",
                f"{{ WINDOW {one} {{ ?x :p ?y }} }} UNION {{ WINDOW {other} {{ ?x :q ?y }} }}",
                f"WINDOW {one} {{ ?x :p ?y }} ?m :name ?n",
                f"WINDOW {one} {{ ?x ?p ?y }} GRAPH <{DB}> {{ ?y :name ?n }}",
                f"WINDOW {one} {{ ?x :p ?x . ?x :q ?y }}",
                f"?x :name ?y OPTIONAL {{ WINDOW {one} {{ ?x :p ?z }} }}",
                f"WINDOW {one} {{ ?x :p|:q ?y }}",
                f"WINDOW {one} {{ ?x (:p|^:q)+ ?y }}",
                f"WINDOW {one} {{ ?x :p ?y }} WINDOW {other} {{ ?y :q/:p+ :a }}",
                f"WINDOW {one} {{ ?x :p ?y }} ?m :name+ ?n",
                f"WINDOW {one} {{ ?x :p ?y . ?y :q+ :a }}",
                f"WINDOW {one} {{ ?x :p ?y OPTIONAL {{ ?y :q* ?z }} }}",
            ]
        )
    )
    result, tail = draw(
        st.sampled_from(
            [("SELECT *", "")] * 4
            + [
                ("SELECT DISTINCT ?x", ""),
                ("SELECT (COUNT(*) AS ?count)", ""),
                ("SELECT ?y (COUNT(DISTINCT ?x) AS ?count)", "GROUP BY ?y"),
                ("SELECT (MAX(?y) AS ?max) (COUNT(?y) AS ?count)", "HAVING (COUNT(*) > 1)"),
                ("ASK", ""),
                ("CONSTRUCT { :it :is ?y }", ""),
            ]
        )
    )
    register = draw(st.sampled_from(["", "REGISTER ISTREAM :out AS", "REGISTER RSTREAM :out AS", "REGISTER DSTREAM :out AS"]))
    report = "REPORT ON WINDOW CLOSE" if at == "close" else ""
    lines = [f"PREFIX : <{NS}>", register, result, *windows, report, f"WHERE {{ {where} }}", tail]
    instants = tuple(draw(st.lists(st.integers(0, 14), min_size=1, max_size=4))) if at == "given" else None
    return QueryText("\n".join(line for line in lines if line), None, instants)
