"""Where the bytes of many rows go: behind the text that was written before, in the file's own encoding."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest

from scepter.io import columns
from scepter.io.results import Shape
from scepter.io.writers import open_writer
from scepter.kernel.rows import mappings
from scepter.kernel.texts import Texts
from scepter.rdf.hashing import TermKey, term_id
from scepter.runtime.matches import MatchBatch, MatchRows
from scepter.timeline import TimeKind


def rows(count: int, text: str = '"é"') -> MatchRows:
    texts = Texts()
    ids, refs, _, _ = mappings(count, 1)
    ids[:, 0], refs[:, 0] = term_id(TermKey.fixed(), text), texts.append([text])[0]
    view, refs, _ = texts.table_view(ids, refs, np.empty(0, np.int64))
    times = np.arange(count)
    batch = MatchBatch(0, TimeKind.INTEGER, times, times, ("x",), ids, refs, view, None, False, lambda row: {})
    return MatchRows(batch, times)


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "utf-16"])
@pytest.mark.parametrize("count", [3, 1000])
def test_bytes_stand_behind_text_in_the_encoding_of_the_file(count: int, encoding: str) -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    out.write("before\n")
    writer = open_writer("jsonl", out, Shape(("x",)))
    writer.write_all(rows(count))
    out.write("behind\n")
    writer.close()
    first, *lines, last = raw.getvalue().decode(encoding).split("\n")[:-1]
    assert (first, last) == ("before", "behind")
    assert [json.loads(line) for line in lines] == [
        {"start": at, "end": at, "bindings": {"x": {"type": "literal", "value": "é"}}} for at in range(count)
    ]


def test_many_rows_are_written_as_bytes() -> None:
    class Text(io.TextIOWrapper):
        def write(self, text: str, /) -> int:
            raise AssertionError("text was encoded again")

    raw = io.BytesIO()
    out = Text(raw, encoding="utf-8", newline="")
    open_writer("jsonl", out, Shape(("x",))).write_all(rows(1000))
    assert raw.getvalue().count(b"\n") == 1000


def test_rows_with_long_texts_are_laid_out_in_halves(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, halved = io.StringIO(), io.StringIO()
    open_writer("jsonl", whole, Shape(("x",))).write_all(rows(9))
    monkeypatch.setattr(columns, "_BYTES", 1)
    open_writer("jsonl", halved, Shape(("x",))).write_all(rows(9))
    assert halved.getvalue() == whole.getvalue()
