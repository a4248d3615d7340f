from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from scepter.rdf import hashing
from scepter.rdf.hashing import TermKey, canonical_text, hash_bytes, hash_of, salted_label, term_id
from scepter.rdf.terms import XSD, Literal

KEY = TermKey.fixed()


@pytest.mark.parametrize(
    ("data", "expected"),
    # SipHash-1-3 under the key 0, as CPython computes hash(bytes) with PYTHONHASHSEED=0
    [
        (b"a", 4644417185603328019),
        (b"abcdefgh", 4574395652268504554),
        (b"<http://example/a>", 15602736819622888996),
        (b"x" * 63, 2031275847745709890),
    ],
)
def test_hash_is_siphash_1_3(data: bytes, expected: int) -> None:
    array = np.frombuffer(data, dtype=np.uint8)
    assert int(hash_bytes(array, 0, len(array), np.uint64(0), np.uint64(0))) == hash_of(data, 0, 0) == expected


def test_ids_are_the_same_whoever_makes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f'"{"é" * size}{"x" * more}"' for size in range(20) for more in range(3)]
    monkeypatch.setattr(hashing, "FEW", -1)
    for key in (KEY, TermKey(0, 0), TermKey(2**64 - 1, 2**63)):
        assert [term_id(key, text) for text in texts] == [hash_of(text.encode(), key.low, key.high) for text in texts]


def test_a_few_ids_need_no_kernel() -> None:
    """To compile one takes longer than a small run."""
    code = "from scepter.rdf import hashing as h; h.term_id(h.TermKey.fixed(), '<a:b>'); print(h.hash_bytes._kernel.signatures)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_offset_does_not_change_the_hash() -> None:
    data = b"<http://example/some/long/iri>"
    for before in range(9):
        for after in (0, 1, 9):
            array = np.frombuffer(b"?" * before + data + b"!" * after, dtype=np.uint8)
            found = hash_bytes(array, before, before + len(data), np.uint64(KEY.low), np.uint64(KEY.high))
            assert int(found) == hash_of(data, KEY.low, KEY.high)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r'"\u00e9"', '"é"'),
        (r'"\U000000E9"', '"é"'),
        (r'"a\tb"', '"a\tb"'),
        (r'"\""', r'"\u0022"'),
        (f'"x"^^<{XSD}string>', '"x"'),
        (rf'"x"^^<{XSD}str\u0069ng>', '"x"'),
        ('"x"@EN-us', '"x"@en-US'),
        (r"<http://e/\u00e9>", "<http://e/é>"),
    ],
)
def test_spellings_of_one_term_share_an_id(left: str, right: str) -> None:
    assert term_id(KEY, left) == term_id(KEY, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ('"a"', "<a>"),
        ('"a"@en', '"a"'),
        ('"a"@en', r'"a\"@en"'),
        (f'"2"^^<{XSD}integer>', f'"2.0"^^<{XSD}decimal>'),
        (f'"2"^^<{XSD}integer>', f'"02"^^<{XSD}integer>'),
        ('"A"', '"a"'),
        (r'"\\n"', r'"\n"'),
        ("_:a", "_:b"),
    ],
)
def test_different_terms_have_different_ids(left: str, right: str) -> None:
    assert term_id(KEY, left) != term_id(KEY, right)


def test_canonical_form_of_nested_quotes_is_unambiguous() -> None:
    tricky = Literal(f'x"^^<{XSD}integer>')
    assert canonical_text(str(tricky)) != canonical_text(f'"x"^^<{XSD}integer>')


def test_blank_nodes_are_salted() -> None:
    assert term_id(KEY, "_:x", 1) != term_id(KEY, "_:x", 2)
    assert term_id(KEY, "_:x", 7) == term_id(KEY, salted_label("_:x", 7))
    assert term_id(KEY, "<http://e/x>", 1) == term_id(KEY, "<http://e/x>", 2)


def test_key_matters_and_is_checked() -> None:
    assert term_id(KEY, "<a:b>") != term_id(TermKey(1, 2), "<a:b>")
    assert TermKey.random() != TermKey.random()
    with pytest.raises(ValueError, match="64-bit"):
        TermKey(-1, 0)
    with pytest.raises(ValueError, match="64-bit"):
        TermKey(0, 2**64)


def test_bytes_and_text_agree() -> None:
    assert term_id(KEY, '"é"'.encode()) == term_id(KEY, '"é"')
