"""A live run of the command line under kills: every match and every dead letter once. The long run is by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from torture.kills import compare


@pytest.mark.slow
@pytest.mark.spark
def test_matches_and_letters_of_a_killed_run_are_those_of_an_undisturbed_one(tmp_path: Path) -> None:
    found = compare(tmp_path, "spaseq", seed=5, kills=2, files=3, events=20)
    assert found.differences == ()
    assert found.kills.total() == 2
    assert found.matches
    assert found.letters
