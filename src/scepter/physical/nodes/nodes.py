"""The nodes of a physical plan: operators that will run, with what was chosen for each, as frozen values.

`kernel.build` makes an operator of each. A node declares itself: its fields hold its inputs and its choices, `says` is its line
in `explain`, `_schema` tells its columns where they are not those of its input, `partition_keys` how its input may be divided
over workers. Leaves read events; all others read rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import cached_property, reduce
from string import Formatter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scepter.algebra.expressions import Expression, Variable
from scepter.algebra.notation import Notation
from scepter.algebra.patterns import Pattern, TriplePattern
from scepter.rdf.terms import IRI, Term

if TYPE_CHECKING:
    from scepter.physical.nodes.keys import KeyAnalysis, Keys, Place

_DEEPEST_UNION = 16
ASSERTIONS, START, END = "_:assertions", "_:start", "_:end"
"""What occurrences of events are divided by besides variables: the column of what they assert, and when they start and end."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The variables of a node's rows, by column, and those that every row binds."""

    variables: tuple[str, ...] = ()
    certain: frozenset[str] = frozenset()

    @classmethod
    def bound(cls, names: Iterable[str]) -> Schema:
        """Variables that every row binds."""
        each = tuple(names)
        return cls(each, frozenset(each))

    def more(self, names: Iterable[str], certain: Iterable[str] = ()) -> Schema:
        """These variables, then those of the names that are not among them."""
        return Schema(tuple(dict.fromkeys((*self.variables, *names))), self.certain | frozenset(certain))

    def joined(self, other: Schema) -> Schema:
        """The variables of both, these first.

        >>> Schema(("x", "y")).joined(Schema(("y", "z"))).variables
        ('x', 'y', 'z')
        """
        return self.more(other.variables, other.certain)

    def only(self, names: tuple[str, ...]) -> Schema:
        """Some variables, in another order; one that these do not have is unbound."""
        return Schema(names, self.certain & frozenset(names))

    def column(self, name: str) -> int:
        """The column of a variable; -1 for one that it does not have.

        >>> Schema(("x", "y")).column("y"), Schema(("x",)).column("z")
        (1, -1)
        """
        return self.variables.index(name) if name in self.variables else -1

    def columns(self, names: Sequence[str]) -> tuple[int, ...]:
        """The columns of variables."""
        return tuple(map(self.column, names))


@dataclass(frozen=True)
class Node:
    """A node of a plan, told by its fields.

    `says` names fields in braces. Each is written as SPARQL writes it: variables with their question mark, conditions with
    `&&`, triples with a dot. What follows a colon is said only of a field that is given, with `~` for its value.

    >>> star = TriplePattern(Variable("s"), Variable("p"), Variable("o"))
    >>> TripleScan(star).line(Notation({})), TripleScan(star, (IRI("http://e/s"),)).line(Notation({}))
    ('TripleScan ?s ?p ?o', 'TripleScan ?s ?p ?o on <http://e/s>')
    """

    says: ClassVar[str]

    @cached_property
    def exact(self) -> str:
        """Why it works on terms, one by one; empty for one in columns."""
        return ""

    by_itself: ClassVar[bool] = False
    """Whether it looks at each event, or each row, by itself."""

    @property
    def in_parts(self) -> bool:
        """Whether the rows of an instant may come in parts: no two of one time influence each other, but equal ones are one."""
        return self.by_itself

    @cached_property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes whose rows it takes: those that its fields hold, in their order."""
        return tuple(_held(getattr(self, each.name) for each in fields(self)))

    @cached_property
    def schema(self) -> Schema:
        """Its rows' variables."""
        return self._schema()

    def _schema(self) -> Schema:
        return self.inputs[0].schema if self.inputs else Schema()

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """By which of its variables its input may be divided, so that none of its rows is made of two parts; None: it has the
        same static rows in each."""
        return found.none(f"{type(self).__name__} may combine rows from anywhere")

    def partition_places(self, below: frozenset[Place]) -> frozenset[Place]:
        """The places whose rows it is made of, given those of its inputs."""
        return below

    def sent_by(self, exchange: int) -> Keys:
        """What its rows can be divided by when they are sent: any variable that all of them bind."""
        names: Iterable[str] = (name for name in self.schema.variables if name in self.schema.certain)
        if ASSERTIONS in self.schema.variables:
            names = (ASSERTIONS, START, END, *(name for name in names if not name.startswith("_:")))
        return {name: (((exchange, 0), name),) for name in names}

    @property
    def sent_as(self) -> int:
        """How many patterns a row that is sent may match, each divided in its own way."""
        return 1

    def line(self, notation: Notation) -> str:
        """What it does, in one line, for `explain`."""
        return _Line(self, notation).format(self.says)

    def details(self, notation: Notation) -> Iterator[str]:
        """What else there is to say of it."""
        return iter(())

    def over(self, changed: Callable[[Node], Node]) -> Self:
        """The same choices over other nodes, wherever its fields hold some; itself where none is another."""
        given = {each.name: getattr(self, each.name) for each in fields(self)}
        parts = {name: _changed(value, changed) for name, value in given.items()}
        different = {name: part for name, part in parts.items() if part is not given[name]}
        return replace(self, **different) if different else self


