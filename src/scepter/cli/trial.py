"""A small query in each language, answered here: that an installation works is seen by using it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console

from scepter.api.local import run_local
from scepter.api.query import parse
from scepter.cli.checkup import Finding, State
from scepter.cli.progress import RunProgress
from scepter.errors import ScepterError
from scepter.rdf.terms import PROV, XSD

_PRICES: Final = ((1, "ACME", 100), (3, "Beta", 60), (8, "ACME", 65), (9, "Beta", 55), (12, "ACME", 60))
FALLS: Final = {
    "ep-sparql": """PREFIX : <http://example/>
        SELECT ?company ?before ?after FROM STREAM <http://example/prices>
        WHERE { { ?company :price ?before } SEQ { ?company :price ?after }
                FILTER (?after < 0.7 * ?before && getDURATION() <= 10) }""",
    "spaseq": """PREFIX : <http://example/>
        SELECT ?company ?before ?after WITHIN 10 SLIDING FROM STREAM Prices <http://example/prices>
        WHERE { SEQ (A : B) DEFINE GPM A ON Prices { ?company :price ?before }
                DEFINE GPM B ON Prices { ?company :price ?after FILTER (?after < 0.7 * ?before) } }""",
    "obep": """PREFIX : <http://example/>
        FROM STREAM <http://example/prices>
        EVENT Price AS price some Thing
        EVENT Fall MATCH Price AS A SEQ Price AS B WITHIN 10
          IF { EVENT A { ?company :price ?before . } EVENT B { ?company :price ?after . } FILTER (?after < 0.7 * ?before) }
        RETURN Fall AS RDF STREAM""",
    "rsep-ql": """PREFIX : <http://example/>
        SELECT ?company ?before ?after FROM NAMED :prices WIN [RANGE 11 STEP 1] AS :recent
        EVENT ON :recent { ?company :price ?before . } AS A
        EVENT ON :recent { ?company :price ?after . } AS B
        WHERE { MATCH { A SEQ B } FILTER (?after < 0.7 * ?before) }""",
    "sparkwave": """PREFIX : <http://example/>
        SELECT ?company ?before ?after FROM STREAM <http://example/prices> [RANGE 10]
        WHERE { ?company :price ?before . ?company :price ?after FILTER (?after < 0.7 * ?before) }""",
}
"""The same question in each language: it has one answer, from 1 to 8."""


def answers() -> list[Finding]:
    """Whether each language gives the answer, over a file: so the kernels that read files are compiled, too."""
    with TemporaryDirectory(prefix="scepter-") as folder, RunProgress(Console(stderr=True)):
        prices = Path(folder) / "prices.nq"
        prices.write_text("".join(_lines()), "utf-8")
        return [_answer(language, text, prices) for language, text in FALLS.items()]


def _lines() -> Iterator[str]:
    for time, company, price in _PRICES:
        event = f"<http://example/e{time}>"
        yield f'<http://example/{company}> <http://example/price> "{price}"^^<{XSD}integer> {event} .\n'
        yield f'{event} <{PROV}generatedAtTime> "{time}"^^<{XSD}integer> .\n'


def _answer(language: str, text: str, prices: Path) -> Finding:
    try:
        given = [(match.start, match.end) for match in run_local(parse(text, language), prices)]
    except ScepterError as error:
        return Finding(State.BROKEN, language, f"a small query failed: {error}", "report it")
    if given != [(1, 8)]:
        return Finding(State.BROKEN, language, f"a small query gave {given} instead of [(1, 8)]", "report it")
    return Finding(State.FINE, language, "answers a small query")
