"""Streams, background and query files as the command line names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.cli.inputs import assign_background, assign_graphs, existing, read_query, split_streams, streams_of_folder
from scepter.cli.inputs import assign_streams as assign_named
from scepter.errors import OptionError, option_error
from scepter.lower import lower

POWER, ODD = "http://example/power", "http://example/?a=b"


class FakeQuery:
    """A query with two streams, one of them with `=` in its IRI."""

    def __init__(self, *streams: str) -> None:
        self.streams = list(streams or (POWER, ODD))

    def resolve_stream(self, name: str) -> str:
        if name == "both":
            raise option_error("ambiguous-stream", "the alias both names two streams")
        known = {iri: iri for iri in self.streams} | {"S1": POWER, ":power": POWER}
        if name not in known:
            raise option_error("unknown-stream", f"no stream {name}")
        return known[name]


def assign_streams(query: FakeQuery, given: list[str]) -> tuple[dict[str, str], list[str]]:
    return assign_named(query, split_streams(query, given))


def test_names_in_every_spelling() -> None:
    query = FakeQuery(POWER)
    for name in (POWER, "S1", ":power", "power", "Power"):
        assert assign_streams(query, [f"{name}=a.nq"]) == ({POWER: "a.nq"}, [])


def test_equals_signs_in_iris_and_sources() -> None:
    sources, warnings = assign_streams(FakeQuery(), [f"{ODD}=x=y.nq", "S1=-"])
    assert sources == {ODD: "x=y.nq", POWER: "-"}
    assert warnings == []


def test_a_stream_twice_is_refused() -> None:
    with pytest.raises(OptionError, match=r"given twice: a\.nq and b\.nq"):
        assign_streams(FakeQuery(POWER), ["S1=a.nq", f"{POWER}=b.nq"])


def test_a_name_the_query_does_not_use_is_a_warning_with_those_it_does() -> None:
    sources, (warning,) = assign_streams(FakeQuery(POWER), ["S1=a.nq", "S9=b.nq"])
    assert sources == {POWER: "a.nq"}
    assert warning.startswith("warning[stream-unused]")
    assert "'S9'" in warning
    assert POWER in warning


@pytest.mark.parametrize("argument", ["power.nq", "S1=", "", "="])
def test_arguments_that_are_none(argument: str) -> None:
    with pytest.raises(OptionError) as caught:
        assign_streams(FakeQuery(POWER), [argument])
    assert caught.value.code == "bad-stream"


def test_an_alias_of_two_streams_is_no_unused_name() -> None:
    with pytest.raises(OptionError, match="names two streams"):
        assign_streams(FakeQuery(POWER), ["both=a.nq"])


class TestBackground:
    def test_with_and_without_a_graph(self, tmp_path: Path) -> None:
        plain, named = tmp_path / "a.ttl", tmp_path / "b=c.ttl"
        plain.touch()
        named.touch()
        found = assign_background(
            [str(plain), f"http://example/?x=1={named}", f"http://example/?x=1={plain}", f"<urn:g>={plain}"]
        )
        assert found == {None: [plain], "http://example/?x=1": [named, plain], "urn:g": [plain]}

    def test_a_file_name_with_an_equals_sign(self, tmp_path: Path) -> None:
        path = tmp_path / "day=1.ttl"
        path.touch()
        assert assign_background([str(path)]) == {None: [path]}

    @pytest.mark.parametrize("name", ["http://example/g", "<http://example/g>", ":g", "ex:g", "g"])
    def test_a_graph_of_the_query_as_people_name_it(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / "g.ttl"
        path.touch()
        lowered = lower(
            "PREFIX : <http://example/> PREFIX ex: <http://example/> SELECT ?x WHERE { ?x :p ?y GRAPH :g { ?y :q ?z } }"
        )
        assert assign_graphs(lowered, [f"{name}={path}"]) == {"http://example/g": [path]}

    def test_what_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="there is no file"):
            assign_background([f"http://example/g={tmp_path / 'none.ttl'}"])
        with pytest.raises(OptionError, match="there is no file"):
            assign_background(["none.ttl"])
        with pytest.raises(OptionError, match="is a folder"):
            assign_background([str(tmp_path)])

    @pytest.mark.parametrize(
        ("graphs", "expected"),
        [
            (["http://example/places"], "did you mean places?"),
            (["http://example/g"], "its graphs are <http://example/g>"),
            ([], "write --background "),
        ],
    )
    def test_a_name_that_is_no_graph_of_the_query(self, tmp_path: Path, graphs: list[str], expected: str) -> None:
        path = tmp_path / "p.ttl"
        path.touch()
        with pytest.raises(OptionError, match="the query reads no graph place") as caught:
            assign_background([f"place={path}"], graphs)
        assert caught.value.code == "unknown-graph"
        assert str(caught.value.diagnostic.help).startswith(expected)


class TestFolder:
    def test_a_stream_that_no_file_is_named_as(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="<http://example/power>; it is empty") as caught:
            streams_of_folder(FakeQuery(POWER), tmp_path, [])
        assert caught.value.code == "missing-stream"
        for number in range(10):
            (tmp_path / f"f{number}.nq").touch()
        with pytest.raises(OptionError, match=r"there are f0.nq, f1.nq, .*, f7.nq, …\n"):
            streams_of_folder(FakeQuery(POWER), tmp_path, [])


class TestQueryFile:
    def test_a_byte_order_mark_is_no_part_of_the_query(self, tmp_path: Path) -> None:
        path = tmp_path / "q.spaseq"
        path.write_bytes(b"\xef\xbb\xbfSELECT")
        assert read_query(path) == "SELECT"

    def test_what_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(OptionError, match="there is no query file"):
            read_query(tmp_path / "none")
        with pytest.raises(OptionError, match="is a folder"):
            read_query(tmp_path)
        path = tmp_path / "latin"
        path.write_bytes(b"caf\xe9")
        with pytest.raises(OptionError, match="no UTF-8 text"):
            read_query(path)


def test_existing_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="--ontology: there is no file"):
        existing("--ontology", tmp_path / "none")
