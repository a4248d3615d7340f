"""Every golden case on Spark: over bounded input with 1, 2 and 7 shuffle partitions, and live in small micro-batches."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from buckets import job_of, triples
from microbatches import engine_answers, graph_event
from naive.comparison import comparable_graph
from scepter.cases.compare import Answer, difference
from scepter.cases.loader import load_case
from scepter.cases.model import Case, Refusal
from scepter.cases.nquads import case_nquads
from scepter.cases.runner import find_cases
from scepter.cli.execute import answer
from scepter.errors import ScepterError
from scepter.rdf.files import stream_files
from scepter.rdf.timeline_notation import TimelineEvent
from scepter.runtime.queries import check_endless
from scepter.runtime.spark.run import Given, run_with_options
from scepter.timeline import TimeKind, format_instant
from spark_answers import answers, case_query, labelled, table_schema, write_events

CASES: Final = [load_case(path) for path in find_cases([Path(__file__).parents[2] / "cases"])]
ANSWERED: Final = [case for case in CASES if not isinstance(case.expectation, Refusal)]
LANGUAGES: Final = sorted({case.path.parent.name for case in CASES})
AT_ONCE: Final = 2
"""Runs at the same time: much of one is waiting."""
SLICES: Final = 3
EVERY: Final = "SCEPTER_EVERY_COUNT" in os.environ
"""Whether each case is run with each number of partitions: otherwise by turns, since CI would take hours. In this process
tests/conformance/test_divided_cases.py runs each with each."""
COUNTS: Final = [(1,), (2,), (7,)] if EVERY else [(1, 2, 1, 1, 7, 1)]
"""Shuffle partitions of live runs."""
MANY: Final = 9
"""Of a language with more cases than this, live runs take every fourth to twelfth: a micro-batch takes its time. In this
process tests/conformance/test_live_cases.py runs all of them."""
SLOW_STARTS: Final = 9
"""So often a query may begin anew because Spark did not wait for its worker, which it gives ten seconds whatever else runs."""
WAYS: Final = [(1, False), (2, True), (7, False)]
"""Shuffle partitions of bounded runs, and whether the input is a table."""
FAR: Final = triples(":far :away true .")

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def divided(spark: SparkSession, partitions: int) -> SparkSession:
    """The session with settings of its own."""
    own = spark.newSession()
    own.conf.set("spark.sql.shuffle.partitions", str(partitions))
    own.conf.set("spark.sql.codegen.wholeStage", "false")  # would take longer to compile than there is to run
    return own


def differences(cases: Sequence[Case], run: Callable[[int, Case], str | None]) -> dict[str, str]:
    """What `run` tells about cases, some of them at a time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        told = pool.map(run, range(len(cases)), cases)
        return {case.path.name: text for case, text in zip(cases, told, strict=True) if text is not None}


def of_language(cases: Sequence[Case], language: str) -> list[Case]:
    return [case for case in cases if case.path.parent.name == language]


