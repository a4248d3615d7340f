"""Whatever a file or a query holds, it is read, or refused with a place: every reader, every parser, made of pieces that mean
something to them. Hypothesis looks for inputs that come far before they are refused.

`SCEPTER_EXAMPLES` makes it look longer. What it found stays with it; the mutants of `tools/torture` are the long run.
"""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st

from property.spaseq_strategies import EXAMPLES
from scepter.cases.loader import load_case
from scepter.errors import QueryError, ScepterError
from scepter.io.mapped import MappedEvents
from scepter.lift.load import read_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import READERS, Reading
from scepter.rdf.times import TimeProperties
from scepter.runtime.queries import parse
from torture.mutants import seeds
from torture.programs import LANGUAGES

FUZZ = settings(deadline=None, max_examples=max(30, EXAMPLES), suppress_health_check=list(HealthCheck))
SEEDS = seeds()
_TOKEN = re.compile(rb'\s+|[A-Za-z_]+|\d+|<[^<>\s]*>|"[^"\n]*"|.', re.DOTALL)
_ODD = [
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    "é😀".encode(),
    b"1" * 40,
    b"{" * 30,
    b'"""',
    b"\\u0041",
    b"\\uD800",
    b"\r",
    b"-0.0e999",
    b"[]",
]


def soups(what: str) -> st.SearchStrategy[bytes]:
    """The tokens of what is right, with some left out, doubled, exchanged, or strange."""
    tokens = [token for seed in SEEDS[what] for token in _TOKEN.findall(seed)]
    some = st.lists(st.sampled_from([*dict.fromkeys(tokens), *_ODD]), max_size=40)
    cut = st.tuples(st.sampled_from(SEEDS[what]), st.integers(0, 2000), st.integers(0, 60), some)
    return some.map(b"".join) | cut.map(lambda c: c[0][: c[1]] + b" ".join(c[3]) + c[0][c[1] + c[2] :])


@pytest.mark.parametrize("extension", [what for what in SEEDS if what not in LANGUAGES])
def test_every_reader(extension: str) -> None:
    @FUZZ
    @given(soups(extension))
    def check(data: bytes) -> None:
        letters: list[object] = []
        reading = Reading(TermKey.fixed(), 0, "fuzz", letters.append, None, ReadState(), BATCH_BYTES, {})
        events = 0
        try:
            for batch in READERS[extension](io.BytesIO(data), reading):
                events += batch.events
        except ScepterError as error:
            assert error.code
        target(float(min(events, 20)), label="events")

    check()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_parser(language: str) -> None:
    @FUZZ
    @given(soups(language))
    def check(data: bytes) -> None:
        text = data.decode("utf-8", errors="replace")
        try:
            parse(text, language)
            target(1.0, label="read to")
        except QueryError as error:
            span = error.diagnostic.span
            assert error.code and str(error).startswith("error[")
            assert span is None or 0 <= span.start <= len(text) + 1
            target(0.0 if span is None else span.start / (len(text) + 2), label="read to")

    check()


MAPPING = """prefixes: {ex: "http://example/"}
time: $(t)
mappings:
  m: {s: "ex:$(a)", po: [[ex:v, $(v), xsd:integer], [a, ex:T]]}
"""
_CELLS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=6) | st.just([1, {"x": None}])
)


@FUZZ
@given(st.lists(st.dictionaries(st.sampled_from(["t", "a", "v", "other"]), _CELLS, max_size=4), max_size=4))
def test_rows_through_a_mapping(rows: list[dict[str, object]]) -> None:
    source = MappedEvents("rows", rows, MappedReaders(read_mapping(MAPPING, "m.yml")), "http://example/s", TimeProperties())
    try:
        for batch in source.batches(TermKey.fixed(), 0, lambda letter: None):
            assert batch.events >= 0
    except ScepterError as error:
        assert error.code


def _edited(text: str) -> st.SearchStrategy[str]:
    pieces = st.sampled_from([*"{}[]:'\"\t#\x00|?é\n", "- ", "  ", "$(", ")", "&a", "*a", "!!x"])
    edit = st.tuples(st.integers(0, len(text)), st.integers(0, 12), st.lists(pieces, max_size=4))
    return st.lists(edit, min_size=1, max_size=3).map(lambda edits: _apply(text, edits))


def _apply(text: str, edits: list[tuple[int, int, list[str]]]) -> str:
    for at, span, pieces in edits:
        text = text[:at] + "".join(pieces) + text[at + span :]
    return text


@FUZZ
@given(_edited(MAPPING))
def test_mappings(text: str) -> None:
    try:
        read_mapping(text, "m.yml")
    except ScepterError as error:
        assert error.code


CASE = """name: one
prefixes: {"": "http://e/"}
language: spaseq
streams:
  S: |
    1 { :x a :A }
query: |
  PREFIX : <http://e/>
  SELECT ?x WITHIN 10 FROM STREAM S <http://e/s> WHERE { SEQ (A) DEFINE GPM A ON S { ?x a :A } }
expect:
  - {start: 1, end: 1, x: ":x"}
"""


@FUZZ
@given(_edited(CASE))
def test_case_files(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.case.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        load_case(path)
    except ScepterError as error:
        assert error.code
