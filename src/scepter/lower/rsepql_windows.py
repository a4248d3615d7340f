"""The windows and policies of an RSEP-QL query (spec/30-rsep-ql, Syntax and rule 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from scepter.algebra.query import Stream
from scepter.algebra.windows import CountWindow, Landmark, Policy, StreamWindow, TimeWindow
from scepter.errors import QueryError, Span, nearest, query_error
from scepter.rdf.terms import IRI, XSD, Literal
from scepter.syntax import rsepql_tree as syntax
from scepter.timeline import Duration, TimeKind, parse_duration, parse_instant

_LAST_PART = re.compile(r"[/#]")
_INSTANTS = frozenset({XSD + "integer", XSD + "dateTime", XSD + "dateTimeStamp"})


@dataclass(slots=True)
class Windows:
    """The windows a query declares, and which of them it uses."""

    declared: tuple[StreamWindow, ...] = ()
    streams: tuple[Stream, ...] = ()
    written: dict[IRI, str] = field(default_factory=dict)
    """How the query writes their names."""
    used: set[IRI] = field(default_factory=set)

    @classmethod
    def of(cls, query: syntax.RsepqlQuery) -> Windows:
        """The windows of the FROM NAMED clauses, each name once."""
        found: dict[IRI, StreamWindow] = {}
        streams: list[Stream] = []
        written: dict[IRI, str] = {}
        for clause in query.clauses:
            if not isinstance(clause, syntax.WindowDeclaration):
                continue
            if clause.name.iri in found:
                raise query_error(
                    "duplicate-window",
                    f"window {clause.name} is declared twice",
                    clause.name.span,
                    help="give one of them another name",
                )
            written[clause.name.iri] = str(clause.name)
            found[clause.name.iri] = StreamWindow(clause.name.iri, clause.stream.iri, _extent(clause.extent))
            streams.append(Stream(clause.stream.iri, None, clause.stream.span))
        if not found:
            start = query.result.span
            raise query_error(
                "no-window",
                "the query reads no stream: it declares no window",
                start,
                help="add FROM NAMED <stream> WIN [RANGE …] AS <window>",
            )
        return cls(tuple(found.values()), tuple(streams), written)

    def use(self, name: syntax.Name, word: str) -> IRI:
        """The window that a clause names; QueryError `unknown-window` with the nearest one if there is none."""
        known = {window.name.value: window.name for window in self.declared}
        if name.iri.value in known:
            self.used.add(name.iri)
            return name.iri
        raise self._unknown(name, word, known)

    def _unknown(self, name: syntax.Name, word: str, known: dict[str, IRI]) -> QueryError:
        stream = next((w for w in self.declared if w.stream == name.iri), None)
        close = _nearest(name.iri.value, known)
        if stream is not None:
            advice = f"{name} is a stream; its window is {self.written[stream.name]}"
        elif close:
            advice = f"did you mean {self.written[known[close]]}?"
        else:
            advice = f"add FROM NAMED <stream> WIN [RANGE …] AS {name}"
        return query_error("unknown-window", f"{word} {name}: no window of this name is declared", name.span, help=advice)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    """The known IRI whose last part is close; a namespace that all share makes no two names alike."""
    parts = {_LAST_PART.split(iri)[-1]: iri for iri in known}
    close = nearest(_LAST_PART.split(name)[-1], parts)
    return None if close is None else parts[close]


def _extent(
    extent: syntax.LandmarkExtent | syntax.RangeExtent | syntax.CountExtent,
) -> Landmark | TimeWindow | CountWindow:
    if isinstance(extent, syntax.LandmarkExtent):
        return _landmark(extent)
    if isinstance(extent, syntax.CountExtent):
        word = "TRIPLES" if extent.triples else "ELEMENTS"
        return CountWindow(
            _number(word, extent.count, extent), _number("STEP", extent.step or "1", extent), extent.triples, extent.span
        )
    width = _duration("RANGE", extent.width, extent.width_span)
    if extent.step is None or extent.step_span is None:
        return TimeWindow(width, None, extent.width_span)
    return TimeWindow(width, _duration("STEP", extent.step, extent.step_span), extent.width_span)


def _landmark(extent: syntax.LandmarkExtent) -> Landmark:
    written = extent.instant
    text = written.lexical if isinstance(written, Literal) else written
    if isinstance(written, Literal) and written.datatype not in _INSTANTS:
        raise query_error("landmark", f"{written} is no time", extent.span, help="write an integer or an xsd:dateTime")
    try:
        if not isinstance(written, Literal) and text[-1:].isalpha() and text[:1].isdigit() and "T" not in text:
            return Landmark(parse_duration(text).amount, TimeKind.DATETIME, extent.span)  # LND 1H: so long after the epoch
        instant, kind = parse_instant(text)
    except ValueError as error:
        raise query_error("landmark", f"LND: {error}", extent.span) from None
    integer = not isinstance(written, Literal) or written.datatype == XSD + "integer"
    if isinstance(written, Literal) and integer != (kind is TimeKind.INTEGER):
        raise query_error("landmark", f"{written} is no time", extent.span, help="write an integer or an xsd:dateTime")
    return Landmark(instant, kind, extent.span)


def _number(word: str, text: str, extent: syntax.CountExtent) -> int:
    if not text.strip("0"):
        raise query_error("duration", f"{word} {text}: a number must be above zero", extent.span)
    return min(int(text[:19]), _MOST)


def _duration(word: str, text: str, span: Span) -> Duration:
    bare = text.removeprefix("+")
    try:
        duration = parse_duration(bare.removeprefix("-"))
    except ValueError as error:
        raise query_error("duration", str(error), span) from None
    if bare.startswith("-") or duration.amount <= 0:
        raise query_error("duration", f"{word} {text}: a window's {_PARTS[word]} must be above zero", span)
    return duration


_MOST = 10**15
"""A window of so many holds everything; sums with it fit 64 bits."""
_PARTS = {"RANGE": "width", "STEP": "step"}


def lower_policy(name: str, span: Span) -> Policy:
    """A policy by its name, in any case; QueryError `policy` with the nearest one if there is none."""
    known = [policy.value for policy in Policy]
    if name.lower() in known:
        return Policy(name.lower())
    close = nearest(name.lower(), known)
    advice = f"did you mean {close}?" if close else f"the policies are {', '.join(known)}"
    raise query_error("policy", f"{name} is no policy", span, help=advice)
