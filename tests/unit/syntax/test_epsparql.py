"""EP-SPARQL text to its syntax tree: the paper's spellings, operators of one precedence, several queries in a file."""

from __future__ import annotations

import pytest

from scepter.errors import QueryError
from scepter.syntax import tree
from scepter.syntax.epsparql_tree import ConstructClause, FromGraph, FromStream
from scepter.syntax.parse import detect_language, parse_epsparql


def words(element: tree.Element) -> list[str]:
    assert isinstance(element, tree.Chain)
    return [operator.word for operator, _ in element.links]


def test_operators_of_one_chain_in_order_and_any_case() -> None:
    (query,) = parse_epsparql("ASK { { ?a ?b ?c } seq { ?a ?b ?c } UNION { ?a ?b ?c } OptionalSeq { ?a ?b ?c } }").queries
    assert words(query.group.elements[0]) == ["SEQ", "UNION", "OPTIONALSEQ"]


def test_union_alone_is_no_chain() -> None:
    (query,) = parse_epsparql("ASK { { ?a ?b ?c } UNION { ?a ?b ?c } }").queries
    assert isinstance(query.group.elements[0], tree.Alternatives)


def test_without_outer_braces() -> None:
    (query,) = parse_epsparql("SELECT * WHERE { ?a ?b ?c } SEQ { ?a ?b ?d } FILTER (?c < ?d) OPTIONAL { ?a ?e ?f }").queries
    chain, condition, optional = query.group.elements
    assert words(chain) == ["SEQ"]
    assert isinstance(condition, tree.FilterClause) and isinstance(optional, tree.OptionalClause)


def test_one_group_is_the_pattern_itself() -> None:
    (query,) = parse_epsparql("SELECT * { ?a ?b ?c }").queries
    assert isinstance(query.group.elements[0], tree.Triples)


@pytest.mark.parametrize(
    "template", ["{ ?a ?b ?c . ?c ?b ?a }", "?a ?b ?c . ?c ?b ?a", "?a ?b ?c . ?c ?b ?a .", "?a ?b ?c ; ?d ?e"]
)
def test_templates_with_and_without_braces(template: str) -> None:
    (query,) = parse_epsparql(f"CONSTRUCT {template} WHERE {{ ?a ?b ?c ; ?d ?e }}").queries
    assert isinstance(query.result, ConstructClause) and len(query.result.template.triples) == 2


def test_construct_where() -> None:
    (query,) = parse_epsparql("CONSTRUCT WHERE { ?a ?b ?c }").queries
    assert isinstance(query.result, ConstructClause)
    assert query.result.template.triples == query.group.elements[0].triples  # type: ignore[union-attr]


def test_several_queries_and_prefixes_between_them() -> None:
    text = """PREFIX : <http://a/> CONSTRUCT { ?x :p 1 } WHERE { ?x :q 1 }
    PREFIX : <http://b/> SELECT ?x { ?x :p 1 } ORDER BY ?x ASK { ?x :p 1 }"""
    assert len(parse_epsparql(text).queries) == 3
    assert dict(parse_epsparql(text).prefixes)[""] == "http://b/"


def test_dataset_clauses() -> None:
    (query,) = parse_epsparql("ASK FROM STREAM <http://e/s> FROM <http://e/g> FROM NAMED <http://e/n> { ?a ?b ?c }").queries
    stream, default, named = query.dataset
    assert isinstance(stream, FromStream) and isinstance(default, FromGraph) and isinstance(named, FromGraph)
    assert (default.named, named.named) == (False, True)


@pytest.mark.parametrize(
    ("window", "amount", "rows"),
    [
        ("[RANGE 10 DAYS]", "10 DAYS", False), ("[RANGE PT5M]", "PT5M", False), ("[RANGE 10]", "10", False),
        ("[ROWS 10]", "10", True), ('[RANGE "P10D"^^xsd:duration]', "P10D", False), ("[range 2.5 min]", "2.5 min", False),
    ],
)  # fmt: skip
def test_windows(window: str, amount: str, rows: bool) -> None:
    (query,) = parse_epsparql(f"SELECT (COUNT(*) AS ?n) {{ ?a ?b ?c }} WINDOW {window} GROUP BY ?a").queries
    assert query.window is not None and (query.window.amount, query.window.rows) == (amount, rows)


def test_words_of_operators_are_names_elsewhere() -> None:
    text = "PREFIX seq: <http://e/> SELECT ?seq { ?seq seq:during ?equals FILTER (CONTAINS(?seq, ?equals)) }"
    assert len(parse_epsparql(text).queries) == 1


def test_predeclared_prefixes() -> None:
    parse_epsparql('ASK { ?a rdf:type rdfs:Class , owl:Class ; ?b "1"^^xsd:integer }')
    with pytest.raises(QueryError, match="prov"):
        parse_epsparql("ASK { ?a prov:value ?b }")


def test_plain_sparql_is_ep_sparql() -> None:
    assert detect_language("SELECT * { ?s ?p ?o }") == "ep-sparql"
    assert detect_language("ASK { { ?s ?p ?o } SEQ { ?s ?p ?o } }") == "ep-sparql"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { { ?a ?b ?c } SEQ }", "SELECT * { SEQ { ?a ?b ?c } }", "SELECT * { { ?a ?b ?c } SEQ SEQ { ?a ?b ?c } }",
        "SELECT * { ?a ?b ?c } SEQ", "CONSTRUCT ?a ?b { ?a ?b ?c }", "SELECT * { ?a ?b ?c } WINDOW",
        "CONSTRUCT { { } } WHERE { }", "",
    ],
)  # fmt: skip
def test_what_is_no_query_is_refused_with_a_place(text: str) -> None:
    with pytest.raises(QueryError):
        parse_epsparql(text)


def test_a_long_chain_ends_in_a_diagnostic() -> None:
    from scepter.lower import lower

    chain = " SEQ ".join("{ ?a ?b ?c }" for _ in range(400))
    with pytest.raises(QueryError, match="longer than"):
        lower(f"ASK {{ {chain} }}", "ep-sparql")


def test_a_hundred_groups_run() -> None:
    from epsparql_runs import answers

    chain = " SEQ ".join(f"{{ ?x :p {i} }}" for i in range(100))
    assert answers(f"SELECT ?x {{ {chain} }}", " ".join(f"{i} {{ :a :p {i} }}" for i in range(100))) == ["0..99 x=:a"]
