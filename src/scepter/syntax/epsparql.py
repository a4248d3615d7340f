"""EP-SPARQL text to its syntax tree."""

from __future__ import annotations

from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from scepter.errors import Span, query_error
from scepter.rdf.terms import IRI, WELL_KNOWN_PREFIXES, Literal
from scepter.syntax import epsparql_tree as nodes
from scepter.syntax import tree
from scepter.syntax.build import SparqlBuilder, only, span_of
from scepter.syntax.iris import resolve
from scepter.syntax.terms import Names, token_span

_PREDECLARED = ("xsd", "rdf", "rdfs", "owl")


@v_args(meta=True)
class EpsparqlBuilder(SparqlBuilder):
    """The SPARQL core's builder, and EP-SPARQL's own rules."""

    def __init__(self, text: str, names: Names | None = None) -> None:
        super().__init__(text, names or Names(prefixes={name: WELL_KNOWN_PREFIXES[name] for name in _PREDECLARED}))
        self._unprefixed: Span | None = None

    def bare_name(self, meta: Meta, children: list[Token]) -> tree.Constant:
        """A name without a prefix, as the paper prints them: relative to BASE."""
        token = children[0]
        if self.names.base is None:
            raise query_error(
                "relative-iri",
                f"{token} has no prefix, and no BASE stands before it",
                token_span(token),
                help="put BASE <http://…> at the top, or write a prefix",
            )
        self._unprefixed = self._unprefixed or token_span(token)
        return tree.Constant(IRI(resolve(self.names.base, str(token))), token_span(token))

    bare_sum = bare_product = SparqlBuilder.sum

    def epsparql(self, meta: Meta, children: list[Any]) -> nodes.EpsparqlDocument:
        """The whole file."""
        queries = tuple(only(children, nodes.EpsparqlQuery))
        if not queries:
            end = span_of(meta).end
            raise query_error(
                "syntax", "there is no query after the prefixes: expected SELECT, CONSTRUCT or ASK", Span(end, end + 1)
            )
        return nodes.EpsparqlDocument(queries, tuple(self.names.prefixes.items()), self._unprefixed)

    # ---- queries

    def select_query(self, meta: Meta, children: list[Any]) -> nodes.EpsparqlQuery:
        """SELECT."""
        return self._query(meta, children[0], children)

    def ask_query(self, meta: Meta, children: list[Any]) -> nodes.EpsparqlQuery:
        """ASK."""
        return self._query(meta, nodes.AskClause(token_span(children[0])), children)

    def construct_query(self, meta: Meta, children: list[Any]) -> nodes.EpsparqlQuery:
        """CONSTRUCT with a template."""
        return self._query(meta, nodes.ConstructClause(children[1], token_span(children[0])), children)

    def construct_where(self, meta: Meta, children: list[Any]) -> nodes.EpsparqlQuery:
        """`CONSTRUCT WHERE { … }`: the triples are pattern and template."""
        (template,) = only(children, tree.Template)
        triples = (tree.Triples(template.triples, template.span),) if template.triples else ()
        return self._query(
            meta, nodes.ConstructClause(template, token_span(children[0])), [*children, tree.Group(triples, template.span)]
        )

    def bare_template(self, meta: Meta, children: list[tree.Triples]) -> tree.Template:
        """A template without braces."""
        return self.template(meta, children)

    def _query(
        self, meta: Meta, result: tree.SelectClause | nodes.ConstructClause | nodes.AskClause, children: list[Any]
    ) -> nodes.EpsparqlQuery:
        (group,) = only(children, tree.Group)
        windows = only(children, nodes.WindowClause)
        (modifiers,) = only(children, tree.Modifiers)
        dataset = tuple(c for c in children if isinstance(c, (nodes.FromStream, nodes.FromGraph)))
        return nodes.EpsparqlQuery(result, dataset, group, windows[0] if windows else None, modifiers, span_of(meta))

    def from_stream(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromStream:
        """FROM STREAM."""
        constant = children[0]
        assert isinstance(constant.term, IRI)  # the grammar has an IRI there
        return nodes.FromStream(tree.StreamName(constant.term, constant.span), span_of(meta))

    def from_graph(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromGraph:
        """FROM."""
        return nodes.FromGraph(children[0], False, span_of(meta))

    def from_named(self, meta: Meta, children: list[tree.Constant]) -> nodes.FromGraph:
        """FROM NAMED."""
        return nodes.FromGraph(children[0], True, span_of(meta))

    # ---- groups

    def body(self, meta: Meta, children: list[Any]) -> tree.Group:
        """The pattern: a group, or what would stand in one."""
        match children:
            case [tree.Alternatives(groups=(group,))]:
                return group
        return tree.Group(tuple(children), span_of(meta))

    def union_operator(self, meta: Meta, children: list[Any]) -> tree.Operator:
        """UNION."""
        return tree.Operator("UNION", span_of(meta))

    def temporal_operator(self, meta: Meta, children: list[Token]) -> tree.Operator:
        """SEQ and its like."""
        word, span = children[0].upper(), token_span(children[0])
        if word == "SEQOPTIONAL":
            raise query_error(
                "seqoptional",
                "SEQOPTIONAL is no operator: what follows later could take back an answer already given",
                span,
                notes=("results are timewise monotone: once time has passed their end, they stay (rule 7)",),
                help="with OPTIONALSEQ the earlier side is optional; with OPTIONAL, what has ended by then joins",
            )
        return tree.Operator(word, span)

    def alternatives(self, meta: Meta, children: list[Any]) -> tree.Element:
        """Groups joined by UNION and temporal operators."""
        operators = only(children, tree.Operator)
        groups = only(children, tree.Group)
        if all(operator.word == "UNION" for operator in operators):
            return tree.Alternatives(tuple(groups), span_of(meta))
        return tree.Chain(groups[0], tuple(zip(operators, groups[1:], strict=True)), span_of(meta))

    # ---- WINDOW

    def window_range(self, meta: Meta, children: list[Any]) -> nodes.WindowClause:
        """`WINDOW [RANGE d]`."""
        amount = children[0]
        if isinstance(amount, tree.Constant):
            assert isinstance(amount.term, Literal)  # by the grammar
            return nodes.WindowClause(amount.term.lexical, False, span_of(meta), amount.span)
        text, span = amount
        return nodes.WindowClause(text, False, span_of(meta), span)

    def window_rows(self, meta: Meta, children: list[Token]) -> nodes.WindowClause:
        """`WINDOW [ROWS n]`."""
        span = Span(token_span(children[0]).start, token_span(children[-1]).end)
        return nodes.WindowClause("".join(children), True, span_of(meta), span)

    def window_duration(self, meta: Meta, children: list[Token]) -> tuple[str, Span]:
        """A duration as written."""
        sign = str(children[0]) if children[0].type == "SIGN" else ""
        return sign + " ".join(str(c) for c in children if c.type != "SIGN"), span_of(meta)
