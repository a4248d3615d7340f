"""Parse tree to syntax tree, for the rules of the SPARQL core.

Methods are named after the grammar's rules. The walk is post-order and left to right, so that a PREFIX is known before the
names that use it, and it does not recurse: a text of any depth ends in a diagnostic, never in a RecursionError.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from lark import Token
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive, v_args

from scepter.errors import Span, query_error
from scepter.rdf.terms import IRI, RDF, TYPE, XSD, Literal
from scepter.syntax import terms, tree
from scepter.syntax.terms import Names, token_span

T = TypeVar("T")


class _Properties(list[tuple[tree.Var | tree.Path, tuple[tree.Node, ...]]]):
    """A property list: verbs with their objects."""


class _Objects(list[tree.Node]):
    """The objects of one verb."""


class _Arguments(list[tree.Expression]):
    """Arguments in parentheses."""


def span_of(meta: Meta) -> Span:
    """Where a rule's text stands."""
    return Span(0, 0) if meta.empty else Span(meta.start_pos, meta.end_pos)


def has(children: Sequence[Any], kind: str) -> bool:
    """Whether a token of a kind is among the children."""
    return any(isinstance(c, Token) and c.type == kind for c in children)


def only(children: Sequence[Any], kind: type[T]) -> list[T]:
    """The children of a type."""
    return [c for c in children if isinstance(c, kind)]


