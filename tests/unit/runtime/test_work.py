"""Runs that would take all there is: ended by their limits, with an error that says which."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import scepter
from patience import PATIENCE
from scepter.cli.main import app
from scepter.errors import DataError, Diagnostic
from scepter.runtime import work
from scepter.runtime.engine import LocalEngine
from scepter.runtime.options import RunOptions
from scepter.runtime.work import Clock, WorkLimits, watched
from scepter.timeline import MAX_INSTANT

ANY = """PREFIX : <http://e/>
SELECT ?s WITHIN 100000 FROM STREAM S <http://e/stream>
WHERE { SEQ (A ; B+ ; C) DEFINE GPM A ON S { ?s :a ?x } DEFINE GPM B ON S { ?s :b ?y } DEFINE GPM C ON S { ?s :c ?z } }"""
ROWS = (
    "PREFIX : <http://e/>\nSELECT ?s WITHIN 5 FROM STREAM S <http://e/stream> WHERE { SEQ (A) DEFINE GPM A ON S { ?s :a ?x } }"
)


def events(count: int, predicates: str) -> list[scepter.Event]:
    text = "<http://e/s> <http://e/{}> {} ."
    return [scepter.Event("http://e/stream", text.format(predicates[i % len(predicates)], i), i) for i in range(count)]


def test_too_many_matches() -> None:
    query = scepter.parse(ROWS)
    assert len(scepter.run_local(query, events(10, "a"), max_matches=10)) == 10
    with pytest.raises(scepter.DataError, match="more than 9 matches") as caught:
        scepter.run_local(query, events(10, "a"), max_matches=9)
    assert caught.value.code == "max-matches"


def test_too_many_partial_matches() -> None:
    with pytest.raises(scepter.DataError, match="partial matches") as caught:
        scepter.run_local(scepter.parse(ANY), events(3_000, "a"), max_runs=100)
    assert caught.value.code == "max-runs"
    engine = scepter.Engine(scepter.parse(ANY), max_runs=20)
    with pytest.raises(scepter.DataError, match="partial matches"):
        engine.push_all(events(100, "a"))
        engine.push(scepter.Event("http://e/stream", "<http://e/s> <http://e/a> 1 .", 200))
        engine.push(scepter.Event("http://e/stream", "<http://e/s> <http://e/a> 1 .", 300))


@pytest.mark.parametrize("limit", [{"max_matches": 10}, {"max_runs": 10}, {"max_seconds": 1e6}, {"max_memory": "4 GB"}])
def test_what_grows_with_a_power_of_the_events_is_made_in_small_steps(
    monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]
) -> None:
    made: list[int] = []
    advance = LocalEngine.advance

    def counted(engine: LocalEngine, until: int, closed: int | None = None) -> Sequence[scepter.Match]:
        found = advance(engine, until, closed)
        made.append(len(found))
        return found

    monkeypatch.setattr(LocalEngine, "advance", counted)
    query = scepter.parse(ANY.replace("A ; B+ ; C", "A : B : C").replace(":b", ":a").replace(":c", ":a"))
    if "max_matches" in limit or "max_runs" in limit:
        with pytest.raises(scepter.DataError):
            scepter.run_local(query, events(150, "a"), **limit)
    else:
        assert len(scepter.run_local(query, events(150, "a"), **limit)) == 150 * 149 * 148 // 6
    assert 0 < made[0] <= 8 * 7 * 6 // 6  # of 551,300


def test_steps_grow_as_long_as_they_are_short() -> None:
    def steps(ends: Sequence[int], until: int, seconds: float) -> list[int]:
        clock = [0.0]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("scepter.runtime.work.time.process_time", lambda: clock[0])
            pace = work.Pace(WorkLimits(seconds=9), 500)
            pace.take(np.array(ends, np.int64))
            found = []
            for instant in pace.instants(until):
                found.append(instant)
                clock[0] += seconds
        return [*found, pace.waiting]

    ends = range(1, 1_001)
    assert steps(ends, 900, 0.0) == [8, 24, 56, 120, 248, 504, 900, 100]
    assert steps(ends, 300, 1.0) == [*range(8, 300, 8), 300, 700]
    assert steps(ends, MAX_INSTANT, 0.0) == [8, 24, 56, 120, 248, 504, 0]  # what is left is the run's last step
    assert steps([7] * 300, 9, 0.0) == [7, 9, 0]  # events of one time are in one step
    free = work.Pace(WorkLimits(), 500)
    free.take(np.array(ends, np.int64))
    assert (free.events, free.waiting, list(free.instants(900)), free.waiting) == (500, 1_000, [900], 0)


def test_steps_are_longer_where_much_waits() -> None:
    """What waits is written out once a step: four events for each, but not more than four times the usual step."""
    free, bounded = work.Pace(WorkLimits(), 500), work.Pace(WorkLimits(runs=9), 500)
    for runs, events in ((0, 500), (125, 500), (200, 800), (10**9, 2_000), (1, 500)):
        free.wait(runs)
        bounded.wait(runs)
        assert (free.events, bounded.events) == (events, 8)


def test_too_long() -> None:
    with pytest.raises(scepter.DataError, match=r"more than 0\.2 seconds") as caught, watched(WorkLimits(seconds=0.2)):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            pass
    assert caught.value.code == "max-seconds"


def test_the_timer_is_gone_afterwards() -> None:
    handler = signal.getsignal(signal.SIGALRM)
    with watched(WorkLimits(seconds=PATIENCE)):
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 0
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
    assert signal.getsignal(signal.SIGALRM) is handler


def test_elsewhere_than_in_the_main_thread_the_steps_look_at_the_clock() -> None:
    found: list[BaseException] = []

    def run() -> None:
        clock = Clock(WorkLimits(seconds=1e-9))
        with watched(WorkLimits(seconds=1e-9)):
            try:
                clock.check()
            except scepter.DataError as error:
                found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert len(found) == 1


TOO_MUCH = """
import numpy as np
import scepter
from scepter.runtime.work import WorkLimits, watched

