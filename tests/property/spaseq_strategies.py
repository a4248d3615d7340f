"""Random SPAseq queries, as text, and random small streams for them.

Variables are named for what they are: ?s is shared by the GPMs that use it, ?v is a shared value, ?v1 … belong to one GPM.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from naive.spaseq import Event
from scepter.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

EXAMPLES = int(os.environ.get("SCEPTER_EXAMPLES", "40"))
"""How many runs a property is tried on; set it to thousands to search for a while."""

NS = "http://example/"
STREAMS = tuple(f"{NS}s{number}" for number in (1, 2, 3))
DB = f"{NS}db"
BACKGROUND = f"<{NS}x> <{NS}owner> <{NS}ann> , <{NS}bob> .\n<{NS}y> <{NS}owner> <{NS}ann> .\n"

_OPERATORS = (",", ";", ":")


def background() -> frozenset[Triple]:
    """The triples of `BACKGROUND`."""
    owners = (("x", "ann"), ("x", "bob"), ("y", "ann"))
    return frozenset(Triple(IRI(NS + house), IRI(f"{NS}owner"), IRI(NS + owner)) for house, owner in owners)


@dataclass(frozen=True)
class QueryText:
    """A query and the streams it names."""

    text: str
    streams: tuple[str, ...]

    def __repr__(self) -> str:
        return f"QueryText(streams={len(self.streams)}):\n{self.text}"


@dataclass
class _Writing:
    """A query being written."""

    streams: tuple[str, ...]
    partitioned: bool
    definitions: list[str] = field(default_factory=list)
    visible: list[str] = field(default_factory=list)
    """Variables of earlier atoms, negations aside."""
    kleene: list[tuple[str, str]] = field(default_factory=list)
    """Kleene atoms so far: label and a variable that every iteration binds."""


@st.composite
def queries(draw: st.DrawFn, common_words: bool = True) -> QueryText:
    """A query that every check accepts; `common_words`: also with rules 15 to 18, and not with `+` alone."""
    count = draw(st.sampled_from([1, 1, 1, 2, 2, 3]))
    writing = _Writing(STREAMS[:count], partitioned=draw(st.integers(0, 4)) == 0)
    length = draw(st.sampled_from([1, 2, 2, 2, 3, 3, 4]))
    forms = draw(st.lists(st.sampled_from(_FORMS), min_size=length, max_size=length))
    if not any(form in _SURE for form in forms):
        forms[draw(st.integers(0, len(forms) - 1))] = draw(st.sampled_from(_SURE))
    sequence, sure = "", list[str]()
    for number, form in enumerate(forms):
        atom = _atom(draw, writing, form)
        if form == "+" and not common_words:
            atom = f"{atom[0]}+"
        if atom.endswith(("GREEDY", "RELUCTANT")) and (number + 1 == len(forms) or forms[number + 1] in "!?"):
            atom = atom.split()[0]  # the last of a sequence, or before what may select nothing: refused
        if common_words and sure and form not in "!?" and draw(st.integers(0, 4)) == 0:
            atom += f" WITHIN {draw(st.integers(1, 6))} OF {draw(st.sampled_from(sure))}"
        if form in (".", "+"):
            sure.append(atom[0])
        sequence += (f" {draw(st.sampled_from(_OPERATORS))} " if number else "") + atom
    ends = draw(st.sampled_from([""] * 6 + ["timeout", "timeout", "skip", "skip"])) if common_words else ""
    window = draw(_windows(needed=forms[-1] in "!?" or writing.partitioned or ends == "timeout"))
    if writing.partitioned:
        window += " PARTITION BY (?s)"
    if ends == "timeout":
        window += " ON TIMEOUT"
    elif ends == "skip":
        resumes = ["PAST LAST", "TO NEXT"] + [f"TO {which} {label}" for label in sure for which in ("FIRST", "LAST")]
        window += f" AFTER MATCH SKIP {draw(st.sampled_from(resumes))}"
    lines = ["PREFIX : <http://example/>", _result(draw, writing), window]
    lines += [f"FROM STREAM S{number + 1} <{iri}>" for number, iri in enumerate(writing.streams)]
    lines += ["WHERE {", f"  SEQ ({sequence})", *(f"  {line}" for line in writing.definitions), "}"]
    return QueryText("\n".join(line for line in lines if line) + "\n", writing.streams)


_QUANTIFIERS = (
    "+",
    "+",
    "+",
    "+",
    "{2}",
    "{1,2}",
    "{2,3}",
    "{2,}",
    "+ GREEDY",
    "+ RELUCTANT",
    "{1,2} GREEDY",
    "{2,3} RELUCTANT",
)
_FORMS = (".", ".", ".", "+", "+", "?", "!", "&", "|", "&|")
_SURE = (".", "+", "&", "|", "&|")


def _atom(draw: st.DrawFn, writing: _Writing, form: str) -> str:
    match "." if len(writing.definitions) > 3 and form in ("&", "|", "&|") else form:
        case "+":
            label, bound = _gpm(draw, writing, kleene=True)
            writing.kleene.append((label, bound[0]))
            writing.visible += bound
            return label + draw(st.sampled_from(_QUANTIFIERS))
        case "!":
            label, _ = _gpm(draw, writing)
            return f"{label}!"
        case "?":
            label, bound = _gpm(draw, writing)
            writing.visible += bound
            return f"{label}?"
        case "&":
            return f"({_both(draw, writing)})"
        case "|":
            return f"({_either(draw, writing)})"
        case "&|":
            before = list(writing.visible)
            pair = _both(draw, writing)
            pair_binds, writing.visible = writing.visible, before
            other, bound = _gpm(draw, writing)
            writing.visible = pair_binds + bound
            return f"({pair} | {other})" if draw(st.booleans()) else f"({other} | ({pair}))"
        case _:
            label, bound = _gpm(draw, writing)
            writing.visible += bound
            return label


def _both(draw: st.DrawFn, writing: _Writing) -> str:
    left, bound = _gpm(draw, writing)
    writing.visible += bound  # B's filters may use A's variables
    right, bound = _gpm(draw, writing)
    writing.visible += bound
    return f"{left} & {right}"


def _either(draw: st.DrawFn, writing: _Writing) -> str:
    left, bound_left = _gpm(draw, writing)
    right, bound_right = _gpm(draw, writing)
    writing.visible += bound_left + bound_right
    return f"{left} | {right}"


def _gpm(draw: st.DrawFn, writing: _Writing, *, kleene: bool = False) -> tuple[str, list[str]]:
    """Define a GPM; its label and the variables it binds, the value first."""
    number = len(writing.definitions) + 1
    label = "ABCDEFGHIJ"[number - 1]
    subject = (
        "?s"
        if writing.partitioned or draw(st.booleans())
        else draw(st.sampled_from([f"?s{number}", f"?s{number}", ":x", "[]"]))
    )
    value = draw(st.sampled_from([f"?v{number}"] * 6 + ["?v"]))
    body, extra = _body(draw, subject, value, number)
    bound = [value, *([subject] if subject.startswith("?") else []), *extra]
    filters = [_filter(draw, writing, value, subject, kleene) for _ in range(draw(st.sampled_from([0, 0, 0, 0, 1, 1, 1, 2])))]
    stream = draw(st.integers(1, len(writing.streams)))
    writing.definitions.append(f"DEFINE GPM {label} ON S{stream} {{ {' '.join([body, *filters])} }}")
    return label, bound


def _body(draw: st.DrawFn, subject: str, value: str, number: int) -> tuple[str, list[str]]:
    triple = f"{subject} :{draw(st.sampled_from('pppq'))} {value} ."
    match draw(st.sampled_from(["plain"] * 9 + ["two", "optional", "union", "graph", "bind", "minus", "anyone"])):
        case "two":
            return f"{triple} {subject} :q ?w{number} .", [f"?w{number}"]
        case "optional":
            return f"{triple} OPTIONAL {{ {subject} :q ?w{number} }}", [f"?w{number}"]
        case "union" if subject.startswith("?"):
            return f"{{ {subject} :p {value} }} UNION {{ {subject} :q {value} }}", []
        case "graph" if subject.startswith("?"):
            return f"{triple} GRAPH :db {{ {subject} :owner ?o{number} }}", [f"?o{number}"]
        case "bind":
            return f"{triple} BIND (STR({value}) AS ?w{number})", [f"?w{number}"]
        case "minus" if subject.startswith("?"):
            return f"{triple} MINUS {{ {subject} :q 3 }}", []
        case "anyone":
            return f"{triple} ?w{number} ?r{number} {value} .", [f"?w{number}", f"?r{number}"]
        case _:
            return triple, []


def _filter(draw: st.DrawFn, writing: _Writing, value: str, subject: str, kleene: bool) -> str:
    choices = [
        f"{value} > 1",
        f"{value} != 2",
        f"{value} = 2 || {value} = 3",
        f"isNumeric({value}) && {value} < 3",
        f"!isBlank({value})",
    ]
    if subject.startswith("?"):
        choices += [f"EXISTS {{ {subject} :p ?any }}", f"NOT EXISTS {{ {subject} :q {value} }}", f"isIRI({subject})"]
    values = [earlier for earlier in writing.visible if earlier.startswith("?v")]
    choices += [f"{value} {draw(_comparisons)} {earlier}" for earlier in values[-2:]] * 3
    choices += [f"{value} {draw(_comparisons)} {earlier}" for earlier in writing.visible[-1:]]
    choices += [f"!({value} > {earlier})" for earlier in values[-1:]]
    if kleene:
        choices += [f"{value} {draw(_comparisons)} PREV({value})"] * 3 + [f"{value} != 1 && {value} > PREV({value})"]
    for label, variable in writing.kleene[-1:]:
        function = draw(st.sampled_from(["COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST"]))
        choices += [f"COUNT({label}.{variable}) >= 2", f"{value} > {function}({label}.{variable})"] * 2
    return f"FILTER ({draw(st.sampled_from(choices))})"


_comparisons = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])


@st.composite
def _windows(draw: st.DrawFn, needed: bool) -> str:
    kinds = ["tumbling", "sliding", "events"] + ([] if needed else ["none"])
    length = draw(st.sampled_from([1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 13]))
    match draw(st.sampled_from(kinds)):
        case "tumbling":
            return f"WITHIN {length}"
        case "sliding":
            return f"WITHIN {length} SLIDING"
        case "events":
            return f"WITHIN {length} EVENTS"
        case _:
            return ""


def _result(draw: st.DrawFn, writing: _Writing) -> str:
    variables = list(dict.fromkeys(writing.visible))
    match draw(st.sampled_from(["star"] * 3 + ["some", "some", "distinct", "aggregate", "aggregate", "construct", "ask"])):
        case "some" | "distinct" as kind:
            chosen = draw(st.lists(st.sampled_from(variables), min_size=1, unique=True))
            return f"SELECT {'DISTINCT ' if kind == 'distinct' else ''}{' '.join(chosen)}"
        case "aggregate" if writing.kleene:
            label, variable = draw(st.sampled_from(writing.kleene))
            functions = draw(st.lists(st.sampled_from(_FUNCTIONS), min_size=1, max_size=3, unique=True))
            columns = [f"({function}({label}.{variable}) AS ?{function.lower()})" for function in functions]
            return f"SELECT {' '.join(columns)} {draw(st.sampled_from(variables))}"
        case "construct":
            one, other = draw(st.sampled_from(variables)), draw(st.sampled_from(variables))
            return f"CONSTRUCT {{ :match :one {one} ; :other {other} }}"
        case "ask":
            return "ASK"
        case _:
            return "SELECT *"


_FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST")


def _iri(name: str) -> IRI:
    return IRI(NS + name)


_SUBJECTS: list[Term] = [_iri("x"), _iri("y"), BlankNode("b")]
_OBJECTS: list[Term] = [Literal(str(number), f"{XSD}integer") for number in (1, 2, 3)]
_OBJECTS += [Literal("2.0", f"{XSD}decimal"), Literal("a"), _iri("x"), BlankNode("b")]


@st.composite
def _triples(draw: st.DrawFn) -> Triple:
    subject = draw(st.sampled_from(_SUBJECTS[:1] * 3 + _SUBJECTS[:2] * 2 + _SUBJECTS))
    return Triple(subject, _iri(draw(st.sampled_from("pppq"))), draw(st.sampled_from(_OBJECTS[:4] * 2 + _OBJECTS)))


@st.composite
def _event(draw: st.DrawFn, streams: tuple[str, ...]) -> Event:
    end = draw(st.integers(0, 12))
    length = draw(st.sampled_from([0] * 6 + [1, 3]))
    triples = draw(st.frozensets(_triples(), min_size=1, max_size=3))
    return Event(draw(st.sampled_from(streams * 6 + STREAMS)), max(0, end - length), end, triples)


def events(streams: tuple[str, ...] = STREAMS, most: int = 8) -> st.SearchStrategy[list[Event]]:
    """Events in no particular order: equal times, several solutions each, intervals, a stream the query does not name."""
    sizes = [st.lists(_event(streams), min_size=least, max_size=most) for least in (0, most - 2, most - 1, most)]
    return st.one_of(sizes).map(lambda found: [replace(event, name=f"e{number}") for number, event in enumerate(found)])