@v_args(meta=True)
class SparqlBuilder(Transformer_NonRecursive[Token, Any]):
    """Builds the nodes of `scepter.syntax.tree`; a language's builder adds methods for its own rules."""

    def __init__(self, text: str, names: Names | None = None) -> None:
        super().__init__()
        self.names = names or Names()
        self._pending: list[tree.Triple] = []
        self._generated = 0
        # A label the user did not write: longer than any run of the same letter after `_:` in the text.
        self._label = "b"
        while f"_:{self._label}" in text:
            self._label += "b"

    # ---- prologue

    def base(self, meta: Meta, children: list[Token]) -> None:
        """BASE."""
        self.names.declare_base(children[0])

    def prefix(self, meta: Meta, children: list[Token]) -> None:
        """PREFIX."""
        self.names.declare_prefix(children[0], children[1])

    # ---- terms

    def var(self, meta: Meta, children: list[Token]) -> tree.Var:
        """A variable."""
        return tree.Var(terms.check_name(children[0])[1:], token_span(children[0]))

    def iri(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """An IRI."""
        return tree.Constant(self.names.iri(children[0]), token_span(children[0]))

    def literal(self, meta: Meta, children: list[Any]) -> tree.Constant:
        """A string literal."""
        suffix: Any = children[1] if len(children) > 1 else None
        if isinstance(suffix, tree.Constant):
            suffix = suffix.term
        return tree.Constant(terms.literal(terms.string(children[0]), suffix), span_of(meta))

    operand_iri = iri
    operand_literal = literal

    def number(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """A number."""
        return tree.Constant(terms.number(children[0]), token_span(children[0]))

    unsigned = number

    def boolean(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """True or false."""
        return tree.Constant(Literal(str(children[0]).lower(), XSD + "boolean"), token_span(children[0]))

    # ---- triples

    def _fresh(self, span: Span) -> tree.Blank:
        self._generated += 1
        return tree.Blank(f"{self._label}{self._generated}", span)

    def _node(self, child: Any) -> tree.Node:
        if isinstance(child, Token):
            return tree.Blank(terms.check_name(child)[2:], token_span(child))
        node: tree.Node = child
        return node

    def object_list(self, meta: Meta, children: list[Any]) -> _Objects:
        """Objects of one verb."""
        return _Objects(self._node(c) for c in children)

    def property_list(self, meta: Meta, children: list[Any]) -> _Properties:
        """Verbs with their objects."""
        return _Properties((children[i], tuple(children[i + 1])) for i in range(0, len(children), 2))

    def collection(self, meta: Meta, children: list[Any]) -> tree.Node:
        """A list: cells of rdf:first and rdf:rest."""
        span = span_of(meta)
        nil = tree.Constant(IRI(RDF + "nil"), span)
        if not children:
            return nil
        cells: list[tree.Node] = [self._fresh(span) for _ in children]
        for cell, rest, child in zip(cells, [*cells[1:], nil], children, strict=True):
            item = self._node(child)
            self._pending.append(tree.Triple(cell, tree.Constant(IRI(RDF + "first"), item.span), item, item.span))
            self._pending.append(tree.Triple(cell, tree.Constant(IRI(RDF + "rest"), span), rest, span))
        return cells[0]

    def blank_properties(self, meta: Meta, children: list[_Properties]) -> tree.Blank:
        """`[ … ]`."""
        node = self._fresh(span_of(meta))
        self._state(node, children)
        return node

    def _state(self, subject: tree.Node, properties: list[_Properties]) -> None:
        for verb, objects in (pair for listed in properties for pair in listed):
            for item in objects:
                span = Span(min(subject.span.start, verb.span.start), max(item.span.end, verb.span.end))
                self._pending.append(tree.Triple(subject, verb, item, span))

    def triples(self, meta: Meta, children: list[Any]) -> tuple[tree.Triple, ...]:
        """A subject with its properties: the triples of nested nodes come first."""
        properties = only(children, _Properties)
        self._state(self._node(children[0]), properties)
        found, self._pending = tuple(self._pending), []
        if not found:
            raise query_error("syntax", "a verb and an object are missing", span_of(meta), help="write for example [] :p ?o")
        return found

    def triples_block(self, meta: Meta, children: list[tuple[tree.Triple, ...]]) -> tree.Triples:
        """Triples in a row."""
        return tree.Triples(tuple(t for group in children for t in group), span_of(meta))

    def template(self, meta: Meta, children: list[tree.Triples]) -> tree.Template:
        """The triples of a CONSTRUCT: no paths."""
        found = children[0].triples if children else ()
        for triple in found:
            if isinstance(triple.verb, tree.PathOperation):
                raise query_error("syntax", "a template cannot hold a property path", triple.verb.span)
        return tree.Template(found, span_of(meta))

    # ---- paths

    def path(self, meta: Meta, children: list[tree.Path]) -> tree.Path:
        """A verb that is no variable."""
        return children[0]

    def rdf_type(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """`a`."""
        return tree.Constant(IRI(TYPE), token_span(children[0]))

    def path_alternative(self, meta: Meta, children: list[tree.Path]) -> tree.PathOperation:
        """`p | q`."""
        return self._path("|", meta, children)

    def path_sequence(self, meta: Meta, children: list[tree.Path]) -> tree.PathOperation:
        """`p / q`."""
        return self._path("/", meta, children)

    def path_inverse(self, meta: Meta, children: list[tree.Path]) -> tree.PathOperation:
        """`^p`."""
        return self._path("^", meta, children)

    def path_modified(self, meta: Meta, children: list[Any]) -> tree.PathOperation:
        """`p*`, `p+`, `p?`."""
        return self._path(str(children[1]), meta, children[:1])

    def path_negated(self, meta: Meta, children: list[tree.Path]) -> tree.PathOperation:
        """`!(p | ^q)`."""
        return self._path("!", meta, children)

    def _path(self, operator: str, meta: Meta, operands: Sequence[tree.Path]) -> tree.PathOperation:
        return tree.PathOperation(operator, tuple(operands), span_of(meta))

    # ---- expressions

    def or_expression(self, meta: Meta, children: list[tree.Expression]) -> tree.Operation:
        """`a || b`."""
        return tree.Operation("||", tuple(children), span_of(meta))

    def and_expression(self, meta: Meta, children: list[tree.Expression]) -> tree.Operation:
        """`a && b`."""
        return tree.Operation("&&", tuple(children), span_of(meta))

    def comparison(self, meta: Meta, children: list[Any]) -> tree.Operation:
        """`a < b` and the like."""
        return tree.Operation(str(children[1]), (children[0], children[2]), span_of(meta))

    def in_list(self, meta: Meta, children: list[Any]) -> tree.Operation:
        """`a IN (…)`, `a NOT IN (…)`."""
        operator = "NOT IN" if has(children, "NOT") else "IN"
        return tree.Operation(operator, (children[0], *children[-1]), span_of(meta))

    def sum(self, meta: Meta, children: list[Any]) -> tree.Expression:
        """`a + b - c`, and products: left-associative."""
        left: tree.Expression = children[0]
        for operator, right in zip(children[1::2], children[2::2], strict=True):
            left = tree.Operation(str(operator), (left, right), Span(left.span.start, right.span.end))
        return left

    product = sum

    def not_expression(self, meta: Meta, children: list[tree.Expression]) -> tree.Operation:
        """`! a`."""
        return tree.Operation("!", (children[0],), span_of(meta))

    def signed(self, meta: Meta, children: list[Any]) -> tree.Expression:
        """A sign: part of the number it touches (SPARQL's INTEGER_NEGATIVE …), else an operator."""
        sign, operand = children
        touching = isinstance(operand, tree.Constant) and operand.span.start == token_span(sign).end
        if touching and isinstance(operand.term, Literal) and operand.term.lexical[:1] in "0123456789.":
            return tree.Constant(Literal(str(sign) + operand.term.lexical, operand.term.datatype), span_of(meta))
        return tree.Operation("NEGATE" if sign == "-" else "PLUS", (operand,), span_of(meta))

    def exists(self, meta: Meta, children: list[Any]) -> tree.ExistsTest:
        """`EXISTS { … }`."""
        return tree.ExistsTest(children[-1], has(children, "NOT"), span_of(meta))

    def separator(self, meta: Meta, children: list[Token]) -> Token:
        """`; SEPARATOR = ","`."""
        return children[0]

    def call(self, meta: Meta, children: list[Any]) -> tree.Call:
        """`NAME(…)`."""
        separators = [c for c in children if isinstance(c, Token) and c.type in ("STRING", "LONG_STRING")]
        return tree.Call(
            str(children[0]),
            tuple(c for c in children if not isinstance(c, Token)),
            span_of(meta),
            token_span(children[0]),
            distinct=has(children, "DISTINCT"),
            star=has(children, "STAR"),
            separator=terms.string(separators[0]) if separators else None,
            base=self.names.base if children[0].upper() in ("IRI", "URI") else None,
        )

    def arguments(self, meta: Meta, children: list[tree.Expression]) -> _Arguments:
        """`(a, b)`."""
        return _Arguments(children)

    constraint_arguments = arguments

    def iri_call(self, meta: Meta, children: list[Any]) -> tree.IriCall:
        """`iri(…)`."""
        return tree.IriCall(children[0], tuple(children[1]), span_of(meta))

    # ---- groups

    def group(self, meta: Meta, children: list[tree.Element]) -> tree.Group:
        """`{ … }`."""
        return tree.Group(tuple(children), span_of(meta))

    def alternatives(self, meta: Meta, children: list[Any]) -> tree.Element:
        """`{ … } UNION { … }`."""
        return tree.Alternatives(tuple(children), span_of(meta))

    def optional(self, meta: Meta, children: list[tree.Group]) -> tree.OptionalClause:
        """OPTIONAL."""
        return tree.OptionalClause(children[0], span_of(meta))

    def minus(self, meta: Meta, children: list[tree.Group]) -> tree.MinusClause:
        """MINUS."""
        return tree.MinusClause(children[0], span_of(meta))

    def graph(self, meta: Meta, children: list[Any]) -> tree.GraphClause:
        """GRAPH."""
        return tree.GraphClause(children[0], children[1], span_of(meta))

    def service(self, meta: Meta, children: list[Any]) -> tree.ServiceClause:
        """SERVICE."""
        return tree.ServiceClause(children[0], children[1], span_of(meta))

    def filter(self, meta: Meta, children: list[tree.Expression]) -> tree.FilterClause:
        """FILTER."""
        return tree.FilterClause(children[0], span_of(meta))

    def bind(self, meta: Meta, children: list[Any]) -> tree.BindClause:
        """BIND."""
        return tree.BindClause(children[0], children[1], span_of(meta))

    def variables(self, meta: Meta, children: list[tree.Var]) -> tuple[tree.Var, ...]:
        """The variables of VALUES."""
        return tuple(children)

    def data_row(self, meta: Meta, children: list[Any]) -> tuple[Span, tuple[tree.Constant | None, ...]]:
        """A row of VALUES."""
        return span_of(meta), tuple(None if isinstance(c, Token) else c for c in children)

    def trailing_values(self, meta: Meta, children: list[tree.ValuesClause]) -> tuple[str, tree.ValuesClause]:
        """VALUES after the solution modifiers."""
        return "values", children[0]

    def values_one(self, meta: Meta, children: list[Any]) -> tree.ValuesClause:
        """`VALUES ?v { … }`."""
        rows = tuple((None if isinstance(c, Token) else c,) for c in children[1:])
        return tree.ValuesClause((children[0],), rows, span_of(meta))

    def values_many(self, meta: Meta, children: list[Any]) -> tree.ValuesClause:
        """`VALUES (?v ?w) { (…) }`."""
        variables, rows = children[0], children[1:]
        for span, row in rows:
            if len(row) != len(variables):
                raise query_error("values-row", f"this row has {len(row)} values for {len(variables)} variables", span)
        return tree.ValuesClause(variables, tuple(row for _, row in rows), span_of(meta))

    # ---- SELECT

    def select_item(self, meta: Meta, children: list[Any]) -> tree.SelectItem:
        """A projected variable or expression."""
        return tree.SelectItem(children[-1], children[0] if len(children) > 1 else None, span_of(meta))

    def select(self, meta: Meta, children: list[Any]) -> tree.SelectClause:
        """SELECT."""
        items = None if has(children, "STAR") else tuple(only(children, tree.SelectItem))
        return tree.SelectClause(items, has(children, "DISTINCT"), has(children, "REDUCED"), span_of(meta))

    def sub_select(self, meta: Meta, children: list[Any]) -> tree.SubSelect:
        """A SELECT in a group."""
        return tree.SubSelect(children[0], children[1], children[2], span_of(meta))

    def key_as(self, meta: Meta, children: list[Any]) -> tree.GroupKey:
        """`(expression AS ?v)` in GROUP BY."""
        return tree.GroupKey(children[0], children[1], span_of(meta))

    def group_by(self, meta: Meta, children: list[Any]) -> tuple[str, tuple[tree.GroupKey, ...]]:
        """GROUP BY."""
        keys = (c if isinstance(c, tree.GroupKey) else tree.GroupKey(c, None, c.span) for c in children)
        return "group_by", tuple(keys)

    def having(self, meta: Meta, children: list[tree.Expression]) -> tuple[str, tuple[tree.Expression, ...]]:
        """HAVING."""
        return "having", tuple(children)

    def order_condition(self, meta: Meta, children: list[Any]) -> tree.OrderKey:
        """A sort condition."""
        descending = isinstance(children[0], Token) and children[0].lower() == "desc"
        return tree.OrderKey(children[-1], descending, span_of(meta))

    def order_by(self, meta: Meta, children: list[tree.OrderKey]) -> tuple[str, tuple[tree.OrderKey, ...]]:
        """ORDER BY."""
        return "order_by", tuple(children)

    def limit(self, meta: Meta, children: list[Token]) -> tuple[str, int]:
        """LIMIT."""
        return "limit", self.count(children[0])

    def offset(self, meta: Meta, children: list[Token]) -> tuple[str, int]:
        """OFFSET."""
        return "offset", self.count(children[0])

    def modifiers(self, meta: Meta, children: list[Any]) -> tree.Modifiers:
        """The solution modifiers."""
        found: dict[str, Any] = dict(only(children, tuple))
        return tree.Modifiers(**found)

    def count(self, token: Token) -> int:
        """A count that a machine can hold."""
        if len(token) > 18:
            raise query_error("syntax", "this number is too great", token_span(token))
        return int(token)
