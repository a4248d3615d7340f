"""Writers that are killed in their writes leave what others leave; the long run is by hand (`tools/torture`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.cli.journal import Journal
from torture.writers import compare


@pytest.mark.parametrize("seed", range(4))  # a format each
def test_what_a_killed_writer_leaves(tmp_path: Path, seed: int) -> None:
    kills, differing = compare(tmp_path, "sparkwave", seed)
    assert kills > 5
    assert differing == []


def test_a_writer_that_forgets_what_it_wrote_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Journal, "keep", lambda self, batch, matches: None)  # no record: what is there is written again
    _, differing = compare(tmp_path, "sparkwave", 1)
    assert differing
