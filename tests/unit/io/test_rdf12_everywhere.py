"""What RDF 1.2 adds is refused by its name whatever it is read from, and the rest is read (docs/decisions/0077)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import scepter
from scepter.errors import ScepterError

TIME = "http://www.w3.org/ns/prov#generatedAtTime"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
OK = "<http://e/a> <http://e/ok> <http://e/b>"
TERMS = {"a triple term": "<<( <http://e/b> <http://e/p> <http://e/c> )>>", "a base direction": '"x"@en--ltr'}
QUERY = scepter.parse("SELECT ?s ?o { ?s <http://e/ok> ?o }", "ep-sparql")
_DIRECTED = {"@value": "x", "@language": "en", "@direction": "ltr"}
_NODE = {"@id": "http://e/a", "http://e/q": _DIRECTED, "http://e/ok": {"@id": "http://e/b"}}
_CONTEXT = {"at": {"@id": TIME}}


def when(name: str) -> str:
    return f'<{name}> <{TIME}> "1"^^{INTEGER} .\n'


def quads(term: str) -> str:
    return when("urn:e") + f"<http://e/a> <http://e/q> {term} <urn:e> .\n{OK} <urn:e> .\n"


def message(term: str) -> str:
    return 'VERSION "1.2-messages"\n' + when("http://e/a") + f"<http://e/a> <http://e/q> {term} .\n{OK} .\n"


STREAMS: dict[str, Callable[[str], str]] = {
    "e.nq": quads,
    "e.nt": lambda term: f'<http://e/a> <http://e/q> {term} "1"^^{INTEGER} .\n{OK} "1"^^{INTEGER} .\n',
    "e.trig": lambda term: when("urn:e") + f"<urn:e> {{ <http://e/a> <http://e/q> {term} . {OK} }}\n",
    "log.nq": lambda term: 'VERSION "1.2-messages"\n' + quads(term),
    "log.nt": message,
    "log.ttl": message,
    "log.trig": message,
}
JSON = {
    "e.jsonld": json.dumps({"@context": _CONTEXT, "@graph": [{"@id": "urn:e", "at": 1, "@graph": [_NODE]}]}),
    "e.ndjsonld": json.dumps({"@context": _CONTEXT}) + "\n" + json.dumps(_NODE | {"at": 1}),
}


def run(source: Any, **options: Any) -> tuple[int, list[str]]:
    found = scepter.run_local(QUERY, {"http://e/s": source}, **options)
    rows = list(found)
    return len(rows), [letter.reason for letter in found.dead_letters]


def is_told(reason: str, what: str) -> bool:
    return what.removeprefix("a ") in reason and "RDF 1.2" in reason


@pytest.mark.parametrize("what", list(TERMS))
@pytest.mark.parametrize("name", list(STREAMS))
def test_a_text(name: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(STREAMS[name](TERMS[what]), "utf-8")
    rows, (reason,) = run(path)
    assert rows == 1 and is_told(reason, what)


@pytest.mark.parametrize("name", list(JSON))
def test_json_ld(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(JSON[name], "utf-8")
    rows, (reason,) = run(tmp_path / name)
    assert rows == 1 and is_told(reason, "a base direction")


@pytest.mark.parametrize("what", list(TERMS))
def test_the_timeline_notation(what: str, tmp_path: Path) -> None:
    (tmp_path / "e.timeline").write_text(f"1 {{ <http://e/a> <http://e/q> {TERMS[what]} . {OK} }}\n", "utf-8")
    _, (reason,) = run(tmp_path / "e.timeline")
    assert is_told(reason, what)


@pytest.mark.parametrize("what", list(TERMS))
def test_parquet(what: str, tmp_path: Path) -> None:
    triples = [("<http://e/a>", "<http://e/q>", TERMS[what]), tuple(OK.split())]
    graph = pa.array(
        [[dict(zip("spo", t, strict=True)) for t in triples]], pa.list_(pa.struct([(n, pa.string()) for n in "spo"]))
    )
    at = pa.array([1], pa.int64())
    pq.write_table(pa.table({"start": at, "end": at, "graph": graph}), tmp_path / "e.parquet")
    rows, (reason,) = run(tmp_path / "e.parquet")
    assert rows == 1 and is_told(reason, what)


def test_jelly(tmp_path: Path) -> None:
    pytest.importorskip("pyjelly", reason="the reference of Jelly is not installed")
    from pyjelly.integrations.generic import generic_sink as g
    from pyjelly.integrations.generic.serialize import grouped_stream_to_file
    from pyjelly.options import StreamParameters
    from pyjelly.serialize.streams import SerializerOptions

    def iri(name: str) -> Any:
        return g.IRI("http://e/" + name)

    def frame(time: int, *others: Any) -> Any:
        sink = g.GenericStatementSink()
        sink.add(g.Triple(iri("a"), g.IRI(TIME), g.Literal(str(time), datatype=INTEGER[1:-1])))
        for object in others:
            sink.add(g.Triple(iri("a"), iri("ok"), object))
        return sink

    frames = [frame(1, g.Triple(iri("b"), iri("p"), iri("c"))), frame(2, g.Literal("x", langtag="en--ltr")), frame(3, iri("b"))]
    options = SerializerOptions(logical_type=3, params=StreamParameters(generalized_statements=True, rdf_star=True))
    with (tmp_path / "e.jelly").open("wb") as out:
        grouped_stream_to_file(iter(frames), out, options=options)
    rows, reasons = run(tmp_path / "e.jelly")
    assert rows == 1 and len(reasons) == 2
    assert is_told(reasons[0], "a triple term") and is_told(reasons[1], "a base direction")


YARRRML = """
prefixes: {ex: "http://e/"}
time: $(time)
mappings: {r: {s: ex:a, po: [[ex:ok, ex:b~iri], [ex:q, $(v), en--ltr~lang]]}}
"""
RML = """@prefix rml: <http://w3id.org/rml/> . @prefix ex: <http://e/> .
[] a rml:TriplesMap ; rml:logicalSource [ rml:source "rows.csv" ; rml:referenceFormulation rml:CSV ] ;
  rml:subjectMap [ rml:constant ex:a ] ;
  rml:predicateObjectMap [ rml:predicate ex:q ; rml:objectMap %s ] ."""


@pytest.mark.parametrize(
    ("mapping", "what"),
    [
        (YARRRML, "a base direction"),
        (RML % '[ rml:reference "v" ; rml:language "en--ltr" ]', "a base direction"),
        (RML % '[ rml:constant "x"@en--ltr ]', "a base direction"),
        (RML % "[ rml:constant <<( ex:b ex:p ex:c )>> ]", "a triple term"),
    ],
)
def test_a_mapping_is_refused_before_any_row(mapping: str, what: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("time,v\n1,x\n")
    with pytest.raises(ScepterError, match=r"RDF 1\.2") as caught:
        run(tmp_path / "rows.csv", map=mapping)
    assert is_told(str(caught.value), what)


def test_json_under_a_context(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"id": "http://e/a", "at": 1, "ok": "http://e/b", "q": "x"}\n')
    terms: dict[str, Any] = {"ok": {"@id": "http://e/ok", "@type": "@id"}, "q": {"@id": "http://e/q"} | _DIRECTED}
    del terms["q"]["@value"]
    rows, (reason,) = run(tmp_path / "rows.jsonl", context={"id": "@id", **_CONTEXT, **terms})
    assert rows == 1 and is_told(reason, "a base direction")


XML = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:its="http://www.w3.org/2005/11/its" xmlns="http://e/"
 rdf:version="1.2" its:version="2.0"><rdf:Description rdf:about="http://e/a">%s</rdf:Description></rdf:RDF>"""
