"""Syntax errors in the user's terms: what stands at a place, and what could have stood there."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import Lark, Token
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr

from scepter.errors import QueryError, Source, Span, nearest, query_error
from scepter.syntax import elsewhere

_WORDS = {
    "VAR": "a variable",
    "IRIREF": "an IRI",
    "PNAME_LN": "an IRI",
    "PNAME_NS": "an IRI",
    "INTEGER": "a number",
    "DECIMAL": "a number",
    "DOUBLE": "a number",
    "SIGNED_INTEGER": "a number",
    "SIGNED_DECIMAL": "a number",
    "SIGNED_DOUBLE": "a number",
    "STRING": "a string",
    "LONG_STRING": "a string",
    "LANGTAG": "a language tag",
    "BLANK_NODE": "a blank node",
    "FUNCTION": "a function",
    "STAR": "'*'",
    "SIGN": "'+', '-'",
    "MULTIPLY": "'*', '/'",
    "COMPARE": "a comparison",
    "PATH_MODIFIER": "a path operator",
    "CIRCUMFLEX": "a path operator",
    "RDF_TYPE": "'a'",
    "DIRECTION": "ASC, DESC",
    "TRUE": "true",
    "FALSE": "false",
    "GPM_NAME": "a GPM name",
    "STREAM_ALIAS": "a stream's alias",
    "UNIT": "a unit of time",
    "ISO_DURATION": "a duration",
    "SEQUENCE_OPERATOR": "',', ';', ':'",
    "POSTFIX": "'+', '?', '!'",
    "PREFERENCE": "GREEDY, RELUCTANT",
    "SKIP_PAST": "PAST",
    "SKIP_TO": "TO",
    "SKIP_NEXT": "NEXT",
    "SKIP_FIRST": "FIRST",
    "SKIP_LAST": "LAST",
    "_ROW": "ROW",
    "_TIMEOUT": "TIMEOUT",
    "BARE_NAME": "a name",
    "BARE_IRI": "an IRI",
    "REGIME_NAME": "an entailment regime",
    "_EVENTS": "EVENTS",
    "BARE": "a name",
    "RELATION": "SEQ, a relation of Allen's",
    "EVENT_NOT": "NOT",
    "CARDINALITY": "min, max, exactly",
    "SOME": "some",
    "ONLY": "only",
    "VALUE": "value",
    "SELF": "Self",
    "INVERSE": "inverse",
    "THING": "Thing",
    "NOTHING": "Nothing",
    "_SUBCLASSOF": "subClassOf",
    "TEMPORAL": "SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL, DURING",
    "_ROWS": "ROWS",
    "EVENT_LABEL": "an event's label",
    "POLICY_NAME": "a policy",
    "RELATION_TO_STREAM": "ISTREAM, RSTREAM, DSTREAM",
    "DATE_TIME": "a dateTime",
    "LPAR": "'('",
    "RPAR": "')'",
    "LBRACE": "'{'",
    "RBRACE": "'}'",
    "LSQB": "'['",
    "RSQB": "']'",
    "DOT": "'.'",
    "COMMA": "','",
    "SEMICOLON": "';'",
    "VBAR": "'|'",
    "AMPERSAND": "'&'",
    "BANG": "'!'",
    "SLASH": "'/'",
    "EQUAL": "'='",
    "$END": "the end of the query",
}

_TERM = frozenset({"IRIREF", "PNAME_LN", "PNAME_NS", "STRING", "LONG_STRING", "INTEGER", "DECIMAL", "DOUBLE", "TRUE", "FALSE"})
_SIGNED = frozenset({"SIGNED_INTEGER", "SIGNED_DECIMAL", "SIGNED_DOUBLE"})
# What is worded as one thing where all of it may stand; longer sets first.
_TOGETHER = (
    ("an expression", _TERM | {"VAR", "LPAR", "FUNCTION", "BANG", "SIGN", "NOT", "_EXISTS"}),
    ("an operator", frozenset({"SIGN", "MULTIPLY", "COMPARE", "_IN", "NOT", "__ANON_AND", "__ANON_OR"})),
    ("a variable or term", _TERM | _SIGNED | {"VAR", "BLANK_NODE", "LPAR", "LSQB"}),
    ("a value", _TERM | _SIGNED | {"UNDEF"}),
    ("a pattern", frozenset({"LBRACE", "_OPTIONAL", "_MINUS", "_GRAPH", "_SERVICE", "_FILTER", "_BIND", "_VALUES"})),
    ("a verb", frozenset({"VAR", "IRIREF", "PNAME_LN", "PNAME_NS", "RDF_TYPE", "CIRCUMFLEX", "BANG", "LPAR"})),
)
_PUNCTUATION = {"__ANON_AND": "&&", "__ANON_OR": "||"}


def wording(terminals: Iterable[str], patterns: dict[str, str]) -> str:
    """The terminals as a person would name them: `a GPM name or '('`.

    `patterns` gives the text of the terminals that are plain punctuation.
    """
    left = {_canonical(name, patterns) for name in terminals}
    phrases: list[str] = []
    for phrase, together in _TOGETHER:
        if together <= left:
            phrases.append(phrase)
            left -= together
    words = {word for name in left for word in _word(name, patterns).split(", ")}
    phrases += sorted(words, key=lambda word: (word.startswith("'"), word))
    return phrases[0] if len(phrases) == 1 else f"{', '.join(phrases[:-1])} or {phrases[-1]}"


def _canonical(name: str, patterns: dict[str, str]) -> str:
    return next((known for known, text in _PUNCTUATION.items() if patterns.get(name) == text), name)


def _word(name: str, patterns: dict[str, str]) -> str:
    if name in _WORDS:
        return _WORDS[name]
    if name in _PUNCTUATION:
        return f"'{_PUNCTUATION[name]}'"
    if name in patterns:
        return f"'{patterns[name]}'"
    return name.lstrip("_")


def syntax_error(error: UnexpectedInput, source: Source, grammar: Lark) -> QueryError:
    """The QueryError for what the parser stumbled over."""
    at = len(source.text) if _at_end(error) else error.pos_in_stream or 0
    language = grammar.options.start[0]
    accepted, bracket = _accepted(grammar, source.text, at)
    if accepted == {"LPAR"} and (word := elsewhere.foreign_word_before(source.text, at, language)) is not None:
        at = word
        accepted, bracket = _accepted(grammar, source.text, word)
    patterns = {t.name: t.pattern.value for t in grammar.terminals if isinstance(t.pattern, PatternStr)}
    wanted = f"expected {wording(accepted, patterns)}"
    if _at_end(error):
        end = len(source.text.rstrip())
        help = _still_open(bracket, source)
        return QueryError(
            query_error("syntax", f"the query ends too early: {wanted}", Span(end, end + 1), help=help).diagnostic, source
        )
    return QueryError(_misplaced(error, at, source, wanted, accepted, bracket, language).diagnostic, source)


def stands_for_a_verb(error: UnexpectedInput, source: Source, grammar: Lark) -> bool:
    """Whether the parser stumbled over a word without a prefix that could only be the name of a property."""
    at = error.pos_in_stream
    return not _at_end(error) and at is not None and _bare_verb(source.text, at, _accepted(grammar, source.text, at)[0])


_BARE_WORD = re.compile(r"[^\W\d]\w*(?!\w|:)")


def _bare_verb(text: str, at: int, accepted: set[str]) -> bool:
    return "RDF_TYPE" in accepted and "_FILTER" not in accepted and _BARE_WORD.match(text, at) is not None


def _at_end(error: UnexpectedInput) -> bool:
    return isinstance(error, UnexpectedToken) and error.token.type == "$END"


_CLOSES = {"LBRACE": "RBRACE", "LPAR": "RPAR", "LSQB": "RSQB"}
# Words that begin a clause: where one of them stands in vain, a bracket before it was meant to be closed.
_BEGIN_A_CLAUSE = frozenset({"DEFINE", "EVENT", "NAMED", "RETURN", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"})


def _accepted(grammar: Lark, text: str, at: int) -> tuple[set[str], Token | None]:
    """What may stand at a place, and the innermost bracket that is open there and may be closed. The text is read again up to
    there, because the parser, when it stops, has already closed rules on the strength of the token it then refuses."""
    parser = grammar.parse_interactive(text)
    open_: list[Token] = []
    try:
        for token in parser.iter_parse():
            if (token.start_pos or 0) >= at:
                break
            if token.type in _CLOSES:
                open_.append(token)
            elif open_ and token.type == _CLOSES[open_[-1].type]:
                open_.pop()
    except UnexpectedInput:
        pass  # the very error being worded
    accepted: set[str] = parser.accepts()  # type: ignore[no-untyped-call]  # lark leaves this one without types
    return accepted, open_[-1] if open_ and _CLOSES[open_[-1].type] in accepted else None


def _still_open(bracket: Token | None, source: Source) -> str | None:
    if bracket is None:
        return None
    at = bracket.start_pos or 0
    file, place = source.located(Span(at, at + 1))
    line, column = file.position(place.start)
    return f"the {bracket} in line {line}, column {column} is not closed"


def _misplaced(
    error: UnexpectedInput, at: int, source: Source, wanted: str, accepted: set[str], bracket: Token | None, language: str
) -> QueryError:
    word = str(error.token) if isinstance(error, UnexpectedToken) and error.pos_in_stream == at else _word_at(source.text, at)
    if (newer := _of_sparql12(source.text, at, word)) is not None:
        return newer
    if (broken := _broken_token(word, at, accepted)) is not None:
        return broken
    help = elsewhere.advice(source.text, at, word, language) or _hint(word, accepted)
    if help is None and (word in ("}", ")", "]") or word.upper() in _BEGIN_A_CLAUSE):
        help = _still_open(bracket, source)
    if help is None and _bare_verb(source.text, at, accepted):
        help = f"a name has a prefix: write :{word}, and declare PREFIX : <http://…> at the top"
        help += "; or declare BASE <http://…>" if language == "epsparql" else ""
    return query_error("syntax", f"unexpected {_shown(word)}: {wanted}", Span(at, at + len(word)), help=help)


def _of_sparql12(text: str, at: int, word: str) -> QueryError | None:
    """The error for what SPARQL 1.2 adds: queries match terms of RDF 1.1 (docs/decisions/0077)."""
    if text.startswith("<<", at):
        what, end = "a triple term" if text.startswith("<<(", at) else "a reified triple", at + 2
    elif text[max(0, at - 1) : at + 1] == "{|" or text.startswith("{|", at):
        at = at if text.startswith("{|", at) else at - 1
        what, end = "an annotation of a triple", at + 2
    elif word == "~":
        what, end = "a reifier", at + 1
    elif re.match(r"--[A-Za-z]", text[at : at + 3]) and re.search(r"@[A-Za-z0-9-]+$", text[max(0, at - 40) : at]):
        what, end = "a base direction", at + 2
    elif word.upper() == "VERSION":
        what, end = "VERSION", at + len(word)
    else:
        return None
    return query_error(
        "rdf-1.2",
        f"{what} is SPARQL 1.2, and queries match terms of RDF 1.1",
        Span(at, end),
        help="leave it out; what is said of a triple can be said of its event, or of an rdf:Statement",
    )


def _hint(word: str, accepted: set[str]) -> str | None:
    spelt = [text for name in accepted for text in _WORDS.get(name, name.lstrip("_")).split(", ") if text.isalpha()]
    temporal = _WORDS["TEMPORAL"].split(", ")
    if "TEMPORAL" not in accepted and word.upper() in temporal and "_UNION" not in accepted:
        return f"{word.upper()} joins groups: write {{ … }} {word.upper()} {{ … }}"
    keywords = {text.upper(): text for text in spelt}
    if close := nearest(word.upper(), keywords):
        return f"did you mean {keywords[close]}?"
    if "_EXISTS" in accepted and "SIGN" not in accepted:
        return "put the condition in parentheses"
    return None


def _shown(text: str) -> str:
    line = text.split("\n", 1)[0]
    return f"'{line}'" if len(line) <= 40 else f"'{line[:40]}…'"


def _broken_token(character: str, at: int, accepted: set[str]) -> QueryError | None:
    if character in ("'", '"'):
        return query_error(
            "syntax",
            "this string does not end on its line",
            Span(at, at + 1),
            help=f"close it with {character}, or write {character * 3} around a text of several lines",
        )
    if character == "<" and "IRIREF" in accepted:
        return query_error("syntax", "this IRI does not end, or holds a character that IRIs cannot hold", Span(at, at + 1))
    return None


def _word_at(text: str, at: int) -> str:
    end = at
    while end < len(text) and (text[end].isalnum() or text[end] == "_"):
        end += 1
    return text[at : max(end, at + 1)]
