"""The rows of an answer, and what of them goes to the output (spec/30-rsep-ql rule 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from scepter.kernel.windowed.items import EventMapping, Item
from scepter.rdf.terms import Term


class AnswerRow:
    """A row of an answer: its bindings, the interval of its event mappings, if any, and those."""

    __slots__ = ("bindings", "interval", "key", "mappings", "sources")

    def __init__(
        self, bindings: dict[str, Term], interval: tuple[int, int] | None, mappings: tuple[EventMapping, ...]
    ) -> None:
        self.bindings = bindings
        self.interval = interval
        self.mappings = mappings
        self.key: Hashable = (frozenset(bindings.items()), interval)
        """What makes two rows the same: the bindings with the interval."""
        self.sources: tuple[tuple[str, Item], ...] | None = None
        """The items behind it, with the labels that selected them: to be written down before they are consumed or gone."""

    def with_sources(self) -> AnswerRow:
        """The row with its items written down."""
        if self.sources is None:
            found = dict.fromkeys([(scan.label, item) for mapping in self.mappings for scan, item in mapping.sources()])
            self.sources = tuple(found)
        return self


def difference(rows: Sequence[AnswerRow], others: Sequence[AnswerRow]) -> list[AnswerRow]:
    """The bag difference: rows without those that the others have as well, copy by copy."""
    if not others:
        return list(rows)
    counts = Counter([row.key for row in others])
    found = []
    for row in rows:
        if counts[row.key]:
            counts[row.key] -= 1
        else:
            found.append(row)
    return found
