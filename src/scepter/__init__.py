"""Semantic complex event processing on Spark: five query languages, one engine.

>>> import scepter
>>> query = scepter.parse('''PREFIX : <http://example/>
... SELECT ?house WITHIN 10 FROM STREAM S <http://example/s>
... WHERE { SEQ (A; B) DEFINE GPM A ON S { ?house :alarm ?x } DEFINE GPM B ON S { ?house :fire ?y } }''')
>>> engine = scepter.Engine(query)
>>> engine.push(scepter.Event("http://example/s", "<http://example/h1> <http://example/alarm> 1 .", 1))
[]
>>> [match] = engine.push(scepter.Event("http://example/s", "<http://example/h1> <http://example/fire> 2 .", 5))
>>> match.start, match.end, str(match.bindings["house"])
(1, 5, '<http://example/h1>')
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scepter.compiled import choose_place
from scepter.errors import DataError, Diagnostic, OptionError, QueryError, ScepterError
from scepter.rdf.terms import IRI, BlankNode, Literal

if TYPE_CHECKING:
    from scepter.api.local import run_local
    from scepter.api.on_spark import each_batch, run
    from scepter.api.query import Query, parse
    from scepter.io.mapped import events
    from scepter.runtime.matches import Match
    from scepter.runtime.notebook import Matches
    from scepter.runtime.push import Engine, Event

__version__ = "0.1.0"

choose_place()

# Loaded when first used, so that `import scepter` and `scepter check` need neither numba nor a JVM.
_LATER = {
    "Engine": "scepter.runtime.push",
    "Event": "scepter.runtime.push",
    "Match": "scepter.runtime.matches",
    "Matches": "scepter.runtime.notebook",
    "Query": "scepter.api.query",
    "each_batch": "scepter.api.on_spark",
    "events": "scepter.io.mapped",
    "parse": "scepter.api.query",
    "run": "scepter.api.on_spark",
    "run_local": "scepter.api.local",
}

__all__ = [
    "IRI",
    "BlankNode",
    "DataError",
    "Diagnostic",
    "Engine",
    "Event",
    "Literal",
    "Match",
    "Matches",
    "OptionError",
    "Query",
    "QueryError",
    "ScepterError",
    "__version__",
    "each_batch",
    "events",
    "parse",
    "run",
    "run_local",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'scepter' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, those that are loaded later too: what completion offers."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
