"""Random programs of the five languages over one stream, and streams that are anything but clean."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

STREAM: Final = "http://example/s"
_PREFIX: Final = "PREFIX : <http://example/>\n"
_PROV: Final = "http://www.w3.org/ns/prov#generatedAtTime"
_INTEGER: Final = "http://www.w3.org/2001/XMLSchema#integer"


@dataclass(frozen=True, slots=True)
class Program:
    """A query, and the options that it is run with."""

    text: str
    options: tuple[str, ...] = ()


Form: TypeAlias = Callable[[random.Random], Program]


def _program(text: str, *options: str) -> Program:
    return Program(_PREFIX + text, options)


def _spaseq(draw: random.Random) -> Program:
    sequence = draw.choice(["A ; B", "A ; B+ ; C", "A ; B! ; C", "A , C", "A : B", "A ; B ; C"])
    window = f"WITHIN {draw.randint(5, 20)} SLIDING"
    kept = "".join(f"  DEFINE GPM {name} ON S {{ ?s :{name.lower()} ?{name.lower()} }}\n" for name in "ABC" if name in sequence)
    return _program(f"SELECT ?s {window} FROM STREAM S <{STREAM}>\nWHERE {{\n  SEQ ({sequence})\n{kept}}}\n")


def _spaseq_without_key(draw: random.Random) -> Program:
    """Parts that share no variable: they meet in a grid."""
    text = f"SELECT ?s ?t WITHIN {draw.randint(3, 8)} SLIDING FROM STREAM S <{STREAM}>\nWHERE {{\n  SEQ (A ; C)\n"
    return _program(text + "  DEFINE GPM A ON S { ?s :a ?v }\n  DEFINE GPM C ON S { ?t :c ?w }\n}\n")


def _pair(draw: random.Random) -> str:
    """Two sides of one subject within a bound."""
    operator, second = draw.choice(["SEQ", "EQUALS"]), draw.choice("bc")
    limit = draw.randint(5, 20)
    return f"SELECT ?s ?v ?w WHERE {{ ?s :a ?v }} {operator} {{ ?s :{second} ?w }} FILTER (getDURATION() < {limit})\n"


def _ep_sparql(draw: random.Random) -> Program:
    return _program(_pair(draw))


def _ep_sparql_policy(draw: random.Random) -> Program:
    """Pairs that consume, divided by their subject."""
    return _program(_pair(draw), "--policy", draw.choice(["chronological", "recent"]))


def _ep_sparql_rule(draw: random.Random) -> Program:
    """A rule and a query of what it derives, divided by the subject of what is derived."""
    first, second = draw.randint(5, 12), draw.randint(12, 20)
    return _program(
        f"CONSTRUCT {{ ?s :d ?v }} WHERE {{ {{ ?s :a ?v }} SEQ {{ ?s :b ?x }} FILTER (getDURATION() < {first}) }}\n"
        f"SELECT ?s ?v ?w WHERE {{ {{ ?s :d ?v }} SEQ {{ ?s :c ?w }} FILTER (getDURATION() < {second}) }}\n"
    )


def _ep_sparql_in_stages(draw: random.Random) -> Program:
    """Solutions that hide their key: joined by it in one stateful operator, told apart in the next."""
    limit = draw.randint(5, 20)
    return _program(f"SELECT DISTINCT ?v WHERE {{ {{ ?s :a ?v }} SEQ {{ ?s :b ?w }} FILTER (getDURATION() < {limit}) }}\n")


def _ep_sparql_grid(draw: random.Random) -> Program:
    """Joins by different variables, which meet in a grid."""
    limit = draw.randint(5, 12)
    return _program(
        "SELECT ?s ?t ?v ?w WHERE { { ?s :a ?v } SEQ { ?t :c ?v } SEQ { ?t :b ?w } "
        f"FILTER (getDURATION() < {limit}) }}\n"
    )  # fmt: skip


def _window(draw: random.Random, pattern: str, shown: str = "*") -> Program:
    width = draw.randint(3, 12)
    step = draw.randint(1, width)
    window = f"FROM NAMED WINDOW :w ON <{STREAM}> [RANGE {width} STEP {step}]"
    return _program(f"SELECT {shown} {window}\nWHERE {{ WINDOW :w {{ {pattern} }} }}\n")


def _rsep_ql(draw: random.Random) -> Program:
    return _window(draw, "?s :a ?v . ?s :b ?x")


def _rsep_ql_in_stages(draw: random.Random) -> Program:
    """Joined by key in one stateful operator, counted over all of them in the next."""
    return _window(draw, "?s :a ?v . ?s :b ?x", "(COUNT(*) AS ?n) (SUM(?v) AS ?t)")


def _rsep_ql_grid(draw: random.Random) -> Program:
    return _window(draw, "?s :a ?v . ?t :c ?v . ?t :b ?w")


def _rsep_ql_match(draw: random.Random) -> Program:
    """An event pattern; under naive it chooses among all items, under the other policies it consumes them."""
    labels = "".join(f"EVENT ON :w {{ ?s :{name.lower()} ?{name.lower()} }} AS {name}\n" for name in "AB")
    text = f"SELECT ?s ?a ?b FROM NAMED WINDOW :w ON <{STREAM}> [RANGE {draw.randint(4, 9)} STEP 1]\n{labels}"
    policy = draw.choice(["unrestricted", "naive", "chronological", "recent"])
    return _program(f"{text}WHERE {{ MATCH {{ A SEQ B }} }}\n", "--policy", policy)


def _composite(draw: random.Random, pattern: str) -> Program:
    events = "EVENT A AS ClassA\nEVENT B AS ClassB\n"
    return _program(f"{events}EVENT L MATCH {pattern} WITHIN ({draw.randint(3, 9)} ms)\nRETURN L AS RDF STREAM\n")


def _obep(draw: random.Random) -> Program:
    return _composite(draw, f"A {draw.choice(['SEQ', 'AND', 'BEFORE'])} B")


def _obep_of_three(draw: random.Random) -> Program:
    return _composite(draw, draw.choice(["(A SEQ B) SEQ A", "A SEQ (B SEQ A)", "(A AND B) SEQ A"]))


def _sparkwave(draw: random.Random) -> Program:
    window = f"FROM STREAM <{STREAM}> [RANGE {draw.randint(3, 12)}]"
    return _program(f"SELECT ?s ?v ?w {window} WHERE {{ ?s :a ?v . ?s :c ?w }}\n")


def _sparkwave_grid(draw: random.Random) -> Program:
    window = f"FROM STREAM <{STREAM}> [RANGE {draw.randint(3, 9)}]"
    return _program(f"SELECT ?s ?t ?v ?w {window} WHERE {{ ?s :a ?v . ?t :c ?v . ?t :b ?w }}\n")


def _sparkwave_feeding(draw: random.Random) -> Program:
    """A query over the stream that another one constructs, in the stateful operator behind it."""
    first, second = draw.randint(3, 9), draw.randint(3, 9)
    return _program(
        f"REGISTER STREAM :made AS CONSTRUCT {{ ?s :d ?v }} FROM STREAM <{STREAM}> [RANGE {first}] "
        "WHERE { ?s :a ?v . ?s :b ?x }\n"
        f"REGISTER QUERY Pairs AS SELECT ?s ?t ?v FROM STREAM :made [RANGE {second}] WHERE {{ ?s :d ?v . ?t :d ?v }}\n"
    )


LANGUAGES: Final[dict[str, tuple[Form, ...]]] = {
    "spaseq": (_spaseq, _spaseq_without_key),
    "ep-sparql": (_ep_sparql_in_stages, _ep_sparql_policy, _ep_sparql_rule, _ep_sparql_grid, _ep_sparql),
    "rsep-ql": (_rsep_ql_in_stages, _rsep_ql_match, _rsep_ql_grid, _rsep_ql),
    "obep": (_obep_of_three, _obep),
    "sparkwave": (_sparkwave_grid, _sparkwave, _sparkwave_feeding),
}
"""The forms of each: every way in which live state is kept and divided."""


def program(language: str, seed: int) -> Program:
    """A program that is the same for the same seed. Seeds in a row go through the forms of a language in turn, as runs of one
    language after the other do."""
    forms = LANGUAGES[language]
    return forms[seed // len(LANGUAGES) % len(forms)](random.Random(f"{language} {seed}"))


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
    with `leaps` in the far future, and records that nobody can read. The last files take time far beyond all windows
    (`far_times`), and give each answer a micro-batch to come in."""
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
    far = far_times(files, events, leaps=leaps)
    return [*texts, *(_event(number + 1 + more, time, draw) for more, time in enumerate(far))]


def far_times(files: int, events: int, *, leaps: bool = False) -> list[int]:
    """The times of the last files, one event each. With `leaps` the first of them waits until the second confirms it. The
    micro-batch of the last one gives the answers from before the one before it; later ones are certain only behind it."""
    end = 1_000_000 + files * events
    return [end + 1_000 * more for more in range(4 if leaps else 3)]