try:
    with watched(WorkLimits.of(memory="200 MB")):
        np.ones(100 << 20)
except scepter.DataError as error:
    print(error.code, "bytes of memory" in str(error), np.ones(100 << 18).sum() == 100 << 18)
"""


def test_too_much_memory() -> None:
    # in a process of its own: what other tests give back meanwhile would make room
    told = subprocess.run([sys.executable, "-c", TOO_MUCH], capture_output=True, text=True, check=True)
    assert told.stdout.split() == ["max-memory", "True", "True"]
    with pytest.raises(MemoryError), watched(WorkLimits()):  # the system's own limit stays what it is
        raise MemoryError


CROSS = """
import sys
import scepter
from scepter.runtime import work

work.available = lambda: int(sys.argv[2]) << 20
pairs = " ".join(f"<http://e/s{i}> <http://e/p> {i} ." for i in range(60))
query = scepter.parse(
    "PREFIX : <http://e/> SELECT ?a FROM STREAM <http://e/s> WHERE {" + " . ".join(f"?a{i} :p ?b{i}" for i in range(6)) + "}",
    "ep-sparql",
)
try:
    scepter.run_local(query, {"http://e/s": [scepter.Event("http://e/s", pairs, 1)]}, **{sys.argv[1]: 1000})
except scepter.DataError as error:
    print(error.code)
