"""The SPARQL text of an algebra pattern, so that other engines can be asked the same question."""

from __future__ import annotations

from typing import assert_never

from scepter.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Call,
    Compare,
    Constant,
    Exists,
    Expression,
    In,
    IterationAggregate,
    Negate,
    Not,
    Or,
    Previous,
    Variable,
)
from scepter.algebra.patterns import (
    BGP,
    Alternative,
    Distinct,
    Extend,
    Filter,
    Graph,
    Group,
    Inverse,
    Join,
    LeftJoin,
    Link,
    Minus,
    NegatedPropertySet,
    Node,
    OneOrMore,
    OrderBy,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Project,
    Slice,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)


def select(pattern: Pattern, variables: list[str]) -> str:
    """A query for the solutions of a pattern."""
    return f"SELECT {' '.join('?' + v for v in variables)} WHERE {{ {group(pattern)} }}"


def group(pattern: Pattern) -> str:
    """The inside of a group graph pattern that translates to the pattern."""
    match pattern:
        case BGP():
            return " ".join(f"{node(t.subject)} {node(t.predicate)} {node(t.object)} ." for t in pattern.triples)
        case PathPattern():
            return f"{node(pattern.subject)} {path(pattern.path)} {node(pattern.object)} ."
        case Join():
            return f"{{ {group(pattern.left)} }} {{ {group(pattern.right)} }}"
        case LeftJoin(condition=None):
            return f"{{ {group(pattern.left)} }} OPTIONAL {{ {{ {group(pattern.right)} }} }}"
        case LeftJoin(left, right, condition):
            assert condition is not None
            return f"{{ {group(left)} }} OPTIONAL {{ {{ {group(right)} }} FILTER ({expression(condition)}) }}"
        case Union():
            return f"{{ {group(pattern.left)} }} UNION {{ {group(pattern.right)} }}"
        case Minus():
            return f"{{ {group(pattern.left)} }} MINUS {{ {group(pattern.right)} }}"
        case Filter():
            return f"{{ {group(pattern.pattern)} }} FILTER ({expression(pattern.condition)})"
        case Extend():
            return f"{{ {group(pattern.pattern)} }} BIND ({expression(pattern.expression)} AS ?{pattern.variable.name})"
        case Values():
            rows = " ".join(f"({' '.join('UNDEF' if t is None else str(t) for t in row)})" for row in pattern.rows)
            return f"VALUES ({' '.join('?' + v.name for v in pattern.variables)}) {{ {rows} }}"
        case Graph():
            return f"GRAPH {node(pattern.name)} {{ {group(pattern.pattern)} }}"
        case Group() | OrderBy() | Project() | Distinct() | Slice():
            return f"{{ {sub_select(pattern)} }}"
        case _:  # what the event languages add has no SPARQL text
            raise ValueError(f"SPARQL has no {type(pattern).__name__}")


def sub_select(pattern: Pattern) -> str:
    """A sub-SELECT: Slice over Distinct over Project over OrderBy over Group, each of them optional."""
    tail, head, names = "", "SELECT", "*"
    if isinstance(pattern, Slice):
        tail = f" OFFSET {pattern.offset}" + ("" if pattern.limit is None else f" LIMIT {pattern.limit}")
        pattern = pattern.pattern
    if isinstance(pattern, Distinct):
        head, pattern = "SELECT DISTINCT", pattern.pattern
    if isinstance(pattern, Project):
        names, pattern = " ".join("?" + v.name for v in pattern.variables), pattern.pattern
    if isinstance(pattern, OrderBy):
        keys = (f"{'DESC' if down else 'ASC'}({expression(e)})" for e, down in pattern.conditions)
        tail, pattern = f" ORDER BY {' '.join(keys)}{tail}", pattern.pattern
    if isinstance(pattern, Group) and names == "*":
        keys = (f"({expression(e)} AS ?{v.name})" if e != v else f"?{v.name}" for v, e in pattern.keys)
        names = " ".join(
            [f"?{v.name}" for v, _ in pattern.keys] + [f"({expression(e)} AS ?{v.name})" for v, e in pattern.aggregates]
        )
        tail = (f" GROUP BY {' '.join(keys)}" if pattern.keys else "") + tail
        pattern = pattern.pattern
    return f"{head} {names} WHERE {{ {group(pattern)} }}{tail}"


def node(item: Node) -> str:
    """A variable, a blank node or a term."""
    if isinstance(item, Variable):
        return item.name if item.name.startswith("_:") else f"?{item.name}"
    return str(item.term)


def path(item: Path) -> str:
    """A property path, in parentheses throughout."""
    match item:
        case Link():
            return str(item.iri)
        case Inverse():
            return f"(^{path(item.path)})"
        case PathSequence():
            return f"({path(item.left)}/{path(item.right)})"
        case Alternative():
            return f"({path(item.left)}|{path(item.right)})"
        case ZeroOrMore():
            return f"({path(item.path)})*"
        case OneOrMore():
            return f"({path(item.path)})+"
        case ZeroOrOne():
            return f"({path(item.path)})?"
        case NegatedPropertySet():
            return f"!({'|'.join([str(i) for i in item.forward] + ['^' + str(i) for i in item.backward])})"
        case _:
            assert_never(item)


def expression(item: Expression) -> str:
    """An expression, in parentheses throughout."""
    match item:
        case Variable() | Constant():
            return node(item)
        case Or():
            return f"({expression(item.left)} || {expression(item.right)})"
        case And():
            return f"({expression(item.left)} && {expression(item.right)})"
        case Not():
            return f"(! {expression(item.operand)})"
        case Compare() | Arithmetic():
            return f"({expression(item.left)} {item.operator} {expression(item.right)})"
        case Negate():
            return f"(- {expression(item.operand)})"
        case In():
            choices = ", ".join(expression(c) for c in item.choices)
            return f"({expression(item.operand)} {'NOT ' if item.negated else ''}IN ({choices}))"
        case Exists():
            return f"{'NOT ' if item.negated else ''}EXISTS {{ {group(item.pattern)} }}"
        case Call():
            name = f"<{item.function}>" if ":" in item.function else item.function
            return f"{name}({', '.join(expression(a) for a in item.arguments)})"
        case Aggregate():
            operand = "*" if item.operand is None else expression(item.operand)
            separator = f'; SEPARATOR="{item.separator}"' if item.function == "GROUP_CONCAT" else ""
            return f"{item.function}({'DISTINCT ' if item.distinct else ''}{operand}{separator})"
        case Previous() | IterationAggregate():
            raise ValueError(f"SPARQL has no {type(item).__name__}")
        case _:
            assert_never(item)
