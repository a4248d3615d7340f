"""Relative IRI references resolved against BASE (RFC 3986 §5.2)."""

from __future__ import annotations

import re
from typing import NamedTuple

_REFERENCE = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?\Z", re.DOTALL)


class _Parts(NamedTuple):
    scheme: str | None
    authority: str | None
    path: str
    query: str | None
    fragment: str | None


def is_absolute(iri: str) -> bool:
    """Whether an IRI reference has a scheme.

    >>> is_absolute("urn:x"), is_absolute("x/y")
    (True, False)
    """
    return _split(iri).scheme is not None


def resolve(base: str, reference: str) -> str:
    """The IRI that a reference means under a base.

    >>> resolve("http://example/a/b", "../c#d")
    'http://example/c#d'
    """
    b, r = _split(base), _split(reference)
    if r.scheme is not None:
        return _join(r._replace(path=_without_dots(r.path)))
    if r.authority is not None:
        return _join(r._replace(scheme=b.scheme, path=_without_dots(r.path)))
    if not r.path:
        return _join(b._replace(query=b.query if r.query is None else r.query, fragment=r.fragment))
    path = r.path if r.path.startswith("/") else _merge(b, r.path)
    return _join(b._replace(path=_without_dots(path), query=r.query, fragment=r.fragment))


def _split(iri: str) -> _Parts:
    match = _REFERENCE.match(iri)
    assert match is not None  # every part but the path may be missing, and the path may be empty
    return _Parts(match[1], match[2], match[3], match[4], match[5])


def _merge(base: _Parts, path: str) -> str:
    if base.authority is not None and not base.path:
        return "/" + path
    return base.path[: base.path.rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    kept: list[str] = []
    segments = path.split("/")
    for number, segment in enumerate(segments):
        last = number == len(segments) - 1
        if segment == ".":
            if last:
                kept.append("")
        elif segment == "..":
            if len(kept) > 1 or (kept and kept[0]):
                kept.pop()
            if last:
                kept.append("")
        else:
            kept.append(segment)
    return "/".join(kept)


def _join(parts: _Parts) -> str:
    text = "" if parts.scheme is None else parts.scheme + ":"
    text += "" if parts.authority is None else "//" + parts.authority
    text += parts.path
    text += "" if parts.query is None else "?" + parts.query
    return text if parts.fragment is None else f"{text}#{parts.fragment}"
