from __future__ import annotations

import random

import pytest

from batches import KEY, PROV, XSD, at_time, events_of, integer, quad, read, unsalted
from scepter.rdf.batch import DOUBLE, INEXACT, NOT_A_NUMBER, DeadLetter
from scepter.rdf.hashing import term_id
from scepter.rdf.nquads import NQuadsReader, ReadState
from scepter.rdf.scanner import decode_term
from scepter.rdf.terms import Literal
from scepter.timeline import TimeKind

TRIPLE = ("<http://e/s>", "<http://e/p>", "<http://e/o>")

BACKWARDS = f"<http://e/e1> <{PROV}startedAtTime> {integer(9)} .\n<http://e/e1> <{PROV}endedAtTime> {integer(1)} .\n"


def reasons(letters: list[DeadLetter]) -> list[tuple[int | None, str]]:
    return [(letter.line, letter.reason) for letter in letters]


def test_time_first_and_last() -> None:
    events, letters = read(at_time("e1", 10) + quad("e1") + quad("e2") + at_time("e2", 11))
    assert events == [(10, 10, "<http://e/e1>", [TRIPLE]), (11, 11, "<http://e/e2>", [TRIPLE])]
    assert not letters


def test_interval_of_two_time_lines() -> None:
    start = f"<http://e/e1> <{PROV}startedAtTime> {integer(10)} .\n"
    end = f"<http://e/e1> <{PROV}endedAtTime> {integer(12)} .\n"
    for text in (start + end + quad("e1"), quad("e1") + end + start, start + quad("e1") + end):
        assert read(text)[0] == [(10, 12, "<http://e/e1>", [TRIPLE])]


def test_date_times_are_microseconds() -> None:
    for datatype in ("dateTime", "dateTimeStamp"):
        time = f'"1970-01-01T00:00:01.5Z"^^<{XSD}{datatype}>'
        assert read(at_time("e1", time) + quad("e1"))[0][0][:2] == (1_500_000, 1_500_000)


def test_timestamped_triples_are_events_of_one_triple() -> None:
    line = f"<http://e/s> <http://e/p> <http://e/o> {integer(10)} .\n"
    events, letters = read(line + line)
    assert events == [(10, 10, None, [TRIPLE])] * 2
    assert not letters


STAMPS = [
    integer(10), integer(10), integer(1), integer(100), integer(101), f'"10"^^<{XSD}int>', f'"1\\u0030"^^<{XSD}integer>',
    f'"10"^^<{XSD}string>', f'"10"^^<{XSD}inte\\u0067er>', '"10"', '"10"@en', integer("9" * 20), "<http://e/g>",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_what_is_remembered_of_timestamped_triples_changes_nothing(seed: int) -> None:
    """Each line as it is read alone, whatever stood before it."""
    draw = random.Random(seed)
    kinds = [f"<http://e/{name}>" for name in ("p", "q", "p1", "\\u0070")]
    lines = [f"<http://e/{draw.choice('st')}> {draw.choice(kinds)} <http://e/o> {draw.choice(STAMPS)} .\n" for _ in range(60)]
    alone = [read(line) for line in lines]
    events, letters = read("".join(lines))
    stamped = [event for found, _ in alone for event in found]
    assert [event for event in events if event[2] is None] == stamped
    told = [letter.reason for letter in letters]
    refused = [letter.reason for _, found in alone for letter in found]
    # lines of a named graph that stand together are one event, which has no time
    assert [reason for reason in told if "without" not in reason] == [r for r in refused if "without" not in r]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (quad("e1"), 1, "without a time"),
        (at_time("e1", 10) + quad("e1") + at_time("e1", 11), 3, "two times"),
        (at_time("e1", 10) + f"<http://e/e1> <{PROV}startedAtTime> {integer(1)} .\n" + quad("e1"), 1, "two times"),
        (f"<http://e/e1> <{PROV}startedAtTime> {integer(1)} .\n" + quad("e1"), 1, "only one of"),
        (f"<http://e/e1> <{PROV}endedAtTime> {integer(1)} .\n" + quad("e1"), 1, "only one of"),
        (quad("e1") + BACKWARDS, 1, "ends before it starts"),
        (at_time("e1", 10), 1, "without triples"),
        (quad("e1") + at_time("e1", '"ten"'), 2, "neither an xsd:dateTime"),
        (quad("e1") + at_time("e1", "<http://e/ten>"), 2, "neither an xsd:dateTime"),
        (quad("e1") + at_time("e1", f'"1.0"^^<{XSD}decimal>'), 2, "neither an xsd:dateTime"),
        (quad("e1") + at_time("e1", integer("9" * 20)), 2, "64 bits"),
        ("<http://e/e1> <http://e/label> <http://e/x> .\n", 1, "outside every event"),
        ('<http://e/s> <http://e/p> <http://e/o> "x" .\n', 1, "neither an xsd:dateTime"),
    ],
)  # fmt: skip
def test_faulty_events_are_dead_letters_and_cost_nothing_else(text: str, line: int, reason: str) -> None:
    good = at_time("good", 5) + quad("good")
    events, letters = read(good + text + at_time("last", 6) + quad("last"))
    assert [event[2] for event in events] == ["<http://e/good>", "<http://e/last>"]
    assert len(letters) == 1
    assert letters[0].line == line + 2
    assert reason in letters[0].reason
    assert letters[0].source == "test.nq"
    assert letters[0].text == text.split("\n")[line - 1]


