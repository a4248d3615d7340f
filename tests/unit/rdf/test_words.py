"""Words, addresses and zeros, interpreted: as compiled, and within bounds."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

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
