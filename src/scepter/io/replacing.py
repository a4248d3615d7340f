"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from scepter.errors import option_error
from scepter.kept import open_named
from scepter.rdf.files import check_name


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Open a file that appears under its name only when all went well; an error or Ctrl-C leaves what was there before.

    A device or a pipe is written directly: it cannot be renamed.
    """
    try:
        target = path.resolve()
    except ValueError as error:  # a zero byte
        raise option_error("output-not-writable", f"--output {str(path)!r} cannot be written: {error}") from None
    check_name(str(target))
    if target.is_dir():
        raise option_error("output-is-a-folder", f"--output {path} is a folder", help="name a file in it")
    if target.exists() and not target.is_file():
        with open_named(target, shown=str(path)) as out:
            yield out
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        out = open_named(part, shown=str(path))
    except OSError as error:
        hint = None if target.parent.is_dir() else f"there is no folder {path.parent}; make it first"
        raise option_error("output-not-writable", f"--output {path} cannot be written: {error.strerror}", help=hint) from None
    try:
        with out:
            yield out
        part.replace(target)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
