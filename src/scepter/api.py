"""The public API in one module; `import scepter` gives the same names, each loaded when first used."""

from __future__ import annotations

from scepter.runtime.matches import Match
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import Query, parse

__all__ = ["Engine", "Event", "Match", "Query", "parse"]
