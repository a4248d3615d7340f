"""Each query beside its `*.txt`: what `scepter check` says of it and, where an `*.ontology.ttl` or `*.background.ttl` of
its name is beside it, what `scepter run` says before it reads data. `pytest --update-fixtures` writes the texts anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.errors import ScepterError, render
from scepter.runtime.push import Engine
from scepter.runtime.queries import parse

FOLDER = Path(__file__).parent
QUERIES = sorted(
    path for path in FOLDER.glob("*/*.*") if path.suffix not in (".txt", ".ttl") and path.parent.name != "__pycache__"
)


def said(path: Path) -> str:
    given = {kind: path.with_suffix(f".{kind}.ttl") for kind in ("ontology", "background")}
    given = {kind: file for kind, file in given.items() if file.exists()}
    try:
        query = parse(path.read_text("utf-8"), None, path.name)
        warnings = Engine(query, **given).warnings if given else query.warnings  # type: ignore[arg-type]
    except ScepterError as error:
        return f"{render(error.diagnostic, error.source)}\n"
    return "".join(f"{render(warning, query.lowered.source)}\n" for warning in warnings)


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_the_text_of_an_error(path: Path, update_fixtures: bool) -> None:
    expected = path.with_suffix(".txt")
    if update_fixtures:
        expected.write_text(said(path), "utf-8")
    assert said(path) == expected.read_text("utf-8")
    assert "Traceback" not in said(path)


def test_every_text_has_its_query() -> None:
    assert {p.with_suffix("") for p in FOLDER.glob("*/*.txt")} == {p.with_suffix("") for p in QUERIES}


def test_each_query_says_something() -> None:
    assert [p.stem for p in QUERIES if not said(p)] == []
