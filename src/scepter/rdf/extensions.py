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
# A frame, its size perhaps before it, whose first row is the stream's options: a name perhaps, and the physical type
_SIZE = rb"[\x80-\xff]{0,4}[\x00-\x7f]"
_JELLY_START: Final = re.compile(
    rb"(?:%b)?\x0a%b\x0a%b(?:\x0a[\x00-\x7f].{0,127}?)?\x10[\x01-\x03]" % (_SIZE, _SIZE, _SIZE), re.DOTALL
)
_FOREIGN: Final = (
    (b"BZh", "compressed by bzip2", "give <(bzcat FILE), or a .gz"),
    (b"\xfd7zXZ\x00", "compressed by xz", "give <(xzcat FILE), or a .gz"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "give <(zstdcat FILE), or a .gz"),
    (b"PK\x03\x04", "a ZIP archive, as workbooks of Excel are", "unpack it; save a sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "a workbook of Excel or another Office document", "save a sheet as CSV"),
    (b"Obj\x01", "an Avro file", "write it as Parquet or JSON lines"),
    (b"\xff\xfe", "UTF-16", "write it as UTF-8: iconv -f UTF-16 -t UTF-8"),
    (b"\xfe\xff", "UTF-16", "write it as UTF-8: iconv -f UTF-16 -t UTF-8"),
)
"""How files begin that are often given and never read, what they are, and what helps."""
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
    if _JELLY_START.match(head):
        return ".jelly"
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


def foreign(head: bytes) -> str | None:
    """What a file is that nobody here reads, and what to do, by its first bytes; None of any other.

    >>> foreign(b"PK\\x03\\x04")
    'it is a ZIP archive, as workbooks of Excel are: unpack it; save a sheet as CSV'
    """
    return next((f"it is {what}: {advice}" for start, what, advice in _FOREIGN if head.startswith(start)), None)


def is_log(text: bytes) -> bool:
    """Whether a text of N-Triples, N-Quads, Turtle or TriG announces messages.

    >>> is_log(b'# a log\\nVERSION "1.2-messages"')
    True
    """
    leading = _LEADING.match(text)
    return _ANNOUNCED.match(text, leading.end() if leading else 0) is not None
