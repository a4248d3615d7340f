from __future__ import annotations

import json
from pathlib import Path

import pytest

from scepter.errors import OptionError
from scepter.io.dead_letters import DeadLetterSink
from scepter.rdf.batch import DeadLetter


def test_letters_are_counted_by_reason() -> None:
    with DeadLetterSink() as sink:
        for reason in ("a", "b", "a"):
            sink(DeadLetter("s", 1, reason))
    assert sink.count == 3
    assert sink.reasons == {"a": 2, "b": 1}


def test_letters_are_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "dead.jsonl"
    with DeadLetterSink(path) as sink:
        sink(DeadLetter("a.nq", 3, "bad", 'é "quoted"\x00'))
        sink(DeadLetter("a.trig", None, "worse"))
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [
        {"source": "a.nq", "line": 3, "reason": "bad", "text": 'é "quoted"\x00'},
        {"source": "a.trig", "line": None, "reason": "worse", "text": ""},
    ]


def test_no_letters_leave_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "dead.jsonl"
    with DeadLetterSink(str(path)):
        pass
    assert path.read_bytes() == b""


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="cannot be written"), DeadLetterSink(tmp_path / "no" / "dead.jsonl"):
        pass
