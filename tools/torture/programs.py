"""Random programs of the five languages over one stream, and streams that are anything but clean."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

STREAM: Final = "http://example/s"
_PREFIX: Final = "PREFIX : <http://example/>\n"
_PROV: Final = "http://www.w3.org/ns/prov#generatedAtTime"
_INTEGER: Final = "http://www.w3.org/2001/XMLSchema#integer"


def _spaseq(draw: random.Random) -> str:
    sequence = draw.choice(["A ; B", "A ; B+ ; C", "A ; B! ; C", "A , C", "A : B", "A ; B ; C"])
    window = f"WITHIN {draw.randint(5, 20)} SLIDING"
    kept = "".join(f"  DEFINE GPM {name} ON S {{ ?s :{name.lower()} ?{name.lower()} }}\n" for name in "ABC" if name in sequence)
    return f"{_PREFIX}SELECT ?s {window} FROM STREAM S <{STREAM}>\nWHERE {{\n  SEQ ({sequence})\n{kept}}}\n"


def _ep_sparql(draw: random.Random) -> str:
    second = draw.choice(["{ ?s :c ?w }", "{ ?s :b ?w }"])
    operator = draw.choice(["SEQ", "EQUALS"])
    limit = draw.randint(5, 20)
    return f"{_PREFIX}SELECT ?s ?v ?w WHERE {{ ?s :a ?v }} {operator} {second} FILTER (getDURATION() < {limit})\n"


def _rsep_ql(draw: random.Random) -> str:
    width = draw.randint(3, 12)
    step = draw.randint(1, width)
    return (
        f"{_PREFIX}SELECT ?s ?v FROM NAMED WINDOW :w ON <{STREAM}> [RANGE {width} STEP {step}]\n"
        "WHERE { WINDOW :w { ?s :a ?v . ?s :b ?x } }\n"
    )


def _obep(draw: random.Random) -> str:
    operator = draw.choice(["SEQ", "AND", "BEFORE"])
    events = f"EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT L MATCH A {operator} B WITHIN ({draw.randint(3, 9)} ms)\n"
    return f"{_PREFIX}{events}RETURN L AS RDF STREAM\n"


def _sparkwave(draw: random.Random) -> str:
    return f"{_PREFIX}SELECT ?s ?v ?w FROM STREAM <{STREAM}> [RANGE {draw.randint(3, 12)}] WHERE {{ ?s :a ?v . ?s :c ?w }}\n"


LANGUAGES: Final[dict[str, Callable[[random.Random], str]]] = {
    "spaseq": _spaseq,
    "ep-sparql": _ep_sparql,
    "rsep-ql": _rsep_ql,
    "obep": _obep,
    "sparkwave": _sparkwave,
}


def program(language: str, seed: int) -> str:
    """A program that is the same for the same seed."""
    return LANGUAGES[language](random.Random(f"{language} {seed}"))


def _event(number: int, time: int, draw: random.Random) -> str:
    name, subject = f"<http://example/e{number}>", f"<http://example/s{draw.randrange(4)}>"
    lines = [f'{name} <{_PROV}> "{time}"^^<{_INTEGER}> .']
    for _ in range(draw.randint(1, 2)):
        predicate = draw.choice("aabbc")
        lines.append(f'{subject} <http://example/{predicate}> "{draw.randrange(9)}"^^<{_INTEGER}> {name} .')
    kind = draw.choice("AB")
    lines.append(f"{subject} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example/Class{kind}> {name} .")
    return "\n".join(lines) + "\n"


_BAD: Final = (
    "no statement at all\n",
    '<http://example/x> <http://example/y> "never closed <http://example/z> .\n',
    f'<http://example/bad{{}}> <{_PROV}> "soon" .\n<http://example/s> <http://example/a> "1" <http://example/bad{{}}> .\n',
    '<http://example/s> <http://example/a> "1" <http://example/timeless{}> .\n',
    "<relative> <http://example/a> <http://example/b> <http://example/c{}> .\n",
)


def stream(seed: int, files: int, events: int, disorder: int, *, leaps: bool = False) -> list[str]:
    """The texts of a stream's files: events out of order by at most `disorder`, some of them twice, some far too late, some
    with `leaps` in the far future, and records that nobody can read. The last files take time far beyond all windows, and give
    each answer a micro-batch to come in: with `leaps` the first of them waits until the second confirms it."""
    draw = random.Random(f"stream {seed}")
    texts, number = [], 0
    for file in range(files):
        parts = []
        for i in range(events):
            number += 1
            time = 10 + file * events + i - draw.randint(0, disorder)
            if draw.random() < 0.02:
                time -= 5 * events  # late
            if leaps and draw.random() < 0.02:
                time = draw.randrange(10**8, 10**12)
            text = _event(number, max(1, time), draw)
            parts.append(text)
            if draw.random() < 0.05:
                parts.append(text)  # twice
            if draw.random() < 0.1:
                parts.append(draw.choice(_BAD).replace("{}", str(number)))
        texts.append("".join(parts))
    end = 1_000_000 + files * events
    return [*texts, *(_event(number + 1 + more, end + 1_000 * more, draw) for more in range(3 if leaps else 2))]
