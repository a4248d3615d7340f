from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from lark import Lark

from scepter.errors import QueryError
from scepter.kept import read_own
from scepter.syntax import grammar
from scepter.syntax.parse import parse_spaseq

QUERY = "ASK FROM STREAM S <http://example/s> { SEQ (A) DEFINE GPM A ON S { ?a ?b ?c FILTER (CONDITION) } }"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    grammar.parser.cache_clear()
    yield tmp_path / "scepter"
    grammar.parser.cache_clear()


def tables(cache: Path) -> list[Path]:
    return sorted(cache.iterdir())


def test_the_tables_are_kept_and_used_again(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar.parser("spaseq")
    assert len(tables(cache)) == 1
    grammar.parser.cache_clear()

    def refuse(text: str, language: str) -> None:
        raise AssertionError("built although kept")

    monkeypatch.setattr(grammar, "_build", refuse)
    assert grammar.parser("spaseq").parse(QUERY.replace("CONDITION", "?c > 1")).data == "spaseq"


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\x80\x04]\x94."])
def test_damaged_tables_are_replaced(cache: Path, damage: bytes) -> None:
    grammar.parser("spaseq")
    (path,) = tables(cache)
    path.write_bytes(damage)
    grammar.parser.cache_clear()
    parse_spaseq(QUERY.replace("CONDITION", "?c > 1"))
    kept = read_own(path)
    assert kept is not None
    assert Lark.load(io.BytesIO(kept)).parse(QUERY.replace("CONDITION", "?c > 1")).data == "spaseq"


def test_tables_that_others_can_write_to_are_not_read(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grammar.parser("spaseq")
    (path,) = tables(cache)
    path.chmod(0o666)
    grammar.parser.cache_clear()
    built: list[str] = []
    build = grammar._build

    def counted(text: str, language: str) -> Lark:
        built.append(language)
        return build(text, language)

    monkeypatch.setattr(grammar, "_build", counted)
    grammar.parser("spaseq")
    assert built == ["spaseq"]


def test_a_folder_that_others_can_write_to_is_not_trusted(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    grammar.parser("spaseq")
    assert tables(cache) == []


def test_no_folder_is_no_obstacle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    grammar.parser.cache_clear()
    assert grammar.parser("spaseq").parse(QUERY.replace("CONDITION", "?c > 1")).data == "spaseq"
    grammar.parser.cache_clear()


@pytest.mark.parametrize(
    "condition",
    [
        "!" * 5_000 + "?a",
        "-" * 5_000 + "?a",
        " + ".join(["?a"] * 5_000),
        "STR(" * 5_000 + "?a" + ")" * 5_000,
        "EXISTS {" * 2_000 + "FILTER (EXISTS { ?a ?b ?c })" + "}" * 2_000,
        "?a + (" * 300 + "1" + ")" * 300,
    ],
    ids=["not", "minus", "sum", "calls", "groups", "brackets"],
)
def test_what_nests_too_deep_is_refused(condition: str) -> None:
    with pytest.raises(QueryError) as caught:
        parse_spaseq(QUERY.replace("CONDITION", condition))
    assert caught.value.code in ("too-complex", "syntax")
    assert caught.value.line == 1


def test_brackets_alone_are_no_depth() -> None:
    parse_spaseq(QUERY.replace("CONDITION", "(" * 5_000 + "?a" + ")" * 5_000))


def test_long_flat_queries_are_no_depth() -> None:
    parse_spaseq(QUERY.replace("CONDITION", " || ".join(["?a = 1"] * 5_000)))
    parse_spaseq(
        QUERY.replace("?a ?b ?c", "?a ?b ?c . " * 5_000).replace("CONDITION", "?a IN (" + ", ".join("1" * 5_000) + ")")
    )
