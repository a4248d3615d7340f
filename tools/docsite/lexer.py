"""Colours for queries on the site, where a block does not say which of the languages it is written in."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Keyword

from scepter.syntax.colours import SpaseqLexer
from scepter.syntax.words import GRAMMARS, language_words

__all__ = ["QueryLexer"]


def _rules() -> list[Any]:
    """The rules of one language, with the keywords of all."""
    every = sorted({word for language in GRAMMARS for word in language_words(language)}, key=lambda word: (-len(word), word))
    keywords = (words(tuple(every), prefix=r"(?i:", suffix=r")(?![\w:-])"), Keyword)
    return [keywords if rule[1] is Keyword else rule for rule in SpaseqLexer.tokens["root"]]


class QueryLexer(RegexLexer):  # type: ignore[misc]  # pygments has no types
    """SPARQL and what the languages add to it."""

    name = "Scepter"
    aliases: ClassVar[list[str]] = ["sparql"]
    tokens: ClassVar[dict[str, Any]] = {"root": _rules()}
