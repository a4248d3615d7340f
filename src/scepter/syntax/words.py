"""The keywords of the languages, read from the grammars that their parsers are built from: what colours queries in editors."""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import Final

CORE: Final = "sparql"
"""The grammar that every language builds on."""
GRAMMARS: Final = {
    "ep-sparql": "epsparql", "spaseq": "spaseq", "obep": "obep", "rsep-ql": "rsepql", "sparkwave": "sparkwave",
}  # fmt: skip
"""Language -> the grammar it adds to the core, which is also the extension of its files."""

_TERMINAL: Final = re.compile(r'^[A-Z_]+(?:\.-?\d+)?:\s*(?:/(?P<pattern>(?:[^/\\]|\\.)+)/i?s?|"[^"]*")', re.MULTILINE)
_KEYWORD: Final = re.compile(r"(?:->\|)?(?:\(\?:owl:\)\?)?(?:\(\?:)?(?P<words>[A-Za-z?|\[\]]+?)\)?\(\?!\[\\w:\]\|-\\w\)")
"""The pattern of a keyword: one word or several, no part of a longer one."""


def keywords(pattern: str) -> tuple[str, ...]:
    r"""The words that a terminal's pattern stands for; none if it is no keyword.

    >>> keywords(r"select(?![\w:]|-\w)"), keywords(r"(?:asc|desc)(?![\w:]|-\w)"), keywords("[0-9]+")
    (('SELECT',), ('ASC', 'DESC'), ())
    """
    found = _KEYWORD.fullmatch(pattern)
    if found is None:
        return ()
    if found["words"] == "a":
        return ("a",)  # the one keyword of SPARQL in which case matters
    plain = re.sub(r"^\[(\w+)\](\w+)$", lambda m: "|".join(letter + m[2] for letter in m[1]), found["words"])
    words = [w.removesuffix("?").upper() if w.islower() or w.isupper() else w.removesuffix("?") for w in plain.split("|")]
    words = ["->", *words] if pattern.startswith("->") else words
    return tuple(dict.fromkeys(words))


@functools.cache
def language_words(language: str) -> tuple[str, ...]:
    """The words of a language and of the SPARQL core, the longest first.

    >>> {"SELECT", "GPM", "SLIDING"} <= set(language_words("spaseq")), "GPM" in language_words("obep")
    (True, False)
    """
    folder = resources.files("scepter.syntax")
    texts = [folder.joinpath(f"{name}.lark").read_text("utf-8") for name in (CORE, GRAMMARS[language])]
    patterns = [found["pattern"] or "" for text in texts for found in _TERMINAL.finditer(text)]
    words = {word for pattern in patterns for word in keywords(pattern) if word.isalpha() and len(word) > 1}
    return tuple(sorted(words, key=lambda word: (-len(word), word)))
