from __future__ import annotations

import pytest

from scepter.algebra.expressions import And, Constant, Expression, Or, Previous, Variable
from scepter.algebra.notation import format_expression, format_pattern
from scepter.algebra.patterns import Pattern
from scepter.algebra.text import parse_node
from scepter.rdf.terms import IRI, BlankNode, Literal

PREFIXES = {"": "http://e/", "long": "http://e/long/"}


@pytest.mark.parametrize(
    ("algebra", "written"),
    [
        ("(< ?p2 (* ?p1 0.7))", "?p2 < ?p1 * 0.7"),
        ("(* (+ ?a 1) (- ?b 2))", "(?a + 1) * (?b - 2)"),
        ("(- (- ?a ?b) ?c)", "?a - ?b - ?c"),
        ("(- ?a (- ?b ?c))", "?a - (?b - ?c)"),
        ("(/ ?a (* ?b ?c))", "?a / (?b * ?c)"),
        ("(- ?a -1)", "?a - -1"),
        ("(negate 1)", "-(1)"),
        ("(negate (negate ?a))", "-(-?a)"),
        ("(negate (+ ?a ?b))", "-(?a + ?b)"),
        ('(call "+" ?a)', "+?a"),
        ("(or (and ?a ?b) ?c)", "?a && ?b || ?c"),
        ("(and (or ?a ?b) ?c)", "(?a || ?b) && ?c"),
        ("(not (< ?a 1))", "!(?a < 1)"),
        ("(not (not ?a))", "!(!?a)"),
        ("(= (< ?a 1) true)", "(?a < 1) = true"),
        ("(in negated (+ ?a 1) 2 :x)", "?a + 1 NOT IN (2, :x)"),
        ("(in ?a)", "?a IN ()"),
        ('(call "REGEX" (call "STR" ?a) "^\\"x")', 'REGEX(STR(?a), "^\\"x")'),
        ('(call "http://www.w3.org/2001/XMLSchema#integer" ?a)', "xsd:integer(?a)"),
        ('(call "http://other/f#g/h" ?a)', "<http://other/f#g/h>(?a)"),
        ("(exists negated (bgp (triple ?s :p ?o)))", "NOT EXISTS { ?s :p ?o }"),
        ("(exists (bgp))", "EXISTS {}"),
        ("(> ?v (previous ?v))", "?v > PREV(?v)"),
        ('(iteration-aggregate "MAX" "B" ?v)', "MAX(B.?v)"),
        ('(aggregate distinct "GROUP_CONCAT" ?v (separator ", "))', 'GROUP_CONCAT(DISTINCT ?v; SEPARATOR=", ")'),
        ('(aggregate "COUNT" none)', "COUNT(*)"),
        ("<http://e/long/x>", "long:x"),
        ("<http://e/a/b>", "<http://e/a/b>"),
        ('"x"@en', '"x"@en'),
        ('"7"^^xsd:byte', '"7"^^xsd:byte'),
        ('"1e"^^xsd:double', '"1e"^^xsd:double'),
        ('"x"^^<http://e/t/u>', '"x"^^<http://e/t/u>'),
    ],
)
def test_expressions(algebra: str, written: str) -> None:
    expression: Expression = parse_node(f"PREFIX : <http://e/>\n{algebra}")  # type: ignore[assignment]
    assert format_expression(expression, PREFIXES) == written


@pytest.mark.parametrize(
    ("algebra", "written"),
    [
        ("(bgp)", ""),
        ("(bgp (triple ?s rdf:type :C) (triple ?_:A.x :p ?o))", "?s a :C . _:x :p ?o"),
        ("(join (bgp (triple ?s :p ?o)) (bgp (triple ?s :q ?r)))", "?s :p ?o . ?s :q ?r"),
        ("(join (filter ?o (bgp (triple ?s :p ?o))) (values (?o) (1) (none)))",
         "{ ?s :p ?o FILTER (?o) } VALUES ?o { 1 UNDEF }"),
        ("(filter ?o (bgp (triple ?s :p ?o)))", "?s :p ?o FILTER (?o)"),
        ("(left-join (bgp (triple ?s :p ?o)) (bgp) (condition ?o))", "?s :p ?o OPTIONAL { FILTER (?o) }"),
        ("(join (bgp (triple ?s :p ?o)) (left-join (bgp) (bgp)))", "?s :p ?o { OPTIONAL {} }"),
        ("(union (bgp (triple ?s :p ?o)) (bgp))", "{ ?s :p ?o } UNION {}"),
        ("(minus (bgp (triple ?s :p ?o)) (graph ?g (bgp (triple ?s :p 1))))", "?s :p ?o MINUS { GRAPH ?g { ?s :p 1 } }"),
        ("(extend (bgp (triple ?s :p ?o)) ?v (+ ?o 1))", "?s :p ?o BIND (?o + 1 AS ?v)"),
        ("(values (?a ?b) (1 2) (none 3))", "VALUES (?a ?b) { (1 2) (UNDEF 3) }"),
        ("(path ?s (path-sequence (alternative (link :p) (inverse (link :q))) (one-or-more (link :r))) ?o)",
         "?s (:p|^:q)/:r+ ?o"),
        ("(path ?s (zero-or-one (negated-property-set (:p) :q)) ?o)", "?s !(:p|^:q)? ?o"),
        ("(slice (distinct (project (order-by (bgp (triple ?s :p ?o)) (?o true)) ?s)) (offset 2) (limit 5))",
         "{ SELECT DISTINCT ?s WHERE { ?s :p ?o } ORDER BY DESC(?o) LIMIT 5 OFFSET 2 }"),
        ("(project (extend (filter (> ?_:n 1) (group (bgp (triple ?s :p ?o)) ((?s ?s)) (?_:n (aggregate \"COUNT\" ?o))))"
         " ?n ?_:n) ?s ?n)",
         "{ SELECT ?s (COUNT(?o) AS ?n) WHERE { ?s :p ?o } GROUP BY ?s HAVING (COUNT(?o) > 1) }"),
    ],
)  # fmt: skip
def test_patterns(algebra: str, written: str) -> None:
    pattern: Pattern = parse_node(f"PREFIX : <http://e/>\n{algebra}")  # type: ignore[assignment]
    assert format_pattern(pattern, PREFIXES) == written


def test_a_long_chain_needs_no_deep_stack() -> None:
    chain: Expression = Variable("x")
    for _ in range(20_000):
        chain = Or(chain, Variable("x"))
    assert format_expression(chain).count("||") == 20_000
    assert format_expression(And(chain, Previous(Variable("y")))).startswith("(?x || ")


def test_terms_without_prefixes() -> None:
    assert format_expression(Constant(IRI("http://e/x"))) == "<http://e/x>"
    assert format_expression(Constant(BlankNode("b"))) == "_:b"
    assert format_expression(Constant(Literal("a\nb"))) == '"a\\nb"'
