"""The nodes of patterns in time: rows that relate when they happened, and what is made of the rows of one end.

A row without an interval (static triples, inline data) is timeless: its start lies behind its end (`kernel.rows.TIMELESS`).
It joins with anything, came before everything, and is no answer by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from scepter.algebra.expressions import Expression
from scepter.algebra.patterns import Pattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import SPELLING, Sources
from scepter.physical.nodes.instant_nodes import EventScan, Tracked
from scepter.physical.nodes.keys import KeyAnalysis, Keys
from scepter.physical.nodes.nodes import ASSERTIONS, Binary, Node, Rowwise, Schema, StaticLeaf, Unary, nodes
from scepter.rdf.terms import Term
from scepter.timeline import Allen

_GIVEN = Sources()


class Kind(Enum):
    """What becomes of a row of the left side and its partners."""

    INNER = "join"
    OUTER = "left outer join"
    """With each partner, or alone where there is none (OPTIONAL and its temporal kin; the optional side is on the right)."""
    SEMI = "semi-join"
    """As it is, where there is a partner (EXISTS)."""
    ANTI = "anti-join"
    """As it is, where there is none (NOT EXISTS)."""
    MINUS = "minus"
    """As it is, where there is no partner with which it shares a bound variable (MINUS)."""


@dataclass(frozen=True)
class TimeJoin(Binary):
    """Rows of two inputs with compatible mappings, whose intervals stand in a relation; the result's interval is the hull.

    All but INNER look at what has ended by the end of the left row, so that no answer is ever taken back.
    """

    says = (
        "TimeJoin, {kind}, {by}{loose:, where bound in both ~}{relation:, left ~ right}{longest:, within ~}"
        "{expiring:, while both are there}{tracked:, each derivation}{conditions:, if ~}"
    )

    relation: Allen | None = None
    """Of the left's interval to the right's; None for any."""
    kind: Kind = Kind.INNER
    longest: int | None = None
    """The longest duration of a row that is of use: FILTER (getDURATION() < …) pushed down."""
    conditions: tuple[Expression, ...] = ()
    """Of partners, over both mappings; time functions speak of the right side's interval."""
    remembered: Node | None = None
    """What the EXISTS among the conditions may look at."""
    plain: bool = False
    """Whether solutions keep SPARQL's multiplicities inside those (rule 8)."""
    expiring: bool = False
    """Whether rows are partners only while both are there (`until`), and each choice of them counts."""

    @property
    def in_parts(self) -> bool:
        """Where pairs are made whichever side comes first: both sides are kept, or their ends differ."""
        told_later = self.remembered is not None or self.expiring or self.fleeting or self.tracked
        return self.kind is Kind.INNER and self.relation not in (Allen.MEETS, Allen.METBY) and not told_later

    @cached_property
    def fleeting(self) -> bool:
        """Whether rows may be there at their own instant alone: they meet only what ends with them."""
        return any(isinstance(node, EveryInstant) for side in (self.left, self.right) for node in nodes(side))

    @cached_property
    def tracked(self) -> bool:
        """Whether rows that rest on different occurrences stay apart, since a policy may consume some of them (rule 10)."""
        return any(isinstance(node, Tracked) or (isinstance(node, EventScan) and node.tracked) for node in nodes(self))

    def _schema(self) -> Schema:
        left, right = self.left.schema, self.right.schema
        if self.kind not in (Kind.INNER, Kind.OUTER):
            return left
        return left.joined(right) if self.kind is Kind.INNER else left.more(right.variables)

    @cached_property
    def loose(self) -> tuple[str, ...]:
        """The shared variables that some row does not bind: partners are compared in them."""
        shared = set(self.right.schema.variables) - set(self.keys)
        return tuple(name for name in self.left.schema.variables if name in shared)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """What partners agree in, or what one side alone is divided by; what EXISTS looks at is in every bucket."""
        keys = found.joined(self.left, self.right, self.keys, outer=self.kind is not Kind.INNER)
        return keys if self.remembered is None else found.asking(keys, self, self.inputs[2:])


@dataclass(frozen=True)
class GapJoin(Binary):
    """Rows of two inputs with compatible mappings, the left one before the right one, and no row of a third input between them.

    Between them is what starts after the left row and ends before the right one. Of left rows with one mapping and one start
    the first to end tells for all of them where the gap begins, of right rows with one mapping and one end the last to start
    where it ends: as an absence of `{ A } SEQ { B } SEQ { C }` with an equal interval does, which tells no two such apart.
    """

    says = (
        "GapJoin, {by}, left BEFORE right, nothing of the third input between{gap_keys: by ~}"
        "{longest:, within ~}{shortest:, of ~ or more}"
    )

    between: Node
    longest: int | None = None
    """The longest duration of a row that is of use."""
    shortest: int | None = None
    """The shortest one."""

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """What both sides share."""
        return tuple(name for name in self.left.schema.variables if name in self.right.schema.variables)

    @cached_property
    def gap_keys(self) -> tuple[str, ...]:
        """What a row between shares with them."""
        return tuple(name for name in self.keys if name in self.between.schema.variables)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """As those of a join of the ends; what stands between is divided like them, or is in every bucket."""
        ends = found.joined(self.left, self.right, self.keys, outer=False)
        between = found.keys(self.between)
        if not ends or between is None:
            return ends
        of_gap = {name: between[name] for name in self.gap_keys if name in between}
        if not any(found.is_whole((*at, *of_gap.get(name, ())), self) for name, at in ends.items()):
            found.none("what stands between may come from anywhere")
        return found.combined(
            (name, [(self.left, at), (self.right, at), (self.between, of)])
            for name, at in ends.items()
            for of in ((), of_gap.get(name, ()))
        )


