"""Colours for queries: lexers for pygments (which finds them by their entry points) and grammars for editors (TextMate)."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

from scepter.syntax.words import GRAMMARS, language_words

__all__ = ["EpSparqlLexer", "ObepLexer", "RsepQlLexer", "SparkwaveLexer", "SpaseqLexer", "textmate"]

_STRING: Final = r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_RULES: Final = {
    "comment.line.number-sign": (r"#.*", Comment.Single),
    "entity.name.tag": (r"<[^<>\"{}|^`\\\s]*>", Name.Label),
    "variable.other": (r"[?$]\w+", Name.Variable),
    "string.quoted": (_STRING, String),
    "entity.name.namespace": (r"[\w.-]*:[\w.-]*\w|[\w.-]+:(?=\s)", Name.Namespace),
}
"""Scope of an editor -> its pattern, and the token of pygments; the same patterns serve both. Keywords come behind these."""
_NUMBER: Final = r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\b"
_FUNCTION: Final = r"[^\W\d]\w*(?=\s*\()"


def _tokens(language: str) -> dict[str, Any]:
    return {
        "root": [
            (r"\s+", Text),
            *_RULES.values(),
            (words(language_words(language), prefix=r"(?i:", suffix=r")(?![\w:-])"), Keyword),
            (_NUMBER, Number),
            (_FUNCTION, Name.Function),
            (r"[^\W\d]\w*", Name),
            (r"[{}()\[\].,;:]", Punctuation),
            (r".", Operator),
        ]
    }


class EpSparqlLexer(RegexLexer):  # type: ignore[misc]  # pygments has no types
    """EP-SPARQL."""

    name = "EP-SPARQL"
    aliases: ClassVar[list[str]] = ["ep-sparql", "epsparql"]
    filenames: ClassVar[list[str]] = ["*.epsparql"]
    tokens: ClassVar[dict[str, Any]] = _tokens("ep-sparql")


class SpaseqLexer(RegexLexer):  # type: ignore[misc]
    """SPAseq."""

    name = "SPAseq"
    aliases: ClassVar[list[str]] = ["spaseq"]
    filenames: ClassVar[list[str]] = ["*.spaseq"]
    tokens: ClassVar[dict[str, Any]] = _tokens("spaseq")


class ObepLexer(RegexLexer):  # type: ignore[misc]
    """OBEP."""

    name = "OBEP"
    aliases: ClassVar[list[str]] = ["obep"]
    filenames: ClassVar[list[str]] = ["*.obep"]
    tokens: ClassVar[dict[str, Any]] = _tokens("obep")


class RsepQlLexer(RegexLexer):  # type: ignore[misc]
    """RSEP-QL."""

    name = "RSEP-QL"
    aliases: ClassVar[list[str]] = ["rsep-ql", "rsepql"]
    filenames: ClassVar[list[str]] = ["*.rsepql"]
    tokens: ClassVar[dict[str, Any]] = _tokens("rsep-ql")


class SparkwaveLexer(RegexLexer):  # type: ignore[misc]
    """Sparkwave."""

    name = "Sparkwave"
    aliases: ClassVar[list[str]] = ["sparkwave"]
    filenames: ClassVar[list[str]] = ["*.sparkwave"]
    tokens: ClassVar[dict[str, Any]] = _tokens("sparkwave")


LEXERS: Final[dict[str, Any]] = {
    "ep-sparql": EpSparqlLexer,
    "spaseq": SpaseqLexer,
    "obep": ObepLexer,
    "rsep-ql": RsepQlLexer,
    "sparkwave": SparkwaveLexer,
}


def textmate(language: str) -> dict[str, Any]:
    """A language's grammar as editors read it (`*.tmLanguage.json`).

    >>> textmate("spaseq")["fileTypes"], textmate("spaseq")["scopeName"]
    (['spaseq'], 'source.spaseq')
    """
    extension = GRAMMARS[language]
    patterns = [(scope, pattern) for scope, (pattern, _) in _RULES.items()]
    patterns.append(("keyword.control", rf"(?i:\b(?:{'|'.join(language_words(language))})\b)(?![\w:-])"))
    patterns += [("constant.numeric", _NUMBER), ("support.function", _FUNCTION)]
    return {
        "name": LEXERS[language].name,
        "scopeName": f"source.{extension}",
        "fileTypes": [extension],
        "patterns": [{"name": f"{scope}.{extension}", "match": pattern} for scope, pattern in patterns],
    }
