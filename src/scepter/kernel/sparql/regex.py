"""XPath regular expressions (F&O §5.6) in Python's: what differs is translated, what XPath does not know is an error. They run
in linear time where `linear` can say them to RE2."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from scepter.kernel.sparql.linear import Regex
from scepter.rdf.values import ExpressionError

_BLANKS = " \t\n\r"
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
_SAME = {"n": "\\n", "r": "\\r", "t": "\\t", "d": "\\d", "D": "\\D", "s": "[ \\t\\n\\r]", "S": "[^ \\t\\n\\r]"}
_IN_CLASS = {**_SAME, "s": " \\t\\n\\r"}
_SPECIAL = "\\|.-^?*+{}()[]$"
_MOST_SUBTRACTIONS = 8
# XML's name characters, as far as they are not letters and digits for Python.
_NAME = "\\w\\-.:"


@lru_cache(maxsize=512)
def compile_regex(pattern: str, flags: str = "") -> Regex:
    """The compiled pattern; ExpressionError when the pattern or the flags are wrong.

    >>> compile_regex("b$").found("ab\\n")
    False
    """
    if unknown := set(flags) - set("ismxq"):
        raise ExpressionError(f"{unknown} are no flags of a regular expression")
    options = 0
    for flag in flags:
        options |= _FLAGS.get(flag, 0)
    translated = re.escape(pattern) if "q" in flags else _Translation(pattern, flags).result()
    try:
        return Regex(translated, options)
    except ExpressionError as error:
        raise ExpressionError(f"{pattern!r}: {error}") from None


class _Translation:
    """One pass over a pattern."""

    def __init__(self, pattern: str, flags: str) -> None:
        self._text = pattern
        self._at = 0
        self._extended = "x" in flags
        self._multiline = "m" in flags
        self._subtractions = 0

    def result(self) -> str:
        parts = []
        while self._at < len(self._text):
            parts.append(self._next())
        return "".join(parts)

    def _next(self) -> str:
        character = self._take()
        if self._extended and character in _BLANKS:
            return ""
        match character:
            case "\\":
                return self._escape()
            case "[":
                return self._character_class()
            case "$":
                return "$" if self._multiline else "\\Z"
            case "(":
                return self._group()
            case "#":
                return "\\#"
            case _:
                return character

    def _take(self) -> str:
        if self._at >= len(self._text):
            raise ExpressionError(f"the regular expression {self._text!r} ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _group(self) -> str:
        rest = self._text[self._at : self._at + 2]
        if rest.startswith("?") and rest != "?:":
            raise ExpressionError(f"(?… is no group of an XPath regular expression: {self._text!r}")
        return "("

    def _escape(self) -> str:
        character = self._take()
        if character in _SAME:
            return _SAME[character]
        if character in "wW":
            return "\\" + character
        if character in "icIC":
            return f"[{_name_class(character)}]"
        if character in "pP":
            return f"[{'^' if character == 'P' else ''}{self._category()}]"
        if character in _SPECIAL:
            return "\\" + character
        if character in "123456789":
            return f"(?:\\{character})"
        raise ExpressionError(f"\\{character} is no escape of an XPath regular expression")

    def _category(self) -> str:
        end = self._text.find("}", self._at)
        if self._take() != "{" or end < 0:
            raise ExpressionError(f"\\p needs a category in braces: {self._text!r}")
        name, self._at = self._text[self._at : end], end + 1
        return category_ranges(name)

    def _character_class(self) -> str:
        negative = self._text[self._at : self._at + 1] == "^"
        self._at += negative
        items: list[str] = []
        less = ""
        while (character := self._take()) != "]" or not items:
            if character == "-" and self._text[self._at : self._at + 1] == "[" and items:
                self._at += 1
                self._subtractions += 1
                if self._subtractions > _MOST_SUBTRACTIONS:  # each of them is worked out over all of Unicode
                    raise ExpressionError(f"more than {_MOST_SUBTRACTIONS} classes are subtracted in a regular expression")
                less = self._character_class()
                if self._take() != "]":
                    raise ExpressionError(f"a class ends after its subtraction: {self._text!r}")
                break
            items.append(self._class_item(character, bool(items)))
        found = f"[{'^' if negative else ''}{''.join(items)}]"
        return f"[{_difference(found, less)}]" if less else found

    def _class_item(self, character: str, inner: bool) -> str:
        if character == "\\":
            escaped = self._take()
            if escaped in _IN_CLASS:
                return _IN_CLASS[escaped]
            if escaped in "wW":
                return "\\" + escaped
            if escaped == "c":
                return _NAME
            if escaped == "p":
                return self._category()
            if escaped in _SPECIAL:
                return "\\" + escaped
            raise ExpressionError(f"\\{escaped} cannot stand in a class: {self._text!r}")
        if character == "-":
            # A hyphen at an end of the class is itself, elsewhere it makes a range.
            return "-" if inner and self._text[self._at : self._at + 1] not in ("]", "") else "\\-"
        if character == "[":
            raise ExpressionError(f"[ cannot stand in a class: {self._text!r}")
        return "\\" + character if character in "&|~^" else character


@lru_cache(maxsize=64)
def _difference(one: str, other: str) -> str:
    """The characters of one class that are not of the other, as the inside of a class."""
    try:
        left, right = re.compile(one), re.compile(other)
    except re.error as error:
        raise ExpressionError(f"{one} is no class of characters: {error}") from None
    codes = [code for code in range(sys.maxunicode + 1) if left.match(chr(code)) and not right.match(chr(code))]
    if not codes:
        return "^\\x00-\\U0010ffff"
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in _runs(codes))


def _runs(codes: list[int]) -> Iterator[tuple[int, int]]:
    start = before = codes[0]
    for code in codes[1:]:
        if code != before + 1:
            yield start, before
            start = code
        before = code
    yield start, before


def _name_class(letter: str) -> str:
    return {"i": "^\\W\\d", "c": _NAME, "I": "\\W\\d", "C": "^\\w\\-.:"}[letter]


@lru_cache(maxsize=64)
def category_ranges(name: str) -> str:
    """The characters of a Unicode general category (`L`, `Lu`, `Nd` …), as the inside of a class."""
    if not re.fullmatch(r"L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?", name):
        raise ExpressionError(f"{name!r} is no category of characters")
    parts: list[str] = []
    start: int | None = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(name)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            parts.append(f"\\U{start:08x}-\\U{code - 1:08x}")
            start = None
    return "".join(parts)


def expand_replacement(text: str, groups: int) -> str:
    """XPath's `$1` and escapes of a replacement as Python's template."""
    parts: list[str] = []
    at = 0
    while at < len(text):
        character, following = text[at], text[at + 1 : at + 2]
        if character == "\\":
            if not following or following not in "\\$":
                raise ExpressionError(f"a backslash escapes only \\ and $ in the replacement {text!r}")
            parts.append("\\\\" if following == "\\" else "$")
            at += 2
        elif character == "$":
            number, at = _group_number(text, at + 1, groups)
            parts.append(f"\\g<{number}>" if number <= groups else "")
        else:
            parts.append(character)
            at += 1
    return "".join(parts)


def _group_number(text: str, at: int, groups: int) -> tuple[int, int]:
    """The longest group number that exists, at least one digit (F&O fn:replace)."""
    digits = re.compile("[0-9]+").match(text, at)
    if digits is None:
        raise ExpressionError(f"$ needs a digit in the replacement {text!r}")
    end = digits.end()
    while end - at > 1 and (end - at > 4 or int(text[at:end]) > groups):
        end -= 1
    return int(text[at:end]), end
