"""Matches as an HTML table, and terms as a person reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from scepter.algebra.notation import Notation
from scepter.rdf.terms import IRI, STRING, Literal, Term, Triple
from scepter.timeline import format_instant

if TYPE_CHECKING:
    from scepter.runtime.matches import Match

_LONGEST = 80
_MOST_TRIPLES = 12


@dataclass(frozen=True, slots=True)
class MatchRow:
    """A match as it is shown: its number from 1, and its events by part with their numbers."""

    number: int
    match: Match
    events: Mapping[str, Sequence[tuple[int | None, str]]]


def value_text(term: Term, notation: Notation) -> str:
    """A term, as short as can be: strings without quotes, long ones cut."""
    text = term.lexical if isinstance(term, Literal) and term.datatype == STRING else notation.term(term)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def name_text(name: str, notation: Notation) -> str:
    """An event's name: as a prefixed name, or the end of its IRI."""
    if ":" not in name or name.startswith("_:"):
        return name
    text = notation.term(IRI(name))
    return text if not text.startswith("<") else name[max(name.rfind("/", 0, -1), name.rfind("#")) + 1 :] or name


def triples_text(triples: Sequence[Triple], notation: Notation) -> str:
    """A graph, a triple per line."""
    lines = [" ".join(value_text(term, notation) for term in triple) for triple in triples[:_MOST_TRIPLES]]
    more = len(triples) - _MOST_TRIPLES
    return "\n".join([*lines, f"… and {more} more"] if more > 0 else lines)


def summary(match: Match, notation: Notation) -> str:
    """A match in a few words, for titles."""
    start, end = (format_instant(instant, match.kind) for instant in (match.start, match.end))
    lines = [f"{start} to {end}" if start != end else f"{start}"]
    if match.occurrence is not None:
        lines.append(notation.term(match.occurrence[0]))
    elif match.graph is not None:
        lines.append(triples_text(match.graph, notation))
    else:
        lines += (f"?{name} = {value_text(term, notation)}" for name, term in match.bindings.items())
    return "\n".join(lines)


def matches_lines(
    matches: Sequence[Match], variables: Sequence[str], notation: Notation, queries: Sequence[str | int] = ()
) -> list[str]:
    """The matches as lines of text, a head above them: when, what they bind or construct; of several queries, which."""
    graphs = any(match.graph is not None for match in matches)
    asks = any(match.boolean is not None for match in matches)
    rows = [["start", "end", *(f"?{name}" for name in variables), *(["graph"] if graphs else []), *(["holds"] if asks else [])]]
    rows[0][:0] = ["query"] if queries else []
    for match in matches:
        bindings = match.bindings
        row = [str(queries[match.query])] if queries else []
        row += (str(format_instant(instant, match.kind)) for instant in (match.start, match.end))
        row += (value_text(bindings[name], notation) if name in bindings else "" for name in variables)
        if graphs:
            row.append(triples_text(match.graph or (), notation).replace("\n", "; "))
        if asks:
            row.append("true")
        rows.append([" ".join(cell.split()) for cell in row])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def matches_table(rows: Sequence[MatchRow], variables: Sequence[str], notation: Notation) -> str:
    """The matches, a row each: when, what they bind or construct, and the events of each part."""
    graphs = any(row.match.graph is not None for row in rows)
    parts = list(dict.fromkeys(part for row in rows for part in row.events))
    heads = ["#", "start", "end", *(f"?{name}" for name in variables), *(["graph"] if graphs else [])]
    heads += (name_text(part, notation) for part in parts)
    lines = ["<table class='sc-matches'><thead><tr>", *(f"<th>{escape(head)}</th>" for head in heads), "</tr></thead><tbody>"]
    for row in rows:
        match = row.match
        numbers = " ".join(str(n) for events in row.events.values() for n, _ in events if n is not None)
        bindings = match.bindings
        cells = [str(row.number), *(str(format_instant(i, match.kind)) for i in (match.start, match.end))]
        cells += (value_text(bindings[name], notation) if name in bindings else "" for name in variables)
        if graphs:
            cells.append(triples_text(match.graph or (), notation))
        shown = [f"<td>{escape(cell)}</td>" for cell in cells]
        shown += (f"<td>{_events(row.events.get(part, ()))}</td>" for part in parts)
        lines.append(f"<tr data-match='{row.number}' data-events='{numbers}'>{''.join(shown)}</tr>")
    return "".join([*lines, "</tbody></table>"])


def _events(events: Sequence[tuple[int | None, str]]) -> str:
    return " ".join(
        f"<span class='sc-chip'{'' if number is None else f' data-event={chr(34)}{number}{chr(34)}'}>{escape(text)}</span>"
        for number, text in events
    )
