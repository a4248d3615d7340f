"""Input in which no event has a time: told as an error that names the properties which may be meant, never as no matches."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Final, TypeAlias

import pyoxigraph as ox

from scepter.errors import DataError, Diagnostic
from scepter.rdf.batch import DeadLetter
from scepter.rdf.faults import NO_TIME, OUTSIDE
from scepter.rdf.files import GZIP_MAGIC, format_of
from scepter.rdf.letters import REASONS
from scepter.rdf.limits import DEFAULT
from scepter.rdf.messages import MADE_NOTHING, JsonMessages
from scepter.rdf.readers import Lift
from scepter.rdf.source import DeadLetterTaker
from scepter.rdf.terms import XSD
from scepter.rdf.times import PRESETS, TimeProperties

_LOOKED_AT: Final = 4 << 20
_QUADS: Final = 20_000
_SHOWN: Final = 5
_FORMATS: Final = {
    ".nq": ox.RdfFormat.N_QUADS, ".nquads": ox.RdfFormat.N_QUADS, ".nt": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG, ".ttl": ox.RdfFormat.TURTLE, ".jsonld": ox.RdfFormat.JSON_LD,
}  # fmt: skip
_JSON_LINES: Final = frozenset({".ndjsonld", ".jsonldl"})
_TIMES: Final = frozenset({XSD + "dateTime", XSD + "dateTimeStamp"})
_SPELT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|-?\d{1,18}\Z")
_NAMED: Final = re.compile(r"(?:[Tt]ime|[Dd]ate|[Ss]tamp|At|created|issued|modified|published|updated)\Z")
_IN_CONTEXT: Final = (
    'write it into the context: {"@vocab": "http://…/", "@base": "http://…/"}; `scepter map` shows what it makes'
)
NO_COLUMN: Final = "there is no column "
"""How the reason begins of a table without a column that its mapping uses."""
NO_VALUE: Final = "is empty or absent"
"""How the reason speaks of a field in which a row has nothing."""
ROW_WITHOUT: Final = "is no time"
"""How the reason of a row ends whose time cannot be read."""
_WITHOUT: Final = frozenset(REASONS[code] for code in (NO_TIME, OUTSIDE))


class Untimed:
    """Takes dead letters on their way, and counts those of events that have no time."""

    def __init__(self, taker: DeadLetterTaker) -> None:
        self._taker = taker
        self.events = 0
        self.column: str | None = None
        """The first column that a mapping uses and a table has not."""
        self.row: str | None = None
        """What is wrong with the time of the first row of a table that has none, or with the first document."""

    @property
    def why(self) -> str | None:
        """Why the rows of a table have no time; None where they are not to blame."""
        absent = self.row is None or NO_VALUE in self.row
        return self.column if absent and self.column is not None else self.row

    def __call__(self, letter: DeadLetter) -> None:
        """Takes one letter."""
        if letter.reason.startswith(NO_COLUMN):
            self.column = self.column or letter.reason
        told = letter.reason.endswith(ROW_WITHOUT) or letter.reason.startswith(MADE_NOTHING)
        if letter.reason in _WITHOUT or told:
            self.events += 1
            if self.row is None and told:
                self.row = letter.reason
        self._taker(letter)


Looked: TypeAlias = tuple[Path, Lift | None]
"""A file, and what makes events of its documents."""


def no_times(files: Iterable[Looked], times: TimeProperties, row: str | None = None) -> DataError:
    """The error for input in which no event has a time; `row` is what is wrong with the first row of a table."""
    if row is not None:
        if row.startswith(NO_COLUMN):
            advice = "name the column in the mapping as the table does"
        elif row.startswith(MADE_NOTHING):
            return DataError(Diagnostic("no-times", f"no document of the input becomes an event: {row}", None, _IN_CONTEXT))
        elif NO_VALUE in row:
            advice = (
                "name the field of the time in the mapping; documents within a document need an iterator: "
                "sources: [['FILE~jsonpath', '$.items[*]']]"
            )
        else:
            advice = "say in the mapping how times are written: time-format: '%d.%m.%Y %H:%M', or time-unit: s for numbers"
        return DataError(Diagnostic("no-times", f"no row of the input has a time: {row}", None, advice))
    seen = candidates(files)
    looked = "prov:generatedAtTime, or prov:startedAtTime and prov:endedAtTime" if not times.given else ", ".join(times.given)
    if not seen:
        note = "no property with a time was seen"
        advice = "name the property of their times by --time-property, or give them times: --assign-time sequence"
    else:
        note = f"times were seen as {', '.join(f'<{iri}>' for iri in seen)}"
        advice = f"add --time-property {_preset(seen[0]) or seen[0]}"
    return DataError(Diagnostic("no-times", f"no event of the input has a time: none has {looked}", None, advice, (note,)))


def _preset(iri: str) -> str | None:
    """The vocabulary of which an IRI is the first time property."""
    return next((name for name, ranked in PRESETS.items() if ranked[0].instant == iri), None)


def candidates(files: Iterable[Looked]) -> list[str]:
    """Properties whose objects look like times, the likeliest first: typed as dateTimes, else named and spelt like times."""
    counts: Counter[str] = Counter()
    for path, lift in files:
        try:
            counts.update(_of_file(path, lift))
        except (OSError, EOFError, zlib.error):
            continue  # what cannot be read has been told already
    return [iri for iri, _ in counts.most_common(_SHOWN)]


def _of_file(path: Path, lift: Lift | None) -> Counter[str]:
    counts: Counter[str] = Counter()
    extension = format_of(path, lift) or ""
    with path.open("rb") as raw:
        packed = raw.read(2) == GZIP_MAGIC
        raw.seek(0)
        file: IO[bytes] = io.BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
        text = file.read(_LOOKED_AT)
    if lift is not None and lift.reader(extension) is not None:
        text, extension = lift.laid_out(text), ".nq"
    elif extension in _JSON_LINES:
        messages = JsonMessages(str(path), lambda letter: None, DEFAULT)
        text, extension = b"".join(messages.read(line, None) for line in text.splitlines()), ".nq"
    if extension not in _FORMATS:
        return counts
    parser = iter(ox.parse(text, format=_FORMATS[extension]))
    for _ in range(_QUADS):
        try:
            quad = next(parser)
        except StopIteration:
            break
        except (SyntaxError, ValueError):
            continue
        counts[quad.predicate.value] += _weight(quad)
    return +counts


def _weight(quad: ox.Quad) -> int:
    """How much a triple looks like one that gives a time."""
    if not isinstance(quad.object, ox.Literal):
        return 0
    if quad.object.datatype.value in _TIMES:
        return 4
    return 1 if _NAMED.search(quad.predicate.value) and _SPELT.match(quad.object.value) else 0