DOCUMENTS = {
    "a triple term": XML
    % '<q rdf:parseType="Triple"><rdf:Description rdf:about="http://e/b"><p rdf:resource="http://e/c"/></rdf:Description></q>',
    "a base direction": XML % '<q xml:lang="en" its:dir="ltr">x</q>',
}


@pytest.mark.parametrize("option", ["background", "ontology"])
@pytest.mark.parametrize("what", list(TERMS))
@pytest.mark.parametrize("ending", ["ttl", "nt", "nq", "trig", "n3", "rdf", "jsonld"])
def test_static_data(ending: str, what: str, option: str, tmp_path: Path) -> None:
    if ending == "jsonld" and what == "a triple term":
        pytest.skip("JSON-LD 1.1 has no triple terms")
    text = (
        DOCUMENTS[what]
        if ending == "rdf"
        else json.dumps(_NODE)
        if ending == "jsonld"
        else f"<http://e/a> <http://e/q> {TERMS[what]} ."
    )
    path, stream = tmp_path / f"b.{ending}", tmp_path / "s.nq"
    path.write_text(text, "utf-8")
    stream.write_text(quads("<http://e/b>"), "utf-8")
    given: dict[str, Any] = {"background": {None: path}} if option == "background" else {"ontology": path}
    with pytest.raises(ScepterError) as caught:
        run(stream, **given)
    if ending == "n3":  # its reader stops there: N3 is no RDF 1.2
        assert caught.value.diagnostic.code == "malformed-graph"
        assert "<<(" in str(caught.value) or "dirLangString" in str(caught.value)
    else:
        assert caught.value.diagnostic.code == "unsupported-term" and is_told(str(caught.value), what)


