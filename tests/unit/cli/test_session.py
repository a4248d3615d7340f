"""Which runs have so little to do that their JVM need not compile much."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.cli import session
from scepter.cli.session import brief


def test_small_inputs_make_a_brief_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "_BRIEF", 100)
    folder = tmp_path / "events"
    folder.mkdir()
    for name in ("a.nq", "b.nq", "c.txt"):
        (folder / name).write_text("x" * 45)
    assert brief([])
    assert brief([str(folder / "a.nq"), str(folder / "b.nq")])
    assert brief([str(folder / "*.nq")])
    assert brief([str(tmp_path / "missing.nq")])  # whoever opens it tells
    assert not brief([str(folder)])
    assert not brief([str(folder / "*")])
    assert not brief([str(folder / name) for name in ("a.nq", "b.nq", "c.txt")])


def test_what_has_no_size_or_no_end_may_be_long() -> None:
    assert not brief(None)
    assert not brief(["-"])
    assert not brief(["kafka://broker/topic"])
