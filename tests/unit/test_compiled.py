"""Where kernels are kept when numba would find no place."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llvmlite.binding import ffi  # type: ignore[import-untyped]
from numba import njit
from numba.core import caching, errors, ir
from numba.core.compiler import run_frontend

from scepter import compiled
from scepter.kernel.time_join import sweep
from scepter.rdf.words import fresh


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


def test_a_cache_that_somebody_else_made_is_left_alone(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sudo scepter` has made ~/.cache/numba: numba would find no place, and refuse to start."""
    users = nowhere / "users"
    monkeypatch.setenv("XDG_CACHE_HOME", str(users))
    monkeypatch.setattr(compiled, "_writable", lambda folder: folder == users)
    assert chosen() == nowhere / f"scepter-kernels-{os.getuid()}"


def kernel_files(folder: Path) -> Any:
    compiled.doubt_files()
    files: Any = caching.IndexDataCacheFile(str(folder), "kernel-1.py311", (1.0, 2))  # type: ignore[no-untyped-call]
    files.save("signature", ("code", 1))
    assert files.load("signature") == ("code", 1)
    return files


def tear(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


@pytest.mark.parametrize("name", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        tear,
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"P\x80 no pickle"),
        lambda path: path.chmod(0o666),
        lambda path: os.chown(path, 65534, -1),
    ],
    ids=["torn", "empty", "nonsense", "others may write", "somebody else's"],
)
def test_kernels_in_doubt_are_compiled_again(tmp_path: Path, name: str, damage: Callable[[Path], object]) -> None:
    files = kernel_files(tmp_path)
    (path,) = tmp_path.glob(name)
    try:
        damage(path)
    except PermissionError:
        pytest.skip("only root can give a file away")
    assert files.load("signature") is None
    files.save("signature", ("code", 2))
    assert files.load("signature") == ("code", 2)


def test_kernels_of_another_version_are_compiled_again(tmp_path: Path) -> None:
    kernel_files(tmp_path)
    other: Any = caching.IndexDataCacheFile(str(tmp_path), "kernel-1.py311", (3.0, 2))  # type: ignore[no-untyped-call]
    assert other.load("signature") is None


