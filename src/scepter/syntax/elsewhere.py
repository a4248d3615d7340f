"""Words that belong to another language or at another place: whose they are, and where they would stand."""

from __future__ import annotations

import re

_CEP = ("spaseq",)
_WINDOWS = ("rsepql",)
# Words of one language that stand in a text of another: whose they are, and in which grammars they have a place of their own.
_ELSEWHERE = {
    "AGGREGATE": ("C-SPARQL", ("sparkwave",)),
    "COMPUTED": ("C-SPARQL", ("sparkwave",)),
    "QUERY": ("C-SPARQL (REGISTER QUERY name AS)", ("sparkwave",)),
    "TIMEWINDOW": ("Sparkwave's pattern files", ("sparkwave",)),
    "HANDLERS": ("Sparkwave's pattern files", ("sparkwave",)),
    "STREAM": (
        "C-SPARQL (FROM STREAM <s> [RANGE …]) or CQELS-QL (STREAM <s> [NOW] { … } in WHERE; --language rsep-ql)",
        ("spaseq", "obep", "epsparql"),
    ),
    "NOW": ("CQELS-QL", _WINDOWS),
    "MATCH": ("RSEP-QL", ("rsepql", "obep", "spaseq")),
    "EVENT": ("RSEP-QL or OBEP", ("rsepql", "obep")),
    "POLICY": ("RSEP-QL", _WINDOWS),
    "WIN": ("RSEP-QL", _WINDOWS),
    "LND": ("RSEP-QL", _WINDOWS),
    "ISTREAM": ("RSEP-QL and RSP-QL", _WINDOWS),
    "RSTREAM": ("RSEP-QL and RSP-QL", _WINDOWS),
    "DSTREAM": ("RSEP-QL and RSP-QL", _WINDOWS),
    "WINDOW": ("RSP-QL", ("rsepql", "epsparql")),
    "ELEMENTS": ("RSP-QL", _WINDOWS),
    "UNDER": ("RSP-QL", _WINDOWS),
    "WITHIN": ("SPAseq or OBEP", ("spaseq", "obep")),
    "DEFINE": ("SPAseq", _CEP),
    "GPM": ("SPAseq", _CEP),
    "PARTITION": ("SPAseq", _CEP),
    "AFTER": ("SPAseq (AFTER MATCH SKIP)", _CEP),
    "SEQ": ("EP-SPARQL, SPAseq, OBEP or RSEP-QL's MATCH", ("epsparql", "spaseq", "obep", "rsepql")),
}
_TITLES = {
    "epsparql": "EP-SPARQL",
    "spaseq": "SPAseq",
    "obep": "OBEP",
    "rsepql": "RSEP-QL, RSP-QL or CQELS-QL",
    "sparkwave": "Sparkwave or C-SPARQL",
}
_FUNCTIONS = {
    "GETDURATION": "EP-SPARQL",
    "GETSTARTTIME": "EP-SPARQL",
    "GETENDTIME": "EP-SPARQL",
    "TIMESTAMP": "C-SPARQL, which is read as Sparkwave",
    "PREV": "SPAseq",
}
SPARQL_12_FUNCTIONS = frozenset(
    {"TRIPLE", "ISTRIPLE", "SUBJECT", "PREDICATE", "OBJECT", "LANGDIR", "HASLANG", "HASLANGDIR", "STRLANGDIR"}
)
"""What SPARQL 1.2 adds to the functions."""
# How other languages of event processing write a sequence.
_FOLLOWS = frozenset({"FOLLOWEDBY", "FOLLOWED", "FOLLOWS", "THEN", "BEFORE"})
_BEFORE_WHERE = re.compile(r"(WITHIN|PARTITION\s+BY|AFTER\s+MATCH\s+SKIP|ON\s+TIMEOUT)\b", re.IGNORECASE)
_NEGATED = re.compile(r"(?:!|NOT\s+)\s*(\w+)", re.IGNORECASE)
_NAMED_EVENT = re.compile(r"\bNAMED\s+EVENT\s+\S+\s*$", re.IGNORECASE)
_DEFINED = re.compile(r"\bEVENT\s+\S+\s*\{?\s*$", re.IGNORECASE)
_LAST_WORD = re.compile(r"(\w+)\s*$")


