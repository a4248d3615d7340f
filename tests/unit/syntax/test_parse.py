from __future__ import annotations

import pytest

from scepter.errors import OptionError, QueryError, Span
from scepter.syntax import tree
from scepter.syntax.parse import LANGUAGES, detect_language, known_language, parse_spaseq
from scepter.syntax.spaseq_tree import FromStream, Reference, WithinClause

QUERY = """\
PREFIX : <http://example/>
SELECT ?x (?v * 2 AS ?w)
WITHIN 5 MINUTES SLIDING
FROM STREAM S :s
WHERE {
  SEQ (A; B+)
  DEFINE GPM A ON S { ?x :v ?v }
  DEFINE GPM B ON S { ?x :v/:w "é" FILTER (?v > -1) }
}
"""


def written(span: Span) -> str:
    return QUERY[span.start : span.end]


def test_spans_point_at_what_was_written() -> None:
    (query,) = parse_spaseq(QUERY).queries
    assert isinstance(query.result, tree.SelectClause)
    assert query.result.items is not None
    assert [written(item.span) for item in query.result.items] == ["?x", "(?v * 2 AS ?w)"]
    within, stream = query.clauses
    assert isinstance(within, WithinClause) and isinstance(stream, FromStream)
    assert (written(within.amount_span), within.sliding) == ("5 MINUTES", True)
    assert written(stream.stream.span) == ":s"
    assert written(query.sequence.span) == "SEQ (A; B+)"
    last = query.sequence.steps[1].atom
    assert isinstance(last, Reference)
    assert (written(last.span), written(last.name_span), last.postfix) == ("B+", "B", "+")
    triples, condition = query.definitions[1].group.elements
    assert isinstance(triples, tree.Triples) and isinstance(condition, tree.FilterClause)
    assert written(triples.triples[0].verb.span) == ":v/:w"
    assert written(triples.triples[0].object.span) == '"é"'
    assert written(condition.span) == "FILTER (?v > -1)"
    assert written(condition.condition.span) == "?v > -1"


def test_a_group_keeps_the_order_of_its_elements() -> None:
    body = "FILTER (?a > 1) ?a :p ?b OPTIONAL { ?a :q ?c } BIND (1 AS ?d) MINUS { ?a :r 1 } { ?a :s 2 } "
    body += "VALUES ?e { 1 } GRAPH :g { } ?a :t 3"
    query = f"PREFIX : <http://example/> ASK FROM STREAM S :s {{ SEQ (A) DEFINE GPM A ON S {{ {body} }} }}"
    elements = parse_spaseq(query).queries[0].definitions[0].group.elements
    assert [type(e).__name__ for e in elements] == [
        "FilterClause",
        "Triples",
        "OptionalClause",
        "BindClause",
        "MinusClause",
        "Alternatives",
        "ValuesClause",
        "GraphClause",
        "Triples",
    ]


def test_generated_labels_are_none_of_the_users() -> None:
    query = "ASK FROM STREAM S <http://example/s> { SEQ (A) DEFINE GPM A ON S { _:b1 ?p [ ?q ?r ] . _:bb2 ?p () } }"
    (triples,) = parse_spaseq(query).queries[0].definitions[0].group.elements
    assert isinstance(triples, tree.Triples)
    nodes = [n for t in triples.triples for n in (t.subject, t.object) if isinstance(n, tree.Blank)]
    assert sorted({n.label for n in nodes}) == ["b1", "bb2", "bbb1"]


def test_prefixes_may_change_between_queries() -> None:
    one = "PREFIX : <http://one/> ASK FROM STREAM S :s { SEQ (A) DEFINE GPM A ON S { } }"
    document = parse_spaseq(one + one.replace("one", "two"))
    streams = [q.clauses[0] for q in document.queries]
    assert [s.stream.iri.value for s in streams if isinstance(s, FromStream)] == ["http://one/s", "http://two/s"]
    assert dict(document.prefixes) == {"": "http://two/"}


@pytest.mark.parametrize("ending", ["\r\n", "\n\ufeff"])
def test_line_ends(ending: str) -> None:
    assert len(parse_spaseq(QUERY.replace("\n", ending)).queries) == 1


