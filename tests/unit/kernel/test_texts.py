"""Views of texts: what a match keeps of them."""

from __future__ import annotations

import numpy as np
import pytest

from scepter.kernel.texts import FIXED, Texts, TextsView
from scepter.rdf.terms import Literal, Term, parse_term

SPELT = ["<urn:a>", '"b"@en', "<urn:a>", '"4"^^<urn:int>', "_:c"]
UNUSED = f'"{"x" * 9000}"'


def shown(view: TextsView, refs: list[int], ids: list[int]) -> list[Term]:
    return [view.term(ref, id) for ref, id in zip(refs, ids, strict=True)]


@pytest.mark.parametrize("unused", [0, 1], ids=["shared", "copied"])
def test_a_view_stays_as_it_is(unused: int) -> None:
    texts = Texts()
    texts.append([UNUSED] * unused)
    refs = texts.append(SPELT)
    fixed = texts.append_fixed(["<urn:fixed>"])
    ids = np.array([1, 2, 1, 4, 5, 6], np.uint64)
    held = np.concatenate([refs, fixed])
    view, moved, names = texts.table_view(ids.reshape(-1, 1), held.reshape(-1, 1), np.array([refs[0], -1]))
    wanted = [parse_term(text) for text in [*SPELT, "<urn:fixed>"]]
    # what the run does with its texts, and with the refs it holds, does not concern the view
    held[:] = texts.compact(held)[::-1]
    texts.append(["<urn:new>"] * 3)
    texts.forget()
    assert shown(view, moved[:, 0].tolist(), [1, 2, 1, 4, 5, 6]) == wanted
    assert shown(view, names[:1].tolist(), [9]) == wanted[:1]
    assert names[1] == -1


def test_few_terms_do_not_keep_all_texts_alive() -> None:
    texts = Texts()
    texts.append([UNUSED] * 100)
    refs = texts.append(["<urn:a>"])
    view, moved, _ = texts.table_view(np.array([[1]], np.uint64), refs.reshape(1, 1), np.empty(0, np.int64))
    buffer, _ = view.texts(moved[0])
    assert len(buffer) < 100
    assert view._live.size < 100


def test_texts_of_some_terms_are_cut_out_of_many_buffers() -> None:
    texts = Texts()
    refs = np.concatenate([texts.append([f'"{i}"']) for i in range(5)] + [texts.append_fixed(['"fixed"'])])
    assert refs[-1] >= FIXED
    view, moved, _ = texts.table_view(np.arange(1, 7, dtype=np.uint64)[:, None], refs[:, None], np.empty(0, np.int64))
    chosen = moved[[5, 3, 1, 3], 0]
    buffer, places = view.texts(chosen)
    spelt = [buffer[at : at + 8].tobytes().split(b"\n")[0].decode() for at in places.tolist()]
    assert [parse_term(text) for text in spelt] == [Literal("fixed"), Literal("3"), Literal("1"), Literal("3")]
