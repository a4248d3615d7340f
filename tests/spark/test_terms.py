"""Terms cut out of their texts in columns: the same as those that are parsed one by one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scepter.kernel.texts import FIXED, Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, LANG_STRING, BlankNode, Literal, Term, parse_term
from scepter.runtime.spark.terms import TERM, term_struct, term_structs

_KEY = TermKey.fixed()
_TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
_TERMS = st.one_of(
    st.sampled_from(["http://example/a", "urn:ä", "http://example/a?q=%22"]).map(IRI),
    st.sampled_from(["b0", "x.y-1"]).map(BlankNode),
    _TEXT.map(Literal),
    st.builds(Literal, _TEXT, st.sampled_from(["http://www.w3.org/2001/XMLSchema#integer", "urn:t"])),
    st.builds(Literal, _TEXT, st.just(LANG_STRING), st.sampled_from(["en", "de-at"])),
)


def column(terms: list[Term | None], background: list[Term]) -> list[object]:
    """The structs of terms, those in `background` read from the fixed texts, the others each from a text of its own."""
    texts = Texts()
    fixed = dict(zip(background, texts.append_fixed([str(t) for t in background]), strict=True))
    live = texts.append([str(term) for term in terms])
    refs = np.array([fixed.get(term, at) if term is not None else -7 for term, at in zip(terms, live, strict=True)], np.int64)
    ids = np.array([0 if term is None else term_id(_KEY, str(term)) for term in terms], np.uint64)
    view, moved, _ = texts.table_view(ids.reshape(-1, 1), refs.reshape(-1, 1), np.empty(0, np.int64))
    found = term_structs(ids, moved[:, 0], view)
    found.validate(full=True)
    assert found.type == TERM
    rows: list[object] = found.to_pylist()
    return rows


@given(st.lists(st.none() | _TERMS, max_size=12), st.sets(_TERMS, max_size=3))
def test_each_term_is_what_its_text_says(terms: list[Term | None], background: set[Term]) -> None:
    wanted = [None if term is None else term_struct(term) for term in terms]
    assert column(terms, sorted(background, key=str)) == wanted


def test_escapes_quotes_and_capital_languages_are_read_as_the_parser_reads_them() -> None:
    spelt = ['"a\\"b"', '"a\\\\"', '"\\u0041"^^<http://e/\\u0042>', "<http://e/\\u0043>", '"x"@EN', '""', '"^^<"', '"@en"']
    texts = Texts()
    refs = texts.append(spelt)
    ids = np.arange(1, len(spelt) + 1, dtype=np.uint64)
    view, moved, _ = texts.table_view(ids.reshape(-1, 1), refs.reshape(-1, 1), np.empty(0, np.int64))
    assert term_structs(ids, moved[:, 0], view).to_pylist() == [term_struct(parse_term(text)) for text in spelt]


def test_equal_terms_have_one_text() -> None:
    texts = Texts()
    refs = texts.append(["<urn:a>", "<urn:a>", "<urn:b>", f'"{"x" * 5000}"'])[:3].reshape(-1, 1)  # most of it nobody uses
    _, moved, names = texts.table_view(np.array([[5], [5], [6]], np.uint64), refs, np.array([-1, FIXED], np.int64))
    assert moved[0] == moved[1] != moved[2]
    assert names.tolist() == [-1, FIXED]