def test_the_place_counts_code_points() -> None:
    with pytest.raises(QueryError) as caught:
        parse_spaseq(QUERY.replace('"é"', '"😀" ?'))
    assert (caught.value.line, caught.value.column) == (8, 36)


def test_end_of_input_has_its_own_place() -> None:
    with pytest.raises(QueryError) as caught:
        parse_spaseq("ASK FROM STREAM S\n\n")
    assert caught.value.code == "syntax"
    assert (caught.value.line, caught.value.column) == (1, 18)
    assert "an IRI" in caught.value.diagnostic.message


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("SELECT * WHERE { SEQ (A; B) DEFINE GPM A ON S { } }", "spaseq"),
        ("SELECT * WHERE SEQ(A) { }", "spaseq"),
        ("SELECT ?x WHERE { { ?x :p ?y } SEQ { ?y :p ?z } }", "ep-sparql"),
        ("SELECT ?x WHERE { ?x :p ?y FILTER (getDURATION() < 5) }", "ep-sparql"),
        ("SELECT (AVG(?p) AS ?a) FROM STREAM <http://x/> WHERE { ?c :price ?p } WINDOW [RANGE 10]", "ep-sparql"),
        ("EVENT Busy AS (Room and armedWith some Sensor)\nRETURN Busy AS RDF STREAM", "obep"),
        ("NAMED EVENT :A { MATCH X -> Y WITHIN (5m) }", "obep"),
        ("SELECT ?x FROM NAMED :S WIN [LND 1] AS :w1 WHERE { WINDOW :w1 { ?x :p ?y } }", "rsep-ql"),
        ("REGISTER RSTREAM :out AS SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 5s] WHERE { }", "rsep-ql"),
        ("SELECT ?x FROM STREAM <http://x/> [RANGE 5m] WHERE { ?x a :T }", "sparkwave"),
        ("CONSTRUCT { } WHERE { ?x a :T . TIMEWINDOW (100) }", "sparkwave"),
        ("select * where { ?s ?p ?o } # DEFINE GPM", "ep-sparql"),
        ('select * where { ?s ?p "DEFINE GPM" }', "ep-sparql"),
    ],
)
def test_detection_by_text(text: str, language: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    ("name", "language"),
    [("a.spaseq", "spaseq"), ("A.SPASEQ", "spaseq"), ("a.rsepql", "rsep-ql"), ("x.obep", "obep"), ("x.epsparql", "ep-sparql")],
)
def test_the_extension_comes_first(name: str, language: str) -> None:
    assert detect_language("NAMED EVENT :A { } DEFINE GPM", name) == language


@pytest.mark.parametrize("text", ["", "hello", "RETURN 5", "# SELECT { }"])
def test_an_unknown_language_lists_the_five(text: str) -> None:
    with pytest.raises(QueryError) as caught:
        detect_language(text, "query.txt")
    assert caught.value.code == "unknown-language"
    assert all(language in str(caught.value) for language in LANGUAGES)


@pytest.mark.parametrize(
    "text", ["WHERE" + " " * 100_000, "SELECT " * 100_000, "RETURN AS " * 50_000, '"' * 100_000, "{ " * 100_000]
)
def test_detection_takes_no_time_on_a_hostile_text(text: str) -> None:
    with pytest.raises(QueryError):
        detect_language(text)


def test_a_language_by_name() -> None:
    assert known_language("SPAseq") == "spaseq"
    with pytest.raises(OptionError) as caught:
        known_language("sql")
    assert caught.value.code == "unknown-language"
    assert all(language in str(caught.value) for language in LANGUAGES)


def test_a_language_that_is_nearly_one_is_proposed() -> None:
    with pytest.raises(OptionError, match="did you mean rsep-ql"):
        known_language("RSEPQL")


def test_a_file_whose_language_cannot_be_told_is_named() -> None:
    with pytest.raises(QueryError, match=r"cannot tell which language prices\.csv is written in"):
        detect_language("time,price", "prices.csv")
    with pytest.raises(QueryError) as caught:
        detect_language("fall.spaseq")
    assert "to read a file, give Path('fall.spaseq')" in str(caught.value)
