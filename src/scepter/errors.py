"""What can go wrong, told to a person: Span, Diagnostic, one renderer, and the exceptions that carry them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Final

_TAB = "    "
_LONGEST = 4_000
_SHOWN_WHOLE = 400
_SHOWN_AROUND = 150
_TABLES = ("DataFrame", "LazyFrame", "Table")


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of code points in a source text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Source:
    """A named text that spans point into."""

    name: str
    text: str
    parts: tuple[Source, ...] = ()
    """The files that it was joined of, where it was: a place is then told in the file it stands in."""

    @classmethod
    def joined(cls, parts: Iterable[Source]) -> Source:
        r"""Several texts as one, a line end between two of them.

        >>> both = Source.joined([Source("a", "ab"), Source("b", "cd")])
        >>> both.text, both.located(Span(3, 4))
        ('ab\ncd', (Source(name='b', text='cd', parts=()), Span(start=0, end=1)))
        """
        given = tuple(parts)
        if len(given) == 1:
            return given[0]
        return cls(", ".join(part.name for part in given), "\n".join(part.text for part in given), given)

    def located(self, span: Span) -> tuple[Source, Span]:
        """The file that a place stands in, and the place in it."""
        before = 0
        for part in self.parts:
            if span.start <= before + len(part.text):
                return part, Span(span.start - before, span.end - before)
            before += len(part.text) + 1
        return self, span

    def position(self, offset: int) -> tuple[int, int]:
        r"""Line and column, both 1-based; columns count code points.

        >>> Source("q", "ab\ncd").position(4)
        (2, 2)
        """
        offset = max(0, min(offset, len(self.text)))
        line_start = self.text.rfind("\n", 0, offset) + 1
        return self.text.count("\n", 0, offset) + 1, offset - line_start + 1

    def line(self, number: int) -> str:
        """The text of a line, without its end."""
        lines = self.text.split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""


class Severity(Enum):
    """How much a diagnostic matters."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to tell the user: a stable code, the message in the user's words, the place, and the fix.

    >>> print(render(Diagnostic("no-times", "no event has a time", help="name its property with --time-property")))
    error[no-times]: no event has a time
    help: name its property with --time-property
    """

    code: str
    message: str
    span: Span | None = None
    help: str | None = None
    notes: tuple[str, ...] = ()
    severity: Severity = Severity.ERROR


def render(diagnostic: Diagnostic, source: Source | None = None) -> str:
    r"""The one rendering of a diagnostic, for the command line, the API and the docs.

    >>> print(render(Diagnostic("unbound-variable", "FILTER uses ?p", Span(7, 9)), Source("q", "FILTER(?p > 3)")))
    error[unbound-variable]: FILTER uses ?p
      --> q:1:8
     1 | FILTER(?p > 3)
       |        ^^
    """
    lines = [f"{diagnostic.severity.value}[{diagnostic.code}]: {_abridged(diagnostic.message)}"]
    if source is not None and diagnostic.span is not None:
        lines += _excerpt(diagnostic.span, source)
    lines += [f"note: {_abridged(note)}" for note in diagnostic.notes]
    if diagnostic.help is not None:
        lines.append(f"help: {_abridged(diagnostic.help)}")
    return "\n".join(lines)


ARGUMENTS: Final = (
    "assign-time", "context", "evaluate-at", "event-per", "idle-streams", "language", "map", "max-advance", "max-delay",
    "max-derivations", "max-future", "max-matches", "max-memory", "max-runs", "max-seconds", "policy", "start", "time-property",
    "time-unit", "warm-up",
)  # fmt: skip
"""Options of the command line that are arguments in Python, by the same names."""
_OPTION: Final = re.compile(rf"--({'|'.join(ARGUMENTS)})\b(?!-)(?: (?=[A-Z]+\b|\d))?")


def in_python(text: str) -> str:
    """A message as a program is told it: options of the command line are arguments there.

    >>> in_python("--max-delay: 'x' is no number; add --map FILE"), in_python("add --follow")
    ("max_delay: 'x' is no number; add map=FILE", 'add --follow')
    """
    return _OPTION.sub(lambda found: found[1].replace("-", "_") + ("=" if found[0].endswith(" ") else ""), text)


def _abridged(text: str) -> str:
    """A message that quotes the user's own words says enough with their beginning and their end."""
    half = _LONGEST // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} … {text[-half:]}"


