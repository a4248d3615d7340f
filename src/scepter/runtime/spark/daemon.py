"""The process that Python workers are forked from, with everything a task needs imported and its kernels loaded.

Spark starts it as `spark.python.daemon.module`. Without it each new worker imports numba and loads kernels for itself, which
takes longer than many a task.

Nothing here may start a thread, since workers are forked: no pyarrow, no pandas.
"""

from __future__ import annotations

import sys

from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import NQuadsReader
from scepter.rdf.terms import PROV, XSD
from scepter.runtime.push import Engine, Event
from scepter.runtime.queries import parse

QUERY = """SELECT ?s WITHIN 5 FROM STREAM S <a:s> WHERE { SEQ (A; B)
DEFINE GPM A ON S { ?s <a:p> ?x } DEFINE GPM B ON S { ?s <a:p> ?y FILTER(?y > ?x) } }"""
TEXT = f'_:e <{PROV}generatedAtTime> "1"^^<{XSD}integer> .\n<a:s> <a:p> _:o _:e .\n'.encode()


def load() -> int:
    """Run a small query, so that what tasks call is in memory; how many matches it had."""
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
    manager()
