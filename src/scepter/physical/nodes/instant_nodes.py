"""The nodes of what is decided among rows that end together, or over rows so far: order, slices, groups, pairs that consume,
graphs of single events, and what EXISTS may look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from scepter.algebra.expressions import Aggregate, Exists, Expression, Variable
from scepter.algebra.patterns import BGP, PathPattern, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import Sources
from scepter.physical.nodes.derive_nodes import Derive
from scepter.physical.nodes.keys import NO_GROUPS, NOT_GROUPED, KeyAnalysis, Keys, Origin
from scepter.physical.nodes.nodes import Binary, Node, Received, Rowwise, Schema, TripleScan, Unary, nodes
from scepter.rdf.terms import IRI
from scepter.timeline import Allen

_GIVEN = Sources()


@dataclass(frozen=True)
class EventScan(Node):
    """Leaf: the solutions of a pattern in each event's graph, with what it entails, by the exact evaluator."""

    says = "EventScan {pattern}{streams: on ~}"
    exact = "a path of any length is matched within one event"

    pattern: PathPattern | BGP
    streams: tuple[IRI, ...] | None = None
    numbered: str | None = None
    """A variable that tells the events apart."""
    needy: bool = False
    """Whether what needs no triple is left out: it holds without any event."""
    tracked: bool = False
    """Whether rows tell the occurrences they rest on, for operators that consume them."""

    def _schema(self) -> Schema:
        more = (self.numbered,) if self.numbered else ()
        return Schema((*sorted(in_scope(self.pattern)), *more), certain(self.pattern) | frozenset(more))


@dataclass(frozen=True)
class RowExtend(Unary):
    """A chain of BINDs whose values are others each time: computed once for each row, with one set of blank nodes."""

    says = "RowExtend {steps}"

    steps: tuple[tuple[str, Expression], ...]

    def _schema(self) -> Schema:
        return self.input.schema.more(name for name, _ in self.steps)


@dataclass(frozen=True)
class Ordered(Unary):
    """Rows of one end in order (ORDER BY, rule 13); ties in the order of results."""

    says = "Ordered by {keys}"

    keys: tuple[tuple[str, bool], ...]
    """(variable, whether it descends)."""


@dataclass(frozen=True)
class Sliced(Unary):
    """OFFSET and LIMIT among the rows of one end; without ORDER BY in the order of results."""

    says = "Sliced{limit: at most ~}{skipped: after ~} of each end"

    offset: int
    limit: int | None
    ordered: bool

    @property
    def skipped(self) -> int | None:
        """OFFSET, if it skips any."""
        return self.offset or None


@dataclass(frozen=True)
class TimeGroup(Unary):
    """A row for a group each time rows enter it: set functions over its rows so far, the last n, or those of the last while."""

    says = "TimeGroup{keys: by ~}: {aggregates}{rows: over the last ~ rows}{duration: over the last ~}"

    keys: tuple[tuple[str, str], ...]
    """(name in the result, the input's variable)."""
    aggregates: tuple[tuple[str, Aggregate], ...]
    """Each over a variable, or COUNT(*)."""
    rows: int | None = None
    duration: int | None = None

    def _schema(self) -> Schema:
        names = (*(name for name, _ in self.keys), *(name for name, _ in self.aggregates))
        sure = {name for name, variable in self.keys if variable in self.input.schema.certain}
        return Schema(names, frozenset(sure | {name for name, each in self.aggregates if each.function == "COUNT"}))

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those that it groups by, as the result calls them."""
        if not self.keys:
            return found.none(NO_GROUPS)
        shown = found.shown(found.keys(self.input), NOT_GROUPED, (old for _, old in self.keys))
        return shown and {new: shown[old] for new, old in self.keys if old in shown}


@dataclass(frozen=True)
class Tracked(Rowwise):
    """Scanned rows that tell the occurrence they are, for operators that consume occurrences."""

    by_itself = False
    says = "Tracked, by occurrence"

    pattern: TriplePattern


@dataclass(frozen=True)
class Paired(Binary):
    """SEQ or EQUALS under a policy: each right side with one left side, and both are consumed (rule 10)."""

    says = "Paired with the {which}, left {relation} right, consumed{longest:, within ~}"

    relation: Allen
    recent: bool
    """Whether the latest left side is taken, and not the earliest."""
    longest: int | None = None

    @property
    def which(self) -> str:
        """The partner in words."""
        return "latest" if self.recent else "earliest"

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """A variable in which both sides agree, if no occurrence is in two buckets: a policy takes it once (spec/20-ep-sparql
        rule 10). So all scans below have to be divided, and scans that one triple may match by the same of its terms."""
        left, right = found.keys(self.left), found.keys(self.right)
        if left is None or right is None:  # what has no time is joined freely, and never consumed
            return right if left is None else left
        names = [name for name in left if name in right and name in self.keys]
        agreed = found.combined((name, [(self.left, left[name]), (self.right, right[name])]) for name in names)
        if any(isinstance(each, Derive) for each in nodes(self)):
            return found.none("a policy may consume what rules derive for any key")
        received = [each for each in nodes(self) if isinstance(each, Received)]
        divided = {name: at for name, at in agreed.items() if {place for (place, _), _ in at} >= {r.place for r in received}}
        if not divided:
            return found.none("the sides of a pair that is consumed share no variable that all of its triple patterns bind")
        apart = {name: at for name, at in divided.items() if _is_in_one_bucket(at, received)}
        return apart or found.none("one triple may be consumed for two keys, by patterns that bind the key in different places")


def _is_in_one_bucket(origin: Origin, received: list[Received]) -> bool:
    """Whether all scans that one triple may match send it to the same bucket."""
    scans = {each.place: _pattern(each.below) for each in received}
    told = [(scans[place], Variable(name)) for (place, _), name in origin if place in scans]
    return all(
        not one.overlaps(other) or _places(one, of_one) & _places(other, of_other)
        for (one, of_one), (other, of_other) in combinations(told, 2)
    )


def _pattern(below: Node) -> TriplePattern:
    (scan,) = (node for node in nodes(below) if isinstance(node, TripleScan))
    return scan.pattern


def _places(triple: TriplePattern, variable: Variable) -> set[int]:
    return {place for place, term in enumerate(triple.places) if term == variable}


@dataclass(frozen=True)
class Remembered(Node):
    """What the EXISTS of some conditions may look at: occurrences of their triples, and graphs for their paths."""

    says = "Remembered for EXISTS: {scans}"

    scans: tuple[tuple[TriplePattern, Node], ...]
    graphs: tuple[Node, ...] = ()
    """What gives triples with the number of their graph."""
    once: bool = False
    """Whether only that a triple occurred counts, and not when or how often."""

    def _schema(self) -> Schema:
        return Schema()  # it tells only that something happened


@dataclass(frozen=True)
class Asked(Unary):
    """Rows with a variable more for each EXISTS, true or false: its pattern is searched with the row's terms in it, among what
    has ended by the row's end."""

    says = "Asked {asked}"
    exact = "EXISTS asks for more than a join of triple patterns"

    remembered: Remembered
    asked: tuple[tuple[str, Exists], ...]
    plain: bool
    """Whether solutions keep SPARQL's multiplicities inside (rule 8)."""
    sources: Sources = _GIVEN

    def _schema(self) -> Schema:
        names = [name for name, _ in self.asked]
        return self.input.schema.more(names, names)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its input; what EXISTS looks at is in every bucket."""
        return found.asking(found.keys(self.input), self, self.inputs[1:])
