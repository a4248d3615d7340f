"""Small input of a fresh installation is read by interpreted kernels: compiling takes some 12 seconds of CPU, once, and what is
small is answered before that.

The kernels are Python that numba compiles; left alone, they are Python. The answers are the same
(`tests/conformance/test_interpreted.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path
from typing import Final

from scepter.compiled import INTERPRETED, are_kept

SMALL: Final = 100_000
"""Bytes that interpreted kernels read in about the time in which compiled ones are loaded (docs/benchmarks/start-up.md)."""
_COMMANDS: Final = ("run", "explain", "compare", "test")
_ELSEWHERE: Final = ("--follow", "--master", "--checkpoint", "spark", "both", "--engine=spark", "--engine=both")
"""Words of a command that leaves this process, or does not end."""


def choose_kernels(words: Sequence[str]) -> None:
    """Have kernels interpreted in this process if the command's files are small and none was compiled before. Only before
    numba is loaded, which asks once; only where the user has not decided."""
    if INTERPRETED in os.environ or "numba" in sys.modules or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    if is_small(words) and not are_kept():
        os.environ[INTERPRETED] = "1"


def is_small(words: Sequence[str]) -> bool:
    """Whether a command reads only files that are small together. It is told by its words, before what can read them is
    loaded: a word may be a file, or end with one behind `=`.

    >>> is_small(["run", "q.spaseq", "--stream", "S=-"]), is_small(["bench"])
    (False, False)
    """
    if not words or words[0] not in _COMMANDS or any(word in _ELSEWHERE or word.endswith("=-") for word in words):
        return False
    if words[0] == "test" and not any(word in ("local", "--engine=local") for word in words):
        return False  # both engines, by default
    size = 0
    for file in _files(words[1:]):
        size += file.stat().st_size if file.is_file() else SMALL  # a pipe, a table's folder: nobody knows
        if size >= SMALL or file.suffix.lower() in (".gz", ".parquet"):
            return False
    return size > 0


def _files(words: Sequence[str]) -> Iterator[Path]:
    for word in words:
        for given in {word, word.rpartition("=")[2]}:
            for place in map(Path, glob(given)):  # noqa: PTH207 - absolute ones too
                yield from (file for file in place.rglob("*") if not file.is_dir()) if place.is_dir() else [place]
