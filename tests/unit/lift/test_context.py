"""A JSON-LD context over plain JSON: files, dictionaries, pushed rows, the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import scepter
from scepter.cli.main import app
from scepter.errors import DataError, OptionError
from scepter.lift.context import load_context

TIME = "http://example/time"
CONTEXT: dict[str, Any] = {
    "id": "@id",
    "time": TIME,
    "value": "http://example/value",
    "room": {"@id": "http://example/room", "@type": "@id"},
    "@base": "http://example/",
}
ROWS: list[dict[str, Any]] = [
    {"id": "s1", "time": 1, "value": 100, "room": "kitchen", "nobody": "asks"},
    {"id": "s2", "time": 2, "value": 90},
    {"id": "s1", "time": 3, "value": 60},
]
QUERY = """PREFIX : <http://example/>
SELECT ?s ?a ?b WITHIN 10 SLIDING FROM STREAM R <http://example/r>
WHERE { SEQ (A : B) DEFINE GPM A ON R { ?s :value ?a } DEFINE GPM B ON R { ?s :value ?b FILTER (?b < ?a) } }"""


def matches(streams: Any, **given: Any) -> list[tuple[int, int]]:
    found = scepter.run_local(scepter.parse(QUERY, "spaseq"), streams, time_property=TIME, **given)
    return [(match.start, match.end) for match in found]


@pytest.mark.parametrize("form", ["lines", "array", "document", "pretty"])
def test_files_of_json(form: str, tmp_path: Path) -> None:
    texts = {
        "lines": "\n".join(map(json.dumps, ROWS)),
        "array": json.dumps(ROWS),
        "document": json.dumps({"@graph": ROWS[:1]}),
        "pretty": json.dumps(ROWS, indent=2),
    }
    path = tmp_path / "r.json"
    path.write_text(texts[form])
    assert matches(path, context=CONTEXT) == ([] if form == "document" else [(1, 3)])


@pytest.mark.parametrize("given", ["dictionary", "text", "file", "document", "by stream", "list"])
def test_a_context_as_people_have_it(given: str, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonld"
    path.write_text(json.dumps({"@context": CONTEXT}))
    contexts: dict[str, Any] = {
        "dictionary": CONTEXT,
        "text": json.dumps(CONTEXT),
        "file": path,
        "document": {"@context": CONTEXT},
        "by stream": {"R": path},
        "list": [CONTEXT],
    }
    assert matches(ROWS, context=contexts[given]) == [(1, 3)]


def test_pushed_dictionaries_and_events() -> None:
    query = scepter.parse(QUERY, "spaseq")
    engine = scepter.Engine(query, context=CONTEXT, time_property=TIME)
    assert [len(engine.push(row)) for row in ROWS] == [0, 0, 1]
    made = scepter.events(ROWS, context=CONTEXT, stream="http://example/r", time_property=TIME)
    assert [(event.start, event.name, len(event.triples)) for event in made] == [  # type: ignore[attr-defined]
        (1, "http://example/s1", 3), (2, "http://example/s2", 2), (3, "http://example/s1", 2),
    ]  # fmt: skip


def test_bad_documents_are_dead_letters_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    lines = [*map(json.dumps, ROWS)]
    path.write_text("\n".join([lines[0], lines[1][:12], '{"id": "s3", "value": 3}', '{"id": 5, "time": 2}', "7", lines[2]]))
    found = scepter.run_local(scepter.parse(QUERY, "spaseq"), path, time_property=TIME, context=CONTEXT)
    assert [(match.start, match.end) for match in found] == [(1, 3)]
    assert sorted(letter.line or 0 for letter in found.dead_letters) == [2, 3, 4, 5]


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(QUERY)
    (tmp_path / "c.jsonld").write_text(json.dumps({"@context": CONTEXT}))
    (tmp_path / "r.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    base = ["run", str(tmp_path / "q.spaseq"), "--stream", f"R={tmp_path / 'r.jsonl'}", "--engine", "local", "--format", "csv"]
    for context in (str(tmp_path / "c.jsonld"), f"R={tmp_path / 'c.jsonld'}"):
        found = CliRunner().invoke(app, [*base, "--context", context, "--time-property", TIME])
        assert found.exit_code == 0, found.output
        assert found.stdout == "start,end,s,a,b\n1,3,http://example/s1,100,60\n"
    without = CliRunner().invoke(app, [*base, "--context", str(tmp_path / "c.jsonld")])
    assert without.exit_code == 1 and TIME in without.stderr and "--time-property" in without.stderr
    unmapped = CliRunner().invoke(app, base)
    assert unmapped.exit_code != 0 and "--context" in unmapped.stderr


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("https://schema.org/", "there is no file"),
        ({"@context": "https://schema.org/"}, "would have to be fetched"),
        ('{"a": ', "is not JSON"),
        ({"a": {"@id": 5}}, "is no JSON-LD context"),
        (["x", 5], "would have to be fetched"),
        ([5], "holds no context but an int"),
        (7, "context cannot be int"),
    ],
)
def test_wrong_contexts(given: Any, words: str) -> None:
    with pytest.raises(OptionError, match=words):
        load_context(given)


def test_a_table_needs_a_mapping_and_nothing_takes_both(tmp_path: Path) -> None:
    import pandas as pd

    with pytest.raises(OptionError, match="is a table"):
        matches(pd.DataFrame(ROWS), context=CONTEXT)
    mapping = "time: $(time)\nmappings: {r: {s: 'http://example/$(id)', po: [[http://example/value, $(value), xsd:integer]]}}\n"
    with pytest.raises(OptionError, match="mapping or a context"):
        matches(ROWS, context=CONTEXT, map=mapping)
    with pytest.raises(OptionError, match="mapping or by a context"):
        scepter.events(ROWS)
    assert matches(ROWS, context=CONTEXT, map={"R": mapping}) == [(1, 3)]


def test_mappings_contexts_and_topics_are_read_without_pandas() -> None:
    read = "scepter.lift.reader, scepter.lift.context, scepter.io.kafka"
    code = f"import sys, {read}; print({{'pandas', 'pyspark'}} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_documents_of_which_a_context_makes_nothing_are_told(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    without = {key: value for key, value in CONTEXT.items() if key != "@base"}  # relative names: JSON-LD drops their triples
    told = r'no document of the input becomes an event: the context makes no triple of it: .* "@base"'
    with pytest.raises(DataError, match=told):
        matches(path, context=without)
    context = tmp_path / "c.jsonld"
    context.write_text(json.dumps(without))
    shown = CliRunner().invoke(app, ["map", str(path), "--context", str(context)])
    assert "r.jsonl:2: the context makes no triple of it" in shown.output and "plain triples" not in shown.output
    path.write_text("\n".join(map(json.dumps, [*ROWS, {"nobody": "knows"}, {}])))
    found = scepter.run_local(scepter.parse(QUERY, "spaseq"), path, time_property=TIME, context=CONTEXT)
    assert len(found) == 1
    # an empty document is an empty message
    assert [(letter.line, letter.text) for letter in found.dead_letters] == [(4, '{"nobody": "knows"}')]


def test_a_context_that_nests_too_deep_is_told_by_the_limit() -> None:
    for deep in ("[" * 50_000 + "]" * 50_000, '{"@context": ' * 5_000 + "{}" + "}" * 5_000):
        with pytest.raises(OptionError, match=r"context is no JSON-LD context: more than 200 levels of nesting"):
            load_context(deep)
