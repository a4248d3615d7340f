"""Where compiled kernels are kept, and which of them are believed.

On machines that give numba no place (a read-only installation, no home folder) they are kept among the temporary files. Numba
reads its files back by pickle, which runs what stands there: none is read that another user could have written, and one that
is torn counts as missing. Kernels of another version or another kind of processor numba tells apart itself.
"""

from __future__ import annotations

import gc
import hashlib
import os
import re
import stat
import sys
import tempfile
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import Any

from scepter.kept import own_file, write_whole

INTERPRETED = "NUMBA_DISABLE_JIT"
"""Set, it leaves kernels to Python's interpreter."""
_SOURCES = Path(__file__).parent
_IMPORTED = re.compile(rb"^(?:from|import) (scepter[\w.]*)(?: import (\([^)]*\)|[^\n]*))?", re.MULTILINE)
_NAME = re.compile(rb"\w+")
_STAMP = f"scepter.py{sys.version_info.major}{sys.version_info.minor}"
"""The file among the kernels that says for which sources a run has compiled all that it needed."""


def are_kept() -> bool:
    """Whether an earlier run, of this version and this Python, has gone to its end with compiled kernels: one that was stopped
    while it compiled does not count. It is a guess for the sake of speed: numba looks closely when it loads them."""
    try:
        return (place() / _STAMP).read_text("utf-8") == _of_sources()
    except (OSError, UnicodeDecodeError):
        return False


def remember() -> None:
    """A run has gone to its end: if its kernels were compiled ones, they are kept now."""
    if os.environ.get(INTERPRETED, "0") != "0" or are_kept():
        return
    with suppress(OSError):
        place().mkdir(parents=True, exist_ok=True)
        write_whole(place() / _STAMP, _of_sources().encode())


def _of_sources() -> str:
    """What tells these sources from those of another version: numba, too, looks at their times."""
    status = (_SOURCES / "rdf" / "hashing.py").stat()
    return f"{status.st_mtime_ns} {status.st_size}"


def place() -> Path:
    """Where kernels are kept: those of `rdf/`, and the stamp."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    beside = _SOURCES / "rdf" / "__pycache__"
    return Path(given) if given else beside if _writable(beside) else _users_cache() / "numba"


def choose_place() -> None:
    """Give numba a folder of the user's own among the temporary files where it would find none, and refuse to start. A folder
    that somebody else could have filled is not taken: kernels would be compiled into one that lasts as long as this process."""
    if os.environ.get("NUMBA_CACHE_DIR") or "numba" in sys.modules:
        return
    beside = all(_writable(_SOURCES / room / "__pycache__") for room in ("rdf", "kernel"))
    if beside or _writable(_users_cache() / "numba"):
        return
    os.environ["NUMBA_CACHE_DIR"] = str(_own(Path(tempfile.gettempdir()) / f"scepter-kernels-{_user()}"))


def doubt_files() -> None:
    """Have numba believe only files of kernels that are the user's own and whole; what is in doubt it compiles again."""
    from numba.core import caching

    class OwnFiles(caching.IndexDataCacheFile):
        """The files of one kernel: an index of its signatures, and a file for each."""

        def _load_index(self) -> Any:
            if not _is_own(self._index_path):
                return {}
            try:
                return super()._load_index()  # type: ignore[no-untyped-call]
            except Exception:  # a torn pickle may raise anything
                return {}

        def _load_data(self, name: str) -> Any:
            path = self._data_path(name)  # type: ignore[no-untyped-call]
            if not _is_own(path):
                raise OSError(f"{path} is not the user's own")  # which numba takes for a file that is gone
            try:
                return super()._load_data(name)  # type: ignore[no-untyped-call]
            except Exception as error:
                raise OSError(f"{path} is torn") from error

    caching.IndexDataCacheFile = OwnFiles  # type: ignore[misc]