def test_the_first_kind_of_time_rules_the_run() -> None:
    stamp = f'"2026-01-01T00:00:00Z"^^<{XSD}dateTime>'
    run = ReadState()
    events, letters = read(at_time("e1", 1) + quad("e1") + at_time("e2", stamp) + quad("e2"), run=run)
    assert len(events) == 1
    assert run.kind is TimeKind.INTEGER
    assert reasons(letters) == [(3, "a dateTime among integer times, or an integer among dateTimes")]
    events, letters = read(at_time("e1", stamp) + quad("e1"), run=run)
    assert not events
    assert len(letters) == 1


def test_equal_times_given_twice_are_one_time() -> None:
    events, letters = read(at_time("e1", 10) + at_time("e1", integer("010")) + quad("e1"))
    assert len(events) == 1
    assert not letters


def test_a_broken_line_costs_only_itself() -> None:
    text = at_time("e1", 10) + quad("e1") + "<http://e/s> <http://e/p> .\n" + quad("e1", object='"second"')
    events, letters = read(text)
    assert [t[2] for t in events[0][3]] == ["<http://e/o>", '"second"']
    assert [letter.line for letter in letters] == [3]


def test_a_name_that_comes_back_is_a_new_event() -> None:
    text = quad("e1") + at_time("e1", 1) + quad("e2") + at_time("e2", 2) + quad("e1") + at_time("e1", 3)
    assert [(e[0], e[2]) for e in read(text)[0]] == [(1, "<http://e/e1>"), (2, "<http://e/e2>"), (3, "<http://e/e1>")]


def test_a_graph_is_a_set() -> None:
    once = at_time("e1", 10) + quad("e1") + quad("e1", object='"a"')
    doubled = once + quad("e1", object=r'"\u0061"') + quad("e1")
    assert read(doubled)[0] == read(once)[0]
    many = at_time("e1", 1) + "".join(quad("e1", object=integer(i % 40)) for i in range(200))
    assert len(read(many)[0][0][3]) == 40


def test_one_graph_name_in_two_spellings() -> None:
    text = at_time("e1", 10) + quad("e1") + quad(r"\u0065\u0031", object='"second"')
    events, letters = read(text)
    assert len(events) == 1
    assert len(events[0][3]) == 2
    assert not letters


def test_blank_nodes_join_within_an_event_only() -> None:
    lines = "".join(at_time(e, 1) + quad(e, "_:x", object="_:y") + quad(e, "_:y", object="_:x") for e in ("e1", "e2"))
    events, _ = read(lines)
    (x1, _, y1), (y1_again, _, x1_again) = events[0][3]
    assert (x1, y1) == (x1_again, y1_again)
    x2, _, y2 = events[1][3][0]
    assert len({x1, y1, x2, y2}) == 4
    run = ReadState()
    labels = [read(at_time("e1", 1) + quad("e1", "_:x"), run=run)[0][0][3][0][0] for _ in range(2)]
    assert labels[0] != labels[1]


