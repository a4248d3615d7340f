"""Topics that are followed in this process, without Spark."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from kafka.conftest import Topics
from kafka.events import event, far, query
from kafka.running import Run
from kafka.test_bounded import scepter
from kafka.test_mapped import MAP, RISE
from scepter.bench.broker import broker

pytestmark = pytest.mark.slow


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def test_answers_come_while_messages_do_and_what_is_wrong_is_told_with_its_offset(topics: Topics, tmp_path: Path) -> None:
    topic = topics.new(2)
    (tmp_path / "q.spaseq").write_text(RISE)
    (tmp_path / "m.yml").write_text(MAP)
    run = Run(
        tmp_path,
        ["q.spaseq", "--stream", f"S={topics.url(topic)}", "--map", "m.yml", "--follow", "--max-delay", "5",
         "--output", "out.jsonl", "--dead-letter", "dead.jsonl"],
    )  # fmt: skip
    run.start()
    messages = [{"time": 1, "sensor": "a", "value": 0}, {"time": 3, "sensor": "a", "value": 7}]
    texts = [json.dumps(each) for each in messages]
    topics.fill(topic, [b"\xff", None, texts[0]], partition=1)  # nothing tells a format before the third
    topics.fill(topic, [texts[1], texts[1][:9], '{"time": 4, "sensor": "a", "value": "hot"}', '{"t": 4}'], partition=0)
    topics.fill(topic, ['{"time": 105, "sensor": "z", "value": 1}'], partition=0)
    run.wait(lambda: len(lines(tmp_path / "out.jsonl")) == 1)
    topics.fill(topic, ['{"time": 102, "sensor": "b", "value": 0}', '{"time": 104, "sensor": "b", "value": 2}'], partition=1)
    topics.fill(topic, ['{"time": 200, "sensor": "z", "value": 1}'], partition=1)
    run.wait(lambda: len(lines(tmp_path / "out.jsonl")) == 2)
    assert run.stop() == 0, run.log()
    assert [(match["start"], match["end"]) for match in lines(tmp_path / "out.jsonl")] == [(1, 3), (102, 104)]
    places = [str(letter["source"]).partition(f"{topic} ")[2] for letter in lines(tmp_path / "dead.jsonl")]
    assert sorted(place for place in places if place) == [
        "partition 0 offset 1", "partition 0 offset 2", "partition 0 offset 3", "partition 1 offset 0", "partition 1 offset 1",
    ]  # fmt: skip
    assert "engine: local" in run.log()


def test_killed_and_left_by_the_broker_nothing_is_lost_or_doubled(topics: Topics, tmp_path: Path) -> None:
    with broker() as running:  # one that others do not need meanwhile
        mine = Topics(running)
        topic, out = mine.new(2), mine.new(2)
        given = (query(tmp_path), "--stream", f"S={mine.url(topic)}", "--engine", "local")
        run = Run(tmp_path, [*given, "--follow", "--max-delay", "5000", "--output", mine.url(out, "key=x")])
        times = iter(range(0, 360, 60))

        def send() -> None:
            at = next(times)
            mine.fill(topic, [event(time) for time in range(at, at + 60)], begin=at)

        def settled(least: int) -> None:
            run.wait(lambda: len(mine.read(out)) >= least)

        run.start()
        send()
        mine.fill(topic, [far(5_030), far(5_030)], begin=59)  # moves time on to 30: half of the events are certain
        settled(1)
        run.kill()  # with answers written, and others held back
        send()
        run.start()
        running.kill()
        running.start()
        send()
        mine.fill(topic, [far(5_150), far(5_150)], begin=179)
        settled(20)
        run.kill()
        mine.fill(topic, [far(10_000), far(10_001)], begin=1000)
        expected = [json.loads(line) for line in scepter("run", *given, "--max-delay", "5000").stdout.splitlines()]
        run.start()
        settled(len(expected))
        assert run.stop() == 0, run.log()
        found = mine.matches(out)
        assert len({match.pop("id") for match in found}) == len(found)
        assert Counter(map(json.dumps, found)) == Counter(map(json.dumps, expected))


def test_a_topic_that_does_not_exist_is_told_at_once(topics: Topics, tmp_path: Path) -> None:
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url('nowhere')}", "--engine", "local", "--follow")
    assert found.exit_code == 2
    assert "has no topic nowhere" in found.output