def look_behind_imports() -> None:
    """Have numba tell kernels apart by the sources of all that they may call. It looks at the file that a kernel stands in, and
    what is compiled into it stands in others: after an upgrade, an old kernel would be handed arrays of a new layout."""
    from numba.core.caching import _SourceFileBackedLocatorMixin as Locator

    stamp: Callable[[Any], Any] = Locator.get_source_stamp

    def stamped(locator: Any) -> Any:
        path = Path(locator._py_file)
        return (stamp(locator), digest_behind(path)) if path.is_relative_to(_SOURCES) else stamp(locator)

    Locator.get_source_stamp = stamped  # type: ignore[method-assign]


def digest_behind(path: Path) -> str:
    """What tells a module, and all of this package that it imports, from other versions of them."""
    begin = str(path)
    found, pending = {begin}, [begin]
    while pending:
        new = _read(pending.pop())[1] - found
        found |= new
        pending += new
    return hashlib.sha256(b"".join(_read(each)[0] for each in sorted(found))).hexdigest()


@cache
def _read(path: str) -> tuple[bytes, frozenset[str]]:
    """The digest of a module, and the modules of this package that it imports. Every start reads some 160 modules for all its
    kernels, so that paths are plain strings here."""
    source = Path(path).read_bytes()
    sources = str(_SOURCES)
    imported = set()
    for module, names in _IMPORTED.findall(source):
        room = sources + module.decode().removeprefix("scepter").replace(".", os.sep)
        imported |= {f"{room}.py", *(f"{room}{os.sep}{name.decode()}.py" for name in _NAME.findall(names))}
    return hashlib.sha256(source).digest(), frozenset((imported & _modules(sources)) - {path})


@cache
def _modules(sources: str) -> frozenset[str]:
    """The files of this package's modules."""
    return frozenset(map(str, Path(sources).rglob("*.py")))


def spare_collections() -> None:
    """Have nothing collected while numba compiles: it makes objects by the million, most of which stay, and to look through
    them again and again takes a tenth of its time."""
    from numba.core import event

    class Compiling(event.Listener):
        def __init__(self) -> None:
            self.depth = 0
            self.collected = False

        def on_start(self, started: Any) -> None:
            if self.depth == 0:
                self.collected = gc.isenabled()
                gc.disable()
            self.depth += 1

        def on_end(self, ended: Any) -> None:
            self.depth -= 1
            if self.depth == 0 and self.collected:
                if not gc.get_freeze_count():
                    # what is young counts as old from here on, unseen: the first collection would go through all of it
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()

    event.register("numba:compile", Compiling())  # type: ignore[no-untyped-call]


