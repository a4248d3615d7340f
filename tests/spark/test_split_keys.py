"""A hot key of a followed run is split over several buckets: found in one micro-batch, used in the next, also by a driver that
comes back."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import scepter
from batches import at_time, integer, quad
from scepter.runtime.spark.live_skew import SKEWED
from scepter.runtime.spark.telling import Record
from torture.kills import Run

QUERY = (
    "PREFIX : <http://example/>\nSELECT ?c ?x ?y WITHIN 8 SLIDING FROM STREAM S <http://example/s>\n"
    "WHERE { SEQ (A ; B) DEFINE GPM A ON S { ?c :a ?x } DEFINE GPM B ON S { ?c :b ?y } }\n"
)
MANY = 36_000


def event(t: int) -> str:
    subject = "<http://example/hot>" if t % 2 else f"<http://example/x{t % 40}>"
    return at_time(f"e{t}", t) + quad(f"e{t}", subject, f"<http://example/{'ab'[t % 3 > 0]}>", integer(t))


@pytest.mark.slow
@pytest.mark.spark
def test_a_hot_key_is_split_and_nothing_is_lost_or_twice(tmp_path: Path) -> None:
    ends = [0, MANY, MANY + 500, MANY + 1000, MANY + 1500]
    texts = ["".join(map(event, range(1 + first, 1 + last))) for first, last in pairwise(ends)]
    run = Run(tmp_path, "spaseq", 1, texts)
    (tmp_path / "query").write_text(QUERY)
    run.start()
    try:
        for number in range(len(texts)):
            run.put(number)
            run.wait(number + 1)
            if number == 1:
                run.end_all()
                run.start()
        run.stop()
    finally:
        run.end_all()
    kept = Record(SKEWED, run.kept / "checkpoint")._kept.batches
    assert '"0": [[' in kept[-1][1]
    matches, letters = run.written()
    assert not letters
    (tmp_path / "all.nq").write_text("".join(texts))
    certain = MANY + 1400  # the rest waits for time to pass
    wanted = Counter(
        (match.start, match.end) for match in scepter.run_local(scepter.parse(QUERY), streams={"S": str(tmp_path / "all.nq")})
    )
    found = Counter[tuple[int, int]]()
    for line, count in matches.items():
        told = json.loads(line)
        found[told["start"], told["end"]] += count
    assert {at: n for at, n in found.items() if at[1] < certain} == {at: n for at, n in wanted.items() if at[1] < certain}
