"""Items in columns: when they are, and what they say. Items that say the same are decoded and reasoned over once.

Of an item only the triples that rules can use make its content, so that what else it says (a measured value, a time of its
own) does not make it another one. Where more may matter (a complete reasoner, NOT, an event stated outright) all of it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from scepter.kernel.intake import Intake
from scepter.kernel.occurrences.columns import Int64, content_keys, spread
from scepter.kernel.occurrences.model import Assertions
from scepter.kernel.texts import Texts
from scepter.ontology.assertions import IDENTITY, RDF_TYPE
from scepter.ontology.reasoner import Inference
from scepter.ontology.recognition import Recogniser
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import TermKey, term_id
from scepter.rdf.terms import IRI, Term, Triple

_T = TypeVar("_T")
_FOUND = 200_000
"""Contents and findings beyond which those that nothing refers to any more are let go."""

_TERMS = 200_000
"""Terms that are remembered by their ids."""


@dataclass(frozen=True, slots=True)
class Items:
    """Items in columns; `content` is a number of `Contents`, `name` a ref of the name's text, -1 without one."""

    start: Int64
    end: Int64
    stream: NDArray[np.int32]
    content: Int64
    name: Int64

    def __len__(self) -> int:
        return len(self.end)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Items:
        """Some of them."""
        return Items(self.start[rows], self.end[rows], self.stream[rows], self.content[rows], self.name[rows])

    @staticmethod
    def joined(parts: Iterable[Items]) -> Items:
        """All of several."""
        given = list(parts)
        if len(given) == 1:
            return given[0]
        columns = ((getattr(part, name) for part in given) for name in ("start", "end", "stream", "content", "name"))
        return Items(*(np.concatenate([np.empty(0, kind), *each]) for each, kind in zip(columns, _KINDS, strict=True)))


_KINDS = (np.int64, np.int64, np.int32, np.int64, np.int64)


