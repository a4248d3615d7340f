"""Items of streams, and the event mappings that patterns make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from scepter.kernel.texts import TextsView
from scepter.rdf.terms import Term, Triple

if TYPE_CHECKING:
    from scepter.kernel.windowed.scan import Scan

Values: TypeAlias = tuple[Term | None, ...]
"""The terms of a mapping in the order of its operator's variables; None is unbound."""
Order: TypeAlias = tuple[int, int]
"""End, then start: what comes first and last (spec/30-rsep-ql rule 6)."""


class Item:
    """One event of a stream. Two items are never the same one."""

    __slots__ = ("end", "name", "number", "start", "triples", "view")

    def __init__(
        self,
        start: int,
        end: int,
        triples: tuple[Triple, ...],
        number: int = 0,
        view: TextsView | None = None,
        name: int = -1,
    ) -> None:
        self.start = start
        self.end = end
        self.triples = triples
        self.number = number
        self.view = view
        """Where its name is, if it has one, at `name`."""
        self.name = name


class EventMapping:
    """A mapping with the interval that justifies it, and where it comes from.

    Event mappings are a set: `parts` are all the ways in which an operator came to it, so that consumption sees every item.
    """

    __slots__ = ("end", "items", "parts", "scan", "start", "values")

    def __init__(self, values: Values, start: int, end: int) -> None:
        self.values = values
        self.start = start
        self.end = end
        self.parts: list[tuple[EventMapping, EventMapping]] = []
        """For a sequence: its left and right sides."""
        self.items: list[Item] = []
        """For a scan: the items that gave it."""
        self.scan: Scan | None = None

    @property
    def order(self) -> Order:
        """End, then start."""
        return self.end, self.start

    def sources(self) -> list[tuple[Scan, Item]]:
        """The items behind it, with the scans that selected them, from left to right."""
        found: list[tuple[Scan, Item]] = []
        pending = [self]
        while pending:
            mapping = pending.pop()
            if mapping.scan is not None:
                found += [(mapping.scan, item) for item in mapping.items]
            for left, right in reversed(mapping.parts):
                pending += (right, left)
        return found


class Delta:
    """What an operator's mappings have gained and lost since it was last asked."""

    __slots__ = ("added", "removed")

    def __init__(self, added: list[EventMapping] | None = None, removed: list[EventMapping] | None = None) -> None:
        self.added = [] if added is None else added
        self.removed = [] if removed is None else removed

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)
