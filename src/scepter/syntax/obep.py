"""OBEP text to its syntax tree."""

from __future__ import annotations

from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from scepter.errors import Span
from scepter.rdf.terms import IRI
from scepter.syntax import obep_tree as nodes
from scepter.syntax import tree
from scepter.syntax.build import SparqlBuilder, has, only, span_of
from scepter.syntax.terms import check_name, token_span


@v_args(meta=True)
class ObepBuilder(SparqlBuilder):
    """The SPARQL core's builder, and OBEP's own rules."""

    def obep(self, meta: Meta, children: list[Any]) -> nodes.ObepDocument:
        """The whole file."""
        return nodes.ObepDocument(
            tuple(only(children, tree.StreamName)),
            tuple(c for c in children if isinstance(c, (nodes.LogicalDefinition, nodes.CompositeDefinition))),
            tuple(only(children, nodes.ReturnClause)),
            tuple(self.names.prefixes.items()),
            span_of(meta).end,
        )

    def name(self, meta: Meta, children: list[Token]) -> nodes.Name:
        """An IRI, a prefixed name, or a bare name in the empty prefix."""
        token = children[0]
        if token.type != "BARE":
            return nodes.Name(str(token), self.names.iri(token), token_span(token))
        text = check_name(token)
        namespace = self.names.prefixes.get("")
        return nodes.Name(text, None if namespace is None else IRI(namespace + text), token_span(token))

    def from_stream(self, meta: Meta, children: list[tree.Constant]) -> tree.StreamName:
        """FROM STREAM."""
        assert isinstance(children[0].term, IRI)  # the grammar has an IRI there
        return tree.StreamName(children[0].term, children[0].span)

    # ---- class expressions

    def union(self, meta: Meta, children: list[nodes.Description]) -> nodes.Description:
        """`C or D`."""
        return children[0] if len(children) == 1 else nodes.Operation("or", tuple(children), span_of(meta))

    def intersection(self, meta: Meta, children: list[nodes.Description]) -> nodes.Operation:
        """`C and D`."""
        return nodes.Operation("and", tuple(children), span_of(meta))

    def complement(self, meta: Meta, children: list[nodes.Description]) -> nodes.Operation:
        """`not C`."""
        return nodes.Operation("not", (children[0],), span_of(meta))

    def class_name(self, meta: Meta, children: list[Any]) -> nodes.ClassName:
        """A class."""
        if isinstance(children[0], Token):
            return nodes.ClassName(str(children[0]).removeprefix("owl:"), span_of(meta))
        return nodes.ClassName(children[0], span_of(meta))

    def property(self, meta: Meta, children: list[Any]) -> nodes.PropertyName:
        """`r`, `inverse r`."""
        return nodes.PropertyName(children[-1], has(children, "INVERSE"), span_of(meta))

    def restriction(self, meta: Meta, children: list[Any]) -> nodes.Restriction:
        """`r some C` and its kin."""
        quantifier = str(children[1]).lower()
        counted = len(children) > 2 and isinstance(children[2], Token)
        count = self.count(children[2]) if counted else None
        rest = children[3 if counted else 2 :]
        return nodes.Restriction(children[0], quantifier, rest[0] if rest else None, count, span_of(meta))

    # ---- event expressions

    def temporal(self, meta: Meta, children: list[Any]) -> nodes.EventExpression:
        """SEQ and Allen's relations, left-associative."""
        left: nodes.EventExpression = children[0]
        for operator, right in zip(children[1::2], children[2::2], strict=True):
            word = "SEQ" if operator == "->" else str(operator).upper()
            left = nodes.Combination(word, left, right, Span(left.span.start, right.span.end))
        return left

    def alternative(self, meta: Meta, children: list[nodes.EventExpression]) -> nodes.EventExpression:
        """`E1 OR E2`."""
        return self._chain("OR", children)

    def together(self, meta: Meta, children: list[nodes.EventExpression]) -> nodes.EventExpression:
        """`E1 AND E2`."""
        return self._chain("AND", children)

    def _chain(self, operator: str, children: list[nodes.EventExpression]) -> nodes.EventExpression:
        left = children[0]
        for right in children[1:]:
            left = nodes.Combination(operator, left, right, Span(left.span.start, right.span.end))
        return left

    def prefixed(self, meta: Meta, children: list[Any]) -> nodes.Prefixed:
        """`FIRST E`, `LAST E`, `NOT E`."""
        return nodes.Prefixed(str(children[0]).upper(), children[1], span_of(meta))

    def occurrence(self, meta: Meta, children: list[Any]) -> nodes.Reference | nodes.Parenthesised:
        """`E`, `E AS name`."""
        alias = children[1] if len(children) > 1 else None
        if isinstance(children[0], nodes.Name):
            return nodes.Reference(children[0], alias, span_of(meta))
        return nodes.Parenthesised(children[0], alias, span_of(meta))

    # ---- guards

    def duration(self, meta: Meta, children: list[Token]) -> tuple[str, Span]:
        """A duration as written."""
        sign = str(children[0]) if children[0].type == "SIGN" else ""
        return sign + " ".join(str(c) for c in children if c.type != "SIGN"), span_of(meta)

    def within(self, meta: Meta, children: list[tuple[str, Span]]) -> nodes.WithinClause:
        """WITHIN."""
        return nodes.WithinClause(*children[0])

    def condition(self, meta: Meta, children: list[tree.Group]) -> nodes.ConditionClause:
        """IF."""
        return nodes.ConditionClause(children[0], span_of(meta))

    def event_block(self, meta: Meta, children: list[Any]) -> nodes.EventBlock:
        """`EVENT name { … }` in a guard."""
        name, group = children
        graph = tree.Constant(name.iri or IRI(name.text), name.span)
        return nodes.EventBlock(graph, group, span_of(meta), name)

    # ---- definitions

    def logical(self, meta: Meta, children: list[Any]) -> nodes.LogicalDefinition:
        """`EVENT H AS B`."""
        return nodes.LogicalDefinition(children[0], children[1], span_of(meta))

    def composite(self, meta: Meta, children: list[Any]) -> nodes.CompositeDefinition:
        """`EVENT H MATCH E`."""
        return nodes.CompositeDefinition(children[0], children[1], tuple(children[2:]), span_of(meta))

    def returned(self, meta: Meta, children: list[Any]) -> nodes.ReturnClause:
        """RETURN."""
        return nodes.ReturnClause(tuple(only(children, nodes.Name)), has(children, "RDF"), span_of(meta))
