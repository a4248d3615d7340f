"""Mutated queries and mutated files: whatever they hold, they are read, or refused with a place; no crash, no hang."""

from __future__ import annotations

import io
import multiprocessing
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from scepter.errors import ScepterError
from scepter.io.sources import PipeSource
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import READERS, Reading
from scepter.runtime.queries import parse
from torture.programs import LANGUAGES, program, stream

SLOW: Final = 5.0
"""Seconds of processor time that no mutant may take."""
_WORDS: Final = (
    b"{", b"}", b"(", b")", b"[", b"]", b"<", b">", b'"', b"'", b"\\", b";", b".", b",", b"?x", b"SEQ", b"FILTER",
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"99999999999999999999", b"-1", b"\n", b"\r", b"PREFIX", b"@", b"^^", b"_:b", b"<<",
    b"\xf0\x9f\x98\x80",
)  # fmt: skip


def mutated(data: bytes, draw: random.Random) -> bytes:
    """The data with some bytes flipped, cut, doubled, moved or replaced by words that mean something."""
    found = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 3, 8])):
        at = draw.randrange(len(found) + 1)
        span = draw.choice([1, 1, 2, 8, 40])
        match draw.randrange(6):
            case 0 if found:
                found[draw.randrange(len(found))] ^= 1 << draw.randrange(8)
            case 1:
                del found[at : at + span]
            case 2:
                found[at:at] = found[at : at + span] * draw.choice([1, 2, 5])
            case 3:
                found[at : at + span] = draw.choice(_WORDS)
            case 4:
                other = draw.randrange(len(found) + 1)
                found[at:at] = found[other : other + span]
            case _:
                found[at:at] = draw.choice(_WORDS)
    return bytes(found)


def _parquet() -> bytes:
    struct = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))
    graph = [[{"s": "<a:s>", "p": "<a:p>", "o": '"x"'}], [{"s": "<a:s>", "p": "<a:p>", "o": "<a:o>"}]]
    out = io.BytesIO()
    pq.write_table(pa.table({"start": [1, 2], "end": [1, 3], "graph": pa.array(graph, struct)}), out)
    return out.getvalue()


def seeds() -> dict[str, list[bytes]]:
    """What is mutated, by the extension of the format or the name of the language."""
    nquads = stream(1, 1, 8, 2)[0].encode()
    found: dict[str, list[bytes]] = {
        ".nq": [nquads],
        ".nt": [b'<a:s> <a:p> "x" "1"^^<http://www.w3.org/2001/XMLSchema#integer> .\n' * 3],
        ".trig": [
            b"PREFIX : <a:> PREFIX prov: <http://www.w3.org/ns/prov#>\n:e { :s :p 1, 'x'@en } :e prov:generatedAtTime 1 ."
        ],
        ".jsonld": [
            b'[{"@id": "a:e", "http://www.w3.org/ns/prov#generatedAtTime": {"@value": 1},'
            b' "@graph": [{"@id": "a:s", "a:p": [1]}]}]'
        ],
        ".timeline": [b"PREFIX : <a:>\n1 { :s :p 1 } 2..3 { :s :p [ :q ( 1 2 ) ] }"],
        ".parquet": [_parquet()],
    }
    found |= {language: [program(language, seed).encode() for seed in range(5)] for language in LANGUAGES}
    return found


def _read(extension: str) -> Callable[[bytes], None]:
    def attempt(data: bytes) -> None:
        run = ReadState()
        reading = Reading(TermKey.fixed(), 0, "mutant", lambda letter: None, None, run, BATCH_BYTES, {})
        for batch in READERS[extension](io.BytesIO(data), reading):
            assert batch.events >= 0

    return attempt


def _piped(data: bytes) -> None:
    for batch in PipeSource(partial(io.BytesIO, data)).batches(TermKey.fixed(), 0, lambda letter: None):
        assert batch.events >= 0


def _parsed(language: str) -> Callable[[bytes], None]:
    return lambda data: (parse(data.decode("utf-8", errors="replace"), language), None)[1]


@dataclass(frozen=True, slots=True)
class Finding:
    """A mutant that something went wrong with."""

    what: str
    seed: int
    trouble: str


def attempt(number: int, originals: dict[str, list[bytes]]) -> Finding | None:
    """One mutant, by its number."""
    draw = random.Random(f"mutant {number}")
    what = draw.choice(list(originals))
    data = mutated(draw.choice(originals[what]), draw)
    doing = _parsed(what) if what in LANGUAGES else _piped if draw.random() < 0.1 else _read(what)
    started = time.process_time()
    try:
        doing(data)
    except ScepterError:
        pass
    except Exception:
        return Finding(what, number, traceback.format_exc(limit=-3))
    taken = time.process_time() - started
    return Finding(what, number, f"{taken:.1f} seconds") if taken > SLOW else None


def _attempts(numbers: range) -> tuple[int, list[Finding]]:
    originals = seeds()
    for what, (data, *_) in originals.items():  # what is compiled or loaded first is no mutant's fault
        (_parsed(what) if what in LANGUAGES else _read(what))(data)
    found = [finding for number in numbers if (finding := attempt(number, originals)) is not None]
    return len(numbers), found


def run(count: int, seed: int, workers: int, say: Callable[[str], None]) -> int:
    """So many mutants, in processes of their own, so that a crash is seen; how many went wrong."""
    share = 2_000
    parts = [range(seed + at, seed + min(at + share, count)) for at in range(0, count, share)]
    done, wrong = 0, Counter[str]()
    with multiprocessing.get_context("spawn").Pool(workers, maxtasksperchild=20) as pool:
        for tried, found in pool.imap_unordered(_attempts, parts):
            done += tried
            for finding in found:
                wrong[finding.what] += 1
                say(f"mutant {finding.seed} of {finding.what}: {finding.trouble}")
            if done % 50_000 < share:
                say(f"{done} mutants, {wrong.total()} went wrong")
    say(f"{done} mutants in all: {wrong.total()} went wrong {dict(wrong)}")
    return wrong.total()
