from __future__ import annotations

import os
import sys
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from scepter.compiled import INTERPRETED
from scepter.inner import inlined, inner, shared


@inner
def _twice(number: int) -> int:
    return 2 * number


@inner
def _four_times(number: int) -> int:
    return _twice(_twice(number))


@inner
def _half(number: int) -> float:
    return number / 2


def _kernel() -> Any:
    return njit(lambda number: _four_times(number) + _half(number))


def test_a_kernel_calls_inner_functions_that_call_others() -> None:
    assert _kernel()(5) == 22.5


def test_inner_functions_of_one_signature_stay_apart() -> None:
    assert njit(lambda number: (_twice(number), _four_times(number)))(3) == (6, 12)


def test_an_error_in_an_inner_function_is_raised() -> None:
    @inner
    def share(number: int) -> float:
        return 1 / number

    kernel = njit(lambda number: share(number))
    with pytest.raises(ZeroDivisionError):
        kernel(0)


def test_nothing_is_made_of_an_inner_function_but_text(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.environ.get(INTERPRETED, "0") not in ("", "0"):
        pytest.skip("kernels are interpreted")
    from numba.core import codegen

    optimised: list[str] = []
    whole = codegen.CPUCodeLibrary._optimize_final_module

    def noted(library: Any) -> None:
        optimised.append(library.name)
        whole(library)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(codegen.CPUCodeLibrary, "_optimize_final_module", noted)

    @inner
    def thrice(number: int) -> int:
        return 3 * number

    assert njit(lambda number: thrice(number))(2) == 6
    assert [name for name in optimised if "thrice" in name] == []
    assert [name for name in optimised if "lambda" in name] != []


def test_python_calls_no_inner_function() -> None:
    _kernel()(5)
    if hasattr(_twice, "overloads"):
        with pytest.raises(TypeError, match="not tuple"):
            _twice(4)
        with pytest.raises(TypeError):  # of a signature that no kernel has used
            _twice(0.5)  # type: ignore[arg-type]


def test_a_kernel_calls_an_inlined_function() -> None:
    @inlined
    def share(number: int) -> float:
        return _twice(number) / (number - 3)

    kernel = njit(lambda number: share(number) + share(number + 1))
    assert kernel(5) == 9.0
    with pytest.raises(ZeroDivisionError):
        kernel(3)


@shared
def _thrice(number: int) -> int:
    return 3 * number


def test_python_and_kernels_call_a_shared_function() -> None:
    assert _thrice(4) == 12
    assert njit(lambda number: _thrice(number) + _four_times(number))(2) == 14


def test_of_a_shared_function_kernels_take_the_text() -> None:
    compiled = getattr(_thrice, "_kernel", None)
    if compiled is None:
        pytest.skip("kernels are interpreted")
    before = len(compiled.overloads)
    assert njit(lambda number: _thrice(number))(0.5) == 1.5
    assert len(compiled.overloads) == before  # nothing was made for Python


class _Side(NamedTuple):
    keys: NDArray[np.int64]
    rows: NDArray[np.int64]


@inner
def _sum_of(side, row):  # type: ignore[no-untyped-def]
    return side.keys[row] + side.rows[row]


@inner
def _row_of(side, key):  # type: ignore[no-untyped-def]
    place = 0
    while True:
        if place == len(side.keys):
            return -1
        if side.keys[place] == key:
            return _sum_of(side, place) - key  # numba itself counts nothing where nothing is called
        place += 1


@inner
def _keys_of(side):  # type: ignore[no-untyped-def]
    return side.keys


@inner
def _behind(side, row):  # type: ignore[no-untyped-def]
    return side.keys[row:]


@inner
def _sum_behind(side, row):  # type: ignore[no-untyped-def]
    found = 0
    for key in side.keys[row:]:
        found += key
    return found


@inner
def _copied(side):  # type: ignore[no-untyped-def]
    return side.keys.copy()


@inner
def _first_of_copy(side):  # type: ignore[no-untyped-def]
    made = side.keys.copy()
    made[0] += 1
    return made[0]


def _sums(side):  # type: ignore[no-untyped-def]
    found = 0
    for row in range(len(side.keys)):
        found += _sum_of(side, row) + _row_of(side, row) + _sum_behind(side, row) + _first_of_copy(side)
    return found


def _both(side):  # type: ignore[no-untyped-def]
    return _keys_of(side), _behind(side, 1), _copied(side)


def test_what_only_looks_at_arrays_does_not_count_them() -> None:
    if os.environ.get(INTERPRETED, "0") not in ("", "0"):
        pytest.skip("kernels are interpreted")
    side = _Side(np.arange(5), np.arange(5))

    def calls(function: Any) -> int:
        njit(lambda side, row: function(side, row))(side, 1)
        return sum(made.library.get_llvm_str().count("call void @NRT_incref") for made in function.overloads.values())

    assert calls(_row_of) == 0
    assert calls(_sum_behind) == 0
    assert calls(_behind) > 0  # which hands one on


def test_arrays_are_let_go_when_nobody_holds_them_and_not_before() -> None:
    sums, both = njit(_sums), njit(_both)
    keys, rows = np.arange(5), np.arange(5)
    side = _Side(keys, rows)
    held = sys.getrefcount(keys), sys.getrefcount(rows)
    for _ in range(100):
        assert sums(side) == 75
        own, behind, copied = both(side)
        assert own.tolist() == copied.tolist() == [0, 1, 2, 3, 4]
        assert behind.tolist() == [1, 2, 3, 4]
        del own, behind, copied
    assert (sys.getrefcount(keys), sys.getrefcount(rows)) == held
    gone = weakref.ref(keys)
    behind = both(side)[1]
    del keys, side
    assert behind.tolist() == [1, 2, 3, 4]
    assert gone() is not None
    del behind
    assert gone() is None
