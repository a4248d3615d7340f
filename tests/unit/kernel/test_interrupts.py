"""Kernels that are stopped: by what a signal's handler raises, or by their rows; nothing of it is left for the next one."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest
from numba import njit

from scepter.errors import DataError
from scepter.kernel.interrupts import BY_INSTANT, bounded_rows, interruptible
from scepter.rdf.words import heed


@njit
def count_to(most, given, cells):  # type: ignore[no-untyped-def]
    """Makes so many rows, of a column that is only held."""
    for made in range(most):
        if heed(cells, made):
            return made + 0 * given[0]
    return most


class Rang(Exception):
    """What the handler raises."""


@pytest.fixture
def ringing() -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise Rang

    before = signal.signal(signal.SIGALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


GIVEN = np.ones(1, np.int64)


def made(most: int, ends: Any = BY_INSTANT) -> int:
    found: int = interruptible(count_to, ends, most, GIVEN)
    return found


@pytest.mark.usefixtures("ringing")
def test_what_a_handler_raises_is_raised_behind_the_kernel_and_what_it_was_given_is_free() -> None:
    assert made(5) == 5
    column = np.ones(1000, np.int64)
    held = sys.getrefcount(column)
    for _ in range(3):
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Rang):
            interruptible(count_to, None, 10**15, column)
    assert sys.getrefcount(column) == held
    assert made(5) == 5


def test_rows_of_one_instant_or_of_as_many_as_there_are() -> None:
    ends = np.array([7, 7, 8, 9, 9])
    assert made(1000) == 1000
    with bounded_rows(10):
        assert made(10) == made(11) - 1 == 10  # it looks before each row
        for instants, most in (((), 10), ((ends[:2],), 10), ((ends,), 30), ((ends, ends[::-1], ends + 1), 40)):
            assert made(most + 1, lambda: instants) == most + 1  # noqa: B023 - called at once
            with pytest.raises(DataError, match="an operator makes more than 10 rows at one instant") as caught:
                made(most + 2, lambda: instants)  # noqa: B023
            assert caught.value.code == "max-runs"
        assert made(1000, None) == 1000
        with bounded_rows(None), pytest.raises(DataError):
            made(1000)
        with bounded_rows(2**80):
            assert made(1000) == 1000
    assert made(1000) == 1000


def test_a_thread_has_its_own_bound() -> None:
    found: list[int] = []
    with bounded_rows(10):
        thread = threading.Thread(target=lambda: found.append(made(1000)))
        thread.start()
        thread.join()
    assert found == [1000]
