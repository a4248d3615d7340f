"""Expressions and graph patterns in SPARQL's notation, as the user wrote them: for `explain` and messages.

`algebra.text` prints the algebra as it is; this prints what it says to someone who knows SPARQL and not the algebra.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

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
    Match,
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
    Related,
    Side,
    Slice,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)
from scepter.algebra.walk import find
from scepter.rdf.terms import IRI, TYPE, WELL_KNOWN_PREFIXES, XSD, BlankNode, Literal, Term, escape
from scepter.timeline import Allen

_OR, _AND, _COMPARISON, _SUM, _PRODUCT, _UNARY, _PRIMARY = range(7)
"""How tightly an operator binds (SPARQL 1.1 §19.8, rules 110 to 119)."""

_Written: TypeAlias = tuple[str, int]
_LOCAL_NAME = re.compile(r"\w[\w\-]*")
_BARE = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.?[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile(r"true|false"),
}


def format_expression(expression: Expression, prefixes: Mapping[str, str] | None = None) -> str:
    """An expression in SPARQL's notation, with parentheses only where they are needed.

    >>> from scepter.rdf.terms import Literal, XSD
    >>> third = Constant(Literal("0.7", XSD + "decimal"))
    >>> format_expression(Compare("<", Variable("p2"), Arithmetic("*", Variable("p1"), third)))
    '?p2 < ?p1 * 0.7'
    >>> format_expression(Not(Or(Variable("a"), And(Variable("b"), Variable("c")))))
    '!(?a || ?b && ?c)'
    """
    return Notation(prefixes or {}).expression(expression)


def format_pattern(pattern: Pattern, prefixes: Mapping[str, str] | None = None) -> str:
    """A graph pattern in SPARQL's notation, on one line, without braces of its own.

    >>> triple = TriplePattern(Variable("s"), Constant(IRI("http://e/p")), Variable("o"))
    >>> format_pattern(LeftJoin(BGP((triple,)), BGP((triple,))), {"": "http://e/"})
    '?s :p ?o OPTIONAL { ?s :p ?o }'
    """
    return Notation(prefixes or {}).pattern(pattern)


@dataclass(frozen=True, slots=True)
class Notation:
    """A writer of SPARQL that shortens IRIs by prefixes."""

    prefixes: Mapping[str, str] = field(default_factory=dict)
    _computed: Mapping[str, Expression] = field(default_factory=dict)
    """What a sub-SELECT's generated variables stand for."""

    def expression(self, expression: Expression) -> str:
        """An expression."""
        return self._write(expression)[0]

    def pattern(self, pattern: Pattern) -> str:
        """The inside of a group graph pattern, on one line."""
        text = ""
        triple = False
        for element, is_triple in self._elements(pattern, outermost=True):
            text += f" . {element}" if triple and is_triple else f" {element}" if text else element
            triple = is_triple
        return text

    def parts(self, pattern: Pattern) -> list[str]:
        """The elements of a group graph pattern, one by one: triples, OPTIONALs, GRAPHs and so on."""
        return [element for element, _ in self._elements(pattern, outermost=True)]

    def triple(self, triple: TriplePattern) -> str:
        """A triple pattern."""
        verb = "a" if triple.predicate == Constant(IRI(TYPE)) else self.node(triple.predicate)
        return f"{self.node(triple.subject)} {verb} {self.node(triple.object)}"

    def node(self, node: Node) -> str:
        """A variable, a blank node or a term."""
        match node:
            case Variable(name):
                return _blank_node(name) if name.startswith("_:") else f"?{name}"
            case Constant(term):
                return self.term(term)
            case _:
                assert_never(node)

    def term(self, term: Term) -> str:
        """A term: as short as SPARQL allows."""
        match term:
            case IRI(value):
                return self._short(value) or str(term)
            case BlankNode():
                return str(term)
            case Literal(lexical, datatype, None):
                if (bare := _BARE.get(datatype)) and bare.fullmatch(lexical):
                    return lexical
                short = self._short(datatype)
                return f'"{escape(lexical)}"^^{short}' if short and str(term).endswith(">") else str(term)
            case Literal():
                return str(term)
            case _:
                assert_never(term)

    def _short(self, iri: str) -> str | None:
        known = sorted({**WELL_KNOWN_PREFIXES, **self.prefixes}.items(), key=lambda p: -len(p[1]))
        for prefix, namespace in known:
            if namespace and iri.startswith(namespace) and _LOCAL_NAME.fullmatch(iri, len(namespace)):
                return f"{prefix}:{iri[len(namespace) :]}"
        return None

    # ---- expressions

    def _write(self, expression: Expression) -> _Written:
        match expression:
            case Variable(name) if name in self._computed:
                return self._write(self._computed[name])
            case Variable() | Constant():
                return self.node(expression), _PRIMARY
            case Or():
                return self._chain(expression, Or, " || ", _OR)
            case And():
                return self._chain(expression, And, " && ", _AND)
            case Not(operand):
                return f"!{self._operand(operand, _PRIMARY)}", _UNARY
            case Negate(operand):
                return self._signed("-", operand)
            case Compare(operator, left, right):
                return f"{self._operand(left, _SUM)} {operator} {self._operand(right, _SUM)}", _COMPARISON
            case In(operand, choices, negated):
                listed = ", ".join(self.expression(c) for c in choices)
                return f"{self._operand(operand, _SUM)} {'NOT ' if negated else ''}IN ({listed})", _COMPARISON
            case Arithmetic():
                return self._calculation(expression)
            case Exists(pattern, negated):
                return f"{'NOT ' if negated else ''}EXISTS {self._braced(pattern)}", _PRIMARY
            case Call("+", (operand,)):
                return self._signed("+", operand)
            case Call(function, arguments):
                name = (self._short(function) or f"<{function}>") if ":" in function else function
                return f"{name}({', '.join(self.expression(a) for a in arguments)})", _PRIMARY
            case Aggregate():
                return self._aggregate(expression), _PRIMARY
            case Previous(variable):
                return f"PREV(?{variable.name})", _PRIMARY
            case IterationAggregate(function, part, variable):
                return f"{function}({part}.?{variable.name})", _PRIMARY
            case _:
                assert_never(expression)

    def _operand(self, expression: Expression, least: int) -> str:
        text, tightness = self._write(expression)
        return text if tightness >= least else f"({text})"

    def _signed(self, sign: str, operand: Expression) -> _Written:
        """`-1` would be a number, not the opposite of one: a sign before a constant needs parentheses."""
        text = self._operand(operand, _PRIMARY)
        return (f"{sign}({text})" if isinstance(operand, Constant) else f"{sign}{text}"), _UNARY

    def _chain(self, expression: Expression, kind: type[And] | type[Or], between: str, tightness: int) -> _Written:
        """`&&` and `||` are associative, errors included: no parentheses among equals, and no recursion along the chain."""
        operands: list[str] = []
        pending = [expression]
        while pending:
            node = pending.pop()
            if isinstance(node, kind):
                pending += (node.right, node.left)
            else:
                operands.append(self._operand(node, tightness + 1))
        return between.join(operands), tightness

    def _calculation(self, expression: Arithmetic) -> _Written:
        tightness = _SUM if expression.operator in "+-" else _PRODUCT
        rest: list[str] = []
        node: Expression = expression
        while isinstance(node, Arithmetic) and (_SUM if node.operator in "+-" else _PRODUCT) == tightness:
            rest.append(f" {node.operator} {self._operand(node.right, tightness + 1)}")
            node = node.left
        return self._operand(node, tightness) + "".join(reversed(rest)), tightness

    def _aggregate(self, aggregate: Aggregate) -> str:
        operand = "*" if aggregate.operand is None else self.expression(aggregate.operand)
        separator = "" if aggregate.separator == " " else f'; SEPARATOR="{escape(aggregate.separator)}"'
        return f"{aggregate.function}({'DISTINCT ' if aggregate.distinct else ''}{operand}{separator})"

    # ---- patterns

    def _elements(self, pattern: Pattern, *, outermost: bool = False) -> list[tuple[str, bool]]:
        """The elements of a group, each with whether it is a triple. What stands to the left of an operator needs no braces."""
        match pattern:
            case BGP(triples):
                return [(self.triple(t), True) for t in triples]
            case PathPattern(subject, path, object_):
                return [(f"{self.node(subject)} {self.path(path)} {self.node(object_)}", True)]
            case Join(left, right):
                flat = isinstance(right, BGP | PathPattern | Graph | Values | Union | Join) and _joins_only(right)
                return self._elements(left) + (self._elements(right) if flat else [(self._braced(right), False)])
            case LeftJoin(left, right, condition):
                option = right if condition is None else Filter(condition, right)
                return [*self._elements(left), (f"OPTIONAL {self._braced(option)}", False)]
            case Union(left, right):
                return [(f"{self._braced(left)} UNION {self._braced(right)}", False)]
            case Related():
                return [(self._related(pattern), False)]
            case Minus(left, right):
                return [*self._elements(left), (f"MINUS {self._braced(right)}", False)]
            case Filter(condition, inner_pattern) if outermost:
                return [*self._elements(inner_pattern), (f"FILTER ({self.expression(condition)})", False)]
            case Extend(inner_pattern, variable, expression):
                return [*self._elements(inner_pattern), (f"BIND ({self.expression(expression)} AS ?{variable.name})", False)]
            case Values():
                return [(self._values(pattern), False)]
            case Graph(name, inner_pattern):
                return [(f"GRAPH {self.node(name)} {self._braced(inner_pattern)}", False)]
            case Match(number):
                return [(f"MATCH {{ {number} }}", False)]
            case Filter() | Group() | OrderBy() | Project() | Distinct() | Slice():
                return [(self._braced(pattern), False)]
            case _:
                assert_never(pattern)

    def _related(self, pattern: Related) -> str:
        left, right = pattern.left, pattern.right
        word = "SEQ" if pattern.relation is Allen.BEFORE else pattern.relation.value
        if pattern.optional is Side.LEFT:
            left = left if pattern.condition is None else Filter(pattern.condition, left)
            word = f"OPTIONAL{word}"
        elif pattern.optional is Side.RIGHT:
            right = right if pattern.condition is None else Filter(pattern.condition, right)
            word = f"{word}OPTIONAL"
        return f"{self._braced(left)} {word} {self._braced(right)}"

    def _braced(self, pattern: Pattern) -> str:
        if isinstance(pattern, Group | OrderBy | Project | Distinct | Slice):
            return f"{{ {self._sub_select(pattern)} }}"
        inner = self.pattern(pattern)
        return f"{{ {inner} }}" if inner else "{}"

    def _values(self, pattern: Values) -> str:
        cells = (["UNDEF" if t is None else self.term(t) for t in row] for row in pattern.rows)
        if len(pattern.variables) == 1:
            return f"VALUES ?{pattern.variables[0].name} {{ {' '.join(c for row in cells for c in row)} }}"
        rows = " ".join(f"({' '.join(row)})" for row in cells)
        return f"VALUES ({' '.join('?' + v.name for v in pattern.variables)}) {{ {rows} }}"

    def _sub_select(self, pattern: Pattern) -> str:
        """A sub-SELECT from its layers: Slice, Distinct, Project, OrderBy, the SELECT expressions, HAVING, Group."""
        tail, head = "", "SELECT"
        if isinstance(pattern, Slice):
            tail = (f" LIMIT {pattern.limit}" if pattern.limit is not None else "") + (
                f" OFFSET {pattern.offset}" if pattern.offset else ""
            )
            pattern = pattern.pattern
        if isinstance(pattern, Distinct):
            head, pattern = "SELECT DISTINCT", pattern.pattern
        columns: tuple[Variable, ...] | None = None
        if isinstance(pattern, Project):
            columns, pattern = pattern.variables, pattern.pattern
        order: tuple[tuple[Expression, bool], ...] = ()
        if isinstance(pattern, OrderBy):
            order, pattern = pattern.conditions, pattern.pattern
        shown = {} if columns is None else {v.name for v in columns}
        expressions: dict[str, Expression] = {}
        while isinstance(pattern, Extend) and pattern.variable.name in shown:
            expressions[pattern.variable.name] = pattern.expression
            pattern = pattern.pattern
        having = pattern.condition if isinstance(pattern, Filter) and isinstance(pattern.pattern, Group) else None
        grouped = pattern.pattern if isinstance(pattern, Filter) and having is not None else pattern
        writer = self
        if isinstance(grouped, Group) and (columns is None or _shows(grouped, columns, expressions)):
            pattern = grouped.pattern
            columns = tuple(v for v, _ in (*grouped.keys, *grouped.aggregates)) if columns is None else columns
            writer = replace(self, _computed={**self._computed, **{v.name: e for v, e in grouped.aggregates}})
            tail = writer._grouping(grouped, having) + tail
        if order:
            keys = (f"{'DESC' if down else 'ASC'}({writer.expression(e)})" for e, down in order)
            tail = f" ORDER BY {' '.join(keys)}{tail}"
        names = "*" if columns is None else " ".join(writer._column(v, expressions.get(v.name)) for v in columns)
        return f"{head} {names} WHERE {self._braced(pattern)}{tail}"

    def _grouping(self, group: Group, having: Expression | None) -> str:
        keys = " ".join(f"?{v.name}" if v == e else f"({self.expression(e)} AS ?{v.name})" for v, e in group.keys)
        condition = "" if having is None else f" HAVING ({self.expression(having)})"
        return (f" GROUP BY {keys}" if keys else "") + condition

    def _column(self, variable: Variable, expression: Expression | None) -> str:
        computed = self._computed.get(variable.name) if expression is None else expression
        return f"?{variable.name}" if computed is None else f"({self.expression(computed)} AS ?{variable.name})"

    def path(self, path: Path) -> str:
        """A property path."""
        match path:
            case Link(iri):
                return self.term(iri)
            case Inverse(inner):
                return f"^{self._step(inner)}"
            case PathSequence(left, right):
                return f"{self._leg(left)}/{self._leg(right)}"
            case Alternative(left, right):
                return f"{self.path(left)}|{self.path(right)}"
            case ZeroOrMore(inner):
                return f"{self._step(inner)}*"
            case OneOrMore(inner):
                return f"{self._step(inner)}+"
            case ZeroOrOne(inner):
                return f"{self._step(inner)}?"
            case NegatedPropertySet(forward, backward):
                return f"!({'|'.join([self.term(i) for i in forward] + ['^' + self.term(i) for i in backward])})"
            case _:
                assert_never(path)

    def _step(self, path: Path) -> str:
        return self.path(path) if isinstance(path, Link | NegatedPropertySet) else f"({self.path(path)})"

    def _leg(self, path: Path) -> str:
        return f"({self.path(path)})" if isinstance(path, Alternative) else self.path(path)


def _joins_only(pattern: Pattern) -> bool:
    """Whether the pattern's elements may join a group that holds others without changing what any of them applies to."""
    if isinstance(pattern, Join):
        return _joins_only(pattern.left) and _joins_only(pattern.right)
    return isinstance(pattern, BGP | PathPattern | Graph | Values | Union)


def _shows(group: Group, columns: tuple[Variable, ...], expressions: Mapping[str, Expression]) -> bool:
    """Whether a SELECT of these columns can be the one that groups: what it shows, it computes, and it does show a group."""
    made = {v.name for v, _ in (*group.keys, *group.aggregates)}
    names = {v.name for v in columns}
    used = names.union(*(_variables(e) for e in expressions.values()))
    return names <= made | expressions.keys() and (bool(group.keys) or any(v.name in used for v, _ in group.aggregates))


def _variables(expression: Expression) -> set[str]:
    return {v.name for v in find(expression, Variable)}


def _blank_node(name: str) -> str:
    """`_:A.x` is the blank node `_:x` of GPM A."""
    return "_:" + name.rpartition(".")[2].removeprefix("_:")
