"""Colours for queries: pygments' SPARQL knows none of the words that the five languages add."""

from __future__ import annotations

from typing import Any, ClassVar

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from docsite.ebnf import GRAMMARS, keywords, read

__all__ = ["QueryLexer"]


def _words() -> tuple[str, ...]:
    """The keywords of all grammars, the longest first."""
    patterns = [pattern for name in GRAMMARS for pattern in read(name).terminals.values()]
    found = {word for pattern in patterns for word in keywords(pattern) if word.isalpha() and len(word) > 1}
    return tuple(sorted(found, key=lambda word: (-len(word), word)))


class QueryLexer(RegexLexer):  # type: ignore[misc]  # pygments has no types
    """SPARQL and what the languages add to it."""

    name = "Scepter"
    aliases: ClassVar[list[str]] = ["sparql"]
    tokens: ClassVar[dict[str, Any]] = {
        "root": [
            (r"\s+", Text),
            (r"#.*", Comment.Single),
            (r"<[^<>\"{}|^`\\\s]*>", Name.Label),
            (r"[?$]\w+", Name.Variable),
            (r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', String),
            (r"\w*:[\w.-]*\w", Name.Namespace),
            (words(_words(), prefix=r"(?i:", suffix=r")(?![\w:-])"), Keyword),
            (r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b", Number),
            (r"[^\W\d]\w*", Name),
            (r"[{}()\[\].,;:]", Punctuation),
            (r".", Operator),
        ]
    }
