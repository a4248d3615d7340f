"""What flows between the operators, and what each of them promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

from scepter.rdf.terms import IRI, Term, Triple

Assertions: TypeAlias = frozenset[Triple]


class Part(NamedTuple):
    """An event's occurrence, and the parts that its pattern was made of: what is told to those who ask why."""

    event: IRI
    individual: Term
    assertions: Assertions
    start: int
    end: int
    parts: tuple[Part, ...] = ()


class Occurrence(NamedTuple):
    """Assertions that hold in an interval; `names` are those that a guard will ask, each with the assertions it stands for.

    `parts` are empty unless somebody asks why: of what it was made. Occurrences that differ in it alone are one.
    """

    assertions: Assertions
    start: int
    end: int
    names: tuple[tuple[IRI, Assertions], ...] = ()
    parts: tuple[Part, ...] = ()


class Item(NamedTuple):
    """An event of the stream whose graph does not contradict the ontology."""

    graph: Assertions
    start: int
    end: int


class Arrivals(NamedTuple):
    """What is new: the items of an instant, and the occurrences of the logical events in them and of composite ones."""

    items: Sequence[Item]
    occurrences: dict[IRI, list[Occurrence]]
    certain: int
    """All items up to here have come."""


class Operator(Protocol):
    """An operator over occurrences. What it does in `step` is for the time being, until `merge` keeps or `forget` drops it."""

    @property
    def lag(self) -> int | None:
        """How long after its end an occurrence may be given out at most; None: any time."""
        ...

    @property
    def longest(self) -> int | None:
        """How long its occurrences last at most; None: any time."""
        ...

    def step(self, arrivals: Arrivals) -> list[Occurrence]:
        """The occurrences that have become certain, each once."""
        ...

    def merge(self, certain: int) -> None:
        """Keep what the steps since the last `merge` did, and release what nothing to come can use."""
        ...

    def forget(self) -> None:
        """Drop what the steps since the last `merge` did."""
        ...

    def rows(self) -> int:
        """How many occurrences and items are kept."""
        ...


def greatest(first: int | None, second: int | None) -> int | None:
    """The greater of two bounds; None is no bound."""
    return None if first is None or second is None else max(first, second)


def total(first: int | None, second: int | None) -> int | None:
    """The sum of two bounds; None is no bound."""
    return None if first is None or second is None else first + second


def least(first: int | None, second: int | None) -> int | None:
    """The stricter of two bounds; None is no bound."""
    if first is None or second is None:
        return second if first is None else first
    return min(first, second)


class Once:
    """Lets each occurrence through once, and remembers it for as long as it can come again."""

    __slots__ = ("_fresh", "_lag", "_seen", "_swept")

    def __init__(self, lag: int | None) -> None:
        self._lag = lag
        self._seen: set[Occurrence] = set()
        self._fresh: dict[Occurrence, None] = {}
        self._swept = 0

    def __call__(self, occurrences: Sequence[Occurrence]) -> list[Occurrence]:
        """Those not let through before."""
        found = [each for each in dict.fromkeys(occurrences) if each not in self._seen and each not in self._fresh]
        self._fresh.update(dict.fromkeys(found))
        return found

    def merge(self, certain: int) -> None:
        """Remember what was let through, unless it cannot come again."""
        lag = self._lag
        if lag is None:
            self._seen.update(self._fresh)
        else:
            self._seen.update(each for each in self._fresh if each.end + lag > certain)
            if len(self._seen) > 2 * self._swept + 32:
                self._seen = {each for each in self._seen if each.end + lag > certain}
                self._swept = len(self._seen)
        self._fresh.clear()

    def forget(self) -> None:
        """Forget what was let through since the last `merge`."""
        self._fresh.clear()

    def __len__(self) -> int:
        return len(self._seen)
