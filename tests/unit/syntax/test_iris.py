"""RFC 3986 §5.4: the examples of reference resolution."""

from __future__ import annotations

import pytest

from scepter.syntax.iris import is_absolute, resolve

BASE = "http://a/b/c/d;p?q"
EXAMPLES = {
    "g:h": "g:h",
    "g": "http://a/b/c/g",
    "./g": "http://a/b/c/g",
    "g/": "http://a/b/c/g/",
    "/g": "http://a/g",
    "//g": "http://g",
    "?y": "http://a/b/c/d;p?y",
    "g?y": "http://a/b/c/g?y",
    "#s": "http://a/b/c/d;p?q#s",
    "g#s": "http://a/b/c/g#s",
    "g?y#s": "http://a/b/c/g?y#s",
    ";x": "http://a/b/c/;x",
    "g;x": "http://a/b/c/g;x",
    "": "http://a/b/c/d;p?q",
    ".": "http://a/b/c/",
    "./": "http://a/b/c/",
    "..": "http://a/b/",
    "../": "http://a/b/",
    "../g": "http://a/b/g",
    "../..": "http://a/",
    "../../": "http://a/",
    "../../g": "http://a/g",
    "../../../g": "http://a/g",
    "../../../../g": "http://a/g",
    "/./g": "http://a/g",
    "/../g": "http://a/g",
    "g.": "http://a/b/c/g.",
    ".g": "http://a/b/c/.g",
    "g..": "http://a/b/c/g..",
    "./../g": "http://a/b/g",
    "./g/.": "http://a/b/c/g/",
    "g/./h": "http://a/b/c/g/h",
    "g/../h": "http://a/b/c/h",
    "g;x=1/../y": "http://a/b/c/y",
    "g?y/../x": "http://a/b/c/g?y/../x",
    "g#s/../x": "http://a/b/c/g#s/../x",
}


@pytest.mark.parametrize("reference", EXAMPLES)
def test_rfc_example(reference: str) -> None:
    assert resolve(BASE, reference) == EXAMPLES[reference]


def test_a_base_without_a_path() -> None:
    assert resolve("http://example", "x") == "http://example/x"


def test_a_base_without_an_authority() -> None:
    assert resolve("urn:a", "#b") == "urn:a#b"


ABSOLUTE = [("http://x/", True), ("urn:x", True), ("x", False), ("/x:y", False), ("", False)]


@pytest.mark.parametrize(("text", "absolute"), ABSOLUTE)
def test_absolute(text: str, absolute: bool) -> None:
    assert is_absolute(text) is absolute
