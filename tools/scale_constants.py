#!/usr/bin/env python3
"""The constants of docs/inside/scale.md, measured in this process: CPU of both stages, bytes shuffled, state of a key.

Usage: tools/scale_constants.py [EVENTS]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping

import numpy as np

from scepter.rdf.batch import EventBatch
from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.hashing import TermKey
from scepter.rdf.nquads import ReadState
from scepter.rdf.terms import IRI, XSD
from scepter.runtime.inputs import load_background
from scepter.runtime.options import RunOptions
from scepter.runtime.planning import facts_of, planned
from scepter.runtime.queries import parse
from scepter.runtime.spark.jobs import Job, Work, new_work, work
from scepter.runtime.spark.shipped_background import ShippedBackground
from scepter.timeline import TimeKind

KEYS = 1_000
BUCKETS = 8
PREFIX = "PREFIX : <http://e/> "
QUERIES = {
    "spaseq": "SELECT ?c ?x ?y WITHIN 200 SLIDING FROM STREAM S <http://e/s> WHERE { SEQ (A; B) "
    "DEFINE GPM A ON S { ?c :p ?x } DEFINE GPM B ON S { ?c :p ?y FILTER(?y > ?x + 900) } }",
    "ep-sparql": "SELECT ?c ?x ?y WHERE { { ?c :p ?x } OPTIONAL { ?c :none ?z } } SEQ { ?c :p ?y } "
    "FILTER(?y > ?x + 990 && getDURATION() < 200)",
    "sparkwave": "SELECT ?c (AVG(?x) AS ?m) FROM STREAM :s [RANGE 200 STEP 100] WHERE { ?c :p ?x } GROUP BY ?c",
    "sparkwave, pairs": "SELECT ?c ?x ?y FROM STREAM :s [RANGE 200] WHERE { ?c :p ?x . ?c :p ?y FILTER(?y > ?x + 990) }",
    "rsep-ql": "SELECT ?c ?x ?y FROM NAMED :s WIN [RANGE 200 STEP 100] AS :w EVENT ON :w { ?c :p ?x } AS A "
    "EVENT ON :w { ?c :p ?y FILTER(?y > 990) } AS B WHERE { MATCH { A SEQ B } FILTER(?x < 10) }",
    "obep": "EVENT Value AS p some Thing EVENT Rise MATCH Value AS A SEQ Value AS B WITHIN 200 ms IF { EVENT A { ?c :p ?x . } "
    "EVENT B { ?c :p ?y . } FILTER(?y > ?x + 990) } RETURN Rise AS RDF STREAM",
}


def job_of(text: str, language: str, *, live: bool) -> Job:
    """A run of a query over one stream."""
    query = parse(PREFIX + text, language.split(",")[0])
    static = load_background(query, None, None)
    plan = planned(query.program, facts_of(RunOptions(), static, (), TimeKind.INTEGER))
    return Job(
        name=f"{language} {live}", plan=plan, options=RunOptions(), kind=TimeKind.INTEGER, key=TermKey.fixed(),
        streams=(IRI("http://e/s"),), static=ShippedBackground.of(static), ontology=(), buckets=BUCKETS, live=live,
    )  # fmt: skip


def drawn(count: int, key: TermKey) -> list[EventBatch]:
    """Ten events at each instant, each with a value of one of the keys."""
    random = np.random.default_rng(1)
    keys, values = random.integers(0, KEYS, count), random.integers(0, 1000, count)
    run = ReadState(TimeKind.INTEGER)
    events = [
        GraphEvent(0, None, t // 10, t // 10, [(f"<http://e/c{keys[t]}>", "<http://e/p>", f'"{values[t]}"^^<{XSD}integer>')])
        for t in range(count)
    ]
    return [events_to_batch(events[at : at + 50_000], key, TimeKind.INTEGER, run=run) for at in range(0, count, 50_000)]


def solved(job: Job, batches: list[EventBatch]) -> Mapping[int, list[bytes]]:
    """What the lower stage sends to each bucket."""
    blobs: dict[int, list[bytes]] = {}
    for batch in batches:
        for bucket, _, blob in work(job, job.shares[0]).solve([batch], 0):
            blobs.setdefault(bucket, []).append(blob)
    return blobs


def filled(job: Job, blobs: list[bytes], bucket: int = 0) -> Work:
    """A bucket that has taken what was sent to it."""
    here = new_work(job, job.shares[0], bucket)
    for blob in blobs:
        here.accept(blob)
    return here


def measured(text: str, language: str, count: int) -> str:
    """One line of the table."""
    job = job_of(text, language, live=language == "obep")  # which over history is cut into slices of events
    batches = drawn(count, job.key)
    solved(job, batches)  # compiles
    begun = time.process_time()
    blobs = solved(job, batches)
    read = time.process_time()
    for _ in filled(job, blobs[0]).ended():  # compiles
        pass
    spent = []
    for bucket, sent in blobs.items():
        at = time.process_time()
        for _ in filled(job, sent, bucket).ended():
            pass
        spent.append(time.process_time() - at)
    live = job_of(text, language, live=True)
    states = []
    for sent in solved(live, batches[:1]).values():
        here = filled(live, sent)
        for _ in here.released(int(batches[0].end.max()) - 100):
            pass
        states.append(len(here.dump("")))
    size = sum(len(blob) for sent in blobs.values() for blob in sent)
    return (
        f"| {language} | {1e6 * (read - begun) / count:.2f} | {1e6 * sum(spent) / count:.2f} | {size / count:.0f} | "
        f"{sum(states) / KEYS:.0f} | {max(spent) / float(np.mean(spent)):.2f} |"
    )


def main(count: int = 200_000) -> None:
    """Print the table."""
    sys.stdout.write(
        "| language | lower stage, µs an event | upper stage, µs an event | bytes an event | bytes a key | largest bucket |"
        + "\n"
    )
    sys.stdout.write("| --- | ---: | ---: | ---: | ---: | ---: |" + "\n")
    for language, text in QUERIES.items():
        sys.stdout.write(measured(text, language, count) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