@dataclass(frozen=True, slots=True)
class Finds:
    """Logical occurrences in columns: the item's row, the event, its individual and assertions, all by number."""

    item: Int64
    event: Int64
    individual: Int64
    assertions: Int64

    def take(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> Finds:
        """Some of them."""
        return Finds(self.item[rows], self.event[rows], self.individual[rows], self.assertions[rows])


class _Numbered(Generic[_T]):
    """Values by number, each once."""

    def __init__(self) -> None:
        self.values: list[_T] = []
        self._numbers: dict[_T, int] = {}

    def number(self, value: _T) -> int:
        found = self._numbers.setdefault(value, len(self.values))
        if found == len(self.values):
            self.values.append(value)
        return found


class _Rows:
    """Rows of numbers that are added to, in one array: to make it anew for each would cost more with every item."""

    def __init__(self, width: int) -> None:
        self._array = np.zeros((64, width), np.int64)
        self.count = 0

    def add(self, row: Sequence[int]) -> None:
        if self.count == len(self._array):
            self._array = np.concatenate([self._array, np.zeros_like(self._array)])
        self._array[self.count] = row
        self.count += 1

    @property
    def array(self) -> Int64:
        """All rows, to be read and set."""
        return self._array[: self.count]


class Contents:
    """What items say and what follows from it, by number."""

    def __init__(self, recogniser: Recogniser, key: TermKey, *, whole: bool) -> None:
        self._recogniser = recogniser
        self._key = key
        self._used = None if whole else recogniser.used_words()
        self._terms: dict[int, Term] = {}
        self._ids: dict[str, NDArray[np.uint64]] = {}
        self.events = tuple(recogniser.names)
        self._begin()

    def _begin(self) -> None:
        self._by_key: dict[int, int] = {0: 0}
        self.graphs: list[Assertions] = [frozenset()]
        self.inferences: list[Inference | None] = [Inference()]
        self._assertions: _Numbered[Assertions] = _Numbered()
        self._individuals: _Numbered[Term] = _Numbered()
        self._rows = _Rows(3)
        """(event, individual, assertions) of each finding."""
        self._places = _Rows(2)
        """Per content: where its findings begin, and how many there are."""
        self._places.add((0, 0))

    @property
    def individuals(self) -> list[Term]:
        """By number."""
        return self._individuals.values

    def assertions(self, number: int) -> Assertions:
        """The assertions of a number."""
        return self._assertions.values[number]

    # ---- items in

    def numbers(self, intake: Intake, events: NDArray[np.intp], texts: Texts) -> Int64:
        """The content of each of some events of a batch."""
        batch = intake.batch
        used = self._used_rows(batch)
        keys = content_keys(batch, used)[events].tolist()
        known = self._by_key.get
        found = [known(key, -1) for key in keys]
        if -1 in found:
            for place, (key, event) in enumerate(zip(keys, events.tolist(), strict=True)):
                if found[place] < 0:
                    found[place] = self._number(key, intake, event, used, texts)
        return np.array(found, np.int64)

    def _number(self, key: int, intake: Intake, event: int, used: NDArray[np.bool_], texts: Texts) -> int:
        if (found := self._by_key.get(key)) is not None:
            return found
        batch, base = intake.batch, intake.base
        rows = np.flatnonzero(used[batch.first[event] : batch.first[event + 1]]) + batch.first[event]
        columns = ((batch.subject, batch.subject_at), (batch.predicate, batch.predicate_at), (batch.object, batch.object_at))
        terms = [[self._term(ids.item(row), at.item(row) + base, texts) for ids, at in columns] for row in rows.tolist()]
        return self._add(key, frozenset([Triple(*triple) for triple in terms]))

    def _term(self, id: int, ref: int, texts: Texts) -> Term:
        found = self._terms.get(id)
        if found is None:
            if len(self._terms) >= _TERMS:
                self._terms.clear()
            found = self._terms[id] = texts.term(ref)
        return found

    def _add(self, key: int, graph: Assertions) -> int:
        number = self._by_key[key] = len(self.graphs)
        self.graphs.append(graph)
        self.inferences.append(None)
        self._places.add((0, 0))
        return number

    def _used_rows(self, batch: EventBatch) -> NDArray[np.bool_]:
        if self._used is None:
            return np.ones(batch.triples, np.bool_)
        predicates, classes = self._used
        types = batch.predicate == self._id_column("type", [RDF_TYPE])[0]
        used = np.isin(batch.predicate, self._id_column("predicates", predicates))
        used[types] = np.isin(batch.object[types], self._id_column("classes", classes))
        stated = types & np.isin(batch.object, self._id_column("events", self.events))
        stated |= np.isin(batch.predicate, self._id_column("identity", IDENTITY))
        if stated.any():  # then definitions count both ways, or names do not tell individuals apart: all words may matter
            counts = np.diff(batch.first)
            rows = np.repeat(np.arange(batch.events), counts)
            used |= np.isin(rows, np.unique(rows[stated]))
        return used

    def _id_column(self, name: str, words: Iterable[IRI]) -> NDArray[np.uint64]:
        column = self._ids.get(name)
        if column is None:
            column = self._ids[name] = np.array([term_id(self._key, str(word)) for word in words], np.uint64)
        return column

    # ---- what follows

    def infer(self, contents: Int64) -> None:
        """Reason over the contents that have not been reasoned over, all at once."""
        fresh = [number for number in np.unique(contents).tolist() if self.inferences[number] is None]
        for number, inference in zip(fresh, self._recogniser.infer([self.graphs[n] for n in fresh]), strict=True):
            self.inferences[number] = inference
            self._places.array[number] = self._rows.count, len(inference.found)
            for event, individual, justification in inference.found:
                numbers = self._individuals.number(individual), self._assertions.number(justification)
                self._rows.add((self.events.index(event), *numbers))

    def conflicting(self, contents: Int64) -> list[int]:
        """The rows whose content contradicts the ontology."""
        conflicts = {n for n in np.unique(contents).tolist() if (each := self.inferences[n]) and each.conflict is not None}
        return [row for row, number in enumerate(contents.tolist()) if number in conflicts] if conflicts else []

    def finds(self, contents: Int64) -> Finds:
        """The logical occurrences of items that have been reasoned over."""
        first, counts = self._places.array[contents].T
        item, within = spread(counts)
        found = self._rows.array[first[item] + within]
        return Finds(item, found[:, 0], found[:, 1], found[:, 2])

    # ---- letting go

    @property
    def is_full(self) -> bool:
        """Whether it is time to let go of what nothing refers to."""
        return len(self.graphs) + len(self._assertions.values) > _FOUND

    def renew(self, contents: Int64, assertions: Int64) -> tuple[Int64, Int64]:
        """Let go of all but some contents and assertions; the new number of each old one."""
        graphs, sets = self.graphs, self._assertions.values
        keys = {number: key for key, number in self._by_key.items()}
        self._begin()
        new_sets, new_contents = np.zeros(len(sets), np.int64), np.zeros(len(graphs), np.int64)
        for number in np.unique(assertions).tolist():
            new_sets[number] = self._assertions.number(sets[number])
        for number in np.unique(contents).tolist():
            new_contents[number] = self._by_key.get(keys[number]) or self._add(keys[number], graphs[number])
        return new_contents, new_sets