"""


@pytest.mark.parametrize(
    ("limit", "megabytes", "code"),
    [("max_matches", 1200, "max-runs"), ("max_runs", 600, "max-runs"), ("max_matches", 200, "max-memory")],
)
def test_a_step_that_makes_more_rows_than_there_may_be_ends_before_they_are_there(
    limit: str, megabytes: int, code: str
) -> None:
    command = [sys.executable, "-c", CROSS, limit, str(megabytes)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert told.stdout.split() == [code]


def test_memory_is_limited_where_rows_are() -> None:
    limited = WorkLimits(matches=10).with_room()
    assert limited.memory is not None
    assert 0 < limited.memory < 1 << 50
    assert WorkLimits(seconds=5).with_room().memory is None
    assert WorkLimits(memory=7, runs=3).with_room().memory == 7


def test_how_many_rows_an_operator_may_make_at_one_instant() -> None:
    assert WorkLimits(seconds=5, memory=7).rows is None
    assert WorkLimits(runs=5).rows == WorkLimits(matches=3, runs=1).rows == 1_000_000
    assert WorkLimits(runs=2_000_000).rows == 2_000_000
    assert WorkLimits(matches=3).rows == 10_000_000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_seconds", "soon"),
        ("max_seconds", 0),
        ("max_memory", "much"),
        ("max_matches", "1 GB"),
        ("max_runs", 0),
        ("max_runs", -1),
    ],
)
def test_limits_that_are_none(name: str, value: object) -> None:
    with pytest.raises(scepter.OptionError, match=f"{name} cannot be"):
        RunOptions.of(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--max-matches", "1"], "error[max-matches]: the query has more than 1 matches"),
        (["--max-matches", "9" * 20], "help: write a whole number from 1 to 999,999,999,999,999"),
        (["--max-seconds", "1e400"], "help: write a number of seconds above 0 and below 1,000,000,000"),
        (["--max-runs", "5", "--engine", "spark"], "--max-runs bounds a run in this process"),
        (["--max-memory", "5GB", "--engine", "spark"], "--max-memory bounds a run in this process, or one that goes on"),
    ],
)
def test_on_the_command_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "q.spaseq").write_text(ROWS)
    (tmp_path / "s.timeline").write_text("PREFIX : <http://e/>\n1 { :s :a 1 } 2 { :s :a 2 }")
    engine = [] if "--engine" in arguments or "--follow" in arguments else ["--engine", "local"]
    given = ["run", str(tmp_path / "q.spaseq"), "--stream", f"S={tmp_path / 's.timeline'}", *engine, *arguments]
    result = CliRunner().invoke(app, given)
    assert result.exit_code in (1, 2)
    assert message in result.output


@pytest.mark.parametrize(
    ("arguments", "limits"),
    [
        ([], WorkLimits()),
        (["--follow"], WorkLimits(matches=1_000_000, runs=10_000_000)),
        (["--follow", "--max-runs", "none", "--max-matches", "7"], WorkLimits(matches=7)),
    ],
)
def test_a_run_that_goes_on_has_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], limits: WorkLimits
) -> None:
    seen: list[WorkLimits] = []

    def stop(engine: str, asked: object, given: WorkLimits) -> None:
        seen.append(given)
        raise scepter.OptionError(Diagnostic("seen", "enough"))

    monkeypatch.setattr("scepter.cli.run.check_work", stop)
    (tmp_path / "q.spaseq").write_text(ROWS)
    CliRunner().invoke(app, ["run", str(tmp_path / "q.spaseq"), "--stream", "S=-", "--engine", "local", *arguments])
    assert seen == [limits]


def test_what_queries_share_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    passed, done, monotonic = [0], list[int](), time.monotonic
    monkeypatch.setattr("scepter.runtime.work.time.monotonic", lambda: monotonic() + passed[0])
    shared: dict[str, Any] = {
        "__name__": "scepter.kernel.texts",
        "done": done,
        "ring": lambda: signal.raise_signal(signal.SIGALRM),
    }
    exec("def intern():\n    for each in range(20):\n        ring()\n        done.append(each)\n", shared)
    with pytest.raises(DataError, match="more than"), watched(WorkLimits(seconds=PATIENCE)):
        passed[0] = 2 * PATIENCE
        shared["intern"]()
        signal.raise_signal(signal.SIGALRM)
    assert len(done) == 20
    alone = shared | {"__name__": "scepter.kernel.static.background"}  # what it keeps is assigned whole
    exec("def look():\n    ring()\n    done.append(20)\n", alone)
    passed[0] = 0
    with pytest.raises(DataError, match="more than"), watched(WorkLimits(seconds=PATIENCE)):
        passed[0] = 2 * PATIENCE
        alone["look"]()
    assert len(done) == 20


ONE_INSTANT = """
import gc
import signal
import sys
import time
import scepter
from numba.core.runtime import _nrt_python as arrays
from scepter.runtime.engine import LocalEngine

