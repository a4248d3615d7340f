"""Events, a query over them, and its matches by the engine in this process."""

from __future__ import annotations

from pathlib import Path

from batches import at_time, integer, quad

QUERY = """\
PREFIX : <http://e/>
SELECT ?x ?v WITHIN 10 FROM STREAM S <http://e/s>
WHERE { SEQ (A; B) DEFINE GPM A ON S { ?x a :A } DEFINE GPM B ON S { ?x :v ?v } }
"""
_A = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"


def event(time: int) -> str:
    """The event of a time; all have one name, as of a producer that does not care."""
    if time % 2:
        return at_time("e", time) + quad("e", f"<http://e/x{time * 3 % 5}>", "<http://e/v>", integer(time))
    return at_time("e", time) + quad("e", f"<http://e/x{time % 5}>", _A, "<http://e/A>")


def far(time: int) -> str:
    """An event that no pattern looks at, which moves time on."""
    return at_time("e", time) + quad("e", "<http://e/far>", "<http://e/away>", integer(0))


def query(folder: Path) -> Path:
    path = folder / "q.spaseq"
    path.write_text(QUERY)
    return path
