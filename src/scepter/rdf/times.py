"""Where an event's time stands: PROV's properties about the graph's name, or the properties of a user's own vocabulary.

Properties that a user names are looked for in the default graph, about the event's name, and inside the event's graph. They are
ranked: where an event has several, the one named first is its time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from scepter.errors import nearest, option_error
from scepter.rdf.terms import PROV, Literal, parse_term
from scepter.timeline import TimeKind, parse_instant

if TYPE_CHECKING:
    from scepter.rdf.hashing import TermKey

_SOSA: Final = "http://www.w3.org/ns/sosa/"
_SSNX: Final = "http://purl.oclc.org/NET/ssnx/ssn#"
_DCT: Final = "http://purl.org/dc/terms/"
_AS: Final = "https://www.w3.org/ns/activitystreams#"
_NGSI: Final = "https://uri.etsi.org/ngsi-ld/"
_IRI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:[^<>\"{}|^`\\\x00-\x20]+\Z")
_PREFIXES: Final = {
    "prov": PROV, "sosa": _SOSA, "dct": _DCT, "dcterms": _DCT, "as": _AS, "ngsi-ld": _NGSI,
    "saref": "https://saref.etsi.org/core/", "schema": "https://schema.org/",
}  # fmt: skip
"""Prefixes that nobody need declare on a command line."""


@dataclass(frozen=True, slots=True)
class TimeProperty:
    """The properties that give one event its time: an instant, or a start and an end."""

    instant: str | None = None
    start: str | None = None
    end: str | None = None


_PROV: Final = TimeProperty(PROV + "generatedAtTime", PROV + "startedAtTime", PROV + "endedAtTime")
PRESETS: Final[dict[str, tuple[TimeProperty, ...]]] = {
    "prov": (_PROV, TimeProperty(PROV + "atTime")),
    "sosa": (TimeProperty(_SOSA + "resultTime"), TimeProperty(_SOSA + "phenomenonTime")),
    "ssn": (
        TimeProperty(_SOSA + "resultTime"),
        TimeProperty(_SSNX + "observationResultTime"),
        TimeProperty(_SSNX + "observationSamplingTime"),
    ),
    "saref": (
        TimeProperty("https://saref.etsi.org/core/hasTimestamp"),
        TimeProperty("https://w3id.org/saref#hasTimestamp"),
    ),
    "activitystreams": (
        TimeProperty(_AS + "published"),
        TimeProperty(None, _AS + "startTime", _AS + "endTime"),
        TimeProperty(_AS + "updated"),
    ),
    "ldes": (
        TimeProperty(_DCT + "created"),
        TimeProperty(_DCT + "issued"),
        TimeProperty(_DCT + "modified"),
        _PROV,
        TimeProperty(_AS + "published"),
        TimeProperty(_SOSA + "resultTime"),
    ),
    "ngsi-ld": (
        TimeProperty(_NGSI + "observedAt"),
        TimeProperty(_NGSI + "modifiedAt"),
        TimeProperty(_NGSI + "createdAt"),
    ),
}
"""The time properties of vocabularies, by the name that `--time-property` takes; in each the first one rules."""


@dataclass(frozen=True, slots=True)
class TimeProperties:
    """The time properties of a run, the first one rules."""

    ranked: tuple[TimeProperty, ...] = (_PROV,)
    inside: bool = False
    """Whether they are also looked for inside the event's graph, and read whatever datatype their literals have."""
    given: tuple[str, ...] = ()
    """As a person wrote them."""

    @classmethod
    def of(cls, given: str | Iterable[str] | None) -> TimeProperties:
        """What a person writes: IRIs and names of presets, the first one rules.

        >>> TimeProperties.of("sosa").ranked[0].instant
        'http://www.w3.org/ns/sosa/resultTime'
        """
        names = [given] if isinstance(given, str) else list(given) if isinstance(given, Iterable) else []
        if not all(isinstance(name, str) for name in names) or not isinstance(given, Iterable | None):
            raise option_error("time-property", f"a time property is an IRI or a name, not {given!r}", help="for example sosa")
        if not names:
            return cls()
        return cls(tuple(dict.fromkeys(each for name in names for each in _named(name))), True, tuple(names))

    @property
    def iris(self) -> tuple[str, ...]:
        """All of the properties."""
        return tuple(iri for each in self.ranked for iri in (each.instant, each.start, each.end) if iri is not None)

    def table(self, key: TermKey) -> NDArray[np.uint64]:
        """Their ids for the scanner: instant, start and end of each rank, 0 for none."""
        return _table(self, key)


PROV_TIMES: Final = TimeProperties()
"""Where nobody says otherwise (spec/00 §2)."""


def time_in(triples: Iterable[tuple[str, str, str]], times: TimeProperties) -> tuple[int, int, TimeKind] | None:
    """The interval that an event's triples (N-Triples texts) give it, and its kind; None if they give none. What the scanner
    does over columns. Raises ValueError for a time that cannot be read, or for two."""
    given = list(triples)
    for each in times.ranked:
        found = [_only(given, iri) for iri in (each.instant, each.start, each.end)]
        if all(time is None for time in found):
            continue
        start, end = (found[0], found[0]) if found[1] is None and found[2] is None else (found[1], found[2])
        if start is None or end is None or (found[0] is not None and start is not found[0]):
            raise ValueError("an event with two times, or with half an interval")
        if start[1] is not end[1] or start[0] > end[0]:
            raise ValueError("an event that ends before it starts")
        return start[0], end[0], start[1]
    return None


def _only(triples: Sequence[tuple[str, str, str]], iri: str | None) -> tuple[int, TimeKind] | None:
    times = {_instant(object) for _, predicate, object in triples if iri is not None and predicate == f"<{iri}>"}
    if len(times) > 1:
        raise ValueError(f"an event with two times: <{iri}>")
    return next(iter(times), None)


def _instant(text: str) -> tuple[int, TimeKind]:
    term = parse_term(text)
    if not isinstance(term, Literal):
        raise ValueError(f"{text} is no time")
    return parse_instant(term.lexical)


def _named(name: str) -> tuple[TimeProperty, ...]:
    if not isinstance(name, str):
        raise option_error("time-property", f"{name!r} is no property", help="give an IRI or the name of a vocabulary")
    if name.lower() in PRESETS:
        return PRESETS[name.lower()]
    plain = name[1:-1] if name.startswith("<") and name.endswith(">") else name
    prefix, _, local = plain.partition(":")
    if prefix in _PREFIXES and local:
        plain = _PREFIXES[prefix] + local
    if _IRI.match(plain) is None:
        close = nearest(name.lower(), PRESETS)
        hint = f"did you mean {close}? " if close else ""
        raise option_error(
            "time-property",
            f"--time-property cannot be {name!r}",
            help=f"{hint}give an IRI in full, such as http://www.w3.org/ns/sosa/resultTime, or one of {', '.join(PRESETS)}",
        )
    return (TimeProperty(plain),)


@lru_cache(maxsize=64)
def _table(properties: TimeProperties, key: TermKey) -> NDArray[np.uint64]:
    from scepter.rdf.hashing import term_id  # loads kernels, which options and planners do not need

    ids = [
        0 if iri is None else term_id(key, f"<{iri}>")
        for each in properties.ranked
        for iri in (each.instant, each.start, each.end)
    ]
    return np.array(ids, dtype=np.uint64)