def _held(values: Iterable[object]) -> Iterator[Node]:
    for value in values:
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from _held(value)


def _changed(value: Any, changed: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        return changed(value)
    if isinstance(value, tuple):
        parts = tuple(_changed(each, changed) for each in value)
        return value if all(new is old for new, old in zip(parts, value, strict=True)) else parts
    return value


_NOT_GIVEN: tuple[object, ...] = (None, False, (), "")


class _Line(Formatter):
    """Writes a node's fields into what it says."""

    def __init__(self, node: Node, notation: Notation) -> None:
        self._node, self._notation = node, notation

    def get_value(self, key: int | str, args: object, kwargs: object) -> object:
        return getattr(self._node, str(key))

    def format_field(self, value: Any, spec: str) -> str:
        if spec and any(value is each for each in _NOT_GIVEN):
            return ""
        return spec if spec and "~" not in spec else (spec or "~").replace("~", self._written(value))

    def _one_of(self, value: Any) -> str:
        """One of several: a variable, a pair of a variable and what it is, or a value."""
        match value:
            case str():
                return f"?{value}"
            case (str() as name, bool() as down):
                return f"DESC(?{name})" if down else f"?{name}"
            case (str() as name, str()):
                return f"?{name}"
            case (str() as name, made):
                return self._written(made) if name.startswith("_:") else f"{self._written(made)} AS ?{name}"
            case (TriplePattern() as triple, Node()):
                return self._written(triple)
            case (IRI() as stream, int() as count):
                return f"{count} of {self._written(stream)}"
            case (IRI() as graph, TriplePattern() as triple):
                return f"{self._written(triple)} in {self._written(graph)}"
            case _:
                return self._written(value)

    def _written(self, value: Any) -> str:
        match value:
            case tuple():
                between = _BETWEEN.get(type(value[0]), " && ") if value else ""
                return between.join(map(self._one_of, value))
            case Enum():
                return str(value.value)
            case str() | int():
                return str(value)
            case TriplePattern():
                return self._notation.triple(value)
            case _ if isinstance(value, Term):
                return self._notation.term(value)
            case _ if isinstance(value, Pattern):
                return self._notation.pattern(value)
            case _:
                return self._notation.expression(value)


_BETWEEN: dict[type, str] = {str: " ", IRI: ", ", TriplePattern: " . ", tuple: ", "}
"""What stands between several; conditions hold together."""


def listed(names: Sequence[str], mark: str = "?") -> str:
    """Names in a sentence, variables by default; what is several words is none.

    >>> listed(["a", "b", "c"]), listed(["a", "the end"])
    ('?a, ?b and ?c', '?a and the end')
    """
    marked = [name if " " in name else mark + name for name in names]
    return marked[0] if len(marked) == 1 else f"{', '.join(marked[:-1])} and {marked[-1]}"


@dataclass(frozen=True)
class StaticLeaf(Node):
    """A leaf that reads no event: its rows are there in every bucket."""

    def partition_keys(self, found: KeyAnalysis) -> None:
        return


@dataclass(frozen=True)
class Unary(Node):
    """A node that reads the rows of one other."""

    input: Node


@dataclass(frozen=True)
class Rowwise(Unary):
    """A node that looks at each row by itself: its input may be divided by anything."""

    by_itself = True

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        return found.keys(self.input)


@dataclass(frozen=True)
class Binary(Node):
    """A node that reads the rows of two others, and whose own have the variables of both unless it says otherwise."""

    left: Node
    right: Node

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The variables that every row of both sides binds: partners are found by them."""
        both = self.left.schema.certain & self.right.schema.certain
        return tuple(name for name in self.left.schema.variables if name in both)

    @property
    def by(self) -> str:
        """By what partners are found, in words."""
        return f"by {' '.join(f'?{name}' for name in self.keys)}" if self.keys else "of any mapping"

    def _schema(self) -> Schema:
        return self.left.schema.joined(self.right.schema)


def nodes(root: Node) -> Iterator[Node]:
    """A node and all below it; inputs come before what takes them, each node once.

    >>> from scepter.algebra.expressions import Variable as V
    >>> scan = TripleScan(TriplePattern(V("s"), V("p"), V("o")))
    >>> [type(node).__name__ for node in nodes(Union(scan, Project(scan, ("s",))))]
    ['TripleScan', 'Project', 'Union']
    """
    seen: set[int] = set()
    pending: list[tuple[Node, bool]] = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if id(node) in seen:
            continue
        if ready:
            seen.add(id(node))
            yield node
        else:
            pending.append((node, True))
            pending += [(each, False) for each in reversed(node.inputs)]


def variables_of(*triples: TriplePattern) -> tuple[str, ...]:
    """The variables of triple patterns, in the order they stand."""
    every = (node for triple in triples for node in triple.places)
    return tuple(dict.fromkeys(node.name for node in every if isinstance(node, Variable)))


@dataclass(frozen=True)
class TripleScan(Node):
    """Leaf: the triples of events that match one triple pattern, with what they entail, each once for each event."""

    by_itself = True
    says = "TripleScan {pattern}{streams: on ~}"

    pattern: TriplePattern
    streams: tuple[IRI, ...] | None = None
    """The streams it reads; None for every one given."""
    label: str = ""
    """What matches call the events it selects; without one they do not show them."""
    exact: str = ""
    """Why what triples entail is found term by term; empty where tables tell it, or where nothing is entailed."""

    def _schema(self) -> Schema:
        return Schema.bound(variables_of(self.pattern))


@dataclass(frozen=True)
class Filter(Rowwise):
    """The rows for which all conditions hold; an error counts as false."""

    says = "Filter {conditions}"

    conditions: tuple[Expression, ...]


@dataclass(frozen=True)
class Extend(Rowwise):
    """BIND, and `(expression AS ?v)`: an error leaves the variable unbound."""

    says = "Extend {expression} AS ?{variable}"

    variable: str
    expression: Expression

    def line(self, notation: Notation) -> str:
        """The expression; sides of a UNION are told apart by a variable that nobody wrote."""
        return "Extend, by which side it came from" if self.variable.startswith("_:") else super().line(notation)

    def _schema(self) -> Schema:
        return self.input.schema.more((self.variable,))


@dataclass(frozen=True)
class Project(Unary):
    """The variables that stay visible, in an order; one that the input does not have is unbound."""

    by_itself = True
    says = "Project {variables}"

    variables: tuple[str, ...]

    def _schema(self) -> Schema:
        return self.input.schema.only(self.variables)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        """Those of its input; the ones that it hides still tell rows apart."""
        return found.projected(found.keys(self.input), self.variables)


@dataclass(frozen=True)
class Union(Binary):
    """All rows of both sides."""

    by_itself = True
    says = "Union"

    def _schema(self) -> Schema:
        left, right = self.left.schema, self.right.schema
        return Schema(left.joined(right).variables, left.certain & right.certain)

    def partition_keys(self, found: KeyAnalysis) -> Keys | None:
        left, right = found.keys(self.left), found.keys(self.right)
        if left is None and right is None:
            return None
        if left is None or right is None:
            found.none("a static side of UNION would be answered in every bucket")
        else:
            found.agree(self.left, self.right, None, "the sides of UNION share no variable that both bind")
        left = found.owned(self.left) if left is None else left
        right = found.owned(self.right) if right is None else right
        return found.combined((n, [(self.left, left[n]), (self.right, right[n])]) for n in left if n in right)


@dataclass(frozen=True)
class Received(Node):
    """Leaf: rows that other workers have made of events, in buckets of a key."""

    schema: Schema = field()
    place: int
    below: Node
    """What makes them."""
    stage: int | None = None
    """The stage of the unit that does (`exchanges`); None: it is done where events are read."""
    inputs = ()

    def line(self, notation: Notation) -> str:
        return f"Received from {self.below.line(notation)}"

    def partition_keys(self, found: KeyAnalysis) -> Keys:
        return self.below.sent_by(self.place)

    def partition_places(self, below: frozenset[Place]) -> frozenset[Place]:
        """A place for each pattern that they may match."""
        return below | {(self.place, pattern) for pattern in range(self.below.sent_as) if self.schema.variables}


def union_of(sides: Sequence[Node]) -> Node:
    """All sides as one tree: leaning left, as one reads it, unless that would be deep."""
    if len(sides) > _DEEPEST_UNION:
        middle = len(sides) // 2
        return Union(union_of(sides[:middle]), union_of(sides[middle:]))
    return reduce(Union, sides)


@dataclass(frozen=True)
class Static(Rowwise):
    """Rows joined with triple patterns over one static graph, by index look-up, pattern after pattern in the order given."""

    says = "Static look-up in {where}: {triples}"

    graph: IRI | None
    """None is the default graph."""
    triples: tuple[TriplePattern, ...]

    @property
    def where(self) -> IRI | str:
        """The graph in words."""
        return self.graph or "the default graph"

    def _schema(self) -> Schema:
        names = variables_of(*self.triples)
        return self.input.schema.more(names, names)
