from __future__ import annotations

import numpy as np
import pytest

from scepter.rdf.arena import TextArena
from scepter.rdf.terms import BlankNode, Literal

TEXTS = ["<http://e/a>", '"x"@en', "_:b1xq", '"é\\"☃"', '"5"^^<http://www.w3.org/2001/XMLSchema#integer>', "_:b2xq.r", '""']


def test_texts_come_back() -> None:
    arena = TextArena()
    refs = arena.append_terms(TEXTS)
    assert [arena.text(int(ref)) for ref in refs] == TEXTS
    assert arena.term(int(refs[1])) == Literal("x", "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString", "en")
    assert arena.term(int(refs[2])) == BlankNode("b1xq")
    assert arena.term(int(refs[2])) is arena.term(int(refs[2]))


def test_buffers_share_one_space_of_refs() -> None:
    arena = TextArena()
    first = arena.append_terms(TEXTS[:2])
    text = b"<a:s> <a:p> _:x.<a:g>.\n"
    base = arena.add_buffer(np.frombuffer(text, dtype=np.uint8))
    later = arena.append_terms(TEXTS[2:])
    assert arena.text(base + 6) == "<a:p>"
    assert arena.text(base + 12) == "_:x"
    assert [arena.text(int(ref)) for ref in (*first, *later)] == TEXTS
    assert arena.size == sum(len(t.encode()) + 1 for t in TEXTS) + len(text)


def test_compaction_keeps_exactly_what_is_referred_to() -> None:
    arena = TextArena()
    arena.add_buffer(np.frombuffer(b"filler " * 1000, dtype=np.uint8))
    refs = arena.append_terms(TEXTS)
    arena.add_buffer(np.empty(0, dtype=np.uint8))
    more = arena.append_terms(["<http://e/more>"])
    wanted = np.array([[refs[3], -1, refs[0]], [more[0], refs[3], refs[2]]])
    compact, moved = arena.compact(wanted)
    assert moved.shape == wanted.shape
    assert moved[0, 1] == -1
    assert moved[0, 0] == moved[1, 1]
    texts = [compact.text(int(ref)) for ref in moved.ravel() if ref >= 0]
    assert texts == [TEXTS[3], TEXTS[0], "<http://e/more>", TEXTS[3], TEXTS[2]]
    assert compact.size == sum(len(t.encode()) + 1 for t in {*texts})
    again, same = compact.compact(moved)
    assert again.size == compact.size
    assert (same == moved).all()


def test_nothing_compacts_to_nothing() -> None:
    compact, moved = TextArena().compact(np.array([-1, -1]))
    assert compact.size == 0
    assert moved.tolist() == [-1, -1]
    assert TextArena().compact(np.empty(0, dtype=np.int64))[1].tolist() == []


def test_bytes_round_trip() -> None:
    arena = TextArena()
    refs = arena.append_terms(TEXTS)
    compact, moved = arena.compact(refs)
    restored = TextArena.from_bytes(compact.to_bytes())
    assert [restored.text(int(ref)) for ref in moved] == TEXTS
    assert restored.to_bytes() == compact.to_bytes()
    with pytest.raises(ValueError, match="no text arena"):
        TextArena.from_bytes(b"XXXX")


def test_refs_beyond_the_arena_are_errors() -> None:
    arena = TextArena()
    arena.append_terms(TEXTS)
    for ref in (-1, arena.size, arena.size + 100):
        with pytest.raises(IndexError):
            arena.text(ref)
    with pytest.raises(IndexError):
        arena.compact(np.array([arena.size]))
    with pytest.raises(IndexError):
        TextArena().text(0)


def test_the_cache_is_bounded() -> None:
    arena = TextArena()
    refs = arena.append_terms([f"<http://e/{i}>" for i in range(70_000)])
    assert str(arena.term(int(refs[0]))) == "<http://e/0>"
    for ref in refs.tolist():
        arena.term(ref)
    assert str(arena.term(int(refs[69_999]))) == "<http://e/69999>"
