"""Where results go, and the name under which a run writes to a topic."""

from __future__ import annotations

from pathlib import Path

import pytest

from scepter.cli.target import lasting_name
from scepter.errors import OptionError


def test_the_name_of_a_run_is_kept_with_a_checksum(tmp_path: Path) -> None:
    name = lasting_name(tmp_path)
    assert lasting_name(tmp_path) == name
    kept = tmp_path / "kafka-output.json"
    kept.write_bytes(kept.read_bytes()[:-1])
    with pytest.raises(OptionError, match="is damaged"):
        lasting_name(tmp_path)
    kept.write_text('{"run": "old"}')  # as it was before it had a checksum
    assert lasting_name(tmp_path) == "old"
