"""Regular expressions in time linear in the text: RE2, where the pattern can be said to it.

Python's engine tries one way after the other, which takes `^(a+)+$` longer than anybody waits. RE2 follows all ways at once. It
knows no back-references, and no repetition above 1,000: those patterns stay with Python's engine, within bounds that keep it
quick; beyond these they are refused.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from scepter.rdf.values import ExpressionError

try:
    import re2
except ImportError:  # a platform without it: every pattern is then one of those that must be bounded
    re2 = None

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from re import _parser as sre

_LONGEST: Final = 2_000
"""Characters of a text for a pattern with back-references."""
_REPEATS: Final = 2
_WORD: Final = r"\p{L}\p{N}_"
_PLAIN: Final = {"Z": r"\z", "d": r"\p{Nd}", "D": r"\P{Nd}"}
_NAMED: Final = {r"[^\W\d]": r"[\p{L}\p{Nl}\p{No}_]", r"[\W\d]": r"[^\p{L}\p{Nl}\p{No}_]"}
"""The classes of characters that names begin with, and all others: RE2 knows no class of what is not in two classes."""
_TEMPLATE: Final = re.compile(r"\\g<([0-9]+)>|\\\\")


class Regex:
    """A compiled pattern."""

    def __init__(self, pattern: str, flags: int) -> None:
        """`pattern` in Python's syntax; ExpressionError for one that is none, or too costly."""
        try:
            checked = re.compile(pattern, flags)
        except (re.error, OverflowError, RecursionError) as error:
            raise ExpressionError(f"it is no regular expression: {error}") from None
        self.groups = checked.groups
        self._quick = _quick(pattern, flags)
        if self._quick is None and not _is_bounded(pattern, flags):
            raise ExpressionError("its back-references and repetitions could take for ever")
        self._slow = checked

    def found(self, text: str) -> bool:
        """Whether it is found in a text."""
        return next(self._matches(text), None) is not None

    def replaced(self, template: str, text: str) -> str:
        """The text with a template (Python's `\\g<1>`) in the place of each match."""
        parts, at = [], 0
        for match in self._matches(text):
            parts += [text[at : match.start()], _TEMPLATE.sub(partial(_filled, match), template)]
            at = match.end()
        return "".join([*parts, text[at:]])

    def _matches(self, text: str) -> Iterator[Any]:
        if self._quick is not None:
            try:
                return iter(self._quick.finditer(text))
            except UnicodeEncodeError:
                raise ExpressionError("a text with half a character") from None
        if len(text) > _LONGEST:
            raise ExpressionError(f"a text of {len(text)} characters is too long for a pattern with back-references")
        return self._slow.finditer(text)


def _filled(match: Any, token: re.Match[str]) -> str:
    return "\\" if token[1] is None else match.group(int(token[1])) or ""


def _quick(pattern: str, flags: int) -> Any:
    """The pattern in RE2; None where it cannot be said to it."""
    told = None if re2 is None else _translated(pattern)
    if told is None:
        return None
    letters = "".join(letter for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S)) if flags & flag)
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?{letters}){told}" if letters else told, options)
    except re2.error:
        return None


def _translated(pattern: str) -> str | None:
    """Python's syntax in RE2's."""
    for said, meant in _NAMED.items():
        pattern = pattern.replace(said, meant)
    parts: list[str] = []
    at, inside = 0, False
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            escaped, at = _escape(pattern, at, inside)
            if escaped is None:
                return None
            parts.append(escaped)
            continue
        if character == "(" and pattern.startswith("(?!", at) and not inside:
            return None
        if character == "[" and not inside:
            inside = True
            begins = 2 if pattern.startswith("[^", at) else 1
            parts.append(pattern[at : at + begins])
            at += begins
            continue
        if character == "]" and inside:
            inside = False
        parts.append(character)
        at += 1
    return "".join(parts)


def _escape(pattern: str, at: int, inside: bool) -> tuple[str | None, int]:
    letter = pattern[at + 1]
    if letter == "U":
        return f"\\x{{{pattern[at + 2 : at + 10].lstrip('0') or '0'}}}", at + 10
    if letter in "123456789" or (letter == "W" and inside):
        return None, at
    if letter in "wW":
        return _WORD if inside else f"[{'^' if letter == 'W' else ''}{_WORD}]", at + 2
    return _PLAIN.get(letter, "\\" + letter), at + 2


def _is_bounded(pattern: str, flags: int) -> bool:
    """Whether Python's engine needs few enough steps: few repetitions, none within another."""
    count = 0
    pending: list[tuple[Any, bool]] = [(sre.parse(pattern, flags), False)]
    while pending:
        node, repeated = pending.pop()
        for operator, value in node:
            repeats = "REPEAT" in str(operator) and value[1] > 1
            if repeats:
                count += 1
                if repeated or count > _REPEATS:
                    return False
            for part in _parts(value):
                pending.append((part, repeated or repeats))
    return True


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, sre.SubPattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _parts(each)
