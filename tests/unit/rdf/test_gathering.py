"""A batch holds the texts of its own terms, each once, and nothing else of what was read."""

from __future__ import annotations

from batches import KEY, at_time, events_of, quad
from scepter.rdf.batch import EventBatch
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import NQuadsReader

PRICE, OTHER = "<http://e/price>", "<http://e/other>"


def event(number: int) -> str:
    name = f"e{number}"
    return (
        at_time(name, number)
        + quad(name, predicate=PRICE, object=f'"{number}"@en')
        + quad(name, predicate=OTHER, object='"left out"')
        + quad(name, "_:b", PRICE, '"say \\"x\\"\\n"')
    )


def read(text: str, predicates: frozenset[int] | None = None, size: int = 1 << 20) -> list[EventBatch]:
    letters: list[object] = []
    reader = NQuadsReader(KEY, 0, "s", letters.append, predicates=predicates, batch_bytes=size)
    data = text.encode()
    found = [reader.feed(data[at : at + size]) for at in range(0, len(data), size)] + [reader.finish()]
    assert letters == []
    return [batch for batch in found if batch is not None]


def test_pruned_text_is_gone_and_equal_terms_stand_once() -> None:
    [batch] = read("".join(map(event, range(50))), frozenset({term_id(KEY, PRICE)}))
    kept = batch.buffer.tobytes()
    assert b"left out" not in kept
    assert b"generatedAtTime" not in kept
    assert kept.count(PRICE.encode()) == 1
    assert kept.count(b"<http://e/s>") == 1
    assert kept.count(b"<http://e/e") == 50
    assert len(set(batch.predicate_at.tolist())) == 1


def test_what_was_read_before_stays_when_the_memory_is_used_again() -> None:
    text = "".join(map(event, range(300)))
    whole = events_of(read(text))
    assert len(whole) == 300
    for size in (64, 333, 4000):
        batches = read(text, size=size)
        assert len(batches) > 3
        assert events_of(batches) == whole


def test_terms_beyond_what_is_remembered_are_right_though_they_stand_twice() -> None:
    names = [f"<http://e/o{i % 9000}>" for i in range(18_000)]
    text = at_time("e", 1) + "".join(quad("e", f"<http://e/s{i}>", object=name) for i, name in enumerate(names))
    [(_, _, _, triples)] = events_of(read(text))
    assert [triple[2] for triple in triples] == names
