"""Paths into JSON documents: the part of JSONPath that names fields and items, `$.a.b`, `a['b c']`, `a[0]`, `a[*]`, `a.*`.

Filters, slices and the descent `..` are refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from scepter.errors import option_error

_STEP: Final = re.compile(
    r"""\.(?P<all>\*)|\.?\[(?P<items>\*)\]|\[(?P<index>-?\d+)\]|\[\s*'(?P<single>(?:[^'\\]|\\.)*)'\s*\]"""
    r"""|\[\s*"(?P<double>(?:[^"\\]|\\.)*)"\s*\]|\.(?P<name>[^.\[\]*'"]+)"""
)
_REFUSED: Final = re.compile(r"\.\.|\[\s*\?|\[\s*\(|\[[^\]'\"]*[:,][^\]'\"]*\]")
ALL: Final = None


@dataclass(frozen=True, slots=True)
class Path:
    """Steps into a document: a name, an index, or None for all items."""

    steps: tuple[str | int | None, ...]

    @property
    def many(self) -> bool:
        """Whether it may lead to several values."""
        return ALL in self.steps

    def value(self, item: Any) -> Any:
        """The value it leads to; a list of them if it leads to several or to an array; None if it leads nowhere."""
        if self.many:
            return list(self.values(item))
        for step in self.steps:
            if isinstance(step, str):
                if not isinstance(item, dict):
                    return None
                item = item.get(step)
            elif isinstance(step, int) and isinstance(item, list) and -len(item) <= step < len(item):
                item = item[step]
            else:
                return None
            if item is None:
                return None
        return item

    def values(self, item: Any) -> Iterator[Any]:
        """All that it leads to; the items of an array in the end."""
        found = [item]
        for step in self.steps:
            found = [inner for each in found for inner in _inner(each, step)]
        for each in found:
            if isinstance(each, list) and self.many:
                yield from each
            else:
                yield each

    def items(self, document: Any) -> list[Any]:
        """The items that it iterates over: those of an array one by one."""
        found = [document]
        for step in self.steps:
            found = [inner for each in found for inner in _inner(each, step)]
        return [inner for each in found for inner in (each if isinstance(each, list) else [each])]


def _inner(item: Any, step: str | int | None) -> list[Any]:
    if step is ALL:
        return item if isinstance(item, list) else list(item.values()) if isinstance(item, dict) else []
    if isinstance(step, str):
        return [item[step]] if isinstance(item, dict) and step in item else []
    return [item[step]] if isinstance(item, list) and -len(item) <= step < len(item) else []


@lru_cache(maxsize=4096)
def parse_path(text: str) -> Path:
    """The path that a text is; raises OptionError for what is not supported.

    >>> parse_path("$.a[*]['b c'][0]").steps
    ('a', None, 'b c', 0)
    """
    if text in ("$", "@", "$.", ""):
        return Path(())
    if _REFUSED.search(text):
        raise option_error(
            "mapping",
            f"the path {text} uses a filter, a slice or a descent, which are not supported",
            help="name fields and items: a.b, a['b c'], a[0], a[*]",
        )
    rest = text.removeprefix("$")
    if rest == text or not rest.startswith((".", "[")):
        rest = text if text.startswith("[") else f".{text}"
    steps: list[str | int | None] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise option_error("mapping", f"the path {text} cannot be read at {rest[at:]!r}", help="write for example a.b[0].c")
        steps.append(_step(found))
        at = found.end()
    return Path(tuple(steps))


def _step(found: re.Match[str]) -> str | int | None:
    if found["all"] or found["items"]:
        return ALL
    if found["index"] is not None:
        return int(found["index"])
    quoted = found["single"] if found["single"] is not None else found["double"]
    return str(found["name"]) if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
