"""Where a run between topics goes on: committed with its matches, as offsets of a consumer group of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from scepter.kafka.address import Address
from scepter.kafka.client import partitions
from scepter.kafka.topic import held
from scepter.kafka.transactions import Mark, Transactions
from scepter.timeline import TimeKind


@dataclass(frozen=True, slots=True)
class Reached:
    """How far a run is."""

    kind: TimeKind
    told: int
    """The watermark: all that is certain there is told."""
    places: Mapping[tuple[str, int], int]
    """By topic and partition that it reads, the offset from which on it needs the events for what it will tell."""
    written: Mapping[int, int] = field(default_factory=dict)
    """By partition of the output, the offset from which on the matches of the watermark's own instant stand."""


@dataclass(slots=True)
class Marks:
    """The marks of a run: one for each partition that it reads, and one for each that it writes. What it has told is a word
    at the output's first partition, so that it is gone with that topic."""

    output: Address
    sources: Sequence[Address]
    back: Callable[[TimeKind], int | None]
    """How far back answers look, in ticks; None: for ever."""
    _transactions: Transactions | None = None
    _told: int | None = None
    _since: dict[int, int] = field(default_factory=dict)

    def begin(self, transactions: Transactions) -> Reached | None:
        """What an earlier run has committed; None where it is of no use."""
        self._transactions = transactions
        transactions.ends.update({number: each.high for number, each in held(self.output).items()})
        own = [(self.output.topic, number) for number in transactions.ends]
        read = [(source.topic, number) for source in self.sources for number in partitions(source)]
        found = transactions.marks([*own, *dict.fromkeys(read)])
        first = found.get((self.output.topic, 0))
        if first is None or not first.word:
            return None
        told, kind, back = json.loads(first.word)
        if self.back(TimeKind(kind)) != back:  # told to look elsewhere than the run before
            return None
        self._told = told
        self._since = {number: found[topic, number].offset for topic, number in own if (topic, number) in found}
        return Reached(TimeKind(kind), told, {place: found[place].offset for place in read if place in found}, self._since)

    def of(self, reached: Reached) -> list[Mark]:
        """What a step commits; it is asked before the step's matches are written."""
        assert self._transactions is not None, "begin first"
        if reached.told != self._told:
            self._told, self._since = reached.told, dict(self._transactions.ends)
        word = json.dumps([reached.told, reached.kind.value, self.back(reached.kind)])
        return [
            *(Mark(self.output.topic, number, offset, "" if number else word) for number, offset in self._since.items()),
            *(Mark(topic, number, offset) for (topic, number), offset in reached.places.items()),
        ]
