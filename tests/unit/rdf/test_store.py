"""Static graphs in files that are mapped into memory: made once, whatever the format, and the graph that is in the file."""

from __future__ import annotations

import gzip
from itertools import product
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scepter.kernel.sparql.dataset import Graph
from scepter.kernel.sparql.stored import StoredGraph
from scepter.rdf import indexing
from scepter.rdf.formats import GraphError, load_graph
from scepter.rdf.store import open_store
from scepter.rdf.terms import IRI, LANG_STRING, XSD, BlankNode, Literal, Term, Triple

TURTLE = """PREFIX : <http://e/>
:a :p :b, "x"@EN, 1, 2.0, "1"^^<http://www.w3.org/2001/XMLSchema#string>, _:q .
_:q :p _:q ; a :C . :b :q "\\n\\u00e9" . :a :p :b .
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def shape(triples: Graph) -> set[tuple[str, ...]]:
    """The triples, whatever their blank nodes are called."""
    return {tuple("_" if isinstance(term, BlankNode) else str(term) for term in triple) for triple in triples}


@pytest.mark.parametrize("packed", [False, True])
def test_turtle_and_what_is_packed(tmp_path: Path, packed: bool) -> None:
    path = tmp_path / ("some.ttl.gz" if packed else "some.ttl")
    path.write_bytes(gzip.compress(TURTLE.encode()) if packed else TURTLE.encode())
    graph = StoredGraph(indexing.stored(path), "s")
    assert len(graph) == 9
    assert shape(graph) == shape(Graph(load_graph(path)))
    (typed,) = graph.match(None, None, IRI("http://e/C"))
    assert isinstance(typed.subject, BlankNode) and typed.subject.label.startswith("s")
    assert graph.match(typed.subject, IRI("http://e/p"), typed.subject) == [
        Triple(typed.subject, IRI("http://e/p"), typed.subject)
    ]
    assert graph.match(BlankNode("other"), None, None) == ()


TERMS: list[Term] = [IRI("http://e/x"), IRI("http://e/y"), BlankNode("x"), BlankNode("b1x")]
OBJECTS: list[Term] = [
    *TERMS,
    Literal("1", XSD + "integer"),
    Literal("1"),
    Literal('a "b"\n\\', XSD + "string"),
    Literal("x", LANG_STRING, "en"),
]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.builds(Triple, st.sampled_from(TERMS), st.sampled_from(TERMS[:2]), st.sampled_from(OBJECTS)), max_size=12),
    st.sampled_from([1, 60, 10_000]),
)
def test_it_answers_as_a_graph_in_memory_does(tmp_path: Path, triples: list[Triple], chunk: int) -> None:
    path = tmp_path / "some.nt"
    path.write_text("".join(f"{s} {p} {o} .\n" for s, p, o in triples))
    with patch.object(indexing, "_CHUNK", chunk):
        graph = StoredGraph(indexing.stored(path))
    plain = Graph(triples)
    assert len(graph) == len(plain)
    assert set(graph) == set(plain)
    assert graph.nodes().keys() == plain.nodes().keys()
    assert [graph.has_node(term) for term in OBJECTS] == [plain.has_node(term) for term in OBJECTS]
    assert set(graph.predicates()) == {t.predicate for t in plain}
    assert set(graph.objects_of(TERMS[0])) == {t.object for t in plain if t.predicate == TERMS[0]}
    for wanted in product([None, *TERMS], [None, *TERMS[:2]], [None, *OBJECTS]):
        assert set(graph.match(*wanted)) == set(plain.match(*wanted))
        assert len(graph.match(*wanted)) == len(plain.match(*wanted))
    for triple in triples:
        assert triple in graph
    assert Triple(TERMS[0], TERMS[1], IRI("http://e/none")) not in graph


def test_a_file_is_indexed_once_and_again_when_it_changes(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "some.nt"
    path.write_text("<a:a> <a:p> <a:b> .\n")
    assert len(indexing.stored(path)) == 1
    with patch.object(indexing, "_build", side_effect=AssertionError("made again")):
        assert len(indexing.stored(path)) == 1
    path.write_text("<a:a> <a:p> <a:b> .\n<a:a> <a:p> <a:c> .\n")
    assert len(indexing.stored(path)) == 2
    assert len(list(cache.iterdir())) == 2


def test_what_is_malformed_is_refused_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    for name, text in (("some.nt", "<a:a> <a:p> <a:b> .\n<a:a> <a:p .\n"), ("some.ttl", "<a:a> <a:p> .")):
        path = tmp_path / name
        path.write_text(text)
        with pytest.raises(indexing.Malformed):
            indexing.stored(path)
    assert list(cache.iterdir()) == []


def test_triple_terms_that_nest_deep_are_left_to_whoever_counts_their_levels(tmp_path: Path) -> None:
    """The parser takes a piece of stack for each; at its end the process was killed."""
    path = tmp_path / "deep.ttl"
    term = "<http://e> <http://e> "
    path.write_text(f"{term}{f'<<( {term}' * 200_000}1{' )>>' * 200_000} .")
    with pytest.raises(indexing.Malformed):
        indexing.stored(path)
    with pytest.raises(GraphError, match=r"more than 200 levels of nesting \(limit depth\)"):
        load_graph(path)
    path.write_text(term + ", ".join(f'"{number} <<("' for number in range(300)) + " .")  # none, but who counts them looks
    assert len(load_graph(path)) == 300


def test_progress_is_heard(tmp_path: Path) -> None:
    path = tmp_path / "some.nt"
    path.write_text("".join(f"<a:{i}> <a:p> <a:b> .\n" for i in range(1_000)))
    heard: list[tuple[int, int]] = []
    with patch.object(indexing, "_CHUNK", 1_000):
        indexing.stored(path, lambda done, total: heard.append((done, total)))
    assert len(heard) > 5
    assert heard == sorted(heard)
    assert heard[-1] == (path.stat().st_size, path.stat().st_size)


def test_nothing_is_a_graph_too(tmp_path: Path) -> None:
    path = tmp_path / "some.nt"
    path.write_text("# nothing\n")
    graph = StoredGraph(indexing.stored(path))
    assert len(graph) == 0
    assert list(graph.match(None, None, None)) == []
    assert graph.match(IRI("a:a"), None, None) == ()


def _index(cache: Path) -> Path:
    (found,) = cache.glob("**/*.graph")
    return found


@pytest.mark.parametrize("damage", ["cut", "flip", "header", "empty", "junk", "longer"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, cache: Path, damage: str) -> None:
    path = tmp_path / "some.ttl"
    path.write_text(TURTLE)
    expected = shape(StoredGraph(indexing.stored(path), "s"))
    index = _index(cache)
    data = bytearray(index.read_bytes())
    whole = len(data)
    match damage:
        case "cut":
            del data[-100:]
        case "flip":
            data[-80] ^= 1
        case "header":
            data[20] ^= 1
        case "empty":
            data.clear()
        case "junk":
            data[:] = b"x" * len(data)
        case _:
            data += b"x"
    index.write_bytes(bytes(data))
    assert shape(StoredGraph(indexing.stored(path), "s")) == expected
    assert _index(cache).stat().st_size == whole


def test_every_flipped_bit_is_seen(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "some.nt"
    path.write_text("".join(f"<http://e/{i}> <http://e/p> <http://e/{i + 1}> .\n" for i in range(20)))
    expected = shape(StoredGraph(indexing.stored(path), "s"))
    index = _index(cache)
    data = index.read_bytes()
    for at in range(0, len(data), 7):
        index.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        try:
            assert shape(StoredGraph(open_store(index), "s")) == expected  # padding between columns is nobody's
        except ValueError as error:
            assert "damaged" in str(error) or "no index" in str(error) or "whole" in str(error)


def test_an_index_that_others_could_have_written_is_not_used(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "some.ttl"
    path.write_text(TURTLE)
    key = indexing.stored(path).key
    assert indexing.stored(path).key == key
    _index(cache).chmod(0o666)
    assert indexing.stored(path).key != key


def test_in_a_shared_folder_everybody_has_a_folder_of_their_own(tmp_path: Path, cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    path = tmp_path / "some.ttl"
    path.write_text(TURTLE)
    key = indexing.stored(path).key
    assert _index(cache).parent.name.startswith("user-")
    assert indexing.stored(path).key == key


def test_without_a_folder_of_ones_own_the_index_lasts_as_long_as_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SCEPTER_CACHE", str(tmp_path / "file"))
    path = tmp_path / "some.ttl"
    path.write_text(TURTLE)
    assert len(indexing.stored(path)) == 9
