"""The rows of an answer, and what of them goes to the output (spec/30-rsep-ql rule 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from scepter.kernel.sparql.context import Row
from scepter.kernel.windowed.items import EventMapping
from scepter.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A row of an answer: its bindings, the interval of its event mappings, if any, and those."""

    bindings: dict[str, Term]
    interval: tuple[int, int] | None
    mappings: tuple[EventMapping, ...]
    key: Hashable
    """What makes two rows the same: the bindings with the interval."""


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


class HiddenColumns:
    """The hidden variables of a pattern's Matches, which say of each row which event mappings are behind it."""

    def __init__(self, matches: int) -> None:
        self._names = [(f"_:match{i}", f"_:match{i}.start", f"_:match{i}.end") for i in range(matches)]

    def row(self, bindings: Row, mappings: Sequence[Sequence[EventMapping]]) -> AnswerRow:
        """A solution as a row of the answer; `mappings` are those that each Match's numbers mean."""
        starts: list[int] = []
        ends: list[int] = []
        behind: list[EventMapping] = []
        for match, (number, start, end) in enumerate(self._names):
            if (first := bindings.get(start)) is not None and (last := bindings.get(end)) is not None:
                starts.append(int(first.lexical))  # type: ignore[union-attr]  # a Match binds it to an integer
                ends.append(int(last.lexical))  # type: ignore[union-attr]
            if (which := bindings.get(number)) is not None:
                behind += [mappings[match][int(n)] for n in which.lexical.split()]  # type: ignore[union-attr]
        visible = {name: term for name, term in bindings.items() if not name.startswith("_:")}
        return answer_row(visible, (min(starts), max(ends)) if starts else None, tuple(behind))
