"""Live sources: events as soon as they are whole, and the end of a source told from its silence."""

from __future__ import annotations

import os
import shutil
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from patience import awaited
from scepter.errors import OptionError
from scepter.io.live import LiveSource, open_live
from scepter.lift.load import load_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.batch import DeadLetter
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import Reading

NUMBER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def line(time: int) -> bytes:
    return f'<a:s> <a:p> <a:o> "{time}"{NUMBER} .\n'.encode()


class Polled:
    """A source, opened, and what has come from it."""

    def __init__(self, source: LiveSource) -> None:
        self.letters: list[DeadLetter] = []
        self.times: list[int] = []
        self.source = source
        source.open(Reading(TermKey.fixed(), 0, source.name, self.letters.append, None, ReadState(), BATCH_BYTES, {}))

    def until(self, done: Callable[[], bool]) -> None:
        """Poll until something is so; the test is stopped by its own limit where it never is."""

        def polled() -> bool:
            if not done():
                for batches in self.source.poll().values():
                    self.times += [time for batch in batches for time in batch.end.tolist()]
            return done()

        awaited(polled, lambda: (self.times, self.letters))

    def has(self, *times: int) -> None:
        self.until(lambda: self.times == list(times))


def test_a_file_that_grows(tmp_path: Path) -> None:
    path = tmp_path / "s.nq"
    path.write_bytes(line(1) + line(2)[:10])
    polled = Polled(open_live(str(path)))
    polled.has(1)
    with path.open("ab") as out:
        out.write(line(2)[10:] + line(3))
    polled.has(1, 2, 3)
    assert not polled.source.ended
    path.write_bytes(line(9))
    polled.has(1, 2, 3, 9)
    assert "has become shorter" in polled.letters[0].reason
    polled.source.close()


def _event(time: int, *objects: str) -> bytes:
    name = f"<a:e{time}>"
    lines = [f'{name} <http://www.w3.org/ns/prov#generatedAtTime> "{time}"{NUMBER} .']
    return "".join(f"{line}\n" for line in [*lines, *(f"<a:s> <a:p> <a:{each}> {name} ." for each in objects)]).encode()


@pytest.mark.parametrize("blank", [b"\n", b" \t\n", b"\r\n"])
def test_a_blank_line_ends_an_event(tmp_path: Path, blank: bytes) -> None:
    path = tmp_path / "s.nq"
    path.write_bytes(_event(1, "x", "y"))
    polled = Polled(open_live(str(path)))
    with path.open("ab", buffering=0) as out:
        for written, times in [
            (_event(2, "x"), [1]),  # it may go on
            (blank, [1, 2]),
            (_event(3, "x", "y") + blank[:-1], [1, 2]),
            (blank[-1:] + _event(4, "x") + blank + _event(5, "x"), [1, 2, 3, 4]),
            (blank + blank + line(6), [1, 2, 3, 4, 5, 6]),
            (line(7) + blank, [1, 2, 3, 4, 5, 6, 7]),
        ]:
            out.write(written)
            polled.has(*times)
    assert polled.letters == []
    polled.source.close()


def test_a_file_that_is_rotated(tmp_path: Path) -> None:
    path, old = tmp_path / "s.nq", tmp_path / "s.nq.1"
    path.write_bytes(line(1))
    polled = Polled(open_live(str(path)))
    polled.has(1)
    with path.open("ab") as out:
        out.write(line(2))
        out.flush()
        path.rename(old)
        polled.has(1, 2)
        out.write(line(3) + line(4)[:-1])  # its writer has not noticed yet
    polled.has(1, 2, 3)
    path.write_bytes(line(5) + line(6) + line(7) + line(8) + line(9))  # longer than what was read of the old one
    polled.has(1, 2, 3, 4, 5, 6, 7, 8, 9)
    path.unlink()
    assert not polled.source.poll()
    path.write_bytes(line(10))
    polled.has(*range(1, 11))
    assert not polled.letters
    polled.source.close()


def test_a_file_that_becomes_shorter_within_a_line(tmp_path: Path) -> None:
    path = tmp_path / "s.nq"
    path.write_bytes(line(1) + line(2)[:10])
    polled = Polled(open_live(str(path)))
    polled.has(1)
    path.write_bytes(line(3))
    polled.has(1, 3)
    assert ["shorter" in letter.reason for letter in polled.letters] == [True, False]
    polled.source.close()


