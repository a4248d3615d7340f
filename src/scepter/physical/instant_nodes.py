"""The nodes of what is decided among rows that end together, or over rows so far: order, slices, groups, pairs that consume,
graphs of single events, and what EXISTS may look at."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scepter.algebra.expressions import Aggregate, Exists, Expression
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import BGP, PathPattern, TriplePattern
from scepter.algebra.scope import certain, in_scope
from scepter.algebra.timed import Sources
from scepter.physical.nodes import Leaf, Node, Schema, Unary
from scepter.rdf.terms import IRI
from scepter.timeline import Allen

_GIVEN = Sources()


@dataclass(frozen=True)
class EventScan(Leaf):
    """Leaf: the solutions of a pattern in each event's graph, with what it entails, by the exact evaluator."""

    pattern: PathPattern | BGP
    streams: tuple[IRI, ...] | None = None
    numbered: str | None = None
    """A variable that tells the events apart."""
    needy: bool = False
    """Whether what needs no triple is left out: it holds without any event."""
    tracked: bool = False
    """Whether rows tell the occurrences they rest on, for operators that consume them."""

    @property
    def exact(self) -> str:
        """Why it works on terms."""
        return "a path of any length is matched within one event"

    @cached_property
    def schema(self) -> Schema:
        """The pattern's variables."""
        more = (self.numbered,) if self.numbered else ()
        return Schema((*sorted(in_scope(self.pattern)), *more), certain(self.pattern) | frozenset(more))

    def line(self, notation: Notation) -> str:
        """The pattern."""
        where = "" if self.streams is None else " on " + ", ".join(notation.term(iri) for iri in self.streams)
        return f"EventScan {notation.pattern(self.pattern)}{where}"


@dataclass(frozen=True)
class RowExtend(Unary):
    """A chain of BINDs whose values are others each time: computed once for each row, with one set of blank nodes."""

    steps: tuple[tuple[str, Expression], ...]

    @cached_property
    def schema(self) -> Schema:
        """Its input's, and what is computed."""
        return Schema((*self.input.schema.variables, *(name for name, _ in self.steps)), self.input.schema.certain)

    def line(self, notation: Notation) -> str:
        """The expressions."""
        return "RowExtend " + ", ".join(f"{notation.expression(each)} AS ?{name}" for name, each in self.steps)


@dataclass(frozen=True)
class Ordered(Unary):
    """Rows of one end in order (ORDER BY, rule 13); ties in the order of results."""

    keys: tuple[tuple[str, bool], ...]
    """(variable, whether it descends)."""

    def line(self, notation: Notation) -> str:
        """The keys."""
        return "Ordered by " + " ".join(f"DESC(?{name})" if down else f"?{name}" for name, down in self.keys)


@dataclass(frozen=True)
class Sliced(Unary):
    """OFFSET and LIMIT among the rows of one end; without ORDER BY in the order of results."""

    offset: int
    limit: int | None
    ordered: bool

    def line(self, notation: Notation) -> str:
        """Which rows."""
        limit = "" if self.limit is None else f" at most {self.limit}"
        return f"Sliced{limit}{f' after {self.offset}' if self.offset else ''} of each end"


@dataclass(frozen=True)
class TimeGroup(Unary):
    """A row for a group each time rows enter it: set functions over its rows so far, the last n, or those of the last while."""

    keys: tuple[tuple[str, str], ...]
    """(name in the result, the input's variable)."""
    aggregates: tuple[tuple[str, Aggregate], ...]
    """Each over a variable, or COUNT(*)."""
    rows: int | None = None
    duration: int | None = None

    @cached_property
    def schema(self) -> Schema:
        """The keys and what is computed."""
        names = (*(name for name, _ in self.keys), *(name for name, _ in self.aggregates))
        sure = {name for name, variable in self.keys if variable in self.input.schema.certain}
        return Schema(names, frozenset(sure | {name for name, each in self.aggregates if each.function == "COUNT"}))

    def line(self, notation: Notation) -> str:
        """The keys, the functions and the window."""
        keys = " ".join(f"?{name}" for name, _ in self.keys)
        made = ", ".join(notation.expression(aggregate) for _, aggregate in self.aggregates)
        window = f" over the last {self.rows} rows" if self.rows is not None else ""
        window = f" over the last {self.duration}" if self.duration is not None else window
        return f"TimeGroup {f'by {keys}' if keys else 'all'}: {made}{window}"


@dataclass(frozen=True)
class Tracked(Unary):
    """Scanned rows that tell the occurrence they are, for operators that consume occurrences."""

    pattern: TriplePattern

    def line(self, notation: Notation) -> str:
        """Its name."""
        return "Tracked, by occurrence"


@dataclass(frozen=True)
class Paired:
    """SEQ or EQUALS under a policy: each right side with one left side, and both are consumed (rule 10)."""

    left: Node
    right: Node
    relation: Allen
    recent: bool
    """Whether the latest left side is taken, and not the earliest."""
    longest: int | None = None

    @property
    def inputs(self) -> tuple[Node, ...]:
        """Both sides."""
        return (self.left, self.right)

    @cached_property
    def schema(self) -> Schema:
        """The variables of both sides."""
        left, right = self.left.schema, self.right.schema
        return Schema(tuple(dict.fromkeys((*left.variables, *right.variables))), left.certain | right.certain)

    def line(self, notation: Notation) -> str:
        """Which partner."""
        within = "" if self.longest is None else f", within {self.longest}"
        return f"Paired with the {'latest' if self.recent else 'earliest'}, left {self.relation.value} right, consumed{within}"


@dataclass(frozen=True)
class Remembered:
    """What the EXISTS of some conditions may look at: occurrences of their triples, and graphs for their paths."""

    scans: tuple[tuple[TriplePattern, Node], ...]
    graphs: tuple[Node, ...] = ()
    """What gives triples with the number of their graph."""
    once: bool = False
    """Whether only that a triple occurred counts, and not when or how often."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The scans."""
        return (*(node for _, node in self.scans), *self.graphs)

    @property
    def schema(self) -> Schema:
        """It tells only that something happened."""
        return Schema(())

    def line(self, notation: Notation) -> str:
        """What it keeps."""
        return "Remembered for EXISTS: " + " . ".join(notation.triple(pattern) for pattern, _ in self.scans)


@dataclass(frozen=True)
class Asked:
    """Rows with a variable more for each EXISTS, true or false: its pattern is searched with the row's terms in it, among what
    has ended by the row's end."""

    input: Node
    remembered: Remembered
    asked: tuple[tuple[str, Exists], ...]
    plain: bool
    """Whether solutions keep SPARQL's multiplicities inside (rule 8)."""
    sources: Sources = _GIVEN

    @property
    def exact(self) -> str:
        """Why it works on terms."""
        return "EXISTS asks for more than a join of triple patterns"

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The rows that ask, and where is looked."""
        return (self.input, self.remembered)

    @cached_property
    def schema(self) -> Schema:
        """Its input's, and the answers."""
        names = tuple(name for name, _ in self.asked)
        return Schema((*self.input.schema.variables, *names), self.input.schema.certain | frozenset(names))

    def line(self, notation: Notation) -> str:
        """What is asked."""
        return "Asked " + ", ".join(notation.expression(exists) for _, exists in self.asked)