@dataclass(frozen=True)
class TimeFilter(Rowwise):
    """The rows for which all conditions hold, some of which ask when a row happened; an error counts as false."""

    says = "TimeFilter {conditions}"

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class Once(Unary):
    """Each mapping and interval once: solutions are a set."""

    by_itself = True
    says = "Once, by mapping and interval"

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its input; equal occurrences of events are found in one bucket."""
        keys = found.keys(self.input)
        if ASSERTIONS in self.schema.variables:
            return found.visible(keys or {}, "equal occurrences of different buckets are one")
        return found.once(keys)


@dataclass(frozen=True)
class TimeValues(Rowwise):
    """Time functions as variables: when a row happened, as terms. Rows without a time leave them unbound."""

    says = "TimeValues {spelt}"

    functions: tuple[str, ...]

    @property
    def spelt(self) -> str:
        """The functions as they are written."""
        return " ".join(f"{SPELLING[function]}()" for function in self.functions)

    def _schema(self) -> Schema:
        return self.input.schema.more(map(hidden, self.functions))


def hidden(function: str) -> str:
    """The variable that stands for a time function."""
    return f"_:{function}()"


@dataclass(frozen=True)
class Rename(Unary):
    """The same rows under other names: what a projection hides is still told apart."""

    by_itself = True
    says = "Rename, visible: {visible}"

    names: tuple[str, ...]

    @property
    def visible(self) -> tuple[str, ...]:
        """The names that a query has."""
        return visible(self.names)

    def _schema(self) -> Schema:
        own = self.input.schema
        return Schema(self.names, frozenset(n for n, old in zip(self.names, own.variables, strict=True) if old in own.certain))

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its input, under their new names."""
        keys, names = found.keys(self.input), dict(zip(self.input.schema.variables, self.names, strict=True))
        return None if keys is None else {names.get(name, name): origin for name, origin in keys.items()}


def visible(names: Iterable[str]) -> tuple[str, ...]:
    """The names that are not generated."""
    return tuple(name for name in names if not name.startswith("_:"))


@dataclass(frozen=True)
class Inline(StaticLeaf):
    """Leaf: inline data, without a time; None is unbound."""

    says = "Inline {count} rows of {shown}"

    names: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    @property
    def shown(self) -> tuple[str, ...] | str:
        """The names that a query has."""
        return visible(self.names) or "nothing"

    def _schema(self) -> Schema:
        sure = (n for i, n in enumerate(self.names) if all(row[i] is not None for row in self.rows))
        return Schema(self.names, frozenset(sure))


@dataclass(frozen=True)
class StaticScan(StaticLeaf):
    """Leaf: the solutions of a pattern over what is static (background, ontology, what they entail), without a time."""

    says = "StaticScan {pattern}"

    pattern: Pattern
    numbered: str | None = None
    """A variable that tells equal solutions apart."""
    sources: Sources = _GIVEN
    """Which graphs are the default one and the named ones."""

    def _schema(self) -> Schema:
        names = sorted(in_scope(self.pattern)) + ([self.numbered] if self.numbered else [])
        return Schema(tuple(names), certain(self.pattern) | ({self.numbered} if self.numbered else frozenset()))


@dataclass(frozen=True)
class Answers(Unary):
    """The rows that have a time, with the variables that are shown; static triples alone are no answer."""

    says = "Answers {variables}"

    @property
    def in_parts(self) -> bool:
        """Unless it gives each once itself."""
        return self.once is None

    variables: tuple[str, ...]
    once: tuple[str, ...] | None = None
    """The variables of which each mapping and interval is one answer, however many derivations a policy tells apart."""

    def _schema(self) -> Schema:
        return self.input.schema.only(self.variables)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """As those of a projection; equal answers of different buckets are one where each is given once."""
        keys = found.keys(self.input)
        return found.projected(keys if self.once is None else found.once(keys, self.once), self.variables)


@dataclass(frozen=True)
class Instants(Node):
    """Leaf: an empty row at the end of each event, whatever it says."""

    says = "Instants"


@dataclass(frozen=True)
class EveryInstant(Unary):
    """Rows, and those of them that need no triple at each instant anew: they are fleeting (spec/20-ep-sparql rule 13)."""

    says = "EveryInstant, what needs no triple"

    instants: Instants

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        """None: an instant is in every bucket."""
        return found.none("what needs no triple would be answered at each instant in every bucket")


@dataclass(frozen=True)
class AnsweredOnce(Unary):
    """Rows that have no time, at the first instant there is (rule 1)."""

    says = "AnsweredOnce, at the first instant"

    instants: Instants

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        return found.none("a query of static data alone is answered once")
