"""Topics on Spark: as tables, and live from topic to topic over kills."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

import scepter
from docs.how_to import begun, page
from kafka.conftest import Topics
from kafka.events import QUERY, event, far, query
from kafka.running import Run
from kafka.test_mapped import MAP, RISE
from scepter.cli.main import app
from scepter.errors import OptionError
from scepter.runtime.spark.session import session
from scepter.runtime.spark.source import register

pytestmark = [pytest.mark.slow, pytest.mark.spark]
DELAY = 100
"""More than what one partition is ahead of another."""


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    found = session("local[2]", "scepter tests", messages=tmp_path_factory.mktemp("spark") / "messages.log")
    register(found)
    return found


def wanted(topics: Topics, topic: str, folder: Path) -> list[dict[str, object]]:
    """The matches of all that a topic holds, by the engine in this process."""
    given = ["run", str(query(folder)), "--stream", f"S={topics.url(topic)}", "--engine", "local"]
    found = CliRunner().invoke(app, given)
    assert found.exit_code == 0, found.output
    return [json.loads(line) for line in found.stdout.splitlines()]


def shown(row: object) -> tuple[object, ...]:
    assert isinstance(row, dict)
    return (row["start"], row["end"], row["bindings"]["x"]["value"], row["bindings"]["v"]["value"])


def test_a_topic_as_a_table_of_events_in_parallel(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics.new(2)
    topics.fill(topic, [*(event(time) for time in range(60)), "broken"])
    table = spark.read.format("rdf").option("deadLetterPath", str(tmp_path / "dead")).load(topics.url(topic))
    rows = table.collect()
    assert sorted(row["start"] for row in rows) == list(range(60))
    assert {len(row["graph"]) for row in rows} == {1}
    [letters] = [path for path in (tmp_path / "dead").iterdir() if path.read_text()]
    assert "partition 0 offset 30" in letters.read_text()
    found = scepter.run(scepter.parse(QUERY), spark, {"S": topics.url(topic)}).collect()
    expected = Counter(map(shown, wanted(topics, topic, tmp_path)))
    assert Counter((row["start"], row["end"], row["x"]["value"], row["v"]["value"]) for row in found) == expected


def test_a_live_topic_takes_so_many_messages_in_a_micro_batch(spark: SparkSession, topics: Topics, tmp_path: Path) -> None:
    topic = topics.new(2)
    topics.fill(topic, [*(event(time) for time in range(50)), far(1000), far(1001)])
    table = spark.readStream.format("rdf").option("maxEventsPerTrigger", "10").load(topics.url(topic))
    found = scepter.run(scepter.parse(QUERY), spark, {"S": table}, max_delay=DELAY)
    rows: list[tuple[object, ...]] = []

    def take(batch: object, number: int) -> None:
        rows.extend((r["start"], r["end"], r["x"]["value"], r["v"]["value"]) for r in batch.collect())  # type: ignore[attr-defined]

    writing = found.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "state"))
    running = writing.trigger(availableNow=True).start()
    running.awaitTermination()
    offsets = [
        json.loads(each["sources"][0]["endOffset"]) for each in map(dict, running.recentProgress) if each["numInputRows"]
    ]
    taken = [sum(b.values()) - sum(a.values()) for a, b in zip([{"0": 0, "1": 0}, *offsets], offsets, strict=False)]
    assert sum(taken) == 52
    assert max(taken) <= 10
    assert Counter(rows) == Counter(map(shown, wanted(topics, topic, tmp_path)))


def test_json_through_a_map_and_a_context_and_a_schema_that_changes(
    spark: SparkSession, topics: Topics, tmp_path: Path
) -> None:
    topic = topics.new(2)
    rows = [{"time": time, "sensor": f"x{time % 5}", "value": time % 3} for time in range(40)]
    # half-way a field becomes an object, another a text, and a document is cut
    changed = [{"time": 41, "sensor": {"id": "x1"}, "value": 1}, {"time": 42, "sensor": "x2", "value": "high"}]
    topics.fill(topic, [*map(json.dumps, rows[:20]), *map(json.dumps, changed), '{"time": 43', *map(json.dumps, rows[20:])])
    context = {"@base": "http://e/", "@vocab": "http://e/", "sensor": "@id", "value": "http://e/v"}
    query = scepter.parse(RISE)
    for given in ({"map": MAP}, {"context": context, "time_property": "http://e/time"}):
        here = scepter.run_local(query, topics.url(topic), max_delay=100, **given)
        expected = Counter((m.start, m.end, str(m.bindings["x"])) for m in here)
        found = scepter.run(query, spark, {"S": topics.url(topic)}, max_delay=100, **given).collect()
        assert Counter((row["start"], row["end"], f"<{row['x']['value']}>") for row in found) == expected
        assert len(expected) > 5
        assert {letter.source.rpartition(" partition ")[2] for letter in here.dead_letters} >= {"0 offset 11"}


def test_the_page_about_matches_to_kafka(
    spark: SparkSession, topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"servers": topics.broker.address, "topic": (topic := topics.new())}
    begun(spark, names)
    page("spark-to-kafka", names, ("python spark", "python spark kafka"))
    [message] = topics.read(topic)
    assert message.key() == b"http://example/f1"


def test_a_topic_that_does_not_exist_or_is_given_with_others(spark: SparkSession, topics: Topics) -> None:
    with pytest.raises(Exception, match="has no topic nowhere"):
        spark.read.format("rdf").load(topics.url("nowhere")).collect()
    with pytest.raises(Exception, match="a topic is read alone"):
        spark.read.format("rdf").load([topics.url("a"), topics.url("b")]).collect()
    with pytest.raises(OptionError, match="names no broker"):
        scepter.run(scepter.parse(QUERY), spark, {"S": "kafka:///a"})


def test_killed_between_kafka_and_kafka_nothing_is_lost_or_doubled(topics: Topics, tmp_path: Path) -> None:
    topic, out = topics.new(2), topics.new(2)
    draw = random.Random(11)
    parts = [[event(time) for time in range(at, at + 60)] for at in range(0, 360, 60)]
    arguments = (query(tmp_path), "--stream", f"S={topics.url(topic)}", "--output", topics.url(out, "key=x"))
    run = Run(
        tmp_path,
        [*arguments, "--follow", "--master", "local[2]", "--checkpoint", "state", "--max-events", "25", "--max-delay", DELAY],
    )
    sent = 0
    for first in (0, 3):
        run.start()
        for part in parts[first : first + 3]:
            topics.fill(topic, part, begin=sent)
            sent += len(part)
        before = len(topics.read(out))
        run.wait(lambda before=before: len(topics.read(out)) > before + draw.randrange(8))  # type: ignore[misc]
        run.kill()
    topics.fill(topic, [far(5_000), far(5_001), far(10_000), far(10_001)], begin=sent)
    run.start()
    expected = wanted(topics, topic, tmp_path)
    run.wait(lambda: len(topics.read(out)) >= len(expected))
    assert run.stop() == 0, run.log()
    found = topics.matches(out)
    assert len({match["id"] for match in found}) == len(found)
    assert Counter(map(shown, found)) == Counter(map(shown, expected))
    assert len(topics.read(out, committed=False)) >= len(found)
