"""Lines that may be too long, in pieces of any size."""

from __future__ import annotations

import io

import pytest

from scepter.rdf.limits import BeyondLimit
from scepter.rdf.long_lines import Lines, read_whole


@pytest.mark.parametrize("block", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize("text", [b"", b"\n", b"a", b"abc\n", b"ab\n\nabcd\nabc", b"abcd\nabcde\nab\n", b"abcde", b"abcd\r\n"])
def test_lines_are_those_of_the_text(text: bytes, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scepter.rdf.long_lines._BLOCK", block)
    found = [each for each in Lines(io.BytesIO(text), 3) if each[1] != b""]
    wanted = [
        (number, line if len(line.rstrip(b"\n")) <= 3 else None)
        for number, line in enumerate(text.splitlines(keepends=True) if b"\r" not in text else [text], 1)
    ]
    assert found == wanted


def test_a_document_may_be_as_long_as_the_limit() -> None:
    assert read_whole(io.BytesIO(b"abc"), 3) == b"abc"
    with pytest.raises(BeyondLimit, match="more than 3 bytes"):
        read_whole(io.BytesIO(b"abcd"), 3)
