"""The rows of an answer, and what of them goes to the output (spec/30-rsep-ql rule 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from scepter.kernel.windowed.items import EventMapping, Item
from scepter.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A row of an answer: its bindings, the interval of its event mappings, if any, and those."""

    bindings: dict[str, Term]
    interval: tuple[int, int] | None
    mappings: tuple[EventMapping, ...]
    key: Hashable
    """What makes two rows the same: the bindings with the interval."""
    sources: tuple[tuple[str, Item], ...] | None = None
    """The items behind it, with the labels that selected them: to be written down before they are consumed or gone."""

    def with_sources(self) -> AnswerRow:
        """The row with its items written down."""
        if self.sources is not None or not self.mappings:
            return self
        found = dict.fromkeys((scan.label, item) for mapping in self.mappings for scan, item in mapping.sources())
        return replace(self, sources=tuple(found))


def answer_row(bindings: dict[str, Term], interval: tuple[int, int] | None, mappings: tuple[EventMapping, ...]) -> AnswerRow:
    """A row with its key."""
    return AnswerRow(bindings, interval, mappings, (frozenset(bindings.items()), interval))


def difference(rows: Sequence[AnswerRow], others: Iterable[AnswerRow]) -> list[AnswerRow]:
    """The bag difference: rows without those that the others have as well, copy by copy."""
    counts = Counter(row.key for row in others)
    if not counts:
        return list(rows)
    found = []
    for row in rows:
        if counts[row.key]:
            counts[row.key] -= 1
        else:
            found.append(row)
    return found
