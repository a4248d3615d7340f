"""Kernels that can be stopped: by a signal whose handler raises, because they have made more rows than a limit allows, or
because there is no memory for what grows.

Compiled code that raises lets go of none of the arrays it was given. So a kernel with much work asks `heed` now and then, and
`lacks` before what it makes grows, and returns when told to stop; what stopped it is raised here. What its operator keeps may
be half changed then.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scepter.errors import DataError, Diagnostic
from scepter.rdf.words import ERROR, MOST, STOPPED, STOPPED_BY_MEMORY, STOPPED_BY_SIGNAL

_NO_BOUND: Final = 2**62
_NO_ENDS: Final = np.empty(0, np.int64)
Ends: TypeAlias = Callable[[], tuple[NDArray[np.int64], ...]]
BY_INSTANT: Final[Ends] = tuple
_restore = ctypes.pythonapi.PyErr_Restore
_restore.argtypes, _restore.restype = [ctypes.c_void_p] * 3, None


class _Here(threading.local):
    """Of one thread: what its kernels look at (`heed`), and the rows that an operator may make at one instant."""

    def __init__(self) -> None:
        self.cells = np.zeros(ERROR + 3, np.int64)
        self.cells[MOST] = _NO_BOUND
        self.rows: int | None = None


_HERE: Final = _Here()


@contextmanager
def bounded_rows(most: int | None) -> Iterator[None]:
    """Within, an operator that makes more rows at one instant is stopped with an error; None: as before."""
    before = _HERE.rows
    _HERE.rows = before if most is None else most
    try:
        yield
    finally:
        _HERE.rows = before


def interruptible(kernel: Callable[..., Any], ends: Ends | None, *given: Any) -> Any:
    """What a kernel gives; its last argument is what it shows to `heed`. `ends` tells the ends of the rows at whose times it
    makes rows: with n instants it is stopped after n times as many rows as one may have, since then one of them has more.
    `BY_INSTANT`: it counts those of one instant alone. None: it makes rows for times of its own, and may make any."""
    cells = _HERE.cells
    if cells[STOPPED]:  # what stopped the kernel before was not raised: something interrupted that, too
        with suppress(BaseException):
            _raise(cells)
    most = _HERE.rows
    if most is None or ends is None:
        cells[MOST] = _NO_BOUND
    else:
        instants = len(np.unique(np.concatenate([_NO_ENDS, *ends()])))
        cells[MOST] = min(most * max(1, instants), _NO_BOUND)
    found = kernel(*given, cells)
    if cells[STOPPED]:
        _raise(cells)
    return found


def _raise(cells: NDArray[np.int64]) -> None:
    stopped, cells[STOPPED] = cells[STOPPED], 0
    if stopped == STOPPED_BY_SIGNAL:
        _restore(*cells[ERROR:].tolist())  # and ctypes raises it
    if stopped == STOPPED_BY_MEMORY:
        raise MemoryError
    raise DataError(
        Diagnostic(
            "max-runs",
            f"an operator makes more than {_HERE.rows} rows at one instant",
            help="narrow the query (windows, conditions), or raise --max-runs",
        )
    )
