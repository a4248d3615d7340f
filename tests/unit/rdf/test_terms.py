"""Terms and their N-Triples text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scepter.rdf.terms import IRI, LANG_STRING, STRING, XSD, BlankNode, Literal, Term, Triple, escape, parse_term, unescape

LABELS = st.from_regex(r"[A-Za-z0-9_é]([A-Za-z0-9_.\-]*[A-Za-z0-9_\-])?", fullmatch=True)
IRIS = st.text(st.characters(exclude_characters='<>"{}|^`\\', exclude_categories=("Cs", "Cc", "Zs")), max_size=12)
TERMS = st.one_of(
    st.builds(IRI, IRIS),
    st.builds(BlankNode, LABELS),
    st.builds(Literal, st.text(), st.sampled_from([STRING, XSD + "integer", "http://e/t"])),
    st.builds(Literal, st.text(), st.just(LANG_STRING), st.sampled_from(["en", "de-at", "x-1"])),
)


@given(TERMS)
def test_str_then_parse_is_the_identity(term: Term) -> None:
    assert parse_term(str(term)) == term


@given(st.text())
def test_unescape_undoes_escape(text: str) -> None:
    escaped = escape(text)
    assert unescape(escaped) == text
    assert not any(c in escaped for c in "\n\r\t\x00\x7f")


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("<http://e/p>", IRI("http://e/p")),
        (r"<http://e/\u00e9\U0001F600>", IRI("http://e/é😀")),
        ("<>", IRI("")),
        ("_:b", BlankNode("b")),
        ("_:0.a-b", BlankNode("0.a-b")),
        ('""', Literal("")),
        (r'"\t\b\n\r\f\"\'\\"', Literal("\t\b\n\r\f\"'\\")),
        (r'"\u0041\U00000042"', Literal("AB")),
        ('"x"^^<http://www.w3.org/2001/XMLSchema#string>', Literal("x")),
        (r'"x"^^<http://e/\u0074>', Literal("x", "http://e/t")),
        ('"x"@EN-gb', Literal("x", LANG_STRING, "en-gb")),
        ('"\u2028\x85"', Literal("\u2028\x85")),
        ('"^^<@"', Literal("^^<@")),
    ],
)
def test_parse(text: str, term: Term) -> None:
    assert parse_term(text) == term


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "x", "<a b>", "<a>b>", "<a", "a>", "<a\n>", "<a>\n", r"<\n>", r"<a\u0020b>", r"<a\u003E>", r"<\u12>",
        r"<\U00110000>",
        "_:", "_:a b", "_:.a", "_:a.", "_:-a", "_:a\n",
        '"', '"a', '"a"b"', '"a\nb"', '"a"\n', r'"a\"', r'"\q"', '"\\\n"', r'"\uD800"', r'"\u12"', r'"\U00110000"',
        '"a"@', '"a"@-en', '"a"@en-', '"a"@1', '"a"^^', '"a"^^x', '"a"^^<b c>', r'"a"^^<\u0020>',
        '"a"^^_:b', '"a"@en^^<t>', "'a'", "5", "true",
    ],
)  # fmt: skip
def test_what_is_no_term_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no|no IRI has"):
        parse_term(text)


def test_a_refusal_does_not_repeat_megabytes() -> None:
    with pytest.raises(ValueError, match="is no term") as caught:
        parse_term('"' + "a" * 1_000_000)
    assert len(str(caught.value)) < 200


def test_ten_megabytes_are_a_literal_like_any_other() -> None:
    literal = Literal('a"b\\\n' * 2_000_000)
    assert parse_term(str(literal)) == literal


def test_equality_is_of_terms_not_of_values() -> None:
    assert Literal("2", XSD + "integer") != Literal("2.0", XSD + "decimal")
    assert Literal("a") != Literal("a", LANG_STRING, "en")
    assert len({IRI("a"), BlankNode("a"), Literal("a"), IRI("a")}) == 3


def test_a_triple_unpacks() -> None:
    subject, predicate, object_ = Triple(IRI("s"), IRI("p"), Literal("o"))
    assert (subject, predicate, object_) == (IRI("s"), IRI("p"), Literal("o"))
