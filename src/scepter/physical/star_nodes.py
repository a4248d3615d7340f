"""The nodes of triples that count for a while: scans of occurrences, their windows, and stars of triple patterns over them.

An occurrence is a triple with its interval, whatever brought it there. Its row is there until its window lets go of it
(`until`), and so is what is joined of it: until the first of its parts goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import TriplePattern
from scepter.physical.nodes import Leaf, Schema, Unary
from scepter.rdf.terms import IRI

WORD = 64
"""The patterns that an occurrence matches are bits: so many fit into one column."""
TERMS = ("_:s", "_:p", "_:o")
"""The columns of an occurrence's terms."""
SOURCE = ("_:s of", "_:p of", "_:o of")
"""The columns of the streamed triple that entails it: where triples are counted, it takes that one's place."""
NUMBER = "_:number"
"""The column of an occurrence's number, where it is not known on arrival when its window lets go of it."""


def feeds(word: int) -> str:
    """The column of one word of bits."""
    return f"_:feeds{word}"


@dataclass(frozen=True, slots=True)
class Counts:
    """How long a stream's triples count: for so many ticks, while among the last so many, or (neither) for ever."""

    ticks: int | None = None
    last: int | None = None


@dataclass(frozen=True)
class OccurrenceScan(Leaf):
    """Leaf: the triples of events, and what they entail, that any of some triple patterns matches; one row for a triple,
    which tells by bits which patterns those are."""

    patterns: tuple[TriplePattern, ...]
    """Their places are their bits."""
    sources: tuple[tuple[IRI, Counts], ...]
    """The streams it reads; without any, every one given."""
    otherwise: Counts = Counts()
    """Of the streams that are not named."""
    local: tuple[tuple[int, tuple[Expression, ...]], ...] = ()
    """Conditions that speak of one pattern alone: a triple that fails them for sure does not match it."""
    shown: frozenset[tuple[int, int]] | None = None
    """The patterns and positions whose terms somebody may ask for; None: all."""
    exact: str = ""
    """Why what triples entail is found term by term; empty where tables tell it."""

    @property
    def streams(self) -> tuple[IRI, ...] | None:
        """The streams it reads; None for every one."""
        return tuple(iri for iri, _ in self.sources) or None

    @property
    def counted(self) -> bool:
        """Whether a stream's triples count while they are among its last so many: then all of them are given."""
        return any(counts.last is not None for _, counts in self.sources) or self.otherwise.last is not None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The columns of bits."""
        return tuple(feeds(word) for word in range((len(self.patterns) + WORD - 1) // WORD))

    @cached_property
    def hub(self) -> str | None:
        """A variable that stands at the same place in every pattern: the occurrences of a match agree there."""
        for place in range(3):
            nodes = {(t.subject, t.predicate, t.object)[place] for t in self.patterns}
            if len(nodes) == 1 and isinstance(node := nodes.pop(), Variable):
                return node.name
        return None

    @cached_property
    def schema(self) -> Schema:
        """The triple, its patterns, and where triples are counted whose place it takes."""
        names = (*self.terms, *self.words, *(SOURCE if self.counted else ()))
        return Schema(names, frozenset(self.terms))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The columns of its terms; the hub under its own name, so that rows can be divided by it."""
        if self.hub is None or self.counted:
            return TERMS
        place = next(i for i in range(3) if _is(self.patterns[0], i, self.hub))
        return tuple(self.hub if i == place else name for i, name in enumerate(TERMS))

    def line(self, notation: Notation) -> str:
        """The patterns."""
        where = "" if self.streams is None else " on " + ", ".join(notation.term(iri) for iri in self.streams)
        return f"OccurrenceScan {' . '.join(map(notation.triple, self.patterns))}{where}"


def _is(triple: TriplePattern, place: int, name: str) -> bool:
    node = (triple.subject, triple.predicate, triple.object)[place]
    return isinstance(node, Variable) and node.name == name


@dataclass(frozen=True)
class Occurrences(Unary):
    """Each triple once at a time, whatever brought it there; the longest of its windows counts."""

    last: tuple[tuple[IRI, int], ...] = ()
    """Streams whose last so many triples count."""
    otherwise: int | None = None
    """So many of each stream that is not named."""

    @property
    def counted(self) -> bool:
        """Whether triples count while they are among the last so many."""
        return bool(self.last) or self.otherwise is not None

    @cached_property
    def schema(self) -> Schema:
        """Its input's; where triples are counted, its number instead of whose place it takes."""
        names = tuple(name for name in self.input.schema.variables if name not in SOURCE)
        return Schema((*names, NUMBER) if self.counted else names, self.input.schema.certain)

    def line(self, notation: Notation) -> str:
        """What counts."""
        counts = [f"the last {n} of {notation.term(iri)}" for iri, n in self.last]
        counts += [] if self.otherwise is None else [f"the last {self.otherwise} of every stream"]
        return "Occurrences, each once at a time" + (f": {', '.join(counts)}" if counts else "")


@dataclass(frozen=True)
class TripleStar(Unary):
    """The n-way join of triple patterns over occurrences that count at the same time, and over static triples: each new
    occurrence looks for the others. A match has at least one occurrence."""

    triples: tuple[TriplePattern, ...]
    """Matched by occurrences, and by static triples of the default graph."""
    first: int = 0
    """The bit of the first pattern."""
    graphs: tuple[tuple[IRI, TriplePattern], ...] = ()
    """Matched by the static triples of named graphs."""
    conditions: tuple[Expression, ...] = ()
    longest: int | None = None
    """How long any occurrence counts."""
    times: tuple[str, ...] = ()
    """Variables that tell when the occurrence of each pattern ended; without any, nobody asks."""

    @cached_property
    def numbers(self) -> tuple[str, ...]:
        """Variables that tell the number of each pattern's occurrence, where `until` is not known on arrival."""
        if NUMBER not in self.input.schema.variables:
            return ()
        return tuple(f"{NUMBER}{self.first + place}" for place in range(len(self.triples)))

    @cached_property
    def bound(self) -> tuple[str, ...]:
        """The variables of the patterns, in the order they stand."""
        every = (*self.triples, *(triple for _, triple in self.graphs))
        nodes = (node for t in every for node in (t.subject, t.predicate, t.object))
        return tuple(dict.fromkeys(node.name for node in nodes if isinstance(node, Variable)))

    @cached_property
    def schema(self) -> Schema:
        """All variables of the patterns; times and numbers where they are asked for."""
        return Schema((*self.bound, *self.times, *self.numbers), frozenset(self.bound))

    def line(self, notation: Notation) -> str:
        """The patterns and conditions."""
        graphs = [f"{notation.triple(triple)} in {notation.term(name)}" for name, triple in self.graphs]
        conditions = [notation.expression(condition) for condition in self.conditions]
        parts = [f"TripleStar {' . '.join(map(notation.triple, self.triples))}"]
        parts += [f"with static {' . '.join(graphs)}"] if graphs else []
        parts += [f"where {' && '.join(conditions)}"] if conditions else []
        return ", ".join(parts)
