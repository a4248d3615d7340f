"""S-expressions: reading text into lists and atoms with their places, and laying them out. Knows nothing of the algebra."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from scepter.errors import Diagnostic, QueryError, Source, Span

MAX_DEPTH = 200
"""Lists nested deeper than this are refused, rather than ending in a RecursionError."""
WIDTH = 100
"""Lists that fit into so many columns stay on one line."""


class Kind(Enum):
    """What an atom looks like."""

    IRI = "iri"
    STRING = "string"
    VARIABLE = "variable"
    BLANK = "blank"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True)
class Atom:
    """One token, as written."""

    kind: Kind
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Listing:
    """`( … )`."""

    items: tuple[Item, ...]
    span: Span


Item: TypeAlias = Atom | Listing
Doc: TypeAlias = "str | list[Doc]"
"""What is laid out: a token's text, or a list."""

_QUOTED = r'"(?:[^"\\\n\r]|\\.)*"'
_IRI = r"<(?:[^\x00-\x20<>\"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>"
_TOKEN = re.compile(
    rf"""(?P<space>(?:\s|\#[^\n]*)+)
    | (?P<open>\() | (?P<close>\))
    | (?P<iri>{_IRI})
    | (?P<string>{_QUOTED}(?:\^\^(?:{_IRI}|[^\s()"<]+)|@[A-Za-z0-9-]+)?)
    | (?P<variable>\?(?:{_QUOTED}|[^\s()"\#]+))
    | (?P<blank>_:(?:{_QUOTED}|[^\s()"\#]+))
    | (?P<symbol>-?[0-9]+\ units(?![^\s()]) | [^\s()"\#?]+)""",
    re.VERBOSE,
)


def fault(source: Source, span: Span, message: str, help: str | None = None) -> QueryError:
    """The error for text that is no algebra, at its place."""
    return QueryError(Diagnostic("algebra-text", message, span, help), source)


def read(source: Source) -> tuple[Item, ...]:
    """The items of a text. Raises QueryError at the first place that is wrong."""
    stack: list[tuple[int, list[Item]]] = [(0, [])]
    at = 0
    while at < len(source.text):
        if (match := _TOKEN.match(source.text, at)) is None:
            raise fault(
                source, Span(at, at + 1), "a string that does not end" if source.text[at] == '"' else "no token starts here"
            )
        kind, start, at = str(match.lastgroup), at, match.end()
        match kind:
            case "space":
                continue
            case "open":
                stack.append((start, []))
                if len(stack) > MAX_DEPTH:
                    raise fault(source, Span(start, at), f"lists nested deeper than {MAX_DEPTH}")
            case "close":
                opened, items = stack.pop()
                if not stack:
                    raise fault(source, Span(start, at), "')' without its '('")
                stack[-1][1].append(Listing(tuple(items), Span(opened, at)))
            case _:
                stack[-1][1].append(Atom(Kind(kind), match.group(), Span(start, at)))
    if len(stack) > 1:
        raise fault(source, Span(at, at), "the text ends inside a list", f"close the '(' of {_place(source, stack[-1][0])}")
    return tuple(stack[0][1])


def _place(source: Source, offset: int) -> str:
    line, column = source.position(offset)
    return f"line {line}, column {column}"


def layout(doc: Doc, indent: int = 0) -> str:
    """The text of a list: on one line if it fits, else its leading tokens, then each item on a line of its own.

    >>> print(layout(["and", ["<", "?x", "3"], "?y"]))
    (and (< ?x 3) ?y)
    """
    if isinstance(doc, str):
        return doc
    if _fits(doc, WIDTH - indent):
        return f"({' '.join(layout(item) for item in doc)})"
    head = next((n for n, item in enumerate(doc) if not isinstance(item, str)), len(doc))
    if head == 0:
        return "(" + f"\n{' ' * (indent + 1)}".join(layout(item, indent + 1) for item in doc) + ")"
    lines = [" ".join(str(item) for item in doc[:head])]
    lines += [" " * (indent + 2) + layout(item, indent + 2) for item in doc[head:]]
    return "(" + "\n".join(lines) + ")"


def _fits(doc: Doc, room: int) -> bool:
    """Whether the one-line form is no longer than the room; stops looking as soon as it is."""
    room += 1  # every item is counted with a space after it, the last one too
    pending: list[Doc] = [doc]
    while pending and room >= 0:
        current = pending.pop()
        if isinstance(current, str):
            room -= len(current) + 1
        else:
            room -= 2
            pending.extend(current)
    return room >= 0
