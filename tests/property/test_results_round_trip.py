"""Whatever terms a match holds, every format gives them back."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pyoxigraph
from hypothesis import given, settings
from hypothesis import strategies as st

from scepter.io.results import Shape
from scepter.io.writers import open_writer
from scepter.rdf.formats import document_batches
from scepter.rdf.hashing import TermKey
from scepter.rdf.scanner import decode_term
from scepter.rdf.terms import IRI, LANG_STRING, STRING, XSD, Literal, Term, Triple
from scepter.runtime.why import Why
from scepter.timeline import TimeKind

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
LITERALS = st.builds(Literal, TEXT, st.sampled_from([STRING, XSD + "integer", XSD + "dateTime", "urn:t"]))
TAGGED = st.builds(lambda text, tag: Literal(text, LANG_STRING, tag), TEXT, st.sampled_from(["en", "de-at"]))
IRIS = st.builds(lambda path: IRI(f"http://example/{path}"), st.text("abcé/?=&~", max_size=10))
TERMS: st.SearchStrategy[Term] = st.one_of(LITERALS, TAGGED, IRIS)
ROWS = st.dictionaries(st.sampled_from(["x", "y", "start", "été"]), TERMS)
NAMES = ("x", "y", "start", "été")
TIMES = st.tuples(st.integers(-(2**62), 2**62), st.integers(0, 10))


@dataclass(frozen=True, slots=True)
class Found:
    """A row as an engine hands it over."""

    start: int
    end: int
    bindings: Mapping[str, Term]
    kind: TimeKind = TimeKind.INTEGER
    query: int = 0
    events: Mapping[str, Sequence[str]] = field(default_factory=dict)
    graph: Sequence[Triple] | None = None
    boolean: bool | None = None
    occurrence: tuple[IRI, Term] | None = None
    why: Why | None = None


def written(format: str, row: dict[str, Term], times: tuple[int, int]) -> str:
    out = io.StringIO(newline="")
    writer = open_writer(format, out, Shape(NAMES))
    writer.write(Found(times[0], times[0] + times[1], row))
    writer.close()
    return out.getvalue()


@settings(max_examples=60, deadline=None)
@given(ROWS, TIMES)
def test_json_and_csv(row: dict[str, Term], times: tuple[int, int]) -> None:
    found = json.loads(written("jsonl", row, times))
    assert (found["start"], found["end"]) == (times[0], times[0] + times[1])
    for name, term in row.items():
        value = found["bindings"].pop(name)
        assert value["value"] == (term.value if isinstance(term, IRI) else term.lexical if isinstance(term, Literal) else None)
    assert found["bindings"] == {}
    _, line = csv.reader(io.StringIO(written("csv", row, times), newline=""))
    plain = {name: term.value if isinstance(term, IRI) else str(getattr(term, "lexical", "")) for name, term in row.items()}
    assert line == [str(times[0]), str(times[0] + times[1]), *(plain.get(name, "") for name in NAMES)]


@settings(max_examples=60, deadline=None)
@given(ROWS, TIMES)
def test_trig_is_a_stream_of_our_own(row: dict[str, Term], times: tuple[int, int]) -> None:
    letters: list[object] = []
    text = written("trig", row, times).encode()
    (batch,) = document_batches(text, pyoxigraph.RdfFormat.TRIG, TermKey.fixed(), 0, "matches.trig", letters.append)
    assert letters == []
    assert (batch.events, int(batch.start[0]), int(batch.end[0])) == (1, times[0], times[0] + times[1])
    found = {
        str(decode_term(batch.buffer, int(batch.predicate_at[r]))): decode_term(batch.buffer, int(batch.object_at[r]))
        for r in range(batch.triples)
    }
    assert {f"<urn:scepter:variable:{name}>": term for name, term in row.items()} == {
        name: term for name, term in found.items() if "variable" in name
    }
