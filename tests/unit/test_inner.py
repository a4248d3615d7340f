from __future__ import annotations

from typing import Any

import pytest
from numba import njit

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
    import os

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
