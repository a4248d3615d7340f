"""The operators besides the joins: events, names, OR, FIRST, LAST and NOT."""

from __future__ import annotations

from scepter.kernel.occurrences.model import Arrivals, Item, Occurrence, Once, Operator, greatest
from scepter.rdf.terms import IRI, Triple
from scepter.timeline import MAX_INSTANT


class Event:
    """The occurrences of an event, logical or composite."""

    def __init__(self, event: IRI, lag: int | None, longest: int | None) -> None:
        self._event = event
        self.lag = lag
        self.longest = longest

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """Those that have arrived."""
        return arrivals.occurrences.get(self._event, [])

    def merge(self, certain: int) -> None:
        """Nothing is kept."""

    def forget(self) -> None:
        """Nothing is kept."""

    def rows(self) -> int:
        """None."""
        return 0


class Name:
    """Gives the occurrences of its operand a name for the guard."""

    def __init__(self, label: IRI, operand: Operator) -> None:
        self._label = label
        self._operand = operand

    @property
    def lag(self) -> int | None:
        """The operand's."""
        return self._operand.lag

    @property
    def longest(self) -> int | None:
        """The operand's."""
        return self._operand.longest

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """The operand's, named."""
        return [each._replace(names=((self._label, each.assertions), *each.names)) for each in self._operand.step(arrivals)]

    def merge(self, certain: int) -> None:
        """The operand's."""
        self._operand.merge(certain)

    def forget(self) -> None:
        """The operand's."""
        self._operand.forget()

    def rows(self) -> int:
        """The operand's."""
        return self._operand.rows()


class Union:
    """`E1 OR E2`: all of both."""

    def __init__(self, left: Operator, right: Operator) -> None:
        self._left, self._right = left, right
        self._once = Once(self.lag)

    @property
    def lag(self) -> int | None:
        """The later side's."""
        return greatest(self._left.lag, self._right.lag)

    @property
    def longest(self) -> int | None:
        """The longer side's."""
        return greatest(self._left.longest, self._right.longest)

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """All of both."""
        return self._once([*self._left.step(arrivals), *self._right.step(arrivals)])

    def merge(self, certain: int) -> None:
        """Both sides."""
        for part in (self._left, self._right, self._once):
            part.merge(certain)

    def forget(self) -> None:
        """Both sides."""
        for part in (self._left, self._right, self._once):
            part.forget()

    def rows(self) -> int:
        """Of both sides."""
        return self._left.rows() + self._right.rows() + len(self._once)


class FirstOnes:
    """The occurrences with no other one wholly before: those that start no later than the first one ends."""

    def __init__(self, operand: Operator) -> None:
        self._operand = operand
        self._least_end = self._fresh_end = MAX_INSTANT
        self._waiting: list[Occurrence] = []
        self._fresh: list[Occurrence] | None = None

    @property
    def lag(self) -> int | None:
        """The operand's: whatever is wholly before an occurrence is known when that is."""
        return self._operand.lag

    @property
    def longest(self) -> int | None:
        """The operand's."""
        return self._operand.longest

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """Those before which none can come any more."""
        new = self._operand.step(arrivals)
        self._fresh_end = min(self._fresh_end, min((each.end for each in new), default=MAX_INSTANT))
        waiting = [each for each in [*self._current(), *new] if each.start <= self._fresh_end]
        certain = [each for each in waiting if self._is_certain(each, arrivals.certain)]
        self._fresh = [each for each in waiting if not self._is_certain(each, arrivals.certain)]
        return certain

    def _current(self) -> list[Occurrence]:
        return self._waiting if self._fresh is None else self._fresh

    def _is_certain(self, each: Occurrence, certain: int) -> bool:
        lag = self._operand.lag
        return certain == MAX_INSTANT or (lag is not None and each.start - 1 + lag <= certain)

    def merge(self, certain: int) -> None:
        """Keep the end of the first one, and those that wait."""
        self._operand.merge(certain)
        self._least_end, self._waiting, self._fresh = self._fresh_end, self._current(), None

    def forget(self) -> None:
        """Back to the last `merge`."""
        self._operand.forget()
        self._fresh_end, self._fresh = self._least_end, None

    def rows(self) -> int:
        """Those that wait."""
        return self._operand.rows() + len(self._waiting)


class LastOnes:
    """The occurrences with no other one wholly after: certain at the end of the input (rule 8)."""

    def __init__(self, operand: Operator) -> None:
        self._operand = operand
        self._waiting: list[Occurrence] = []
        self._fresh: list[Occurrence] = []
        self.lag = None

    @property
    def longest(self) -> int | None:
        """The operand's."""
        return self._operand.longest

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """Nothing before the end; then those that end no sooner than the last one starts."""
        self._fresh += self._operand.step(arrivals)
        return _last([*self._waiting, *self._fresh]) if arrivals.certain == MAX_INSTANT else []

    def merge(self, certain: int) -> None:
        """Keep those that may be the last."""
        self._operand.merge(certain)
        if self._fresh:
            self._waiting = _last([*self._waiting, *self._fresh])
            self._fresh.clear()

    def forget(self) -> None:
        """Back to the last `merge`."""
        self._operand.forget()
        self._fresh.clear()

    def rows(self) -> int:
        """Those that may be the last."""
        return self._operand.rows() + len(self._waiting)


def _last(occurrences: list[Occurrence]) -> list[Occurrence]:
    greatest_start = max((each.start for each in occurrences), default=0)
    return [each for each in occurrences if each.end >= greatest_start]


class Remainder:
    """`NOT E`: what is left of an item without the triples that occurrences ending with it have used."""

    def __init__(self, operand: Operator) -> None:
        self._operand = operand
        self._waiting: list[Item] = []
        self._used: dict[int, set[Triple]] = {}
        self._fresh_items: list[Item] = []
        self._fresh_used: list[Occurrence] = []
        self._done: set[Item] = set()

    @property
    def lag(self) -> int | None:
        """The operand's."""
        return self._operand.lag

    longest = None

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """The rests of the items at whose end no further occurrence can end."""
        self._fresh_used += self._operand.step(arrivals)
        self._fresh_items += arrivals.items
        waiting = (item for item in (*self._waiting, *self._fresh_items) if item not in self._done)
        due = [item for item in waiting if self._is_certain(item, arrivals.certain)]
        used: dict[int, set[Triple]] = {item.end: set(self._used.get(item.end, ())) for item in due}
        for each in self._fresh_used:
            if each.end in used:
                used[each.end] |= each.assertions
        rests = dict.fromkeys(Occurrence(item.graph - used[item.end], item.start, item.end) for item in due)
        self._done.update(due)
        return [rest for rest in rests if rest.assertions]

    def _is_certain(self, item: Item, certain: int) -> bool:
        lag = self._operand.lag
        return certain == MAX_INSTANT or (lag is not None and item.end + lag <= certain)

    def merge(self, certain: int) -> None:
        """Keep the items that wait, and what has been used of theirs."""
        self._operand.merge(certain)
        self._waiting = [item for item in (*self._waiting, *self._fresh_items) if item not in self._done]
        for each in self._fresh_used:
            self._used.setdefault(each.end, set()).update(each.assertions)
        lag = self._operand.lag
        if lag is not None:
            self._used = {end: used for end, used in self._used.items() if end + lag > certain}
        self.forget()

    def forget(self) -> None:
        """Back to the last `merge`."""
        self._operand.forget()
        self._fresh_items.clear()
        self._fresh_used.clear()
        self._done.clear()

    def rows(self) -> int:
        """Items and used triples."""
        return self._operand.rows() + len(self._waiting) + sum(map(len, self._used.values()))
