"""Mutated queries and mutated files: whatever they hold, they are read, or refused with a place; no crash, no hang."""

from __future__ import annotations

import io
import multiprocessing
import random
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox

from scepter.bench.jelly import JellyWriter
from scepter.errors import ScepterError
from scepter.io.sources import PipeSource
from scepter.kafka.address import Address
from scepter.kafka.payloads import Payloads
from scepter.lift.context import ContextReaders
from scepter.lift.load import read_mapping
from scepter.lift.reader import MappedReaders
from scepter.rdf.formats import load_dataset
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import BATCH_BYTES, ReadState
from scepter.rdf.readers import READERS, Reader, Reading
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


def _jelly() -> bytes:
    out = io.BytesIO()
    writer = JellyWriter(out)
    time, value = ox.NamedNode("http://www.w3.org/ns/prov#generatedAtTime"), ox.NamedNode("a:p")
    for number in range(3):
        event = ox.NamedNode(f"a:e{number}")
        writer.write([
            ox.Quad(event, time, ox.Literal(number), ox.DefaultGraph()), ox.Quad(event, value, ox.Literal("x"), event),
        ])  # fmt: skip
    return out.getvalue()


_MAPPING: Final = """prefixes: {ex: "http://example/"}
time: $(t)
mappings:
  m: {s: "ex:$(a)", po: [[ex:v, $(v), xsd:integer], [a, ex:T]]}
"""
_CONTEXT: Final = '{"@context": {"@vocab": "a:", "t": "http://www.w3.org/ns/prov#generatedAtTime", "id": "@id"}}'
_STATIC: Final = "static "
"""Before the extension of what is read as background."""
_MESSAGE: Final = "message "
"""Before the extension of what comes as the messages of a topic."""
_TOPIC: Final = Address("localhost:9092", "mutants")


@dataclass(frozen=True, slots=True)
class _Sent:
    """A message that no broker has seen."""

    text: bytes
    at: int

    def value(self) -> bytes:
        return self.text

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self.at

    def timestamp(self) -> tuple[int, int]:
        return 1, self.at

    def headers(self) -> list[tuple[str, bytes]]:
        return []

    def error(self) -> None:
        return None


@cache
def _lifted() -> dict[str, tuple[Reader, bytes]]:
    """What makes events of rows and documents, with something to read."""
    mapped, context = MappedReaders(read_mapping(_MAPPING, "m.yml")), ContextReaders(_CONTEXT)
    rows = b'{"t": 1, "a": "x", "v": 3}\n{"t": 2, "a": "y", "v": {"w": [1, null]}}\n'
    found = {
        "mapped .csv": (mapped.reader(".csv"), b't,a,v\n1,x,3\n2,"y ""z""",\n3,"two\nlines",4\n'),
        "mapped .tsv": (mapped.reader(".tsv"), b"t\ta\tv\n1\tx\t3\n2\ty\t\n"),
        "mapped .jsonl": (mapped.reader(".jsonl"), rows),
        "mapped .json": (mapped.reader(".json"), b"[" + rows.strip().replace(b"\n", b",") + b"]"),
        "context .jsonl": (context.reader(".jsonl"), b'{"id": "a:e", "t": 1, "v": [1, {"w": "x"}]}\n' * 2),
    }
    return {name: (reader, data) for name, (reader, data) in found.items() if reader is not None}


@cache
def others() -> dict[str, list[bytes]]:
    """What is mutated besides: rows and documents that are lifted, and background."""
    xml = (
        b'<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="a:">'
        b'<rdf:Description rdf:about="a:s"><a:p rdf:parseType="Collection"><a:T/></a:p></rdf:Description></rdf:RDF>'
    )
    turtle = b"@prefix : <a:> .\n:s :p 1, 'x'@en, [ :q ( 1 2.5 ) ] .\n"
    static = {".rdf": xml, ".n3": turtle, ".ttl": turtle, ".jsonld": b'{"@id": "a:s", "a:p": [{"@list": [1, "x"]}]}'}
    lifted = {name: [data] for name, (_, data) in _lifted().items()}
    sent = {
        name: texts for name, texts in seeds().items() if name in (".nq", ".trig", ".ttl", ".jsonld", ".jelly", ".timeline")
    }
    sent[".json"] = lifted["mapped .json"]
    return (
        lifted
        | {_STATIC + name: [data] for name, data in static.items()}
        | {_MESSAGE + name: texts for name, texts in sent.items()}
    )


