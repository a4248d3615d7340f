"""The formats of stream files, by the extensions of their names, and which of them first bytes look like.

Who plans what is to be read asks no more than this, and needs none of the readers.
"""

from __future__ import annotations

import re
from typing import Final

TABLES: Final = (".csv", ".tsv", ".json", ".jsonl", ".ndjson")
"""The extensions of what only a mapping makes events of."""
EXTENSIONS: Final = (
    ".nq", ".nquads", ".nt", ".trig", ".ttl", ".jsonld", ".ndjsonld", ".jsonldl", ".jelly", ".timeline", ".parquet", *TABLES,
)  # fmt: skip
"""What names of stream files end in, before .gz."""

_JSON_START: Final = re.compile(rb'\s*(?:\[\s*[{\]]|\{\s*["}])')
_JSON_KEY: Final = re.compile(rb'"(?:[^"\\]|\\.)*"\s*:')
# The notation's own PREFIX lines may stand before the first event; in TriG no subject begins with a digit.
_TIMELINE_START: Final = re.compile(
    rb"(?:(?i:@?prefix)\s+[^\s:]*:\s*<[^<>\s]*>[ \t]*\.?(?:\s|#[^\n]*(?:\n|\Z))*+)*+[+-]?\d[\dTZ:.+-]*+\s*\{"
)
_NQUADS_START: Final = re.compile(rb'(?:<[^<>"{}|^`\x00-\x20]*>|_:\S+)[ \t]*<[^<>"{}|^`\x00-\x20]*>[ \t]*[<_"]')
# What may stand before the first statement of N-Quads
_DIRECTIVES: Final = re.compile(rb"(?:VERSION\s*(?:\"[^\"\n]*\"|'[^'\n]*')|MESSAGE\b|#[^\n]*|\s)+")
_TRIG_START: Final = re.compile(
    rb"(?i:@?prefix\b|@?base\b|@?version\b|graph\b)|\{|\[|(?:<[^<>\s]*>|[\w.-]*:[\w.-]*)\s*[\{<\w:\[\"']"
)
_LEADING: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|#[^\n]*(?:\n|\Z))*+")
_ANNOUNCED: Final = re.compile(rb"""@?version\s*(?:"[^"\n]*-messages"|'[^'\n]*-messages')""", re.IGNORECASE)
"""How a log begins: a version whose label ends in -messages."""


def sniff(head: bytes) -> str | None:
    """The extension of the format that the first bytes of a file look like.

    >>> sniff(b"# a comment\\n10 { <a:b> <a:c> 1 }")
    '.timeline'
    """
    if head.startswith(b"PAR1"):
        return ".parquet"
    leading = _LEADING.match(head)
    text = head[leading.end() if leading else 0 :]
    if _JSON_START.match(text):
        # without a keyword there is no context, and without a context no triple
        return ".json" if b'"@' not in text and _JSON_KEY.search(text) else ".jsonld"
    if _TIMELINE_START.match(text):
        return ".timeline"
    if _NQUADS_START.match(text, directives.end() if (directives := _DIRECTIVES.match(text)) else 0):
        return ".nq"
    return ".trig" if _TRIG_START.match(text) else None


def is_log(text: bytes) -> bool:
    """Whether a text of N-Triples, N-Quads, Turtle or TriG announces messages.

    >>> is_log(b'# a log\\nVERSION "1.2-messages"')
    True
    """
    leading = _LEADING.match(text)
    return _ANNOUNCED.match(text, leading.end() if leading else 0) is not None
