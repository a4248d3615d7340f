"""The same events through every format give the same matches."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scepter

EX = "http://example/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#generatedAtTime"
READINGS = [(t, f"s{t % 3}", (t * 7) % 23, "kitchen" if t % 2 else 'hall "2"\nup') for t in range(1, 60)]
QUERY = """PREFIX : <http://example/>
SELECT ?s ?a ?b ?room WITHIN 9 SLIDING FROM STREAM R <http://example/r>
WHERE { SEQ (A; B)
  DEFINE GPM A ON R { ?o :by ?s ; :value ?a ; :room ?room FILTER (?a > 10) }
  DEFINE GPM B ON R { ?o2 :by ?s ; :value ?b FILTER (?b < ?a) } }"""
MAP = f"""
prefixes: {{ex: "{EX}"}}
time: $(time)
mappings:
  reading:
    s: ex:o$(time)
    po:
      - [ex:by, ex:$(sensor)]
      - [ex:value, $(value), xsd:integer]
      - [ex:room, $(room)]
      - [prov:generatedAtTime, $(time), xsd:integer]
"""
CONTEXT: dict[str, Any] = {
    "@base": EX,
    "id": "@id",
    "time": PROV,
    "sensor": {"@id": EX + "by", "@type": "@id"},
    "value": EX + "value",
    "room": EX + "room",
}


def triples(time: int, sensor: str, value: int, room: str) -> list[tuple[str, str, str]]:
    subject = f"<{EX}o{time}>"
    return [
        (subject, f"<{EX}by>", f"<{EX}{sensor}>"),
        (subject, f"<{EX}value>", f'"{value}"^^<{XSD}integer>'),
        (subject, f"<{EX}room>", json.dumps(room)),
    ]


def timed(time: int) -> str:
    return f'<{EX}o{time}> <{PROV}> "{time}"^^<{XSD}integer> .\n'


def quads(reading: Any) -> str:
    name = f"<{EX}o{reading[0]}>"
    return timed(reading[0]) + "".join(f"{s} {p} {o} {name} .\n" for s, p, o in triples(*reading))


def plain(reading: Any) -> str:
    return timed(reading[0]) + "".join(f"{s} {p} {o} .\n" for s, p, o in triples(*reading))


def log(readings: list[Any]) -> str:
    return 'VERSION "1.2-messages"\n' + "MESSAGE\n".join(map(plain, readings))


def documents() -> list[dict[str, Any]]:
    return [{"id": f"o{t}", "time": t, "sensor": s, "value": v, "room": r} for t, s, v, r in READINGS]


def rows() -> str:
    out = io.StringIO()
    csv.writer(out).writerows([("time", "sensor", "value", "room"), *READINGS])
    return out.getvalue()


def table() -> pd.DataFrame:
    return pd.DataFrame(READINGS, columns=["time", "sensor", "value", "room"])


def events_parquet(path: Path) -> None:
    graph = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))
    found = [[dict(zip("spo", each, strict=True)) for each in triples(*reading)] for reading in READINGS]
    times = pa.array([t for t, *_ in READINGS], pa.int64())
    pq.write_table(pa.table({"start": times, "end": times, "graph": pa.array(found, graph)}), path)


def jelly(path: Path) -> None:
    pytest.importorskip("pyjelly", reason="the reference of Jelly is not installed")
    import pyoxigraph as ox
    from pyjelly.integrations.generic import generic_sink as g
    from pyjelly.integrations.generic.serialize import grouped_stream_to_file
    from pyjelly.options import StreamParameters
    from pyjelly.serialize.streams import SerializerOptions

    def term(node: Any) -> Any:
        if isinstance(node, ox.NamedNode):
            return g.IRI(node.value)
        return g.Literal(node.value, datatype=None if node.datatype.value == XSD + "string" else node.datatype.value)

    def sinks() -> Any:
        for reading in READINGS:
            sink = g.GenericStatementSink()
            for quad in ox.parse(plain(reading), format=ox.RdfFormat.N_TRIPLES):
                sink.add(g.Triple(term(quad.subject), term(quad.predicate), term(quad.object)))
            yield sink

    options = SerializerOptions(logical_type=3, params=StreamParameters(generalized_statements=True, rdf_star=True))
    with path.open("wb") as out:
        grouped_stream_to_file(sinks(), out, options=options)


def trig(reading: Any) -> str:
    inner = " ".join(f"{s} {p} {o} ." for s, p, o in triples(*reading))
    return f"{timed(reading[0])}<{EX}o{reading[0]}> {{ {inner} }}\n"


def json_ld() -> str:
    graphs = [{"@id": EX + each["id"], "time": each["time"], "@graph": {k: v for k, v in each.items() if k != "time"}}
              for each in documents()]  # fmt: skip
    return json.dumps({"@context": CONTEXT, "@graph": graphs})


def timeline() -> str:
    return "".join(
        f"{reading[0]} {{ {' '.join(f'{s} {p} {o} .' for s, p, o in triples(*reading))} }}\n" for reading in READINGS
    )


TEXTS: dict[str, Callable[[], str]] = {
    "events.nq": lambda: "".join(map(quads, READINGS)),
    "log.nq": lambda: log(READINGS),
    "graphs-log.nq": lambda: 'VERSION "1.2-messages"\n' + "MESSAGE\n".join(map(quads, READINGS)),
    "log.nt": lambda: log(READINGS),
    "log.ttl": lambda: log(READINGS),
    "log.trig": lambda: log(READINGS),
    "events.trig": lambda: "".join(map(trig, READINGS)),
    "graphs-log.trig": lambda: '@version "1.2-messages" .\n' + "@message .\n".join(map(trig, READINGS)),
    "events.jsonld": json_ld,
    "events.ndjsonld": lambda: "\n".join([json.dumps({"@context": CONTEXT}), *map(json.dumps, documents())]),
    "events.timeline": timeline,
    "rows.csv": rows,
    "rows.tsv": lambda: table().to_csv(sep="\t", index=False),
    "rows.jsonl": lambda: "\n".join(map(json.dumps, documents())),
    "rows.json": lambda: json.dumps(documents(), indent=1),
}
BINARY: dict[str, Callable[[Path], None]] = {
    "events.parquet": events_parquet,
    "rows.parquet": lambda path: table().to_parquet(path, index=False),
    "log.jelly": jelly,
}


def matches(source: Any, **options: Any) -> list[Any]:
    found = scepter.run_local(scepter.parse(QUERY, "spaseq"), source, **options)
    assert not found.dead_letters
    return [match.row() for match in found]


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    path = tmp_path_factory.mktemp("e") / "events.nq"
    path.write_text(TEXTS["events.nq"]())
    found = matches(path)
    assert len(found) > 20
    return found


@pytest.mark.parametrize("name", [*TEXTS, *BINARY])
def test_every_file(name: str, tmp_path: Path, expected: list[Any]) -> None:
    path = tmp_path / name
    if name in TEXTS:
        path.write_text(TEXTS[name](), newline="")
    else:
        BINARY[name](path)
    options: dict[str, Any] = {"map": MAP} if name.startswith("rows") else {}
    if name.endswith("ndjsonld"):
        options["time_property"] = "prov"
    assert matches(path, **options) == expected


def test_json_under_a_context(tmp_path: Path, expected: list[Any]) -> None:
    for name in ("rows.jsonl", "rows.json"):
        (tmp_path / name).write_text(TEXTS[name]())
        assert matches(tmp_path / name, context=CONTEXT) == expected
    assert matches(documents(), context=CONTEXT) == expected


def test_tables_and_dictionaries(expected: list[Any]) -> None:
    assert matches(table(), map=MAP) == expected
    assert matches(pa.Table.from_pandas(table()), map=MAP) == expected
    assert matches(documents(), map=MAP) == expected
    query = scepter.parse(QUERY, "spaseq")
    for given in ({"map": MAP}, {"context": CONTEXT}):
        engine = scepter.Engine(query, **given)
        found = [match.row() for document in documents() for match in engine.push(document)]
        assert sorted(map(str, found)) == sorted(map(str, expected))
