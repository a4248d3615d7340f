"""Topics that are followed in this process, without Spark."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from itertools import pairwise
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
        whole = scepter("run", *given, "--max-delay", "5000")
        assert whole.exit_code == 0, whole.output
        expected = [json.loads(line) for line in whole.stdout.splitlines()]
        run.start()
        settled(len(expected))
        assert run.stop() == 0, run.log()
        found = mine.matches(out)
        assert len({match.pop("id") for match in found}) == len(found)
        assert Counter(map(json.dumps, found)) == Counter(map(json.dumps, expected))


def test_a_run_goes_on_with_what_its_query_looks_back_to(topics: Topics, tmp_path: Path) -> None:
    topic, whole, out = topics.new(2), topics.new(2), topics.new(2)
    given = (query(tmp_path), "--engine", "local", "--max-delay", "5")
    run = Run(
        tmp_path,
        [*given, "--stream", f"S={topics.url(topic, 'idle=15min')}", "--follow", "--output", topics.url(out, "key=x"),
         "--dead-letter", "dead.jsonl"],
    )  # fmt: skip
    draw = random.Random(5)
    sent = 0
    begins = [[0, 0]]
    for _ in range(5):
        run.start()
        before = len(topics.read(out))
        for _ in range(2):
            texts = [event(time) for time in range(sent, sent + 1100)]
            for each in (topic, whole):
                topics.fill(each, texts, begin=sent)
            sent += len(texts)
            run.wait(lambda before=before: len(topics.read(out)) > before + draw.randrange(300))  # type: ignore[misc]
        run.kill()
        begins.append(topics.forget_what_no_run_needs(topic))
    assert all(low < high for a, b in pairwise(begins[1:]) for low, high in zip(a, b, strict=True)), begins
    assert begins[-1] > [sent // 4, sent // 4]
    for each in (topic, whole):
        topics.fill(each, [far(sent + 100), far(sent + 101)], begin=sent)
    bounded = scepter("run", *given, "--stream", f"S={topics.url(whole)}")
    assert bounded.exit_code == 0, bounded.output
    expected = bounded.stdout.splitlines()
    run.start()
    run.wait(lambda: len(topics.read(out)) >= len(expected))
    assert run.stop() == 0, run.log()
    found = topics.matches(out)
    assert len({match.pop("id") for match in found}) == len(found)
    assert Counter(map(json.dumps, found)) == Counter(json.dumps(json.loads(line)) for line in expected)
    assert not lines(tmp_path / "dead.jsonl")  # nothing that is gone was asked for


def test_a_partition_that_is_behind_is_waited_for(topics: Topics, tmp_path: Path) -> None:
    topic = topics.new(2)
    given = ["--follow", "--output", "out.jsonl", "--dead-letter", "dead.jsonl", "--engine", "local"]
    run = Run(tmp_path, [query(tmp_path), "--stream", f"S={topics.url(topic, 'idle=15min')}", *given])
    run.start()
    ahead, behind = [at for at in range(100) if at % 4 < 2], [at for at in range(100) if at % 4 >= 2]
    topics.fill(topic, [*(event(time) for time in ahead)], partition=0)
    time.sleep(1)
    for at in range(0, 50, 10):  # slower than the other, and without --max-delay
        topics.fill(topic, [event(time) for time in behind[at : at + 10]], partition=1)
        time.sleep(0.2)
    topics.fill(topic, [far(200)], partition=0)
    topics.fill(topic, [far(200)], partition=1)
    (tmp_path / "s.nq").write_text("".join(event(n).replace("http://e/e>", f"http://e/e{n}>") for n in range(100)))
    expected = scepter("run", query(tmp_path), "--stream", f"S={tmp_path / 's.nq'}", "--engine", "local").stdout.splitlines()
    run.wait(lambda: len(lines(tmp_path / "out.jsonl")) >= len(expected))
    assert run.stop() == 0, run.log()
    assert Counter(map(json.dumps, lines(tmp_path / "out.jsonl"))) == Counter(json.dumps(json.loads(each)) for each in expected)
    assert not lines(tmp_path / "dead.jsonl")


def test_a_topic_that_does_not_exist_is_told_at_once(topics: Topics, tmp_path: Path) -> None:
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url('nowhere')}", "--engine", "local", "--follow")
    assert found.exit_code == 2
    assert "has no topic nowhere" in found.output