def test_a_planted_pickle_is_not_opened(tmp_path: Path) -> None:
    files = kernel_files(tmp_path)
    (index,) = tmp_path.glob("*.nbi")
    index.write_bytes(b"cposix\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    index.chmod(0o622)
    assert files.load("signature") is None
    assert not (tmp_path / "ran").exists()


def test_kernels_have_numba_doubt_its_files() -> None:
    """Before the first kernel is declared."""
    code = "import scepter.rdf.words; from numba.core import caching; print(caching.IndexDataCacheFile.__qualname__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "OwnFiles" in done.stdout


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


def test_what_is_settled_is_not_looked_through() -> None:
    told = (
        "import gc, numba; from scepter.compiled import settle as s; s(); print(gc.get_freeze_count(), len(gc.get_objects()))"
    )
    done = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    frozen, seen = map(int, done.stdout.split())
    assert frozen > 50_000 and seen < 1_000


def test_operations_on_numbers_are_looked_up_once_for_a_kernel() -> None:
    """And anew for the next one, which may see another meaning."""
    code = (
        "from numba.core.types.functions import BaseFunction as B; asked = []; plain = B.get_call_type\n"
        "def noted(self, context, args, kws):\n"
        "    asked.append(str(self)); return plain(self, context, args, kws)\n"
        "B.get_call_type = noted\n"
        "from numba import njit; import scepter.rdf.words\n"
        "for text in ('lambda a, b: a * b * b * b', 'lambda a, b: a * b * b'):\n"
        "    asked.clear(); assert njit(eval(text))(2, 3) in (18, 54); print(sum('mul' in name for name in asked))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1"]


def test_what_arrays_hold_is_looked_up_once_for_a_kernel() -> None:
    code = (
        "from numba.core.types.functions import BaseFunction as B; asked = []; plain = B.get_call_type\n"
        "def noted(self, context, args, kws):\n"
        "    asked.append(str(self)); return plain(self, context, args, kws)\n"
        "B.get_call_type = noted\n"
        "import numpy as np; from numba import njit; import scepter.rdf.words\n"
        "for text, times in (('lambda a, i: a[i] + a[i + 1] + a[i + 2]', 1), ('lambda a, i: a[i] + len(a)', 1)):\n"
        "    asked.clear(); assert njit(eval(text))(np.arange(3), 0) == 3; print(sum('getitem' in name for name in asked))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "1"]


def test_calls_of_llvm_are_told_to_nobody() -> None:
    import scepter.rdf.words  # noqa: F401

    assert ffi.lib._lock._cblist == []


def test_variables_of_an_instruction_are_all_listed() -> None:
    """As numba lists them, by asking every field."""

    def asked(value: Any) -> list[str]:
        if isinstance(value, ir.Var):
            return [value.name]
        if isinstance(value, ir.Inst):
            return asked(vars(value))
        held = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
        return [name for each in held for name in asked(each)]

    import scepter.rdf.words  # noqa: F401

    def function(a: Any, b: Any) -> Any:
        found = (a[0], b, {"x": [a, b]}, sorted(a, key=b))
        for each in range(len(a)):
            if each > b:
                a[each] = max(found[1], b)
        return found, a[1:b]

    statements = [each for block in run_frontend(function).blocks.values() for each in block.body]  # type: ignore[no-untyped-call]
    assert len(statements) > 30
    for each in statements:
        assert [found.name for found in each.list_vars()] == asked(vars(each)), each


def test_what_compiling_made_is_not_gone_through_at_its_end() -> None:
    code = (
        "import gc; from numba import njit; import scepter.rdf.words; gc.collect(); before = len(gc.get_objects())\n"
        "njit(lambda a, b: a * b)(2, 3); young = sum(len(gc.get_objects(generation)) for generation in (0, 1))\n"
        "print(len(gc.get_objects()) - before > 5_000, young < 1_000, gc.get_freeze_count(), gc.isenabled())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True 0 True\n"


def test_messages_of_exceptions_set_up_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """And have the colours that they had."""
    colorama = pytest.importorskip("colorama")
    import scepter.rdf.words  # noqa: F401

    made: list[None] = []
    monkeypatch.setattr(colorama.initialise, "wrap_stream", lambda *args: made.append(None))
    scheme: Any = vars(errors)["HighlightColorScheme"](vars(errors)["themes"]["dark_bg"])  # not there without colorama
    text = scheme.errmsg("no such type")
    assert "no such type" in text and "\x1b[" in text and not made


def test_an_array_that_a_kernel_gives_back_is_not_unpickled() -> None:
    """Numba's own way takes a reference to `numpy.ndarray` for every array, which shows that it was asked for."""
    zeros = njit(lambda size: fresh((2, size), np.float64))
    assert zeros(3).shape == (2, 3) and zeros(3).dtype == np.float64 and zeros(3).flags.owndata is False
    before = sys.getrefcount(np.ndarray)
    for _ in range(1000):
        zeros(1)
    assert sys.getrefcount(np.ndarray) < before + 100


def test_a_kernel_is_another_when_a_module_that_it_calls_into_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "_SOURCES", tmp_path)
    (tmp_path / "rooms").mkdir()
    outer, inner, beside = tmp_path / "outer.py", tmp_path / "rooms" / "inner.py", tmp_path / "beside.py"
    outer.write_text("from scepter.middle import (\n    one,\n    two,\n)\nimport os\n")
    (tmp_path / "middle.py").write_text("from scepter.rooms import inner\nimport scepter.outer\n")  # in a circle, too
    inner.write_text("SIZE = 1\n")
    beside.write_text("from scepter.outer import three\n")

    def digest() -> str:
        compiled._read.cache_clear()
        return compiled.digest_behind(outer)

    first = digest()
    beside.write_text("")
    assert digest() == first
    inner.write_text("SIZE = 2\n")
    assert digest() != first
    compiled._read.cache_clear()


def test_numba_asks_for_what_stands_behind_a_kernel() -> None:
    kernel: Any = sweep.clear
    stamp = kernel._cache._impl.locator.get_source_stamp()
    assert stamp[1] == compiled.digest_behind(Path(sweep.__file__))
