"""The nodes of triples that count for a while: scans of occurrences, their windows, and stars of triple patterns over them.

An occurrence is a triple with its interval, whatever brought it there. Its row is there until its window lets go of it
(`until`), and so is what is joined of it: until the first of its parts goes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Exists, Expression, Variable
from scepter.algebra.patterns import TriplePattern
from scepter.physical.nodes.keys import ANYWHERE, OWNED, KeyAnalysis, Keys, Place, is_hidden, owns
from scepter.physical.nodes.nodes import Node, Received, Schema, Unary, nodes, variables_of
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
class OccurrenceScan(Node):
    """Leaf: the triples of events, and what they entail, that any of some triple patterns matches; one row for a triple,
    which tells by bits which patterns those are."""

    says = "OccurrenceScan {patterns}{streams: on ~}"

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
            nodes = {t.places[place] for t in self.patterns}
            if len(nodes) == 1 and isinstance(node := nodes.pop(), Variable):
                return node.name
        return None

    def _schema(self) -> Schema:
        names = (*self.terms, *self.words, *(SOURCE if self.counted else ()))
        return Schema(names, frozenset(self.terms))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """The columns of its terms; the hub under its own name, so that rows can be divided by it."""
        if self.hub is None or self.counted:
            return TERMS
        place = next(i for i in range(3) if _is(self.patterns[0], i, self.hub))
        return tuple(self.hub if i == place else name for i, name in enumerate(TERMS))

    def sent_by(self, exchange: int) -> Keys:
        """What stands at the same place in every pattern: a triple may match several."""
        hub = self.hub if not self.counted else None
        return {} if hub is None else {hub: tuple(((exchange, bit), hub) for bit in range(len(self.patterns)))}

    @property
    def sent_as(self) -> int:
        """Each pattern may send a triple elsewhere."""
        return len(self.patterns)


def _is(triple: TriplePattern, place: int, name: str) -> bool:
    node = triple.places[place]
    return isinstance(node, Variable) and node.name == name


@dataclass(frozen=True)
class Occurrences(Unary):
    """Each triple once at a time, whatever brought it there; the longest of its windows counts."""

    says = "Occurrences, each once at a time{last:, the last ~}{otherwise:, the last ~ of every stream}"

    last: tuple[tuple[IRI, int], ...] = ()
    """Streams whose last so many triples count."""
    otherwise: int | None = None
    """So many of each stream that is not named."""

    @property
    def counted(self) -> bool:
        """Whether triples count while they are among the last so many."""
        return bool(self.last) or self.otherwise is not None

    def _schema(self) -> Schema:
        names = tuple(name for name in self.input.schema.variables if name not in SOURCE)
        return Schema((*names, NUMBER) if self.counted else names, self.input.schema.certain)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its input, unless it counts."""
        return found.none("a window of the last n counts every triple") if self.counted else found.keys(self.input)


@dataclass(frozen=True)
class TripleStar(Unary):
    """The n-way join of triple patterns over occurrences that count at the same time, and over static triples: each new
    occurrence looks for the others. A match has at least one occurrence."""

    says = "TripleStar {triples}{graphs:, with static ~}{conditions:, where ~}"

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
        return variables_of(*self.triples, *(triple for _, triple in self.graphs))

    def _schema(self) -> Schema:
        return Schema((*self.bound, *self.times, *self.numbers), frozenset(self.bound))

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """A variable at the same place in every pattern is a key; any other is one of the patterns that have it. A match by
        static triples in all of those is found in every bucket, and kept in one."""
        keys = found.keys(self.input)
        if not keys:
            found.none("no variable stands at the same place in every triple pattern")
        every = dict(keys or {})
        (received,) = (each for each in nodes(self.input) if isinstance(each, Received))
        scan = received.below
        if not isinstance(scan, OccurrenceScan) or scan.counted:
            return every
        for name in self.bound:
            at: list[tuple[Place, str]] = []
            for bit, triple in enumerate(self.triples, self.first):
                where = [place for place in range(3) if _is(triple, place, name)]
                at += [((received.place, bit), scan.terms[where[0]])] if where else []
            if at and name not in every:
                every[name] = (*at, ((OWNED, id(self)), name))
        return every

    def partition_places(self, below: frozenset[Place]) -> frozenset[Place]:
        """Of the patterns of all stars, its own."""
        bits = range(self.first, self.first + len(self.triples))
        return frozenset(place for place in below if place[0] == OWNED or place[1] in bits)


@dataclass(frozen=True)
class LiveGraph(Unary):
    """The triples in the windows as a graph, over static data, for EXISTS that no join answers."""

    says = "LiveGraph, for EXISTS"

    def _schema(self) -> Schema:
        return Schema()  # it gives no rows


@dataclass(frozen=True)
class AskedNow(Unary):
    """Rows with a variable more for each EXISTS, true or false: asked of what is in the windows when the row ends."""

    says = "AskedNow {asked}"
    exact = "EXISTS asks for more than a join of triple patterns"

    live: LiveGraph
    asked: tuple[tuple[str, Exists], ...]

    def _schema(self) -> Schema:
        names = [name for name, _ in self.asked]
        return self.input.schema.more(names, names)

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """None: all that windows hold is asked."""
        return found.none(ANYWHERE)


@dataclass(frozen=True)
class MatchedOnce(Unary):
    """Each match once: by what can be seen of it, and its set of occurrences or (DISTINCT) its interval."""

    says = "MatchedOnce, by mapping and {by}"

    occurrences: bool

    @property
    def by(self) -> str:
        """By what, in words."""
        return "occurrences" if self.occurrences else "interval"

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its input: matches of the same occurrences are in the same bucket."""
        keys = found.keys(self.input)
        if not self.occurrences:
            return found.once(keys)
        return {name: at for name, at in (keys or {}).items() if not (is_hidden(name) and owns(at))}