def _excerpt(span: Span, source: Source) -> list[str]:
    source, span = source.located(span)
    line, column = source.position(span.start)
    text, at = _around(source.line(line), column - 1)
    before = text[:at]
    marked = text[at:][: max(0, span.end - span.start)]
    width = max(1, len(marked.replace(chr(9), _TAB)))
    margin = len(str(line)) + 1
    return [
        f"  --> {source.name}:{line}:{column}",
        f" {line} | {text.replace(chr(9), _TAB)}",
        f"{' ' * margin} | {' ' * len(before.replace(chr(9), _TAB))}{'^' * width}",
    ]


def _around(text: str, at: int) -> tuple[str, int]:
    """A line as a message shows it, and the place in it: of a very long one what stands around the place."""
    if len(text) <= _SHOWN_WHOLE:
        return text, at
    start = max(0, at - _SHOWN_AROUND)
    end = min(len(text), at + _SHOWN_AROUND)
    before = "…" if start else ""
    return before + text[start:end] + ("…" if end < len(text) else ""), at - start + len(before)


class ScepterError(Exception):
    """Base of every error a user can cause. `str()` of it is the rendered diagnostic, in which options are arguments.

    >>> error = ScepterError(Diagnostic("unbound-variable", "FILTER uses ?p", Span(7, 9)), Source("q", "FILTER(?p > 3)"))
    >>> error.code, error.line, error.column
    ('unbound-variable', 1, 8)
    """

    def __init__(self, diagnostic: Diagnostic, source: Source | None = None) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic
        self.source = source

    @property
    def code(self) -> str:
        """The stable code of the diagnostic."""
        return self.diagnostic.code

    @property
    def line(self) -> int | None:
        """The 1-based line the error points at, if it points at one."""
        return self._position()[0]

    @property
    def column(self) -> int | None:
        """The 1-based column the error points at, if it points at one."""
        return self._position()[1]

    def _position(self) -> tuple[int | None, int | None]:
        if self.source is None or self.diagnostic.span is None:
            return None, None
        source, span = self.source.located(self.diagnostic.span)
        return source.position(span.start)

    def __reduce__(self) -> tuple[type[ScepterError], tuple[Diagnostic, Source | None]]:
        # The default would call the class with the message alone; errors cross from Spark's workers to the driver.
        return type(self), (self.diagnostic, self.source)

    def __str__(self) -> str:
        return in_python(render(self.diagnostic, self.source))


class QueryError(ScepterError):
    """The query is wrong: found before any data is read.

    >>> str(QueryError(Diagnostic("unbound-variable", "FILTER uses ?p, which nothing binds")))
    'error[unbound-variable]: FILTER uses ?p, which nothing binds'
    """


class OptionError(ScepterError):
    """An option, an argument or a missing input is wrong: found before any data is read.

    >>> print(OptionError(Diagnostic("missing-source", "prices.nq does not exist", help="give a file, a glob or a folder")))
    error[missing-source]: prices.nq does not exist
    help: give a file, a glob or a folder
    """


class DataError(ScepterError):
    """The run cannot go on with the data it was given.

    >>> str(DataError(Diagnostic("all-unusable", "nothing of the input could be used")))
    'error[all-unusable]: nothing of the input could be used'
    """


def query_error(
    code: str, message: str, span: Span | None = None, *, help: str | None = None, notes: tuple[str, ...] = ()
) -> QueryError:
    """A QueryError whose source is filled in by whoever knows the text."""
    return QueryError(Diagnostic(code, message, span, help, notes))


def option_error(code: str, message: str, *, help: str | None = None, notes: tuple[str, ...] = ()) -> OptionError:
    """An OptionError without a place in a text."""
    return OptionError(Diagnostic(code, message, None, help, notes))


def a_type(given: object) -> str:
    """What a value is, for a message.

    >>> a_type(5), a_type("five"), a_type(None)
    ('an int', 'a str', 'None')
    """
    if given is None:
        return "None"
    name = type(given).__name__
    library = type(given).__module__.partition(".")[0]
    of = f" of {library}" if name in _TABLES else ""  # several libraries call theirs so
    return f"{'an' if name[0] in 'aeiouAEIO' else 'a'} {name}{of}"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name closest to a misspelt one, only when it is close.

    >>> nearest("recnet", ["recent", "naive"])
    'recent'
    >>> nearest("xyz", ["recent", "naive"]) is None
    True
    """
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    return close[0] if close else None
