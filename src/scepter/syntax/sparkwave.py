"""Sparkwave text to its syntax tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from scepter.errors import Span, query_error
from scepter.rdf.terms import IRI, Literal
from scepter.syntax import sparkwave_tree as nodes
from scepter.syntax import tree
from scepter.syntax.build import SparqlBuilder, has, only, span_of
from scepter.syntax.terms import check_name, string, token_span

_TIMESTAMP = "http://larkc.eu/csparql/sparql/jena/ext#timestamp"
"""As the C-SPARQL engine names it."""


@v_args(meta=True)
class SparkwaveBuilder(SparqlBuilder):
    """The SPARQL core's builder, and Sparkwave's own rules."""

    def sparkwave(self, meta: Meta, children: list[Any]) -> nodes.SparkwaveDocument:
        """The whole file."""
        queries: list[nodes.SparkwaveQuery] = []
        register: nodes.Register | None = None
        for child in children:
            match child:
                case nodes.Register():
                    if register is not None:
                        raise query_error("syntax", "no query follows this REGISTER", register.span)
                    register = child
                case nodes.SparkwaveQuery():
                    queries.append(replace(child, register=register))
                    register = None
        end = span_of(meta).end
        if register is not None or not queries:
            raise query_error("syntax", "there is no query here: expected SELECT, CONSTRUCT or ASK", Span(end, end + 1))
        return nodes.SparkwaveDocument(
            tuple(queries),
            tuple(only(children, nodes.Setting)),
            tuple(only(children, nodes.Handlers)),
            tuple(self.names.prefixes.items()),
        )

    def register(self, meta: Meta, children: list[Any]) -> nodes.Register:
        """REGISTER QUERY or STREAM."""
        kind, name = children[:2]
        text = str(name) if isinstance(name, Token) else _name(name).iri
        return nodes.Register(kind.lower() == "stream", text, span_of(meta), children[2] if len(children) > 2 else None)

    def computed(self, meta: Meta, children: list[nodes.Amount]) -> nodes.Amount:
        """`COMPUTED EVERY d`."""
        return children[0]

    def iri_call(self, meta: Meta, children: list[Any]) -> tree.IriCall | tree.Call:  # type: ignore[override]
        """A cast; C-SPARQL's `f:timestamp(…)` is a function of the language here."""
        name = children[0]
        if isinstance(name.term, IRI) and name.term.value == _TIMESTAMP:
            return tree.Call(nodes.C_SPARQL_TIMESTAMP, tuple(children[1]), span_of(meta), name.span)
        return super().iri_call(meta, children)

    def setting(self, meta: Meta, children: list[Token]) -> nodes.Setting:
        """EPSILON_ONTOLOGY and STATIC_INSTANCES."""
        name, path = children
        return nodes.Setting(name.upper(), string(path), token_span(name))

    def handlers(self, meta: Meta, children: list[Token]) -> nodes.Handlers:
        """HANDLERS { … }."""
        return nodes.Handlers(token_span(children[0]))

    def select_query(self, meta: Meta, children: list[Any]) -> nodes.SparkwaveQuery:
        """SELECT."""
        return _query(children[0], meta, children)

    def construct_query(self, meta: Meta, children: list[Any]) -> nodes.SparkwaveQuery:
        """CONSTRUCT."""
        return _query(nodes.ConstructClause(children[1], token_span(children[0])), meta, children)

    def ask_query(self, meta: Meta, children: list[Any]) -> nodes.SparkwaveQuery:
        """ASK."""
        return _query(nodes.AskClause(token_span(children[0])), meta, children)

    def aggregate(self, meta: Meta, children: list[Any]) -> nodes.AggregateClause:
        """C-SPARQL's AGGREGATE."""
        variable, call, keys, *filters = children
        return nodes.AggregateClause(variable, call, keys, tuple(filters), span_of(meta))

    def aggregated(self, meta: Meta, children: list[Any]) -> tree.Call:
        """`COUNT`, `SUM(?x)`."""
        function, *rest = children
        arguments = tuple(c for c in rest if not isinstance(c, Token))
        star = not arguments
        return tree.Call(str(function), arguments, span_of(meta), token_span(function), has(rest, "DISTINCT"), star)

    def aggregate_group(self, meta: Meta, children: list[tree.Var]) -> tuple[tree.Var, ...]:
        """The variables of a group."""
        return tuple(children)

    def bare_pattern(self, meta: Meta, children: list[Any]) -> nodes.SparkwaveQuery:
        """A file of bare triples: all variables of their matches."""
        *triples, window = children
        span = span_of(meta)
        group = tree.Group((tree.Triples(tuple(triples), span),), span)
        select = tree.SelectClause(None, False, False, span)
        return nodes.SparkwaveQuery(None, select, (), group, window, tree.Modifiers(), span, bare=True)

    def bare_triple(self, meta: Meta, children: list[Any]) -> tree.Triple:
        """A line of it."""
        subject, verb, object = children
        return tree.Triple(subject, verb, object, span_of(meta))

    def bare_var(self, meta: Meta, children: list[Token]) -> tree.Var:
        """A variable."""
        return tree.Var(check_name(children[0])[1:], token_span(children[0]))

    def bare_iri(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """An IRI without brackets."""
        return tree.Constant(IRI(str(children[0])), token_span(children[0]))

    def bare_literal(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """A string."""
        return tree.Constant(Literal(string(children[0])), token_span(children[0]))

    def timed_group(self, meta: Meta, children: list[Any]) -> tuple[tree.Group, nodes.TimeWindow]:
        """`{ … TIMEWINDOW (n) }`."""
        return tree.Group(tuple(children[:-1]), span_of(meta)), children[-1]

    def time_window(self, meta: Meta, children: list[Token]) -> nodes.TimeWindow:
        """`TIMEWINDOW (n)`."""
        return nodes.TimeWindow(_count(children), span_of(meta))

    def from_stream(self, meta: Meta, children: list[Any]) -> nodes.FromStream:
        """FROM STREAM."""
        return nodes.FromStream(_name(children[0]), children[1] if len(children) > 1 else None, span_of(meta))

    def report(self, meta: Meta, children: list[Token]) -> nodes.ReportClause:
        """REPORT ON WINDOW CLOSE."""
        return nodes.ReportClause(span_of(meta))

    def from_graph(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromGraph:
        """FROM."""
        return nodes.FromGraph(_name(children[0]), False, span_of(meta))

    def from_named(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromGraph:
        """FROM NAMED."""
        return nodes.FromGraph(_name(children[0]), True, span_of(meta))

    def duration(self, meta: Meta, children: list[Token]) -> nodes.Amount:
        """A duration as written."""
        sign = str(children[0]) if children[0].type == "SIGN" else ""
        return nodes.Amount(sign + " ".join(str(c) for c in children if c.type != "SIGN"), span_of(meta))

    def window_range(self, meta: Meta, children: list[nodes.Amount]) -> nodes.RangeWindow:
        """`[RANGE d]`."""
        return nodes.RangeWindow(children[0], span_of(meta))

    def window_step(self, meta: Meta, children: list[nodes.Amount]) -> nodes.StepWindow:
        """`[RANGE d STEP d]`."""
        return nodes.StepWindow(children[0], children[1], span_of(meta))

    def window_tumbling(self, meta: Meta, children: list[nodes.Amount]) -> nodes.StepWindow:
        """`[RANGE d TUMBLING]`."""
        return nodes.StepWindow(children[0], children[0], span_of(meta))

    def window_triples(self, meta: Meta, children: list[Token]) -> nodes.TriplesWindow:
        """`[RANGE TRIPLES n]`."""
        return nodes.TriplesWindow(_count(children), span_of(meta))

    def window_c_sparql_triples(self, meta: Meta, children: list[Token]) -> nodes.TriplesWindow:
        """`[RANGE n TRIPLES]`."""
        return nodes.TriplesWindow(_count(children), span_of(meta), "C-SPARQL")

    def window_cqels_triples(self, meta: Meta, children: list[Token]) -> nodes.TriplesWindow:
        """`[TRIPLES n]`."""
        return nodes.TriplesWindow(_count(children), span_of(meta), "CQELS-QL")


def _query(
    result: tree.SelectClause | nodes.ConstructClause | nodes.AskClause, meta: Meta, children: list[Any]
) -> nodes.SparkwaveQuery:
    aggregates = tuple(only(children, nodes.AggregateClause))
    body = children[-2 - len(aggregates)]
    group, time_window = body if isinstance(body, tuple) else (body, None)
    sources = tuple(c for c in children if isinstance(c, (nodes.FromStream, nodes.FromGraph)))
    report = next(iter(only(children, nodes.ReportClause)), None)
    return nodes.SparkwaveQuery(None, result, sources, group, time_window, children[-1], span_of(meta), report, aggregates)


def _count(children: list[Token]) -> nodes.Amount:
    return nodes.Amount("".join(children), Span(token_span(children[0]).start, token_span(children[-1]).end))


def _name(constant: tree.Constant) -> tree.StreamName:
    assert isinstance(constant.term, IRI)  # the grammar has an IRI there
    return tree.StreamName(constant.term, constant.span)
