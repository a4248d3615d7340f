"""Where kernels are kept when numba would find no place."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scepter import compiled


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which neither the installation nor the user's cache can be written."""
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(compiled, "_writable", lambda folder: False)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    return tmp_path


def chosen() -> Path:
    compiled.choose_place()
    return Path(os.environ["NUMBA_CACHE_DIR"])


def test_a_folder_of_the_users_own(nowhere: Path) -> None:
    folder = chosen()
    assert folder == nowhere / f"scepter-kernels-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_same_one_again(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = chosen()
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    assert chosen() == first


@pytest.mark.parametrize("planted", ["open", "link", "file"])
def test_what_others_could_have_filled_is_not_trusted(nowhere: Path, planted: str) -> None:
    place = nowhere / f"scepter-kernels-{os.getuid()}"
    if planted == "open":
        place.mkdir()
        place.chmod(0o777)
    elif planted == "link":
        (nowhere / "elsewhere").mkdir()
        place.symlink_to(nowhere / "elsewhere")
    else:
        place.write_text("")
    folder = chosen()
    assert folder != place
    assert folder.parent == nowhere
    assert not list(folder.iterdir())


def test_what_the_user_chose_stays(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/chosen")
    assert chosen() == Path("/chosen")


def test_folders_that_can_be_written(tmp_path: Path) -> None:
    assert compiled._writable(tmp_path / "a" / "b")
    assert not compiled._writable(Path("/dev/null/x"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without a home")
def test_a_read_only_installation_without_a_home_starts() -> None:
    """A user who can read the sources and write nothing but temporary files."""
    with tempfile.TemporaryDirectory() as place:  # the tests' own folder is one that only its user can enter
        Path(place).chmod(0o777)
        _start_as_nobody(Path(place))


def _start_as_nobody(place: Path) -> None:
    code = "import os; os.setgid(65534); os.setuid(65534); import scepter.rdf.hashing; print(os.environ['NUMBA_CACHE_DIR'])"
    environment = {**os.environ, "HOME": "/nonexistent", "TMPDIR": str(place)}
    environment.pop("NUMBA_CACHE_DIR", None)
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd="/", check=False)
    if "Permission denied" in done.stderr or "No module" in done.stderr:
        pytest.skip("the sources are in a folder that only root can read")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(place / "scepter-kernels-65534")
