"""The rows of an answer, and what of them goes to the output (spec/30-rsep-ql rule 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from scepter.kernel.windowed.items import EventMapping, Item
from scepter.rdf.terms import Term

if TYPE_CHECKING:
    from scepter.kernel.windowed.scan import Scan


class AnswerRow:
    """A row of an answer: its bindings, the interval of its event mappings, if any, and those."""

    __slots__ = ("bindings", "interval", "mappings", "sources")

    def __init__(self, bindings: dict[str, Term], interval: tuple[int, int] | None, mappings: tuple[EventMapping, ...]) -> None:
        self.bindings = bindings
        self.interval = interval
        self.mappings = mappings
        self.sources: list[tuple[Scan, Item]] | None = None
        """The items behind it, with the scans that selected them: to be written down before they are consumed or gone."""

    @property
    def key(self) -> Hashable:
        """What makes two rows the same: the bindings with the interval."""
        return frozenset(self.bindings.items()), self.interval

    def with_sources(self) -> AnswerRow:
        """The row with its items written down."""
        if self.sources is None:
            self.sources = [source for mapping in self.mappings for source in mapping.sources()]
        return self


def difference(rows: Sequence[AnswerRow], others: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The bag difference: rows without those that the others have as well, copy by copy."""
    if not rows or not others:
        return list(rows)
    counts = Counter([row.key for row in others])
    found = []
    for row in rows:
        key = row.key
        if counts[key]:
            counts[key] -= 1
        else:
            found.append(row)
    return found
