"""Grammars to parsers: the SPARQL core and a language's own text make one LALR grammar."""

from __future__ import annotations

import functools
import hashlib
import io
import os
import sys
from importlib import resources
from pathlib import Path

import lark
from lark import Lark, Token, Tree

from scepter.errors import Span, query_error
from scepter.kept import own_folder, read_own, sealed, write_whole

DEPTH_LIMIT = 250
"""How deep a query may nest. What comes after the parser recurses over its tree; this bounds it well below Python's stack."""

_CHAINS = frozenset(
    {
        "sum",
        "product",
        "path_alternative",
        "path_sequence",
        "group",
        "choice",
        "both",
        "event_sequence",
        "temporal",
        "alternative",
        "together",
    }
)
_BALANCED = frozenset({"or_expression", "and_expression", "alternatives"})


@functools.cache
def parser(language: str) -> Lark:
    """The parser of a language; `epsparql+unprefixed` is one with another grammar's text behind its own.

    Its tables take some tenths of a second to compute, so they are kept in the user's cache folder, under a name that says
    which grammar, lark and Python they are for. Without such a folder they are computed once per process.
    """
    folder = resources.files("scepter.syntax")
    start, *extensions = language.split("+")
    text = "\n".join(folder.joinpath(f"{name}.lark").read_text("utf-8") for name in ("sparql", start, *extensions))
    kept = _cache_folder()
    if kept is None:
        return _build(text, language)
    key = hashlib.sha256(f"{lark.__version__} {sys.version} {text}".encode()).hexdigest()[:24]
    return _load(kept / f"{language}-{key}.tables") or _store(_build(text, language), kept / f"{language}-{key}.tables")


def _build(text: str, language: str) -> Lark:
    return Lark(
        text,
        start=language.split("+")[0],
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=False,
    )


def _cache_folder() -> Path | None:
    """The folder of the tables, the user's own and closed to others: lark reads them with pickle."""
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return own_folder((Path(root) if root else Path.home() / ".cache") / "scepter")
    except RuntimeError:  # the user has no home
        return None


def _load(path: Path) -> Lark | None:
    data = read_own(path)
    if data is None:
        return None
    try:
        return Lark.load(io.BytesIO(data))
    except Exception:  # whole, and yet of another lark: the tables are computed anew and replace it
        return None


def _store(built: Lark, path: Path) -> Lark:
    out = io.BytesIO()
    built.save(out)
    try:
        write_whole(path, sealed(out.getvalue()))
    except OSError:  # a full or read-only disk costs the next process some time, nothing else
        return built
    return built


def refuse_deep(root: Tree[Token]) -> None:
    """Raise `too-complex` when a parse tree nests deeper than later stages may walk.

    A chain that will lean to the left counts with its length; one that can be balanced, with the logarithm of it.
    """
    pending: list[tuple[Tree[Token], int]] = [(root, 0)]
    while pending:
        node, above = pending.pop()
        depth = above + _weight(node)
        if depth > DEPTH_LIMIT:
            start = 0 if node.meta.empty else node.meta.start_pos
            raise query_error(
                "too-complex",
                f"the query nests deeper than {DEPTH_LIMIT} levels here",
                Span(start, start + 1),
                help="shorten the chain, or bind parts of it with BIND",
            )
        pending.extend((child, depth) for child in node.children if isinstance(child, Tree))


def _weight(node: Tree[Token]) -> int:
    if node.data in _CHAINS:
        return max(1, len(node.children))
    if node.data in _BALANCED:
        return len(node.children).bit_length()
    return 1
