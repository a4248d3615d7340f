"""RSEP-QL text to its syntax tree."""

from __future__ import annotations

import re
from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from scepter.errors import Span, query_error
from scepter.rdf.terms import IRI, Literal
from scepter.syntax import rsepql_tree as nodes
from scepter.syntax import tree
from scepter.syntax.build import SparqlBuilder, has, only, span_of
from scepter.syntax.terms import Names, token_span

_FILE_NAME = re.compile(r"[^:\\]+")


@v_args(meta=True)
class RsepqlBuilder(SparqlBuilder):
    """The SPARQL core's builder, and RSEP-QL's own rules."""

    def __init__(self, text: str, names: Names | None = None) -> None:
        super().__init__(text, names)
        self.text = text
        self._inline: list[nodes.WindowDeclaration] = []
        """The windows of the query that is being read which stand in its WHERE."""

    def rsepql(self, meta: Meta, children: list[Any]) -> nodes.RsepqlDocument:
        """The whole file."""
        queries = tuple(only(children, nodes.RsepqlQuery))
        if not queries:
            end = span_of(meta).end
            raise query_error(
                "syntax",
                "there is no query after the prefixes: expected REGISTER, SELECT, CONSTRUCT or ASK",
                Span(end, end + 1),
            )
        return nodes.RsepqlDocument(queries, tuple(self.names.prefixes.items()))

    def query(self, meta: Meta, children: list[Any]) -> nodes.RsepqlQuery:
        """One query."""
        register = children[0] if isinstance(children[0], nodes.RegisterClause) else None
        result, *clauses, group, modifiers = children if register is None else children[1:]
        operator = None
        if isinstance(result, nodes.ConstructClause):
            operator = result.operator
        elif isinstance(result, tuple):
            operator, result = result
        clauses, self._inline = [*clauses, *self._inline], []
        return nodes.RsepqlQuery(register, result, tuple(clauses), group, modifiers, span_of(meta), operator)

    def register(self, meta: Meta, children: list[Any]) -> nodes.RegisterClause:
        """REGISTER."""
        operator = str(children[0]).upper() if isinstance(children[0], Token) else None
        regime = children[-1] if isinstance(children[-1], nodes.EntailmentRegime) else None
        name = children[-1] if regime is None else children[-2]
        return nodes.RegisterClause(operator, _name(name, self.text), span_of(meta), regime)

    def regime(self, meta: Meta, children: list[Token]) -> nodes.EntailmentRegime:
        """UNDER ENTAILMENT REGIME."""
        token = children[0]
        name = str(token) if token.type == "REGIME_NAME" else self.names.iri(token).value
        return nodes.EntailmentRegime(name, span_of(meta))

    def construct(self, meta: Meta, children: list[Any]) -> nodes.ConstructClause:
        """CONSTRUCT."""
        operator = _operator(children[0]) if isinstance(children[0], Token) else None
        return nodes.ConstructClause(children[-1], span_of(meta), operator)

    def stream_select(self, meta: Meta, children: list[Any]) -> tuple[nodes.StreamOperator, tree.SelectClause]:
        """`SELECT RSTREAM …`."""
        return _operator(children[0]), self.select(meta, children[1:])

    def ask(self, meta: Meta, children: list[Any]) -> nodes.AskClause:
        """ASK."""
        return nodes.AskClause(span_of(meta))

    # ---- windows and graphs

    def windowed_stream(self, meta: Meta, children: list[Any]) -> nodes.WindowDeclaration:
        """`FROM NAMED :S WIN [ … ] AS :w`."""
        stream, extent, name = children
        return nodes.WindowDeclaration(_name(name, self.text), _name(stream, self.text), extent, span_of(meta))

    def named_window(self, meta: Meta, children: list[Any]) -> nodes.WindowDeclaration:
        """`FROM NAMED WINDOW :w ON :S [ … ]`."""
        name, stream, extent = children
        return nodes.WindowDeclaration(_name(name, self.text), _name(stream, self.text), extent, span_of(meta))

    def landmark(self, meta: Meta, children: list[Any]) -> nodes.LandmarkExtent:
        """`LND t`."""
        if isinstance(children[0], tree.Constant):
            assert isinstance(children[0].term, Literal)  # the grammar has a literal there
            return nodes.LandmarkExtent(children[0].term, children[0].span)
        span = Span(token_span(children[0]).start, token_span(children[-1]).end)
        return nodes.LandmarkExtent("".join(str(c) for c in children), span)

    def range(self, meta: Meta, children: list[Any]) -> nodes.RangeExtent:
        """`RANGE a STEP b`."""
        width, width_span = children[0]
        if has(children, "TUMBLING"):
            return nodes.RangeExtent(width, width_span, width, width_span)
        step, step_span = children[1] if len(children) > 1 else (None, None)
        return nodes.RangeExtent(width, width_span, step, step_span)

    def elements(self, meta: Meta, children: list[Token]) -> nodes.CountExtent:
        """`ELEMENTS n STEP m`, `TRIPLES n`."""
        step = str(children[2]) if len(children) > 2 else None
        return nodes.CountExtent(str(children[1]), children[0].type == "TRIPLES", span_of(meta), step)

    def stream_window(self, meta: Meta, children: list[Any]) -> nodes.WindowClause:
        """CQELS-QL's `STREAM <s> [ … ] { … }`: a window that has no other name, and its pattern."""
        stream, extent, group = children
        first, last = _name(stream, self.text).span.end, group.span.start
        written = " ".join(self.text[first:last].split())
        if isinstance(extent, Token):
            place = token_span(extent)
            now = extent.type == "NOW"
            extent = nodes.RangeExtent("1", place, None, None) if now else nodes.LandmarkExtent("0", place)
        iri = IRI(f"{_name(stream, self.text).iri.value}#window{len(self._inline) + 1}")
        name = nodes.Name(iri, _name(stream, self.text).span, str(iri))
        self._inline.append(nodes.WindowDeclaration(name, _name(stream, self.text), extent, span_of(meta), written))
        return nodes.WindowClause(name, group, span_of(meta))

    def duration(self, meta: Meta, children: list[Token]) -> tuple[str, Span]:
        """A duration as written."""
        sign = str(children[0]) if children[0].type == "SIGN" else ""
        return sign + " ".join(str(c) for c in children if c.type != "SIGN"), span_of(meta)

    def from_graph(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromGraph:
        """FROM."""
        return nodes.FromGraph(_name(children[0], self.text), False, span_of(meta))

    def from_named(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromGraph:
        """FROM NAMED."""
        return nodes.FromGraph(_name(children[0], self.text), True, span_of(meta))

    def graph_name(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """A background graph: the name under which it is given, which may be a file's (`FROM <static.ttl>`)."""
        token = children[0]
        text = str(token)[1:-1]
        if token.type == "IRIREF" and self.names.base is None and _FILE_NAME.fullmatch(text):
            return tree.Constant(IRI(text), token_span(token))
        return tree.Constant(self.names.iri(token), token_span(token))

    # ---- events, policy, report

    def event(self, meta: Meta, children: list[Any]) -> nodes.EventDeclaration:
        """EVENT ON."""
        window, group, label = children
        return nodes.EventDeclaration(_name(window, self.text), group, str(label), token_span(label), span_of(meta))

    def policy(self, meta: Meta, children: list[Token]) -> nodes.PolicyClause:
        """POLICY."""
        return nodes.PolicyClause(str(children[0]), span_of(meta), token_span(children[0]))

    def report(self, meta: Meta, children: list[Token]) -> nodes.ReportClause:
        """REPORT ON."""
        return nodes.ReportClause(children[0].type == "WINDOW", span_of(meta))

    # ---- in WHERE

    def match(self, meta: Meta, children: list[nodes.EventExpression]) -> nodes.MatchClause:
        """MATCH."""
        return nodes.MatchClause(children[0], span_of(meta))

    def window(self, meta: Meta, children: list[Any]) -> nodes.WindowClause:
        """WINDOW."""
        name = children[0] if isinstance(children[0], tree.Var) else _name(children[0], self.text)
        return nodes.WindowClause(name, children[1], span_of(meta))

    def event_sequence(self, meta: Meta, children: list[Any]) -> nodes.EventExpression:
        """`E SEQ E`."""
        operands: list[nodes.EventExpression] = []
        policies: list[nodes.EventLabel | None] = []
        stated: nodes.EventLabel | None = None
        for child in children:
            if isinstance(child, Token):
                stated = nodes.EventLabel(str(child), token_span(child))
                continue
            if operands:
                policies.append(stated)
            operands.append(child)
            stated = None
        return operands[0] if not policies else nodes.EventSequence(tuple(operands), tuple(policies), span_of(meta))

    def event_label(self, meta: Meta, children: list[Token]) -> nodes.EventLabel:
        """A label."""
        return nodes.EventLabel(str(children[0]), token_span(children[0]))

    def first(self, meta: Meta, children: list[nodes.EventExpression]) -> nodes.Extreme:
        """FIRST."""
        return nodes.Extreme("FIRST", children[0] if children else None, span_of(meta))

    def last(self, meta: Meta, children: list[nodes.EventExpression]) -> nodes.Extreme:
        """LAST."""
        return nodes.Extreme("LAST", children[0] if children else None, span_of(meta))

    def event_group(self, meta: Meta, children: list[nodes.EventExpression]) -> nodes.EventExpression:
        """`( … )`."""
        return children[0]


def _operator(token: Token) -> nodes.StreamOperator:
    return nodes.StreamOperator(str(token).upper(), token_span(token))


def _name(constant: tree.Constant, text: str) -> nodes.Name:
    assert isinstance(constant.term, IRI)  # the grammar has an IRI there
    return nodes.Name(constant.term, constant.span, text[constant.span.start : constant.span.end])
