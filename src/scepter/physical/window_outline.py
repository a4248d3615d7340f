"""Queries over windows in words: their windows, their event patterns, when they are evaluated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from scepter.algebra.notation import Notation
from scepter.algebra.windows import (
    CountWindow,
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Landmark,
    Latest,
    Policy,
    RelationToStream,
    Report,
    StreamWindow,
    TimeWindow,
    Version,
    WindowedQuery,
    window_graph,
)
from scepter.physical.operators import Operators
from scepter.physical.tree import Node
from scepter.rdf.terms import IRI, Term
from scepter.timeline import Duration, format_instant


def windowed_tree(query: WindowedQuery, notation: Notation) -> Node:
    """The query over its windows, with the event patterns that MATCH stands for."""
    windows = {window.name: extent_text(window, notation) for window in query.windows}
    graphs: dict[Term, Node] = {
        window_graph(name): Node(f"WINDOW {notation.term(name)}", (extent,)) for name, extent in windows.items()
    }
    matches = [Node("MATCH", (), (_event(event, notation),)) for event in query.events]
    operators = Operators(notation, graphs=graphs, matches=matches)
    details = [f"window {notation.term(name)}: {extent}" for name, extent in windows.items()]
    if query.default_graphs:
        details.append(f"static default graph: {named(query.default_graphs, notation)}")
    if query.named_graphs:
        details.append(f"GRAPH ranges over: {named(query.named_graphs, notation)}")
    return operators.tree(query.result, query.pattern, details)


def extent_text(window: StreamWindow, notation: Notation) -> str:
    """Which items a window holds."""
    of = f"of {notation.term(window.stream)}"
    match window.extent:
        case Landmark(instant, kind):
            return f"the items {of} from {format_instant(instant, kind)} on"
        case TimeWindow(width, step):
            moved = "time unit" if step is None or step == Duration(1, bare=True) else str(step)
            return f"the items {of} of the last {width}, moved on every {moved}"
        case Version():
            return f"the graph {notation.term(window.name)} as it is then: its last version"
        case CountWindow(count, moved_on, triples):
            thing = "triple" if triples else "item"
            return f"the last {count} {thing}s {of}, moved on every {thing if moved_on == 1 else f'{moved_on} {thing}s'}"
        case _:
            assert_never(window.extent)


def _event(event: EventPattern, notation: Notation) -> Node:
    match event:
        case ItemScan(label, window, pattern):
            return Node(f"EVENT {label} ON {notation.term(window)}", ("on each item alone", *notation.parts(pattern)))
        case Earliest(operand):
            return Node("FIRST", (), (_event(operand, notation),))
        case Latest(operand):
            return Node("LAST", (), (_event(operand, notation),))
        case Followed(left, right, policy):
            label = "SEQ" if policy is None else f"SEQ {policy.name}"
            sides = (_event(left, notation), _event(right, notation))
            return Node(label, (_selects(policy),), sides)
        case _:
            assert_never(event)


def _selects(policy: Policy | None) -> str:
    match policy:
        case None:
            return "selects as the policy of the run says"
        case Policy.UNRESTRICTED:
            return "selects every pair"
        case Policy.NAIVE:
            return "selects the last right side with the last left side compatible with it"
        case Policy.CHRONOLOGICAL:
            return "selects the earliest pair per shared binding; the items of a match are consumed"
        case Policy.RECENT:
            return "selects the latest pair per shared binding; the items of a match are consumed"
        case _:
            assert_never(policy)


_OUTPUT = {
    RelationToStream.ISTREAM: "ISTREAM, what is new since the previous evaluation",
    RelationToStream.RSTREAM: "RSTREAM, the whole answer of each evaluation",
    RelationToStream.DSTREAM: "DSTREAM, what has gone since the previous evaluation",
}


def windowed_notes(query: WindowedQuery) -> Iterator[str]:
    """When a query is evaluated, what goes to the output, and its policy."""
    if query.report is Report.CONTENT_CHANGE:
        instants = "at every instant at which a stream of the query has an item (content change)"
    else:
        instants = "at every multiple of the smallest step, from the first item on (window close)"
    yield f"evaluated: {instants}; with --evaluate-at, at the instants given"
    yield f"output: {_OUTPUT[query.output]}"
    if any(_follows(event) for event in query.events):
        yield "policy: of a SEQ without its own: --policy, else unrestricted"


def _follows(event: EventPattern) -> bool:
    match event:
        case ItemScan():
            return False
        case Earliest(operand) | Latest(operand):
            return _follows(operand)
        case Followed(left, right, policy):
            return policy is None or _follows(left) or _follows(right)
        case _:
            assert_never(event)


def named(terms: Iterable[IRI], notation: Notation) -> str:
    """Graphs or streams by name."""
    return ", ".join(notation.term(term) for term in terms) or "none"