PATTERNS = {
    "a triple term": "?s :p <<( :a :b :c )>>",
    "a reified triple": "<< :a :b :c >> :p ?o",
    "an annotation of a triple": "?s :p ?o {| :by ?w |}",
    "a reifier": "?s :p ?o ~ :r",
    "a base direction": '?s :p "x"@en--ltr',
}
QUERIES = {
    "ep-sparql": "SELECT ?s {{ {{ ?s :q ?o }} SEQ {{ {0} }} }}",
    "ep-sparql, template": "CONSTRUCT {{ {0} }} WHERE {{ ?s ?p ?o }}",
    "spaseq": "SELECT ?s WITHIN 5 FROM STREAM S <http://e/s> WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {0} }} }}",
    "spaseq, template": "CONSTRUCT {{ {0} }} WITHIN 5 FROM STREAM S :s WHERE {{ SEQ (A) DEFINE GPM A ON S {{ ?s :p ?o }} }}",
    "rsep-ql": "SELECT ?s FROM NAMED WINDOW :w ON :s [RANGE 5] WHERE {{ WINDOW :w {{ {0} }} }}",
    "rsep-ql, event": "SELECT ?s FROM NAMED WINDOW :w ON :s [RANGE 5] EVENT ON :w {{ {0} }} AS E WHERE {{ MATCH {{ E }} }}",
    "rsep-ql, template": "CONSTRUCT {{ {0} }} FROM NAMED WINDOW :w ON :s [RANGE 5] WHERE {{ WINDOW :w {{ ?s ?p ?o }} }}",
    "sparkwave": "SELECT ?s FROM STREAM <http://e/s> [RANGE 5] WHERE {{ {0} }}",
    "sparkwave, template": "CONSTRUCT {{ {0} }} FROM STREAM <http://e/s> [RANGE 5] WHERE {{ ?s ?p ?o }}",
    "obep": "EVENT A AS (Room) EVENT C MATCH A AS F SEQ A AS B IF {{ EVENT F {{ {0} }} }} RETURN C AS RDF STREAM",
}  # fmt: skip


@pytest.mark.parametrize("what", list(PATTERNS))
@pytest.mark.parametrize("query", list(QUERIES))
def test_a_query_is_refused_at_the_place(query: str, what: str) -> None:
    text = "PREFIX : <http://e/> " + QUERIES[query].format(PATTERNS[what])
    with pytest.raises(ScepterError, match=what) as caught:
        scepter.parse(text, query.partition(",")[0])
    assert caught.value.diagnostic.code == "rdf-1.2"
