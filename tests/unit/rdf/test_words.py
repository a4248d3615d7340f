"""Words, addresses and zeros, interpreted: as compiled, and within bounds."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from numba import njit, types
from numba.core.runtime import _nrt_python, rtsys  # type: ignore[attr-defined]

from scepter.inner import inner
from scepter.kernel.interrupts import interruptible
from scepter.rdf import words


@njit
def _compiled(data, at):  # type: ignore[no-untyped-def]
    word = words.load_word(data, at)
    return word, words.trailing_zeros(word), words.load_word(words.pointer(data, 1), at)


@pytest.mark.parametrize("at", [0, 1, 5, 7])
def test_as_compiled(at: int) -> None:
    data = np.random.default_rng(at).integers(0, 256, 16).astype(np.uint8)
    word = words.word_at(data, at)
    assert _compiled(data, at) == (word, words.zeros_behind(word), words.word_at(words.view_from(data, 1), at))


def test_out_of_bounds() -> None:
    with pytest.raises(IndexError):
        words.word_at(np.zeros(9, np.uint8), 10)
    with pytest.raises(IndexError):
        words.view_from(np.zeros((2, 2), np.uint8), 3)[1]


@njit
def _columns(rows):  # type: ignore[no-untyped-def]
    made = words.zeroed(rows, np.int64), words.zeroed((rows, 2), np.bool_), words.fresh(rows, np.float64)
    table = words.fresh((rows, 3), np.uint64)
    for i in range(rows):
        made[2][i] = i
        for j in range(3):
            table[i, j] = i * j
    return made, table


def test_new_columns() -> None:
    for rows in (0, 1, 1000):
        (zeros, flags, numbers), table = _columns(rows)
        assert zeros.dtype == np.int64 and zeros.tolist() == [0] * rows
        assert flags.dtype == np.bool_ and flags.shape == (rows, 2) and not flags.any()
        assert numbers.tolist() == list(range(rows))
        assert table.dtype == np.uint64 and table.tolist() == [[0, i, 2 * i] for i in range(rows)]
        assert table.flags.c_contiguous


def test_a_column_beyond_all_memory_is_an_error() -> None:
    wide = njit(lambda rows: words.fresh((rows, rows), np.int64))
    with pytest.raises((MemoryError, ValueError)):
        wide(1 << 40)


@njit
def _endless(size, cells):  # type: ignore[no-untyped-def]
    one, other = words.fresh(size, np.int64), words.zeroed((size, 2), np.int64)
    while not words.heed(cells, 0):
        other[0, 0] += 1
    return one, other


@inner
def _until_told(column, cells):  # type: ignore[no-untyped-def]
    while not words.heed(cells, 0):
        column[0] += 1


@njit
def _endless_within(size, cells):  # type: ignore[no-untyped-def]
    column = words.zeroed(size, np.int64)
    _until_told(column, cells)
    return column


class _RungError(Exception):
    pass


@pytest.mark.parametrize("endless", [_endless, _endless_within])
def test_a_kernel_hears_signals_and_lets_go_of_its_columns(endless: Any) -> None:
    endless.compile((types.int64, types.int64[::1]))  # an error in the middle of compiling leaves LLVM's modules half made

    def ring(number: int, frame: object) -> None:
        raise _RungError

    _nrt_python.memsys_enable_stats()
    before = signal.signal(signal.SIGALRM, ring)
    try:
        for _ in range(3):
            kept = rtsys.get_allocation_stats()  # type: ignore[no-untyped-call]
            with pytest.raises(_RungError):
                signal.setitimer(signal.ITIMER_REAL, 0.1)
                interruptible(endless, None, 1_000)
            now = rtsys.get_allocation_stats()  # type: ignore[no-untyped-call]
            assert now.alloc - now.free == kept.alloc - kept.free
    finally:
        signal.signal(signal.SIGALRM, before)
        _nrt_python.memsys_disable_stats()