def test_blank_graph_names() -> None:
    text = f"<http://e/s> <http://e/p> _:g _:g .\n_:g <{PROV}generatedAtTime> {integer(4)} .\n"
    events, letters = read(text)
    assert [(e[0], e[2]) for e in events] == [(4, "_:g")]
    assert not letters


def test_time_predicates_in_a_named_graph_are_ordinary() -> None:
    inner = quad("e1", "<http://e/e1>", f"<{PROV}generatedAtTime>", integer(99))
    events, _ = read(at_time("e1", 1) + inner)
    assert events[0][0] == 1
    assert len(events[0][3]) == 1


def test_pruning_keeps_events_and_checks_lines() -> None:
    text = "".join(
        at_time(f"e{i}", i)
        + quad(f"e{i}")
        + (quad(f"e{i}", predicate="<http://e/q>", object=integer(i)) if i % 2 else quad(f"e{i}", predicate="<bad>"))
        for i in range(6)
    )
    events, letters = read(text, predicates=frozenset({term_id(KEY, "<http://e/q>")}))
    assert [len(e[3]) for e in events] == [0, 1, 0, 1, 0, 1]
    assert len(letters) == 3
    events, _ = read(text, predicates=frozenset())
    assert [e[0] for e in events] == list(range(6))


def test_many_wanted_predicates() -> None:
    names = [f"<http://e/p{i}>" for i in range(100)]
    text = at_time("e", 1) + "".join(quad("e", predicate=name) for name in names)
    events, _ = read(text, predicates=frozenset(term_id(KEY, name) for name in names[::3]))
    assert [t[1] for t in events[0][3]] == names[::3]


def test_numbers_ride_beside_the_ids() -> None:
    given = {
        integer(3): (3.0, 0), f'"2.50"^^<{XSD}decimal>': (2.5, 1), f'"1e3"^^<{XSD}double>': (1000.0, DOUBLE),
        f'"0.8414709848078965"^^<{XSD}double>': (0.8414709848078965, DOUBLE), integer("1" * 25): (float("1" * 25), INEXACT),
        f'"x"^^<{XSD}integer>': (0.0, NOT_A_NUMBER), '"3"': (0.0, NOT_A_NUMBER), "<http://e/3>": (0.0, NOT_A_NUMBER),
        f'"\\u0034"^^<{XSD}byte>': (4.0, 0), f'"5"^^<{XSD}\\u0069nteger>': (5.0, 0), f'"9"^^<{XSD}\\u0069nt>': (9.0, 0),
        f'"{"7" * 17}\\u0037"^^<{XSD}double>': (float("7" * 18), DOUBLE),
    }  # fmt: skip
    letters: list[DeadLetter] = []
    reader = NQuadsReader(KEY, 0, "t", letters.append)
    reader.feed((at_time("e", 1) + "".join(quad("e", object=text) for text in given)).encode())
    batch = reader.finish()
    assert batch is not None
    assert not letters
    assert list(zip(batch.number.tolist(), batch.scale.tolist(), strict=True)) == list(given.values())


def sample(events: int = 40) -> bytes:
    rng = random.Random(7)
    parts = ["# a comment\n", "\n"]
    for i in range(events):
        name = f"e{i}"
        lines = [
            quad(name, object=rng.choice(['"é☃😀"@EN', "_:x", integer(i), r'"a\"\\b"', '"long ' + "x" * 300 + '"']))
            for _ in range(3)
        ]
        lines.insert(rng.choice([0, len(lines)]), at_time(name, i))
        if i % 7 == 3:
            lines.insert(1, rng.choice(["junk\n", "<a> <b:> <c:> .\n", '<a:b> <a:c> "x .\n', "\n", "#\n"]))
        if i % 11 == 5:
            lines = lines[:1]
        parts += lines
        if i % 5 == 0:
            parts.append(f"_:x <http://e/p> {integer(i)} {integer(i)} .\n")
    return "".join(parts).encode()


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64, 1000, 10**6])
@pytest.mark.parametrize("batch_bytes", [1, 500, 1 << 20])
def test_any_chunking_gives_the_same_events(chunk: int, batch_bytes: int) -> None:
    data = sample()
    assert read(data, chunk, batch_bytes=batch_bytes) == read(data)


