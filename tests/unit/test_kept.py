"""Files that are written and read back: only one's own, only whole ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scepter.kept import open_named, own_file, own_folder, read_own, sealed, unsealed, write_whole


def test_what_is_sealed_is_read_back_whole_or_not_at_all() -> None:
    data = sealed(b"0123456789")
    assert unsealed(data) == b"0123456789"
    assert unsealed(b"") is None
    for i in range(len(data)):
        assert unsealed(data[:i]) is None
        assert unsealed(data[:i] + bytes([data[i] ^ 1]) + data[i + 1 :]) is None


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_whole(path, sealed(b"x"))
    assert read_own(path) == b"x"
    assert [child.name for child in tmp_path.iterdir()] == ["a"]
    for mode in (0o660, 0o606, 0o666):
        path.chmod(mode)
        assert read_own(path) is None
    path.chmod(0o644)
    assert read_own(path) == b"x"


def test_links_folders_and_pipes_are_no_files_of_ones_own(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", sealed(b"x"))
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("link", "pipe", "none", "."):
        assert own_file(tmp_path / name) is None


def test_folders(tmp_path: Path) -> None:
    assert own_folder(tmp_path / "x" / "y") == tmp_path / "x" / "y"
    (tmp_path / "x").chmod(0o777)
    assert own_folder(tmp_path / "x") is None
    (tmp_path / "file").write_text("")
    assert own_folder(tmp_path / "file") is None


def test_another_users_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_whole(tmp_path / "a", sealed(b"x"))
    me = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: me + 1)
    assert read_own(tmp_path / "a") is None
    assert own_folder(tmp_path) is None


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_disk_is_told_with_the_files_name() -> None:
    with (
        pytest.raises(OSError, match="No space left on device: 'results'"),
        open_named(Path("/dev/full"), shown="results") as out,
    ):
        out.write("x" * 100_000)
