"""The syntax tree of the SPARQL core: what the user wrote, in the order written, each node with its place.

It is a tree of its own and not the algebra's: a group keeps the order of its elements, which scope rules need (where a BIND
stands, which FILTER belongs to which group), and EXISTS holds a group rather than a pattern. Operators of one precedence are
one n-ary `Operation`, so that a long chain is flat. What is only shorthand is gone: prefixed names are IRIs, `[ … ]`, lists,
`;` and `,` are plain triples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from scepter.errors import Span
from scepter.rdf.terms import IRI, Literal


@dataclass(frozen=True, slots=True)
class Var:
    """`?name` or `$name`."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Constant:
    """An IRI or a literal."""

    term: IRI | Literal
    span: Span


@dataclass(frozen=True, slots=True)
class Blank:
    """`_:label`, `[ … ]`, or a cell of a list; the latter two have generated labels."""

    label: str
    span: Span


Node: TypeAlias = Var | Constant | Blank


@dataclass(frozen=True, slots=True)
class Operation:
    """`||`, `&&`, comparisons, `+ - * /`, `!`, the unary signs `NEGATE` and `PLUS`, `IN` and `NOT IN`.

    `||` and `&&` have two operands or more; the first operand of `IN` is followed by its list.
    """

    operator: str
    operands: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Call:
    """`NAME(…)`: a built-in function or an aggregate, in the user's spelling."""

    function: str
    arguments: tuple[Expression, ...]
    span: Span
    name_span: Span
    distinct: bool = False
    star: bool = False
    separator: str | None = None
    base: str | None = None
    """The BASE in force, where the function makes IRIs of texts."""


@dataclass(frozen=True, slots=True)
class IriCall:
    """`iri(…)`: a cast."""

    function: Constant
    arguments: tuple[Expression, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class IterationCall:
    """`COUNT(B.?v)`: an aggregate over the iterations of a part of the query."""

    function: str
    part: str
    variable: Var
    span: Span
    name_span: Span
    part_span: Span


@dataclass(frozen=True, slots=True)
class ExistsTest:
    """`EXISTS { … }` or `NOT EXISTS { … }`."""

    group: Group
    negated: bool
    span: Span


Expression: TypeAlias = Var | Constant | Operation | Call | IriCall | IterationCall | ExistsTest


@dataclass(frozen=True, slots=True)
class PathOperation:
    """`^`, `/`, `|`, `*`, `+`, `?` over paths, and `!`, whose operands are IRIs and inverted IRIs."""

    operator: str
    operands: tuple[Path, ...]
    span: Span


Path: TypeAlias = Constant | PathOperation


@dataclass(frozen=True, slots=True)
class Triple:
    """Subject, verb (a variable or a path), object."""

    subject: Node
    verb: Var | Path
    object: Node
    span: Span


@dataclass(frozen=True, slots=True)
class Triples:
    """Triples in a row."""

    triples: tuple[Triple, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class FilterClause:
    """`FILTER …`."""

    condition: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class BindClause:
    """`BIND (expression AS ?v)`."""

    expression: Expression
    variable: Var
    span: Span


@dataclass(frozen=True, slots=True)
class OptionalClause:
    """`OPTIONAL { … }`."""

    group: Group
    span: Span


@dataclass(frozen=True, slots=True)
class MinusClause:
    """`MINUS { … }`."""

    group: Group
    span: Span


@dataclass(frozen=True, slots=True)
class GraphClause:
    """`GRAPH name { … }`."""

    name: Var | Constant
    group: Group
    span: Span


@dataclass(frozen=True, slots=True)
class ServiceClause:
    """`SERVICE name { … }`."""

    name: Var | Constant
    group: Group
    span: Span


@dataclass(frozen=True, slots=True)
class Alternatives:
    """`{ … } UNION { … } …`; a group standing alone is one alternative."""

    groups: tuple[Group, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Operator:
    """A word between two groups, in upper case."""

    word: str
    span: Span


@dataclass(frozen=True, slots=True)
class Chain:
    """`{ … } SEQ { … } UNION { … } …`: groups joined to the left by operators, at least one of them temporal."""

    first: Group
    links: tuple[tuple[Operator, Group], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class ValuesClause:
    """`VALUES …`; None is UNDEF."""

    variables: tuple[Var, ...]
    rows: tuple[tuple[Constant | None, ...], ...]
    span: Span


@dataclass(frozen=True, slots=True)
class SelectItem:
    """`?v`, or `(expression AS ?v)`."""

    variable: Var
    expression: Expression | None
    span: Span


@dataclass(frozen=True, slots=True)
class SelectClause:
    """`SELECT …`; `items` None is `*`."""

    items: tuple[SelectItem, ...] | None
    distinct: bool
    reduced: bool
    span: Span


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One condition of GROUP BY; `variable` where it says AS."""

    expression: Expression
    variable: Var | None
    span: Span


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One condition of ORDER BY."""

    expression: Expression
    descending: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Modifiers:
    """The solution modifiers, and the VALUES after them."""

    group_by: tuple[GroupKey, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    values: ValuesClause | None = None


@dataclass(frozen=True, slots=True)
class SubSelect:
    """A SELECT query in a group of its own."""

    select: SelectClause
    group: Group
    modifiers: Modifiers
    span: Span


@dataclass(frozen=True, slots=True)
class LanguageElement:
    """What one language alone puts into groups: its nodes derive from this, and its own lowering knows them."""


Element: TypeAlias = (
    Triples
    | FilterClause
    | BindClause
    | OptionalClause
    | MinusClause
    | GraphClause
    | ServiceClause
    | Alternatives
    | Chain
    | ValuesClause
    | SubSelect
    | LanguageElement
)


@dataclass(frozen=True, slots=True)
class Group:
    """`{ … }`: its elements in order."""

    elements: tuple[Element, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Template:
    """The triples of a CONSTRUCT."""

    triples: tuple[Triple, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class StreamName:
    """A stream's IRI where the query writes one."""

    iri: IRI
    span: Span
