"""The SPAseq paper's use cases over generated data: files through the local engine, answers by the definitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyoxigraph as ox
import pytest

from naive.comparison import comparable_row
from naive.spaseq import Event, evaluate_program
from scepter import generate, parse
from scepter.io.sources import open_source
from scepter.lower import lower
from scepter.rdf.terms import Triple, parse_term
from scepter.runtime.inputs import Static
from scepter.runtime.local import run_local

# appendix A, query 4 (head and shoulders): a rise, a fall that stays above it, a higher head, and the same on the way down
_GPMS = {
    "A": "",
    "B": "FILTER (?p2 > ?p1)",
    "C": "FILTER (?p3 < ?p2 && ?p3 > ?p1)",
    "D": "FILTER (?p4 > ?p2)",
    "E": "FILTER (?p5 < ?p4 && ?p5 > ?p1)",
    "F": "FILTER (?p6 > ?p5 && ?p6 < ?p4)",
    "G": "FILTER (?p7 < ?p6)",
}
HEAD_AND_SHOULDERS = (
    """PREFIX : <http://example/> SELECT ?company ?p1 ?p2 ?p3 ?p4 ?p5 ?p6 ?p7 ?vol1 ?vol7
WITHIN 60 MINUTES PARTITION BY (?company) FROM STREAM S1 <http://stockmarket.org/stocks> WHERE { SEQ (A, B, C, D, E, F, G)\n"""
    + "\n".join(
        f"DEFINE GPM {name} ON S1 {{ ?company :price ?p{i} ; :volume ?vol{i} . {filter} }}"
        for i, (name, filter) in enumerate(_GPMS.items(), 1)
    )
    + " }"
)
SIZES = {"smartgrid": (60, 4), "cards": (100, 4), "stocks": (100, 2), "traffic": (60, 2), "vessels": (60, 2)}


def triples(path: Path) -> list[Triple]:
    quads = ox.parse(path=str(path))
    return [Triple(*(parse_term(str(term)) for term in (quad.subject, quad.predicate, quad.object))) for quad in quads]


def compare(text: str, dataset: str, folder: Path, count: int, keys: int, seed: int = 0) -> int:
    """Both evaluators' answers must be the same; how many matches there are."""
    manifest = generate.write(dataset, folder, events=count, keys=keys, seed=seed)
    stream = [
        Event(event.stream, event.start, event.end, frozenset(event.triples), event.name)
        for event in generate.events(dataset, events=count, keys=keys, seed=seed)
    ]
    background = {graph: triples(path) for graph, path in manifest.background.items()}
    (defined,) = evaluate_program(lower(text, "spaseq").program, stream, background=background)
    sources = {iri: open_source(path) for iri, path in manifest.streams.items()}
    static: dict[str | None, Static | Iterable[Static]] = {}
    static.update(manifest.background)
    found = run_local(parse(text, "spaseq"), sources, background=static)
    answers = Counter((m.start, m.end, comparable_row(m.bindings.items())) for m in found)
    assert answers == Counter((m.start, m.end, comparable_row(m.row)) for m in defined)
    return answers.total()


@pytest.mark.parametrize("dataset", SIZES)
def test_each_use_case_has_the_matches_of_the_definitions(dataset: str, tmp_path: Path) -> None:
    queries = generate.write(dataset, tmp_path / "queries", events=1, keys=1).queries
    assert queries
    for path in queries:
        assert compare(path.read_text(), dataset, tmp_path / path.stem, *SIZES[dataset]) > 0


def test_head_and_shoulders(tmp_path: Path) -> None:
    assert compare(HEAD_AND_SHOULDERS, "stocks", tmp_path, 40, 1, seed=12) == 1
