"""`-k EXPR`: words with `and`, `or`, `not` and parentheses, each true where a case's path, name or language contains it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from scepter.errors import OptionError, option_error

Selector: TypeAlias = Callable[[str], bool]

_TOKEN = re.compile(r"\s*([()]|[^\s()]+)")


def selector(expression: str) -> Selector:
    """The test that an expression stands for, on a text in any case.

    >>> selector("kleene and not (prev or obep)")("spaseq/rule07-kleene-first")
    True
    """
    tokens = _TOKEN.findall(expression)
    test, rest = _either(tokens, expression)
    if rest:
        raise _bad(expression, rest[0])
    return lambda text: test(text.casefold())


def _either(tokens: list[str], expression: str) -> tuple[Selector, list[str]]:
    left, tokens = _both(tokens, expression)
    while tokens and tokens[0] == "or":
        right, tokens = _both(tokens[1:], expression)
        left = _any(left, right)
    return left, tokens


def _both(tokens: list[str], expression: str) -> tuple[Selector, list[str]]:
    left, tokens = _single(tokens, expression)
    while tokens and tokens[0] == "and":
        right, tokens = _single(tokens[1:], expression)
        left = _all(left, right)
    return left, tokens


def _single(tokens: list[str], expression: str) -> tuple[Selector, list[str]]:
    match tokens:
        case ["not", *rest]:
            inner, rest = _single(rest, expression)
            return (lambda text: not inner(text)), rest
        case ["(", *rest]:
            inner, rest = _either(rest, expression)
            if rest[:1] != [")"]:
                raise _bad(expression, rest[0] if rest else None)
            return inner, rest[1:]
        case [word, *rest] if word not in ("and", "or", ")"):
            return _contains(word.casefold()), rest
        case _:
            raise _bad(expression, tokens[0] if tokens else None)


def _contains(word: str) -> Selector:
    return lambda text: word in text


def _any(left: Selector, right: Selector) -> Selector:
    return lambda text: left(text) or right(text)


def _all(left: Selector, right: Selector) -> Selector:
    return lambda text: left(text) and right(text)


def _bad(expression: str, token: str | None) -> OptionError:
    where = "its end" if token is None else repr(token)
    return option_error(
        "bad-selection", f"-k {expression!r} cannot be read at {where}", help='write for example -k "kleene and not obep"'
    )