def advice(text: str, at: int, word: str, language: str) -> str | None:
    """Of what stands at a place of a text in vain: whose word it is, or where it belongs."""
    return _foreign(word, language) or _PLACES.get(language, _nowhere)(text, at, word.upper())


def foreign_word_before(text: str, at: int, language: str) -> int | None:
    """Where the word before a place stands, if it is another language's: it was read as the name of a function."""
    found = _LAST_WORD.search(text, 0, at)
    return None if found is None or _foreign(found[1], language) is None else found.start()


def foreign_function(name: str) -> str | None:
    """Whose function that is, if another language has one of the name.

    >>> foreign_function("getDURATION")
    'getDURATION is a function of EP-SPARQL'
    """
    whose = _FUNCTIONS.get(name.upper())
    return None if whose is None else f"{name} is a function of {whose}"


def _foreign(word: str, language: str) -> str | None:
    whose, at_home = _ELSEWHERE.get(word.upper(), (None, ()))
    if whose is None or language in at_home:
        return None
    return f"{word.upper()} is a word of {whose}; this text is read as {_TITLES[language]}: keep to one of them"


def _nowhere(text: str, at: int, word: str) -> str | None:
    return None


def _in_spaseq(text: str, at: int, word: str) -> str | None:
    if (clause := _BEFORE_WHERE.match(text, at)) is not None:
        return f"{' '.join(clause[1].upper().split())} stands before FROM STREAM"
    if word in _FOLLOWS or text.startswith("->", at):
        return "one after another: A , B the very next event; A ; B the next that fits; A : B any later one"
    if (negated := _NEGATED.match(text, at)) is not None:
        return f"a negation stands behind the name: {negated[1]}!"
    if word in ("GREEDY", "RELUCTANT"):
        return f"{word} stands behind a quantifier: B+ {word}, B{{1,3}} {word}"
    if word == "," and text[:at].rstrip().endswith("{"):
        return "a quantifier says the least number too: {1,…}"
    return None


def _in_rsepql(text: str, at: int, word: str) -> str | None:
    if word == "UNDER":
        return "it stands behind the name of the output: REGISTER RSTREAM :out UNDER ENTAILMENT REGIME rdfs AS SELECT …"
    if word == "FROM" and text[:at].rstrip().endswith("["):
        return "a window ends at each evaluation: write [RANGE PT5M STEP PT1M] for [FROM NOW-PT5M TO NOW STEP PT1M]"
    if word == "{" and re.search(r"\bSTREAM\s+\S+\s*$", text[:at], re.IGNORECASE):
        return "say which part of the stream: [RANGE 5m SLIDE 1m], [NOW], [TRIPLES 10] or [ALL]"
    return None


def _in_epsparql(text: str, at: int, word: str) -> str | None:
    if word in _FOLLOWS or text.startswith("->", at):
        return "one after another: write { … } SEQ { … }"
    if word == "WINDOW":
        return (
            "here WINDOW [RANGE …] stands behind WHERE, for aggregates; FROM NAMED WINDOW and WINDOW w { … } are RSP-QL's, "
            "read with --language rsep-ql"
        )
    if word == "SERVICE":
        return "SERVICE is not supported: give the other data with --background, and write GRAPH <iri> { … }"
    return None


def _in_obep(text: str, at: int, word: str) -> str | None:
    if word == "MATCH" and _NAMED_EVENT.search(text, 0, at) is not None:
        return "NAMED EVENT has braces: NAMED EVENT X { MATCH … }; without NAMED, write EVENT X MATCH …"
    if word == "{" and _DEFINED.search(text, 0, at) is not None:
        return "an event is a class, EVENT X AS ( … ), or made of others, EVENT X MATCH A SEQ B"
    return None


def _in_sparkwave(text: str, at: int, word: str) -> str | None:
    if word == "TIMEWINDOW":
        return (
            "TIMEWINDOW stands once, at the end of the outermost group; one group BEFORE another is SEQ in EP-SPARQL and SPAseq"
        )
    if word == "SLIDE":
        return "SLIDE is CQELS-QL's word: write STEP"
    return None


_PLACES = {"spaseq": _in_spaseq, "rsepql": _in_rsepql, "epsparql": _in_epsparql, "obep": _in_obep, "sparkwave": _in_sparkwave}
