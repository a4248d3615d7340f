"""SPAseq text to its syntax tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from lark import Token
from lark.tree import Meta
from lark.visitors import v_args

from scepter.errors import Span, query_error
from scepter.rdf.terms import IRI
from scepter.syntax import spaseq_tree as nodes
from scepter.syntax import tree
from scepter.syntax.build import SparqlBuilder, has, only, span_of
from scepter.syntax.terms import check_name, token_span


@v_args(meta=True)
class SpaseqBuilder(SparqlBuilder):
    """The SPARQL core's builder, and SPAseq's own rules."""

    def spaseq(self, meta: Meta, children: list[Any]) -> nodes.SpaseqDocument:
        """The whole file."""
        queries = tuple(only(children, nodes.SpaseqQuery))
        if not queries:
            end = span_of(meta).end
            raise query_error(
                "syntax", "there is no query after the prefixes: expected SELECT, CONSTRUCT or ASK", Span(end, end + 1)
            )
        return nodes.SpaseqDocument(queries, tuple(self.names.prefixes.items()))

    def query(self, meta: Meta, children: list[Any]) -> nodes.SpaseqQuery:
        """One query."""
        sequence, definitions = children[-1]
        return nodes.SpaseqQuery(children[0], tuple(children[1:-1]), sequence, definitions, span_of(meta))

    def construct(self, meta: Meta, children: list[tree.Template]) -> nodes.ConstructClause:
        """CONSTRUCT."""
        return nodes.ConstructClause(children[0], span_of(meta))

    def ask(self, meta: Meta, children: list[Any]) -> nodes.AskClause:
        """ASK."""
        return nodes.AskClause(span_of(meta))

    def duration(self, meta: Meta, children: list[Token]) -> tuple[str, Span]:
        """A duration as written."""
        sign = str(children[0]) if children[0].type == "SIGN" else ""
        return sign + " ".join(str(c) for c in children if c.type != "SIGN"), span_of(meta)

    def within(self, meta: Meta, children: list[Any]) -> nodes.WithinClause:
        """WITHIN a duration."""
        amount, amount_span = children[0]
        return nodes.WithinClause(amount, has(children, "SLIDING"), False, span_of(meta), amount_span)

    def within_events(self, meta: Meta, children: list[Token]) -> nodes.WithinClause:
        """WITHIN a count of events."""
        count = Span(token_span(children[0]).start, token_span(children[-1]).end)
        return nodes.WithinClause("".join(children), False, True, span_of(meta), count)

    def partition(self, meta: Meta, children: list[tree.Var]) -> nodes.PartitionClause:
        """PARTITION BY."""
        return nodes.PartitionClause(tuple(children), span_of(meta))

    def from_stream(self, meta: Meta, children: list[Any]) -> nodes.FromStream:
        """FROM STREAM."""
        alias = children[0] if isinstance(children[0], Token) else None
        name = _stream(children[-1])
        if alias is None:
            return nodes.FromStream(None, name, span_of(meta), None)
        return nodes.FromStream(str(alias), name, span_of(meta), token_span(alias))

    def into_stream(self, meta: Meta, children: list[tree.Constant]) -> nodes.IntoStream:
        """INTO STREAM."""
        return nodes.IntoStream(_stream(children[0]), span_of(meta))

    def body(self, meta: Meta, children: list[Any]) -> tuple[nodes.SequenceClause, tuple[nodes.Definition, ...]]:
        """The sequence and the definitions."""
        (sequence,) = only(children, nodes.SequenceClause)
        return sequence, tuple(only(children, nodes.Definition))

    def sequence(self, meta: Meta, children: list[tuple[nodes.SequenceStep, ...]]) -> nodes.SequenceClause:
        """SEQ ( … )."""
        return nodes.SequenceClause(children[0], span_of(meta))

    def steps(self, meta: Meta, children: list[Any]) -> tuple[nodes.SequenceStep, ...]:
        """Atoms and the operators between them."""
        atoms = [each if isinstance(each, tuple) else (each, None) for each in children[::2]]
        for atom, _ in atoms:
            if isinstance(atom, nodes.Combination):
                raise query_error(
                    "syntax",
                    f"'{atom.operator}' stands in SEQ without parentheses of its own",
                    atom.span,
                    help=f"write (… {atom.operator} …), for example SEQ ((A {atom.operator} B); C)",
                )
        operators = [None, *(str(c) for c in children[1::2])]
        return tuple(nodes.SequenceStep(o, atom, gap) for o, (atom, gap) in zip(operators, atoms, strict=True))

    def bounded(self, meta: Meta, children: list[Any]) -> tuple[nodes.SequenceAtom, nodes.GapBound]:
        """`B WITHIN d OF A`."""
        atom, (amount, amount_span), label = children
        return atom, nodes.GapBound(amount, amount_span, str(label), token_span(label), span_of(meta))

    def choice(self, meta: Meta, children: list[nodes.SequenceAtom]) -> nodes.Combination:
        """`A | B`."""
        return nodes.Combination("|", tuple(children), span_of(meta))

    def both(self, meta: Meta, children: list[nodes.SequenceAtom]) -> nodes.Combination:
        """`A & B`."""
        return nodes.Combination("&", tuple(children), span_of(meta))

    def reference(self, meta: Meta, children: list[Token]) -> nodes.Reference:
        """`A`, `A?`, `A!`, and what iterates: `A+`, `A{2,3}`, each of them `GREEDY` or `RELUCTANT` (`?`)."""
        name, *rest = children
        span, name_span = span_of(meta), token_span(name)
        if not rest:
            return nodes.Reference(str(name), None, span, name_span)
        times, preference = rest[0], _preference(rest[1:])
        if isinstance(times, Token) and times != "+":
            if preference is not None:
                raise query_error(
                    "syntax",
                    f"'{rest[1]}' cannot follow {name}{times}, which does not iterate",
                    token_span(rest[1]),
                    help=f"write {name}+{rest[1] if rest[1] == '?' else ' ' + str(rest[1])}, or {name}{times} alone",
                )
            return nodes.Reference(str(name), str(times), span, name_span)
        quantifier = nodes.Quantifier(1, None, None, token_span(times)) if isinstance(times, Token) else times
        return nodes.Reference(str(name), "+", span, name_span, replace(quantifier, preference=preference))

    def quantifier(self, meta: Meta, children: list[Token]) -> nodes.Quantifier:
        """`{n}`."""
        return _quantifier(int(children[0]), int(children[0]), span_of(meta))

    def open_quantifier(self, meta: Meta, children: list[Token]) -> nodes.Quantifier:
        """`{n,m}` and `{n,}`."""
        return _quantifier(int(children[0]), int(children[1]) if len(children) > 1 else None, span_of(meta))

    def skip(self, meta: Meta, children: list[Token]) -> nodes.SkipClause:
        """AFTER MATCH SKIP."""
        words = [str(c).lower() for c in children[:2]]
        label = children[2] if len(children) > 2 else None
        return nodes.SkipClause(
            " ".join(words),
            None if label is None else str(label),
            span_of(meta),
            None if label is None else token_span(label),
        )

    def timeouts(self, meta: Meta, children: list[Token]) -> nodes.TimeoutClause:
        """ON TIMEOUT."""
        return nodes.TimeoutClause(span_of(meta))

    def parenthesised(self, meta: Meta, children: list[Any]) -> nodes.Parenthesised:
        """`( … )`."""
        postfix = str(children[1]) if len(children) > 1 else None
        return nodes.Parenthesised(children[0], postfix, span_of(meta))

    def definition(self, meta: Meta, children: list[Any]) -> nodes.Definition:
        """DEFINE GPM."""
        name, stream, group = children
        if isinstance(stream, Token):
            return nodes.Definition(str(name), token_span(name), str(stream), token_span(stream), group, span_of(meta))
        iri = _stream(stream)
        return nodes.Definition(str(name), token_span(name), iri.iri, iri.span, group, span_of(meta))

    def iteration_call(self, meta: Meta, children: list[Token]) -> tree.IterationCall:
        """`COUNT(B.?v)`."""
        function, part, variable = children
        return tree.IterationCall(
            str(function),
            str(part),
            tree.Var(check_name(variable)[1:], token_span(variable)),
            span_of(meta),
            token_span(function),
            token_span(part),
        )


def _preference(words: list[Token]) -> str | None:
    """What stands behind a quantifier: a word, or MATCH_RECOGNIZE's `?` for reluctant."""
    if not words:
        return None
    (word,) = words
    if word.type == "POSTFIX" and word != "?":
        raise query_error(
            "syntax",
            f"'{word}' cannot follow a quantifier",
            token_span(word),
            help="'?' or RELUCTANT takes as few iterations as can be, GREEDY as many",
        )
    return "reluctant" if word == "?" else str(word).lower()


MOST_ITERATIONS = 1_000_000
"""The greatest number in a quantifier: what is above it means no bound, and is said with `{n,}`."""


def _quantifier(least: int, most: int | None, span: Span) -> nodes.Quantifier:
    if least < 1:
        raise query_error(
            "quantifier",
            "a quantifier counts the events that a GPM selects, from 1 on",
            span,
            help="write {1,…}; for at most one event write '?', for none '!'",
        )
    if most is not None and most < least:
        raise query_error("quantifier", f"{{{least},{most}}}: at most {most} cannot be at least {least}", span)
    if max(least, most or 0) > MOST_ITERATIONS:
        raise query_error("quantifier", f"a quantifier counts up to {MOST_ITERATIONS:,}", span, help="write {n,} for no bound")
    return nodes.Quantifier(least, most, None, span)


def _stream(constant: tree.Constant) -> tree.StreamName:
    assert isinstance(constant.term, IRI)  # the grammar has an IRI there
    return tree.StreamName(constant.term, constant.span)
