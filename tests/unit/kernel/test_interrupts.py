"""Kernels that are stopped: by what a signal's handler raises, or by their rows; nothing of it is left for the next one."""

from __future__ import annotations

import signal
import subprocess
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
from scepter.rdf.words import fresh, heed, lacks


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


@njit
def grow_to(most, given, cells):  # type: ignore[no-untyped-def]
    """Makes a column that is doubled until it is so long."""
    made = fresh(1, np.uint8)
    while len(made) < most:
        if lacks(cells, 2 * len(made)):
            return made[:0]
        made = fresh(2 * len(made), np.uint8)
    return made[: len(given)]


def test_what_lacks_memory_is_raised_behind_the_kernel_and_what_it_was_given_is_free() -> None:
    column = np.ones(1000, np.int64)
    held = sys.getrefcount(column)
    assert len(interruptible(grow_to, None, 1 << 20, column)) == 1000
    for _ in range(3):
        with pytest.raises(MemoryError):
            interruptible(grow_to, None, 1 << 60, column)
    assert sys.getrefcount(column) == held
    assert len(interruptible(grow_to, None, 1 << 20, column)) == 1000


LEAKING = """
import sys
import numpy as np
import scepter
from numba.core.runtime import _nrt_python
from scepter.runtime.work import WorkLimits, watched

QUERIES = {
    "spaseq": "PREFIX : <http://e/> SELECT ?x WITHIN 5 FROM STREAM S <http://e/s> "
    "WHERE { SEQ (A) DEFINE GPM A ON S { ?x :a ?v . ?y :a ?w . ?z :a ?u . ?p :a ?q } }",
    "ep-sparql": "PREFIX : <http://e/> SELECT ?x WHERE { { ?x :a ?v } SEQ { ?y :b ?w } }",
    "sparkwave": "PREFIX : <http://e/> SELECT ?x FROM STREAM <http://e/s> [RANGE 100] WHERE { ?x :a ?v . ?y :a ?w . ?z :a ?u }",
    "spaseq any": "PREFIX : <http://e/> SELECT ?x WITHIN 5000 FROM STREAM S <http://e/s> "
    "WHERE { SEQ (A : B) DEFINE GPM A ON S { ?x :a ?v } DEFINE GPM B ON S { ?y :b ?w } }",
}
query = scepter.parse(QUERIES[sys.argv[1]], language=sys.argv[1].split()[0])


def events(count, other, when):
    text = "\\n".join(f"<http://e/x{i}> <http://e/a> {i} ." for i in range(count))
    more = "\\n".join(f"<http://e/x{i}> <http://e/b> {i} ." for i in range(other))
    return [scepter.Event("http://e/s", text, when), scepter.Event("http://e/s", more or text, when + 1)]


def one(count, other, limit):
    try:
        scepter.run_local(query, events(count, other, 1), max_memory=limit)
    except scepter.DataError as error:
        return error.code


def held():
    import gc
    gc.collect()
    return _nrt_python.memsys_get_stats_mi_alloc() - _nrt_python.memsys_get_stats_mi_free()


_nrt_python.memsys_enable_stats()
one(3, 3, None)
one(*map(int, sys.argv[2:]), "200 MB")
before = held()
codes = {one(*map(int, sys.argv[2:]), "200 MB") for _ in range(4)}
print(codes, held() - before)
"""


@pytest.mark.parametrize(
    ("query", "sizes"),
    [("spaseq", (90, 0)), ("ep-sparql", (9_000, 9_000)), ("sparkwave", (500, 0)), ("spaseq any", (9_000, 9_000))],
)
def test_kernels_that_memory_ends_keep_nothing(query: str, sizes: tuple[int, int]) -> None:
    given = [sys.executable, "-c", LEAKING, query, *map(str, sizes)]
    told = subprocess.run(given, capture_output=True, text=True, check=True).stdout
    assert told.strip() == "{'max-memory'} 0"
