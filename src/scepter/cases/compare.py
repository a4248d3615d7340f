"""What came out against what was expected: rows as multisets, graphs up to blank nodes, differences for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from scepter.cases.isomorphism import blanked, by_value, isomorphic
from scepter.cases.model import Case, Graphs, Refusal, Row, Rows, Time, TimedGraph, Truth
from scepter.rdf.terms import IRI, BlankNode, Literal, Term, Triple

SHOWN = 20
"""Differences shown of each sort; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One match as an engine gave it, its times as results show them."""

    start: Time
    end: Time
    bindings: Mapping[str, Term] = field(default_factory=dict)
    graph: frozenset[Triple] | None = None
    boolean: bool | None = None
    event: IRI | None = None


def difference(case: Case, answers: Sequence[Answer]) -> str | None:
    """What differs from the expectation, as text for a person; None when nothing does."""
    match case.expectation:
        case Rows(rows):
            return _rows_difference(rows, answers, case.prefixes)
        case Graphs(graphs):
            return _graphs_difference(graphs, answers, case)
        case Truth():
            return _truth_difference(case.expectation, answers)
        case Refusal(words):
            return (
                f"an error that says {words!r} was expected, and the query ran, with {_count(len(answers), 'match', 'matches')}"
            )
        case _:
            assert_never(case.expectation)


def _rows_difference(rows: Sequence[Row], answers: Sequence[Answer], prefixes: Mapping[str, str]) -> str | None:
    if odd := next((answer for answer in answers if answer.graph is not None or answer.boolean is not None), None):
        return f"rows were expected, and the query answers with {'a graph' if odd.graph is not None else 'true or false'}"
    expected = Counter(_row_key(row.start, row.end, row.bindings) for row in rows)
    found = Counter(_row_key(answer.start, answer.end, answer.bindings) for answer in answers)
    missing = sorted((expected - found).elements(), key=_row_order)
    unexpected = sorted((found - expected).elements(), key=_row_order)
    if not missing and not unexpected:
        return None
    told = [("missing", row) for row in missing[:SHOWN]] + [("unexpected", row) for row in unexpected[:SHOWN]]
    names = sorted({name for _, (_, _, bindings) in told for name, _ in bindings})
    lines = [["", "start", "end", *(f"?{name}" for name in names)]]
    for sort, (start, end, bindings) in told:
        values = dict(bindings)
        cells = [shorten(values[name], prefixes) if name in values else "" for name in names]
        lines.append([sort, str(start), str(end), *cells])
    return "\n".join([_headline(missing, unexpected, "row"), *_aligned(lines)])


_RowKey = tuple[Time, Time, tuple[tuple[str, Term], ...]]


def _row_key(start: Time, end: Time, bindings: Mapping[str, Term]) -> _RowKey:
    """A row to count: numbers by value, blank nodes by the order in which the row's variables show them."""
    labels: dict[BlankNode, BlankNode] = {}
    values: list[tuple[str, Term]] = []
    for name in sorted(bindings):
        term = by_value(bindings[name])
        if isinstance(term, BlankNode):
            term = labels.setdefault(term, BlankNode(f"b{len(labels)}"))
        values.append((name, term))
    return start, end, tuple(values)


def _row_order(row: _RowKey) -> tuple[str, str, str, list[str]]:
    # Integers by magnitude: padded, since a mixed-up engine may hand over both kinds of time.
    start, end, bindings = row
    return f"{end:>20}", f"{start:>20}", "", [f"{name} {term}" for name, term in bindings]


def _graphs_difference(graphs: Sequence[TimedGraph], answers: Sequence[Answer], case: Case) -> str | None:
    if any(answer.graph is None for answer in answers):
        return "graphs were expected, and the query answers with rows"
    missing: list[tuple[TimedGraph, TimedGraph]] = [
        (graph, TimedGraph(graph.start, graph.end, blanked(graph.graph, case.known), graph.event)) for graph in graphs
    ]
    unexpected: list[TimedGraph] = []
    for answer in answers:
        found = TimedGraph(answer.start, answer.end, blanked(answer.graph or (), case.known), answer.event)
        # Isomorphism is an equivalence, so that taking the first partner never spoils another pair.
        partner = next((index for index, (_, graph) in enumerate(missing) if _same(graph, found)), None)
        if partner is None:
            unexpected.append(TimedGraph(answer.start, answer.end, answer.graph or frozenset(), answer.event))
        else:
            del missing[partner]
    if not missing and not unexpected:
        return None
    told = [("missing", graph) for graph, _ in missing[:SHOWN]] + [("unexpected", graph) for graph in unexpected[:SHOWN]]
    blocks = [_graph_text(sort, graph, case.prefixes) for sort, graph in told]
    return "\n".join([_headline(missing, unexpected, "graph"), *blocks])


def _same(left: TimedGraph, right: TimedGraph) -> bool:
    outside = (left.start, left.end, left.event) == (right.start, right.end, right.event)
    return outside and isomorphic(left.graph, right.graph)


def _graph_text(sort: str, graph: TimedGraph, prefixes: Mapping[str, str]) -> str:
    event = "" if graph.event is None else f" {shorten(graph.event, prefixes)}"
    triples = sorted(" ".join(shorten(term, prefixes) for term in triple) for triple in graph.graph)
    return "\n".join(
        [f"  {sort}  {graph.start}..{graph.end}{event}", *(f"      {triple} ." for triple in triples or ["(empty)"])]
    )


def _truth_difference(expected: Truth, answers: Sequence[Answer]) -> str | None:
    if any(answer.boolean is None for answer in answers):
        return "true or false was expected, and the query answers with rows or graphs"
    holding = [(answer.start, answer.end) for answer in answers if answer.boolean]
    if bool(holding) != expected.holds:
        found = f"holds in {_interval(holding[0])}" if holding else "never holds"
        return f"{str(expected.holds).lower()} was expected, and the query {found}"
    if len(holding) > 1:
        return f"an ASK answers once, and this one {len(holding)} times: {', '.join(map(_interval, holding))}"
    if expected.interval is not None and holding[0] != expected.interval:
        return f"it was expected to hold first in {_interval(expected.interval)}, and does in {_interval(holding[0])}"
    return None


def _interval(times: tuple[Time, Time]) -> str:
    return f"{times[0]}..{times[1]}"


def _headline(missing: Sequence[object], unexpected: Sequence[object], noun: str) -> str:
    parts = [
        f"{_count(len(found), noun, noun + 's')} {sort}"
        for sort, found in (("missing", missing), ("unexpected", unexpected))
        if found
    ]
    cut = " (the first of them below)" if max(len(missing), len(unexpected)) > SHOWN else ""
    return ", ".join(parts) + cut


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [("  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))).rstrip() for line in lines]


def shorten(term: Term, prefixes: Mapping[str, str]) -> str:
    """A term in Turtle notation under prefixes, as a person would write it into the case.

    >>> shorten(IRI("http://example/a"), {"": "http://example/"})
    ':a'
    """
    match term:
        case IRI(value):
            for prefix, namespace in sorted(prefixes.items(), key=lambda item: -len(item[1])):
                local = value.removeprefix(namespace)
                if local != value and local.replace("_", "").isalnum():
                    return f"{prefix}:{local}"
            return str(term)
        case Literal(lexical, datatype, None) if datatype.endswith(("#integer", "#boolean")) and " " not in lexical:
            return lexical
        case Literal(_, datatype, None) if (short := shorten(IRI(datatype), prefixes)) and not short.startswith("<"):
            return str(term).replace(f"<{datatype}>", short)
        case Literal() | BlankNode():
            return str(term)
        case _:
            assert_never(term)
