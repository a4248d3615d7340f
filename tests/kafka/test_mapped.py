"""JSON messages through a mapping."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka.conftest import Topics
from kafka.events import QUERY
from kafka.test_bounded import scepter

pytestmark = pytest.mark.slow
MAP = """\
prefixes: {"": "http://e/"}
time: $(time)
mappings:
  value:
    s: http://e/$(sensor)
    po:
      - [http://e/v, $(value), xsd:integer]
"""
RISE = QUERY.replace("?x a :A", "?x :v 0")


def test_json_with_a_map_and_what_is_wrong_with_it(topics: Topics, tmp_path: Path) -> None:
    (tmp_path / "q.spaseq").write_text(RISE)
    (tmp_path / "m.yml").write_text(MAP)
    topic = topics.new()
    good = [
        {"time": 1, "sensor": "a", "value": 0},
        [{"time": 2, "sensor": "b", "value": 5}, {"time": 3, "sensor": "a", "value": 7}],
    ]
    texts = [json.dumps(each) for each in good]
    topics.fill(
        topic,
        [texts[0], texts[1][:20], "\udcff".encode("utf-8", "surrogatepass"), None, '{"sensor": "c", "value": 1}', texts[1]],
    )
    dead = tmp_path / "dead.jsonl"
    found = scepter(
        "run", tmp_path / "q.spaseq", "--stream", f"S={topics.url(topic)}", "--map", tmp_path / "m.yml", "--engine", "local",
        "--dead-letter", dead,
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    [match] = [json.loads(line) for line in found.stdout.splitlines()]
    assert (match["start"], match["end"], match["bindings"]["x"]["value"]) == (1, 3, "http://e/a")
    letters = [json.loads(line) for line in dead.read_text().splitlines()]
    assert sorted(letter["source"].rpartition(" ")[2] for letter in letters) == ["1", "2", "3", "4"]
