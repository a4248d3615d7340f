"""Regular expressions in time linear in the text: RE2, where the pattern can be said to it.

Python's engine tries one way after the other, which takes `^(a+)+$` longer than anybody waits. RE2 follows all ways at once, at
a cost of its program's size for each character at worst. It knows no back-references, and no repetition above 1,000: those
patterns stay with Python's engine. With both, what a pattern and a text could take is known before they meet, and refused when
it is too much; answers do not depend on a clock.
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

_MOST_STEPS: Final = 200_000_000
"""Of Python's engine: places to begin, ways through the pattern, characters that a back-reference compares."""
_MOST_WORK: Final = 500_000_000
"""Of RE2: instructions of its program times characters, seven nanoseconds each when every way stays open."""
_MOST_SCANNED: Final = 1_000_000_000
"""Characters that REPLACE looks at where a match could go on to the end of the text, and each begins a new look."""
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
            self._slow = re.compile(pattern, flags)
            self._tree = sre.parse(pattern, flags)
            self._widest = self._tree.getwidth()[1]
        except (re.error, OverflowError, RecursionError) as error:
            raise ExpressionError(f"it is no regular expression: {error}") from None
        self.groups = self._slow.groups
        self._quick = _quick(pattern, flags)
        self._tested = _quick(pattern, flags, capture=False) if self.groups else self._quick
        if self._quick is None and not _is_bounded(self._tree):
            raise ExpressionError("its back-references and repetitions could take for ever")

    def found(self, text: str) -> bool:
        """Whether it is found in a text."""
        if self._tested is None:
            return self._slow.search(self._short(text)) is not None
        _check_work(self._tested.programsize, text)
        try:
            return self._tested.search(text) is not None
        except UnicodeEncodeError:
            raise _half() from None

    def replaced(self, template: str, text: str, most: int) -> str:
        """The text with a template (Python's `\\g<1>`) in the place of each match; ExpressionError beyond `most` characters."""
        parts, at, size = [], 0, len(text)
        for match in self._matches(text):
            filled = _TEMPLATE.sub(partial(_filled, match), template)
            size += len(filled) - (match.end() - match.start())
            if size > most:
                raise ExpressionError(f"a string of more than {most:,} characters")
            parts += [text[at : match.start()], filled]
            at = match.end()
        return "".join([*parts, text[at:]])

    def _matches(self, text: str) -> Iterator[Any]:
        if self._quick is None:
            yield from self._slow.finditer(self._short(text))
            return
        _check_work(self._quick.programsize * (1 + self.groups), text)
        endless, scanned = self._widest >= len(text), 0
        try:
            for match in self._quick.finditer(text):
                scanned += len(text) - match.start()
                if endless and scanned > _MOST_SCANNED:
                    raise ExpressionError(
                        f"a text of {len(text):,} characters has too many matches that could go on to its end"
                    )
                yield match
        except UnicodeEncodeError:
            raise _half() from None

    def _short(self, text: str) -> str:
        """The text, if Python's engine is done with it soon."""
        if _steps(self._tree, len(text)) > _MOST_STEPS:
            raise ExpressionError(f"a text of {len(text):,} characters is too long for a pattern with back-references")
        return text


def _check_work(program: int, text: str) -> None:
    if program * len(text) > _MOST_WORK:
        raise ExpressionError(f"a text of {len(text):,} characters is too long for a pattern of this size")


def _half() -> ExpressionError:
    return ExpressionError("a text with half a character")


def _filled(match: Any, token: re.Match[str]) -> str:
    return "\\" if token[1] is None else match.group(int(token[1])) or ""


def _quick(pattern: str, flags: int, *, capture: bool = True) -> Any:
    """The pattern in RE2; None where it cannot be said to it."""
    told = None if re2 is None else _translated(pattern)
    if told is None:
        return None
    letters = "".join(letter for letter, flag in (("i", re.I), ("m", re.M), ("s", re.S)) if flags & flag)
    options = re2.Options()
    options.log_errors = False
    options.never_capture = not capture
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


def _is_bounded(tree: Any) -> bool:
    """Whether Python's engine needs few enough steps for any text: no repetition within another."""
    pending: list[tuple[Any, bool]] = [(tree, False)]
    while pending:
        node, repeated = pending.pop()
        for operator, value in node:
            repeats = "REPEAT" in str(operator) and value[1] > 1
            if repeats and repeated:
                return False
            for part in _parts(value):
                pending.append((part, repeated or repeats))
    return True


def _steps(tree: Any, length: int) -> int:
    """At most so many steps does Python's engine take for a text of so many characters: from each place every way through the
    pattern, each with a comparison."""
    ways, refers = 1, 1
    pending: list[tuple[Any, int]] = [(tree, 1)]
    while pending:
        node, times = pending.pop()
        for operator, value in node:
            name = str(operator)
            inner = times
            if "REPEAT" in name:
                least, most = value[0], min(int(value[1]), length)
                ways *= min(max(most - least, 0) + 1, length + 1) ** times
                inner = max(1, min(most, length))
            elif name == "BRANCH":
                ways *= len(value[1]) ** times
            elif name == "GROUPREF":
                refers = max(1, length)
            if ways > _MOST_STEPS:
                return ways
            pending += [(part, inner) for part in _parts(value)]
    return ways * refers * max(1, length)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, sre.SubPattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for each in value:
            yield from _parts(each)
