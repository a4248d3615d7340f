"""`--max-advance` of a followed run on Spark: one event in the far future moves nothing, also where the driver dies."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from batches import at_time, integer, quad
from scepter.rdf.terms import IRI
from scepter.runtime.jumps import Known
from scepter.runtime.options import RunOptions
from scepter.runtime.spark.advance import ADVANCE, left_behind, written
from scepter.runtime.spark.telling import Record
from scepter.timeline import TimeKind
from torture.kills import Run

FAR = 10**9


def events(*times: int) -> str:
    return "".join(at_time(f"e{t}", t) + quad(f"e{t}", "<http://example/s1>", "<http://example/a>", integer(t)) for t in times)


@pytest.mark.slow
@pytest.mark.spark
def test_one_event_in_the_far_future_makes_nothing_late(tmp_path: Path) -> None:
    texts = [events(*range(1, 20)), events(FAR), events(*range(20, 40)), events(41), events(FAR + 50), events(FAR + 60)]
    run = Run(tmp_path, "sparkwave", 1, texts, ("--max-advance", "100"))
    query = "PREFIX : <http://example/>\nSELECT ?v FROM STREAM <http://example/s> [RANGE 5] WHERE { ?s :a ?v }\n"
    (tmp_path / "query").write_text(query)
    run.start()
    try:
        for number in range(len(texts)):
            run.put(number)
            run.wait(number + 1)
            if number == 1:  # the event waits; who comes back must know
                run.end_all()
                run.start()
        run.stop()
    finally:
        run.end_all()
    matches, letters = run.written()
    found = sorted(int(json.loads(line)["bindings"]["v"]["value"]) for line in matches.elements())
    assert found[:40] == [*range(1, 40), 41]
    assert found[40] == FAR  # confirmed by the one that came within a hundred of it
    assert not letters
    assert f"the event at {FAR} would move time on by more than 100" in run.log()


def test_what_a_micro_batch_made_known_is_not_known_to_it_when_it_is_done_again(tmp_path: Path) -> None:
    record = Record(ADVANCE, tmp_path)
    record.take(3, written({0: Known(5)}))
    record.take(4, written({0: Known(5, (FAR,))}))
    record.take(4, written({0: Known(5, (FAR,))}))
    again = Record(ADVANCE, tmp_path)
    assert [number for number, _ in again._kept.batches] == [3, 4]
    again.take(5, written({0: Known(7, (FAR,))}))
    assert [number for number, _ in Record(ADVANCE, tmp_path)._kept.batches] == [4, 5]
    (tmp_path / ADVANCE.file).write_bytes(b"torn")
    with pytest.raises(Exception, match="nobody can tell how far time is"):
        Record(ADVANCE, tmp_path)


@pytest.mark.parametrize(
    ("times", "watermark", "told"),
    [
        ([20, 21, 22], 999_995, ["<http://e/a>: events are late because one at 1000000 has moved time on"]),
        ([20], 999_995, ["<http://e/a>: events are late because one at 1000000 has moved time on"]),
        ([20, 21, 22], 120, []),  # late, as events may be
        ([20, 21, 1_000_001], 999_995, []),  # time is there indeed
        ([0, 500_000, 900_000], 999_995, []),
    ],
)
def test_events_that_are_late_because_of_a_jump_are_told_with_what_caused_it(
    times: list[int], watermark: int, told: list[str]
) -> None:
    job: Any = SimpleNamespace(options=RunOptions.of(max_delay=5), kind=TimeKind.INTEGER, streams=(IRI("http://e/a"),))
    found = left_behind(job, np.zeros(len(times), np.int64), np.array(times, np.int64), watermark)
    assert [text.partition(";")[0] for text in found] == told
