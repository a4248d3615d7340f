"""How deep a plan of patterns in time may be: what walks it recurses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from scepter.errors import QueryError, query_error
from scepter.physical.nodes.nodes import Node

DEEPEST: Final = 150
"""Operators above each other. Each costs those who walk a plan up to five of Python's 1,000 frames."""


def refuse_deep(roots: Iterable[Node]) -> None:
    """Raise `too-complex` where a plan is deeper than later stages may walk; does not recurse itself."""
    pending = [(root, 1) for root in roots]
    deepest: dict[int, int] = {}
    while pending:
        node, depth = pending.pop()
        if deepest.get(id(node), 0) >= depth:
            continue
        deepest[id(node)] = depth
        if depth > DEEPEST:
            raise too_deep()
        pending.extend((each, depth + 1) for each in node.inputs)


def too_deep() -> QueryError:
    """What is said of such a query."""
    return query_error(
        "too-complex",
        f"more than {DEEPEST} operators would stand above each other: one for each triple pattern or operator between groups",
        help="split the query, for example into rules",
    )