language, text, events, each = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
stream, triple = "http://e/s", "<http://e/s{}> <http://e/p> {} ."
def given(each):
    texts = [" ".join(triple.format(i % 7, i + time) for i in range(each)) for time in range(events)]
    return {stream: [scepter.Event(stream, text, time) for time, text in enumerate(texts)]}

def ring(number, frame):
    raise KeyboardInterrupt

def begun(step):  # reading may take longer than the limit
    def begin(*given):
        if ringing:
            reading.append(time.monotonic() - started)
            signal.setitimer(signal.ITIMER_REAL, 0.3)
        return step(*given)
    return begin

def stopped(**limits):
    global started
    started = time.monotonic()
    try:
        scepter.run_local(query, many, max_memory="8 GB", **limits)
    except (scepter.DataError, KeyboardInterrupt) as error:
        print(getattr(error, "code", "interrupted"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    del limits
    gc.collect()
    return arrays.memsys_get_stats_mi_alloc() - arrays.memsys_get_stats_mi_free()

query = scepter.parse("PREFIX : <http://e/> " + text, language)
scepter.run_local(query, given(2))  # compiling is not interrupted
many = given(each)
arrays.memsys_enable_stats()
reading = []
LocalEngine.take, LocalEngine.advance = begun(LocalEngine.take), begun(LocalEngine.advance)
LocalEngine.finish, ringing = begun(LocalEngine.finish), True
signal.signal(signal.SIGALRM, ring)
kept = [stopped() for _ in range(3)]
ringing = False
kept += [stopped(max_seconds=0.3 + 2 * max(reading))]
kept += [stopped(max_runs=5) for _ in range(2)]
print(kept[1:] == kept[:-1], kept)
"""
PRODUCT = " . ".join(f"?a{i} :p ?b{i}" for i in range(6))
WORK_OF_ONE_INSTANT = {
    "an event's graph": (
        "spaseq",
        f"SELECT ?a0 FROM STREAM S :s WHERE {{ SEQ (A) DEFINE GPM A ON S {{ {PRODUCT} }} }}",
        1,
        200,
    ),
    "triples of a window": ("sparkwave", f"SELECT ?a0 FROM STREAM :s [RANGE 9] WHERE {{ {PRODUCT} }}", 1, 200),
    "a join in time": ("ep-sparql", "SELECT ?a FROM STREAM :s WHERE { { ?a :p ?b } SEQ { ?c :p ?d } }", 2, 90_000),
    "runs of a sequence": (
        "spaseq",
        "SELECT ?a WITHIN 9 FROM STREAM S :s WHERE { SEQ (A : B : C : D) DEFINE GPM A ON S { ?a :p ?b } DEFINE GPM B ON S "
        "{ ?c :p ?d } DEFINE GPM C ON S { ?e :p ?f } DEFINE GPM D ON S { ?g :p ?h } }",
        4,
        900,
    ),
    "a gap": (
        "ep-sparql",
        "SELECT ?a ?c FROM STREAM :s WHERE { { ?a :p ?b } SEQ { ?c :p ?d } EQUALSOPTIONAL { { ?a :p ?b } SEQ { ?e :q ?f } SEQ "
        "{ ?c :p ?d } } FILTER (!BOUND(?e)) }",
        2,
        90_000,
    ),
    "an event pattern": (
        "rsep-ql",
        "SELECT ?a FROM NAMED :s WIN [RANGE 9 STEP 1] AS :w EVENT ON :w { ?a :p ?b } AS A EVENT ON :w { ?c :p ?d } AS B "
        "WHERE { MATCH { A SEQ B } }",
        2,
        20_000,
    ),
}


@pytest.mark.parametrize("what", WORK_OF_ONE_INSTANT)
def test_seconds_and_rows_are_looked_at_within_one_instant_and_nothing_is_left_of_it(what: str) -> None:
    language, query, events, each = WORK_OF_ONE_INSTANT[what]
    command = [sys.executable, "-c", ONE_INSTANT, language, query, str(events), str(each)]
    told = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    wanted = [*["interrupted"] * 3, "max-seconds", *["max-runs"] * 2, "True"]
    assert told.stdout.split()[:7] == wanted, told.stdout + told.stderr