def test_line_ends_of_every_kind() -> None:
    data = sample(20)
    plain = read(data)
    assert len(plain[0]) > 15
    assert read(data.replace(b"\n", b"\r\n")) == plain
    for chunk in (1, 5):
        assert read(data.replace(b"\n", b"\r\n"), chunk, batch_bytes=1) == plain
    assert read(data.replace(b"\n", b"\r")) == plain
    assert read(data.removesuffix(b"\n")) == plain


def test_byte_order_mark() -> None:
    text = at_time("e1", 1) + quad("e1")
    for chunk in (None, 1):
        events, letters = read(b"\xef\xbb\xbf" + text.encode(), chunk, batch_bytes=1)
        assert len(events) == 1
        assert not letters
    assert len(read(b"\n\xef\xbb\xbf" + text.encode())[1]) == 2, "a mark elsewhere is junk: the time line is lost"


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", b"# only a comment", b"   \t \n", b"\xef\xbb\xbf"])
def test_empty_files(data: bytes) -> None:
    assert read(data) == ([], [])


@pytest.mark.parametrize("seed", range(5))
def test_binary_junk_is_dead_letters(seed: int) -> None:
    junk = random.Random(seed).randbytes(20_000)
    data = (at_time("e1", 1) + quad("e1")).encode() + junk + b"\n" + (at_time("e2", 2) + quad("e2")).encode()
    events, letters = read(data)
    assert [event[2] for event in events] == ["<http://e/e1>", "<http://e/e2>"]
    assert letters
    assert read(data, 97, batch_bytes=1) == (events, letters)


def test_truncated_files_keep_what_is_whole() -> None:
    data = (at_time("e1", 1) + quad("e1") + at_time("e2", 2) + quad("e2", object='"abc"')).encode()
    for cut in range(len(data)):
        events, letters = read(data[:cut])
        assert len(events) <= 2
        assert len(letters) <= 2
        for event in events:
            assert event[3]


@pytest.mark.parametrize("escapes", [False, True])
def test_ten_megabyte_literals(escapes: bool) -> None:
    filler = "é plain text " * 100
    body = (filler + (r"\u00e9\"" if escapes else "é")) * 8_000
    text = at_time("e1", 1) + quad("e1", object=f'"{body}"') + at_time("e2", 2) + quad("e2")
    letters: list[DeadLetter] = []
    reader = NQuadsReader(KEY, 0, "t", letters.append)
    raw = text.encode()
    batches = [reader.feed(raw[i : i + (1 << 20)]) for i in range(0, len(raw), 1 << 20)]
    batches.append(reader.finish())
    found = [b for b in batches if b is not None]
    assert sum(b.events for b in found) == 2
    assert not letters
    term = decode_term(found[0].buffer, int(found[0].object_at[0]))
    assert isinstance(term, Literal)
    assert len(body) > 10_000_000
    assert term.lexical == (filler + ('é"' if escapes else "é")) * 8_000
    assert int(found[0].object[0]) == term_id(KEY, str(term))


def test_broken_giants_are_cut_in_dead_letters() -> None:
    _, letters = read('<http://e/s> <http://e/p> "' + "x" * 100_000 + "\n")
    assert len(letters) == 1
    assert len(letters[0].text) <= 1001


def test_huge_events_are_read_in_linear_time() -> None:
    lines = "".join(quad("e1", object=integer(i)) for i in range(10_000)).encode()
    data = at_time("e1", 1).encode() + lines
    events, letters = read(data, 4096, batch_bytes=1)
    assert len(events[0][3]) == 10_000
    assert not letters


def test_memory_is_released_event_by_event() -> None:
    reader = NQuadsReader(KEY, 0, "t", lambda letter: None, batch_bytes=1000)
    seen = 0
    for i in range(500):
        batch = reader.feed((at_time(f"e{i}", i) + quad(f"e{i}")).encode())
        if batch is not None:
            seen += batch.events
            assert len(batch.buffer) < 10_000
    rest = reader.finish()
    assert seen + (rest.events if rest else 0) == 500


def test_streams_and_numbers_are_marked() -> None:
    reader = NQuadsReader(KEY, 5, "t", lambda letter: None)
    reader.feed((at_time("e", 1) + quad("e")).encode())
    batch = reader.finish()
    assert batch is not None
    assert batch.stream.tolist() == [5]
    assert unsalted(events_of([batch]))[0][0] == 1
    assert reader.finish() is None
