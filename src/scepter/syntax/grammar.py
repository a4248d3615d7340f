"""Grammars to parsers: the SPARQL core and a language's own text make one LALR grammar."""

from __future__ import annotations

import functools
from importlib import resources

from lark import Lark, Token, Tree

from scepter.errors import Span, query_error
from scepter.syntax.terms import token_span

DEPTH_LIMIT = 250
"""How deep a query may nest. What comes after the parser recurses over its tree; this bounds it well below Python's stack."""

_CHAINS = frozenset({"sum", "product", "path_alternative", "path_sequence", "group", "choice", "both"})
_BALANCED = frozenset({"or_expression", "and_expression", "alternatives"})


@functools.cache
def parser(language: str) -> Lark:
    """The parser of a language. Building one takes a fifth of a second, so it is built when first asked for, once."""
    folder = resources.files("scepter.syntax")
    text = "\n".join(folder.joinpath(f"{name}.lark").read_text("utf-8") for name in ("sparql", language))
    return Lark(text, start=language, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=False)


def refuse_deep(root: Tree[Token]) -> None:
    """Raise `too-complex` when a parse tree nests deeper than later stages may walk.

    A chain that will lean to the left counts with its length; one that can be balanced, with the logarithm of it.
    """
    pending: list[tuple[Tree[Token], int]] = [(root, 0)]
    while pending:
        node, above = pending.pop()
        depth = above + _weight(node)
        if depth > DEPTH_LIMIT:
            raise query_error(
                "too-complex",
                f"the query nests deeper than {DEPTH_LIMIT} levels here",
                _first_span(node),
                help="shorten the chain, or bind parts of it with BIND",
            )
        pending.extend((child, depth) for child in node.children if isinstance(child, Tree))


def _weight(node: Tree[Token]) -> int:
    if node.data in _CHAINS:
        return max(1, len(node.children))
    if node.data in _BALANCED:
        return len(node.children).bit_length()
    return 1


def _first_span(node: Tree[Token]) -> Span:
    return Span(node.meta.start_pos, node.meta.start_pos + 1) if not node.meta.empty else token_span(Token("", ""))
