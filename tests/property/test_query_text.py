"""Whatever is written, the answer is a program or a QueryError with a place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scepter.algebra.query import Query
from scepter.algebra.walk import find
from scepter.errors import QueryError
from scepter.lower import lower

PIECES = (
    *("SELECT", "*", "?x", "(", ")", "{", "}", "[", "]", ";", ",", ".", ":", "&", "|", "!", "+", "-", "/", "^", "=", "<", ">"),
    *("<=", "!=", "&&", "||", "?", "SEQ", "A", "B", "A+", "B!", "A?", "WITHIN", "5", "SECONDS", "SLIDING", "EVENTS", "FROM"),
    *("STREAM", "S", "<http://example/s>", ":s", "WHERE", "DEFINE", "GPM", "ON", "FILTER", "OPTIONAL", "UNION", "MINUS"),
    *("BIND", "AS", "VALUES", "UNDEF", "GRAPH", "SERVICE", "EXISTS", "NOT", "IN", "GROUP", "BY", "HAVING", "ORDER", "LIMIT"),
    *("OFFSET", "COUNT", "DISTINCT", "STR", "PREV", "B.?x", "_:b", '"s"', "'q", "1", "-2", "3.5", "4e5", "true", "a", "ASK"),
    *("CONSTRUCT", "INTO", "PARTITION", "BASE", "PREFIX", "p:", "p:x", "@en", "^^", "#", "\\", "\n", "?y"),
)
QUERY = """PREFIX : <http://example/>
SELECT ?a (COUNT(B.?y) AS ?n) WITHIN 10 SECONDS PARTITION BY (?a)
FROM STREAM S :s
WHERE { SEQ (A; N!, B+ : (C | D))
  DEFINE GPM A ON S { ?a :v ?x ; :w [ :y (1 2) ] . FILTER (?x > 3 && !BOUND(?x)) OPTIONAL { ?a :q "s"@en } }
  DEFINE GPM N ON S { ?a :n/:m* ?m BIND (?m + 1 AS ?k) }
  DEFINE GPM B ON S { ?a :w ?y FILTER (?y > PREV(?y)) }
  DEFINE GPM C ON S { ?a :u ?z { SELECT ?a (SUM(?q) AS ?s) { ?a :q ?q } GROUP BY ?a } GRAPH :g { ?a ?b ?c } }
  DEFINE GPM D ON S { { ?a :t 1 } UNION { ?a :t 2.5 } MINUS { ?a :z true } VALUES ?v { UNDEF 1 } }
}"""


def check(text: str) -> None:
    try:
        lowered = lower(text, "spaseq")
    except QueryError as error:
        assert error.source is not None
        span = error.diagnostic.span
        assert span is not None
        assert 0 <= span.start <= len(text)
        assert "__" not in error.diagnostic.message or "__" in text  # no terminal of the grammar
    else:
        assert lowered.program.units


def test_the_query_that_is_broken_below_is_whole() -> None:
    assert next(find(lower(QUERY, "spaseq").program, Query)).partition


@given(st.text(max_size=60))
def test_any_text(text: str) -> None:
    check(text)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_any_words(text: str) -> None:
    check(text)


@settings(max_examples=60)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_body(body: str) -> None:
    check(f"PREFIX : <http://example/> ASK FROM STREAM S :s {{ SEQ (A) DEFINE GPM A ON S {{ ?x :p ?y {body} }} }}")


@settings(max_examples=60)
@given(st.integers(0, len(QUERY)), st.integers(0, 12), st.sampled_from(["", *PIECES]))
def test_a_query_with_something_cut_out_or_put_in(start: int, length: int, piece: str) -> None:
    check(QUERY[:start] + piece + QUERY[start + length :])


@settings(max_examples=40)
@given(st.integers(0, len(QUERY)))
def test_a_query_that_ends_early(end: int) -> None:
    check(QUERY[:end])