@cache
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
        ".ttl": [b'VERSION "1.2-messages"\nPREFIX : <a:>\n:s :p _:b .\nMESSAGE\n_:b :p 1 .\nMESSAGE\nMESSAGE\n'],
        ".ndjsonld": [b'{"@id": "a:s", "a:p": 1}\n\n{"@graph": [{"@id": "_:b", "a:p": "x"}]}\n'],
        ".jelly": [_jelly()],
    }
    rounds = range(0, 5 * len(LANGUAGES), len(LANGUAGES))  # through the forms of a language
    found |= {language: [program(language, seed).text.encode() for seed in rounds] for language in LANGUAGES}
    return found


def _reads(reader: Reader) -> Callable[[bytes], None]:
    def attempt(data: bytes) -> None:
        run = ReadState()
        reading = Reading(TermKey.fixed(), 0, "mutant", lambda letter: None, None, run, BATCH_BYTES, {})
        for batch in reader(io.BytesIO(data), reading):
            assert batch.events >= 0

    return attempt


def _loads(extension: str) -> Callable[[bytes], None]:
    def attempt(data: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=extension) as file:
            Path(file.name).write_bytes(data)
            for triple, _ in load_dataset(file.name, "f"):
                assert triple

    return attempt


def _received(extension: str) -> Callable[[bytes], None]:
    """As a message between two others, which are whole, and as two, cut anywhere."""
    whole = others()[_MESSAGE + extension][0]

    def attempt(data: bytes) -> None:
        lift = MappedReaders(read_mapping(_MAPPING, "m.yml")) if extension == ".json" else None
        reading = Reading(TermKey.fixed(), 0, "mutant", lambda letter: None, None, ReadState(), BATCH_BYTES, {}, lift)
        hands = [[_Sent(text, at) for at, text in enumerate(texts)] for texts in ((whole, data, whole), (data[:40], data[40:]))]
        for batch in Payloads(_TOPIC, extension, reading).batches(hands):
            assert batch.events >= 0

    return attempt


def _piped(data: bytes) -> None:
    for batch in PipeSource(partial(io.BytesIO, data)).batches(TermKey.fixed(), 0, lambda letter: None):
        assert batch.events >= 0


def _parsed(language: str) -> Callable[[bytes], None]:
    return lambda data: (parse(data.decode("utf-8", errors="replace"), language), None)[1]


def doing(what: str) -> Callable[[bytes], None]:
    """What is done with a mutant."""
    if what in LANGUAGES:
        return _parsed(what)
    if what.startswith(_STATIC):
        return _loads(what.removeprefix(_STATIC))
    if what.startswith(_MESSAGE):
        return _received(what.removeprefix(_MESSAGE))
    return _reads(READERS[what] if what in READERS else _lifted()[what][0])


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
    tried = _piped if what in READERS and draw.random() < 0.1 else doing(what)
    started = time.process_time()
    try:
        tried(data)
    except ScepterError:
        pass
    except Exception:
        return Finding(what, number, traceback.format_exc(limit=-3))
    taken = time.process_time() - started
    return Finding(what, number, f"{taken:.1f} seconds") if taken > SLOW else None


def _attempts(only: Collection[str], numbers: range) -> tuple[int, list[Finding]]:
    originals = {name: texts for name, texts in (seeds() | others()).items() if not only or name in only}
    for what, (data, *_) in originals.items():  # what is compiled or loaded first is no mutant's fault
        doing(what)(data)
    found = [finding for number in numbers if (finding := attempt(number, originals)) is not None]
    return len(numbers), found


def run(count: int, seed: int, workers: int, only: Collection[str], say: Callable[[str], None]) -> int:
    """So many mutants, in processes of their own, so that a crash is seen; how many went wrong. `only` are the readers and
    parsers to try, all if there are none."""
    share = 2_000
    parts = [range(seed + at, seed + min(at + share, count)) for at in range(0, count, share)]
    done, wrong = 0, Counter[str]()
    with multiprocessing.get_context("spawn").Pool(workers, maxtasksperchild=20) as pool:
        for tried, found in pool.imap_unordered(partial(_attempts, only), parts):
            done += tried
            for finding in found:
                wrong[finding.what] += 1
                say(f"mutant {finding.seed} of {finding.what}: {finding.trouble}")
            if done % 50_000 < share:
                say(f"{done} mutants, {wrong.total()} went wrong")
    say(f"{done} mutants in all: {wrong.total()} went wrong {dict(wrong)}")
    return wrong.total()
