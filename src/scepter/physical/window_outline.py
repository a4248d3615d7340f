"""Queries over windows in words: their windows, their event patterns, when they are evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from scepter.algebra.windows import (
    Earliest,
    EventPattern,
    Followed,
    ItemScan,
    Latest,
    RelationToStream,
    Report,
    WindowedQuery,
)

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
