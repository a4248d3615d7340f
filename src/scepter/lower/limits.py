"""How many parts a query may have: a plan with more costs minutes and gigabytes before the first event is read."""

from __future__ import annotations

from collections.abc import Sized
from typing import Final

from scepter.errors import Span, query_error

MOST_PARTS: Final = 10_000
"""GPMs of a sequence, triple patterns of a group, groups of a UNION."""


def refuse_many(parts: Sized, called: str, span: Span, help: str) -> None:
    """Raise `too-complex` where there are too many parts, before anything is made of them."""
    if len(parts) > MOST_PARTS:
        raise query_error("too-complex", f"{len(parts):,} {called} stand here, and {MOST_PARTS:,} are allowed", span, help=help)
