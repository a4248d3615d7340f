"""The process that Python workers are forked from, with everything a task needs imported and its kernels loaded.

Spark starts it as `spark.python.daemon.module`. Without it each new worker imports numba and pandas and loads kernels for
itself, which takes longer than many a task.

Nothing here may start a thread, since workers are forked.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Final

from scepter.compiled import settle
from scepter.rdf.terms import PROV, XSD

QUERY: Final = """SELECT ?s WITHIN 5 FROM STREAM S <a:s> WHERE { SEQ (A; B)
DEFINE GPM A ON S { ?s <a:p> ?x } DEFINE GPM B ON S { ?s <a:p> ?y FILTER(?y > ?x) } }"""
TEXT: Final = f'_:e <{PROV}generatedAtTime> "1"^^<{XSD}integer> .\n<a:s> <a:p> _:o _:e .\n'.encode()
NEEDED: Final = (
    "pandas",
    "pyarrow.compute",
    "pyspark.sql.pandas.serializers",
    "pyspark.worker",
    "scepter.runtime.spark.bucket",
    "scepter.runtime.spark.source_tasks",
)
"""What tasks import."""


def load() -> int:
    """Import what tasks import and run a small query, so that what they call is in memory; how many matches it had."""
    # pyarrow would start a thread, which is lost in a fork; so whatever imports it comes after this line
    os.environ["JE_ARROW_MALLOC_CONF"] = "background_thread:false"
    from scepter.rdf.hashing import TermKey
    from scepter.rdf.nquads import NQuadsReader
    from scepter.runtime.push import Engine, Event
    from scepter.runtime.queries import parse

    for module in NEEDED:
        import_module(module)
    reader = NQuadsReader(TermKey.fixed(), 0, "warm-up", lambda letter: None)
    reader.feed(TEXT)
    reader.finish()
    engine = Engine(parse(QUERY))
    found = [match for time in (1, 2) for match in engine.push(Event("a:s", f"<a:s> <a:p> {time} .", time))]
    return len(found) + len(engine.close())


if __name__ == "__main__":
    from pyspark.daemon import manager

    if load() != 1:
        sys.stderr.write("the warm-up of Python workers gave a wrong answer\n")
    settle()  # a worker collects behind each task, and would touch pages that it shares with the others
    manager()
