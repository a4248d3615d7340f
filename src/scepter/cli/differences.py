"""Two results side by side: the rows that only one has, and for the first of them what is nearest in the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rich.console import Console

from scepter.algebra.notation import Notation
from scepter.cli.execute import Job, matches
from scepter.cli.progress import RunProgress
from scepter.rdf.terms import BlankNode, Term, parse_term
from scepter.runtime.matches import Match
from scepter.timeline import TimeKind, format_instant


class Row(NamedTuple):
    """A match as it is compared: when, the common variables' terms, and the constructed triples."""

    end: int
    start: int
    values: tuple[tuple[str, str], ...]
    """By variable; unbound ones are left out."""
    graph: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """A result: what it is called, what it can bind, and its matches as they came."""

    name: str
    variables: tuple[str, ...]
    constructs: bool
    kind: TimeKind
    matches: Sequence[Match]
    notation: Notation
    unused: int = 0


def gathered(job: Job, name: str) -> Side:
    """The whole result of a job."""
    unused = 0

    def count(letter: object) -> None:
        nonlocal unused
        unused += 1

    with RunProgress(Console(stderr=True)) as progress:
        found = [match for some in matches(job, count, progress) for match in some]
    kind = found[0].kind if found else TimeKind.INTEGER
    variables, notation = tuple(job.query.variables), Notation(dict(job.query.lowered.prefixes))
    return Side(name, variables, job.query.constructs, kind, found, notation, unused)


def differences(one: Side, two: Side, shown: int) -> tuple[list[str], bool]:
    """What is to be told about two results, and whether they differ."""
    common = [name for name in one.variables if name in two.variables]
    graphs = one.constructs and two.constructs
    first, second = (Counter(_rows(side.matches, common, graphs)) for side in (one, two))
    lines = [f"{side.name}: {_count(len(side.matches))}" for side in (one, two)]
    lines += _compared(one, two, common, graphs)
    only = [(one, two, first - second, second), (two, one, second - first, first)]
    both = sum((first & second).values())
    lines.append(f"in both: {both}")
    for here, there, rows, others in only:
        ordered = sorted(rows.elements())
        lines.append(f"only in {here.name}: {len(ordered)}")
        lines += (f"  {_shown(row, here)}" for row in ordered[:shown])
        if len(ordered) > shown:
            lines.append(f"  … and {len(ordered) - shown} more")
        if ordered:
            lines.append(f"  the first: {nearest(ordered[0], others, here, there)}")
    return lines, first != second


def _count(matches: int) -> str:
    return "1 match" if matches == 1 else f"{matches} matches"


def _compared(one: Side, two: Side, common: Sequence[str], graphs: bool) -> list[str]:
    """What the rows are compared by, where that is not all of them."""
    lines = []
    for here, there in ((one, two), (two, one)):
        own = [f"?{name}" for name in here.variables if name not in there.variables]
        if own:
            lines.append(f"not compared: {', '.join(own)}, which only {here.name} has")
    if not common and not graphs:
        lines.append("compared by start and end alone: they have no variable in common")
    return lines


def _rows(matches: Iterable[Match], names: Sequence[str], graphs: bool) -> Iterable[Row]:
    for match in matches:
        bindings: Mapping[str, Term] = match.bindings
        values = tuple((name, _text(bindings[name])) for name in names if name in bindings)
        triples = tuple(sorted(" ".join(map(_text, triple)) for triple in match.graph or ())) if graphs else ()
        yield Row(match.end, match.start, values, triples)


def _text(term: Term) -> str:
    """A term as it is compared: the label of a blank node means nothing elsewhere."""
    return "_:b" if isinstance(term, BlankNode) else str(term)


def _shown(row: Row, side: Side) -> str:
    start, end = (format_instant(instant, side.kind) for instant in (row.start, row.end))
    values = [f"?{name} = {_short(text, side.notation)}" for name, text in row.values]
    return ", ".join([f"{start} to {end}", *values, *(f"{{ {triple} }}" for triple in row.graph)])


def _short(text: str, notation: Notation) -> str:
    return notation.term(parse_term(text))


def nearest(row: Row, others: Iterable[Row], here: Side, there: Side) -> str:
    """The row of the other side that differs in least, and in what."""

    def distance(other: Row) -> tuple[int, int]:
        faults = sum(dict(row.values).get(name) != dict(other.values).get(name) for name, _ in (*row.values, *other.values))
        faults += (row.start != other.start) + (row.end != other.end) + (row.graph != other.graph)
        return faults, abs(row.end - other.end) + abs(row.start - other.start)

    found = min(others, key=distance, default=None)
    if found is None:
        return f"{there.name} has no row at all"
    if found == row:
        return f"{there.name} has it, but not as often"
    told = []
    for what, mine, other in (("starts", row.start, found.start), ("ends", row.end, found.end)):
        if mine != other:
            told.append(f"{what} at {format_instant(mine, here.kind)}, there at {format_instant(other, there.kind)}")
    theirs, ours = dict(found.values), dict(row.values)
    for name in dict.fromkeys((*ours, *theirs)):
        if ours.get(name) != theirs.get(name):
            told.append(f"?{name} is {_bound(ours.get(name), here)}, there {_bound(theirs.get(name), there)}")
    if row.graph != found.graph:
        told.append("its graph is another")
    return f"nearest in {there.name} is {_shown(found, there)}; it {'; '.join(told)}"


def _bound(text: str | None, side: Side) -> str:
    return "unbound" if text is None else _short(text, side.notation)