@pytest.mark.parametrize("ways", [[way] for way in WAYS] if EVERY else [WAYS], ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_bounded(spark: SparkSession, language: str, ways: list[tuple[int, bool]], tmp_path: Path) -> None:
    sessions = [(divided(spark, partitions), tables) for partitions, tables in ways]

    def run(number: int, case: Case) -> str | None:
        own, tables = sessions[number % len(sessions)]
        query, options, streams = case_query(case)
        given = {
            iri: bounded(own, events, tmp_path / f"{number}-{place}", tables=tables)
            for place, (iri, events) in enumerate(streams.items())
        }
        found = run_with_options(
            query, own, given, options, find_files=stream_files, background=case.background, ontology=case.ontology
        )
        return difference(case, answers(labelled("", found).collect()).get("", []))

    assert not differences(of_language(ANSWERED, language), run)


def bounded(spark: SparkSession, events: Sequence[TimelineEvent], path: Path, *, tables: bool) -> Given:
    """The events as a table, or as a file of N-Quads."""
    if tables and events:
        write_events(path, events)
        return spark.read.schema(table_schema(events[0].kind)).parquet(str(path)).repartition(3)
    path.with_suffix(".nq").write_text(case_nquads(events), encoding="utf-8", newline="\n")
    return str(path.with_suffix(".nq"))


def test_what_is_refused_is_refused_before_any_job_runs(spark: SparkSession, tmp_path: Path) -> None:
    refused = [case for case in CASES if isinstance(case.expectation, Refusal)]
    assert len(refused) > 5
    for number, case in enumerate(refused):
        assert isinstance(case.expectation, Refusal)
        with pytest.raises(ScepterError) as told:
            query, options, streams = case_query(case)
            given = {iri: bounded(spark, events, tmp_path / f"{number}", tables=False) for iri, events in streams.items()}
            run_with_options(
                query, spark, given, options, find_files=stream_files, background=case.background, ontology=case.ontology
            )
        assert case.expectation.words in told.value.diagnostic.message, case.path.name


def live_cases() -> list[Case]:
    """Those whose query can go on for ever, and which have events."""
    found = []
    for case in ANSWERED:
        query, _, streams = case_query(case)
        try:
            check_endless(query)
        except ScepterError:
            continue
        if any(streams.values()):
            found.append(case)
    return found


@pytest.mark.parametrize("counts", COUNTS, ids=str)
@pytest.mark.parametrize("language", LANGUAGES)
def test_live(spark: SparkSession, language: str, counts: tuple[int, ...], tmp_path: Path) -> None:
    """What the engine in this process knows before a time far away, Spark has told when it is there."""
    sessions = [divided(spark, partitions) for partitions in counts]

    def run(number: int, case: Case) -> str | None:
        own = sessions[number % len(sessions)]
        query, options, streams = case_query(case)
        kind = next(event.kind for events in streams.values() for event in events)
        far = far_away(list(streams.values()), kind)
        folder = tmp_path / str(number)
        tables, batches = {}, 0
        for place, (iri, files) in enumerate(sliced(streams, far).items()):
            write_files(folder / str(place), files, kind)
            batches = len(files)
            reading = own.readStream.schema(table_schema(kind)).option("maxFilesPerTrigger", 1)
            tables[iri] = reading.parquet(str(folder / str(place)))
        found = run_with_options(
            query, own, tables, options, find_files=stream_files, background=case.background, ontology=case.ontology
        )
        got, progress = ended(own, labelled("", found), folder, f"golden_{language.replace('-', '_')}_{counts[0]}_{number}")
        assert progress >= batches
        wanted, given = (comparable(rows, format_instant(far, kind)) for rows in (certain(case, far), got))
        return None if given == wanted else f"missing {wanted - given}, too many {given - wanted}"

    cases = of_language(live_cases(), language)
    cases = cases if EVERY else cases[:: len(cases) // MANY + 1]
    assert len(cases) > 6
    assert not differences(cases, run)


def ended(spark: SparkSession, found: DataFrame, folder: Path, name: str) -> tuple[list[Answer], int]:
    """The answers of a live run over what is there, and how many micro-batches it took."""
    for attempt in range(SLOW_STARTS + 1):
        sink = found.writeStream.format("memory").queryName(f"{name}_{attempt}").outputMode("append")
        sink = sink.option("checkpointLocation", str(folder / f"checkpoint{attempt}")).trigger(availableNow=True)
        try:
            live = sink.start()
            assert live.awaitTermination(600)
            break
        except StreamingQueryException as error:
            # At its start a query asks a new process which state it has, and Spark gives that process ten seconds to come up:
            # not enough on a machine with much else to do. Nothing has been read yet.
            if attempt == SLOW_STARTS or "Python worker failed to connect back" not in str(error):
                raise
    return answers(spark.table(f"{name}_{attempt}").collect()).get("", []), len(live.recentProgress)


def far_away(streams: Sequence[Sequence[TimelineEvent]], kind: TimeKind) -> int:
    """A whole second after all events, as Spark tells time in milliseconds."""
    last = max(event.end for events in streams for event in events)
    return (last // 1_000 + 1) * 1_000 if kind is TimeKind.INTEGER else (last // 1_000_000 + 60) * 1_000_000


def sliced(streams: dict[str, list[TimelineEvent]], far: int) -> dict[str, list[list[TimelineEvent]]]:
    """The events of each stream in files, one per micro-batch, cut at the same times; the last one is far away."""
    times = sorted({event.end for events in streams.values() for event in events})
    size = -(-len(times) // SLICES)
    place = {time: number // size for number, time in enumerate(times)}
    found = {}
    for iri, events in streams.items():
        files: list[list[TimelineEvent]] = [[] for _ in range(place[times[-1]] + 1)]
        for event in events:
            files[place[event.end]].append(event)
        kind = next(event.kind for events in streams.values() for event in events)
        found[iri] = [*files, [TimelineEvent("far", far, far, kind, tuple(FAR), 0)]]
    return found


def write_files(folder: Path, files: Sequence[Sequence[TimelineEvent]], kind: TimeKind) -> None:
    folder.mkdir(parents=True)
    for number, events in enumerate(files):
        path = folder / f"{number:04}.parquet"
        write_events(path, events, kind)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))


def certain(case: Case, far: int) -> list[Answer]:
    """What the engine in this process knows before some time."""
    query, options, streams = case_query(case)
    kind = next(event.kind for events in streams.values() for event in events)
    job = job_of(
        query, background=case.background, options=options, kind=kind, live=True, ontology=case.ontology, given=streams
    )
    given = sorted(((iri, e) for iri, events in streams.items() for e in events), key=lambda pair: pair[1].end)
    events = [graph_event(job, iri, e.start, e.end, e.triples) for iri, e in given]
    events += [graph_event(job, iri, far, far, FAR) for iri in streams]
    return [answer(match) for match in engine_answers(job, events, far)]


def comparable(found: Sequence[Answer], far: int | str) -> Counter[object]:
    """Answers, apart from how blank nodes are called; without those of the event far away."""
    return Counter(
        (a.start, a.end, frozenset(a.bindings.items()), a.graph and comparable_graph(a.graph), a.boolean, a.event)
        for a in found
        if a.end != far
    )