def spare_lookups() -> None:
    """Have numba find the type of an operation once while it compiles a kernel. It tries every meaning that `+` or `[]` has,
    those of strings and dates too, anew at each place where it stands and for each number that stands beside it: a third of its
    time. That a number is written out counts only where a meaning asks for it."""
    from numba.core import event, types
    from numba.core.types.functions import BaseFunction

    look_up = BaseFunction.get_call_type
    plain = (types.Number, types.Boolean, types.CPointer, types.Array, types.BaseTuple, types.SliceType)
    known: dict[tuple[Any, Any], Any] = {}

    class Compiling(event.Listener):
        depth = 0

        def on_start(self, started: Any) -> None:
            self.depth += 1

        def on_end(self, ended: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                known.clear()  # a program may give an operator another meaning before the next kernel

    compiling = Compiling()

    def found(function: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not compiling.depth or not all(isinstance(each, plain) for each in args):
            return look_up(function, context, args, kws)
        signature = known.get((function, args))
        if signature is None:
            wide = args if any(each.prefer_literal for each in function.templates) else tuple(map(types.unliteral, args))
            signature = known.get((function, wide)) or look_up(function, context, wide, kws)
            known[function, wide] = known[function, args] = signature
        return signature

    BaseFunction.get_call_type = found  # type: ignore[method-assign, assignment]
    event.register("numba:compile", compiling)  # type: ignore[no-untyped-call]


def spare_events() -> None:
    """Have numba not tell of each of some 35,000 calls of LLVM that it begins and ends: nobody listens."""
    from llvmlite.binding import ffi  # type: ignore[import-untyped]

    for told in list(ffi.lib._lock._cblist):
        ffi.unregister_lock_callback(*told)


def spare_colours() -> None:
    """Have numba not set up the terminal for each exception that it makes, and mostly catches itself, where colorama is
    installed: a tenth of its time. The texts keep their colours; only a Windows console has to be set up for them."""
    from numba.core import errors

    if hasattr(errors, "ColorShell") and os.name != "nt":
        errors.ColorShell = nullcontext


def spare_pickles() -> None:
    """Have a kernel that gives an array back find `numpy.ndarray` among its constants. Numba has it pickled in the code, and
    asks Python to unpickle it for every array: half of what an array costs that is given back."""
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.core import cgutils, types
    from numba.core.pythonapi import PythonAPI
    from numba.np import numpy_support

    box, number = PythonAPI.from_native_value, ir.IntType(32)

    def boxed(api: Any, kind: Any, value: Any, constants: Any = None) -> Any:
        if type(kind) is not types.Array or constants is None:
            return box(api, kind, value, constants)  # type: ignore[no-untyped-call]
        of, told = (
            constants.read_const(constants.add_const(each)) for each in (kind.box_type, numpy_support.as_dtype(kind.dtype))
        )
        signature = ir.FunctionType(api.pyobj, [api.voidptr, api.pyobj, number, number, api.pyobj])
        adapt = api._get_function(signature, name="NRT_adapt_ndarray_to_python_acqref")
        address = cgutils.alloca_once_value(api.builder, value)  # type: ignore[no-untyped-call]
        address = api.builder.bitcast(address, api.voidptr)
        made = api.builder.call(adapt, [address, of, number(kind.ndim), number(int(kind.mutable)), told])
        api.context.nrt.decref(api.builder, kind, value)
        return made

    PythonAPI.from_native_value = boxed  # type: ignore[method-assign]


def spare_walks() -> None:
    """Have numba list the variables of an instruction at once. It asks every field of it, texts and places in the source too,
    by five questions and a list of its own, and asks again at every pass."""
    from numba.core import ir

    walk = ir.Inst._rec_list_vars
    without = frozenset((str, int, float, bool, type(None), ir.Loc))

    def listed(instruction: Any, value: Any) -> Any:
        kind = type(value)
        if kind is not dict and kind is not list and kind is not tuple:
            return walk(instruction, value)  # type: ignore[no-untyped-call]
        found = []
        for each in value.values() if kind is dict else value:
            kind = type(each)
            if kind is ir.Var:
                found.append(each)
            elif kind not in without:
                found += listed(instruction, each)
        return found

    ir.Inst._rec_list_vars = listed  # type: ignore[method-assign]


def settle() -> None:
    """Take what is loaded out of the garbage collector's sight, which would go through all of it again and again: numba, the
    grammars and the kernels are some 170,000 objects, 70 ms each time. For processes of Scepter's own: what is there now, and
    in cycles, is never freed."""
    gc.collect()
    gc.freeze()


def _is_own(path: str) -> bool:
    descriptor = own_file(Path(path))
    if descriptor is None:
        return False
    os.close(descriptor)
    return True


def _users_cache() -> Path:
    given = os.environ.get("XDG_CACHE_HOME")
    try:
        return Path(given) if given else Path.home() / ".cache"
    except RuntimeError:  # no home
        return Path(os.devnull)


def _writable(folder: Path) -> bool:
    """Whether files can be made in a folder, or it can be made."""
    here = next(place for place in (folder, *folder.parents) if place.exists())
    return here.is_dir() and os.access(here, os.W_OK | os.X_OK)


def _own(folder: Path) -> Path:
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
        if stat.S_ISDIR(status.st_mode) and status.st_uid == _user() and not status.st_mode & 0o022:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="scepter-kernels-"))


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0