def test_a_folder_that_files_are_put_into(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    polled = Polled(open_live(str(folder)))
    (folder / "a.nq").write_bytes(line(1))
    (folder / "_b.nq").write_bytes(line(7))
    (folder / "c.trig.gz").write_bytes(b"no gzip at all")
    polled.has(1)
    (tmp_path / "later").write_bytes(line(2))
    (tmp_path / "later").rename(folder / "0.nq")
    polled.has(1, 2)
    assert polled.letters and all("c.trig.gz" in letter.source for letter in polled.letters)


def test_links_to_nowhere_are_told_once_and_read_when_they_lead_somewhere(tmp_path: Path) -> None:
    folder, later = tmp_path / "in", tmp_path / "later"
    folder.mkdir()
    (folder / "a.nq").symlink_to(later)
    (folder / "b.nq").symlink_to(folder / "b.nq")
    (folder / "c.nq").symlink_to(folder)
    (folder / "d.nq").write_bytes(line(1))
    polled = Polled(open_live(str(folder)))
    polled.has(1)
    polled.source.poll()
    assert [letter.source for letter in polled.letters] == [str(folder / "a.nq"), str(folder / "b.nq")]
    assert all(letter.reason.endswith("it is a link to nowhere") for letter in polled.letters)
    later.write_bytes(line(2))
    polled.has(1, 2)
    shutil.rmtree(folder)
    assert not polled.source.poll()


def test_a_fifo_ends_with_its_writer(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    polled = Polled(open_live(str(path)))
    with path.open("wb", buffering=0) as out:
        out.write(line(1))
        polled.has(1)
        out.write(line(2))
    polled.until(lambda: polled.source.ended)
    assert polled.times == [1, 2]


MAPPING = '{prefixes: {ex: "http://example/"}, time: $(t), mappings: {m: {s: "ex:$(s)", po: [[ex:v, $(v)]]}}}'


def test_rows_come_through_a_mapping_by_a_fifo_and_from_a_file_that_grows(tmp_path: Path) -> None:
    lift = MappedReaders(load_mapping(MAPPING + "\n"))
    fifo, table = tmp_path / "pipe", tmp_path / "rows.csv"
    os.mkfifo(fifo)
    table.write_text("s,t,v\na,1,1\n")
    piped, grown = Polled(open_live(str(fifo), lift)), Polled(open_live(str(table), lift))
    grown.has(1)
    with fifo.open("wb", buffering=0) as out:
        out.write(b"s,t,v\na,1,1\na,2")
        piped.has(1)
        out.write(b",2\n")
        piped.has(1, 2)
    piped.until(lambda: piped.source.ended)
    with table.open("a") as more:
        more.write("a,2,2\n")
    grown.has(1, 2)
    table.write_text("s,t,v\na,7,7\n")  # shorter: a new table, with its heading
    grown.has(1, 2, 7)
    table.rename(tmp_path / "rows.csv.1")
    table.write_text("t,v,s\n8,8,a\n9,9,a\n")
    grown.has(1, 2, 7, 8, 9)
    grown.source.close()
    assert not piped.letters
    assert [letter.reason.partition(":")[0] for letter in grown.letters] == ["the file has become shorter"]
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    with pytest.raises(OptionError, match="cannot be read while it is written"):
        open_live(str(tmp_path / "rows.parquet"), lift)


def test_a_socket_that_closes_in_the_middle_of_a_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(line(1) + line(2) + line(3)[:20])

        threading.Thread(target=serve, daemon=True).start()
        polled = Polled(open_live(f"tcp://127.0.0.1:{port}"))
        polled.until(lambda: polled.source.ended)
    assert polled.times == [1, 2]
    assert len(polled.letters) == 1 and polled.letters[0].line == 3
    assert polled.letters[0].reason.endswith("; the input ends in the middle of this line")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tcp://127.0.0.1", "names no host and port"),
        ("tcp://127.0.0.1:1", "cannot be read"),
        ("kafk://x", "cannot be followed in this process"),
        ("none.nq", "does not exist"),
        ("gone.nq", "is a link to nowhere"),
        ("s.trig", "cannot be read while it is written"),
        ("s.csv", "add map=FILE"),
    ],
)
def test_what_cannot_be_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.trig").write_text("<a:g> { <a:s> <a:p> 1 }")
    (tmp_path / "gone.nq").symlink_to("nothing")
    (tmp_path / "s.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OptionError) as caught:
        open_live(spec)
    assert message in str(caught.value)


def test_a_pipe_that_brings_no_lines_says_so_and_goes_on(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    polled = Polled(open_live(str(tmp_path / "pipe")))
    with (tmp_path / "pipe").open("wb") as out:
        out.write(b"PREFIX : <http://e/>\n1 { :s :p 1 }\n" + line(7))
    polled.until(lambda: polled.source.ended)
    assert polled.times == [7]
    first = polled.letters[0].reason
    assert first == "this looks like .timeline, and what is followed is read as lines of N-Quads or N-Triples"


def test_a_file_of_a_folder_that_grows_after_it_was_read_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "a.nq").write_bytes(line(1))
    polled = Polled(open_live(str(tmp_path)))
    polled.has(1)
    for time in (2, 3):
        with (tmp_path / "a.nq").open("ab") as out:
            out.write(line(time))
        polled.until(lambda: bool(polled.letters))
    (tmp_path / "b.nq").write_bytes(line(4))
    polled.has(1, 4)
    for _ in range(200):
        polled.source.poll()
    (letter,) = polled.letters
    assert letter.source == str(tmp_path / "a.nq")
    assert "has changed since it was read" in letter.reason
