"""Generated N-Quads as plain rows, by splitting lines: what counts answers shares no code with what finds them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LINE: Final = re.compile(r'(\S+) <[^>]*?([^/#>]+)> (".*?"\S*|\S+) (?:(\S+) )?\.$')


def rows(path: str) -> Iterator[tuple[int, dict[str, str]]]:
    """(time, the subject as "" and the objects by the last word of their predicates) of events that are runs of lines."""
    row: dict[str, str] = {}
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            found = _LINE.match(line)
            assert found is not None, line
            subject, predicate, value, graph = found.groups()
            plain = value.partition("^^")[0].strip('"<>')
            if graph is None:
                yield int(plain), row
                row = {}
            else:
                row.setdefault("", subject)
                row[predicate] = plain
