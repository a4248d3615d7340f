"""Topics as bounded input, and as output, of the engine in this process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kafka.conftest import Topics
from kafka.events import event, query
from scepter.cli.main import app

pytestmark = pytest.mark.slow


def scepter(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_topic_gives_what_a_file_gives(topics: Topics, tmp_path: Path, partitions: int) -> None:
    events = [event(time) for time in range(200)]
    # in a file, events of one name that follow each other would be one
    (tmp_path / "s.nq").write_text("".join(text.replace("http://e/e>", f"http://e/e{n}>") for n, text in enumerate(events)))
    topic = topics.new(partitions)
    topics.fill(topic, events)
    file = scepter("run", query(tmp_path), "--stream", f"S={tmp_path / 's.nq'}", "--engine", "local")
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local")
    assert found.exit_code == 0, found.output
    assert found.stdout == file.stdout
    assert len(found.stdout.splitlines()) > 40


def test_a_topic_longer_than_what_is_kept_is_read_twice_in_the_same_order(
    topics: Topics, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = topics.new(3)
    topics.fill(topic, [event(time) for time in range(300)])
    given = ("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local")
    once = scepter(*given).stdout
    monkeypatch.setattr("scepter.runtime.local.KEPT_BYTES", 0)
    monkeypatch.setattr("scepter.kafka.messages.AT_ONCE", 7)
    assert scepter(*given).stdout == once


def test_bad_messages_are_dead_letters_with_partition_and_offset(topics: Topics, tmp_path: Path) -> None:
    topic = topics.new(2)
    topics.fill(topic, [event(0), "broken", event(1), None])
    dead = tmp_path / "dead.jsonl"
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local", "--dead-letter", dead)
    assert found.exit_code == 0, found.output
    letters = [json.loads(line) for line in dead.read_text().splitlines()]
    assert sorted((letter["source"].partition(topic)[2], letter["line"], letter["text"]) for letter in letters) == [
        (" partition 1 offset 0", 1, "broken"),
        (" partition 1 offset 1", None, ""),
    ]


def test_what_an_aborted_transaction_left_is_not_read(topics: Topics, tmp_path: Path) -> None:
    from confluent_kafka import Producer

    topic = topics.new()
    topics.fill(topic, [event(0), event(5)])
    client = Producer({"bootstrap.servers": topics.broker.address, "transactional.id": "aborted"})
    client.init_transactions(60)
    client.begin_transaction()
    client.produce(topic, event(7).encode())
    client.flush(60)
    client.abort_transaction(60)
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local")
    assert [json.loads(line)["end"] for line in found.stdout.splitlines()] == [5]


def test_where_to_start(topics: Topics, tmp_path: Path) -> None:
    topic = topics.new()
    topics.fill(topic, [event(0), event(5), event(10), event(15)])

    def ends(start: str) -> list[int]:
        found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic, start)}", "--engine", "local")
        assert found.exit_code == 0, found.output
        return [json.loads(line)["end"] for line in found.stdout.splitlines()]

    assert ends("") == [5, 15]
    assert ends("from=1970-01-01T00:16:40.002Z") == [15]  # messages' times count up from 1,000,000 ms
    assert ends("from=latest") == []
    assert ends("from=2100-01-01T00:00:00Z") == []


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "has no topic nowhere"),
        ("?", "names no topic"),
        ("x?format=zzz", "no format zzz is known"),
        ("x?no.such.setting=1", 'No such configuration property: "no.such.setting"'),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_read(topics: Topics, tmp_path: Path, name: str, told: str) -> None:
    found = scepter("run", query(tmp_path), "--stream", f"S=kafka://{topics.broker.address}/{name}", "--engine", "local")
    assert found.exit_code == 2
    assert told in found.output


def test_a_name_close_to_a_topic_is_suggested(topics: Topics, tmp_path: Path) -> None:
    topic = topics.new()
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic[:-1])}", "--engine", "local")
    assert f"did you mean {topic}?" in found.output


def test_nobody_answers(topics: Topics, tmp_path: Path) -> None:
    found = scepter("run", query(tmp_path), "--stream", "S=kafka://127.0.0.1:1/t", "--engine", "local")
    assert found.exit_code == 2
    assert "error[no-broker]: kafka://127.0.0.1:1/t: no broker answers at 127.0.0.1:1" in found.output


def test_a_content_that_tells_no_format(topics: Topics, tmp_path: Path) -> None:
    topic = topics.new()
    topics.fill(topic, ["a;b;c"])
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local")
    assert found.exit_code == 2
    assert "offset 0: its content does not tell its format: a;b;c" in found.output


def test_an_empty_topic_has_no_match(topics: Topics, tmp_path: Path) -> None:
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topics.new(2))}", "--engine", "local")
    assert found.exit_code == 0, found.output
    assert found.stdout == ""


def test_matches_are_messages_with_an_id_and_a_key(topics: Topics, tmp_path: Path) -> None:
    topic, out = topics.new(), topics.new(2)
    topics.fill(topic, [event(time) for time in range(100)])
    given = ("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local")
    lines = [json.loads(line) for line in scepter(*given).stdout.splitlines()]
    for _ in range(2):
        found = scepter(*given, "--output", topics.url(out, "key=x"))
        assert found.exit_code == 0, found.output
    messages = topics.read(out)
    values = [json.loads(message.value()) for message in messages]
    assert len(values) == 2 * len(lines)
    assert all(values.count(value) == 2 for value in values)  # each run writes them, by the same ids
    assert len({value["id"] for value in values}) == len(lines)
    assert [dict(message.headers())["scepter-match"].decode() for message in messages] == [value["id"] for value in values]
    assert [message.key().decode() for message in messages] == [value["bindings"]["x"]["value"] for value in values]
    plain = [{name: field for name, field in value.items() if name != "id"} for value in values]
    assert sorted(map(json.dumps, plain)) == sorted(map(json.dumps, lines + lines))
    # one entity's matches stay in one partition
    assert len({(message.key(), message.partition()) for message in messages}) == len({message.key() for message in messages})


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (("--output", "kafka://{address}/nowhere"), "has no topic nowhere"),
        (("--output", "kafka://{address}/{topic}?key=z"), "key=z is no variable of the result"),
        (("--output", "kafka://{address}/{topic}", "--format", "csv"), "--format for a topic cannot be 'csv'"),
    ],
)
def test_what_is_wrong_with_an_output(topics: Topics, tmp_path: Path, more: tuple[str, ...], told: str) -> None:
    topic = topics.new()
    topics.fill(topic, [event(0)])
    given = [text.format(address=topics.broker.address, topic=topic) for text in more]
    found = scepter("run", query(tmp_path), "--stream", f"S={topics.url(topic)}", "--engine", "local", *given)
    assert found.exit_code == 2
    assert told in found.output


def test_messages_without_a_time_have_the_brokers_at_every_reading(topics: Topics, tmp_path: Path) -> None:
    (tmp_path / "q.epsparql").write_text(
        "SELECT ?x ?y WHERE { { <http://e/a> <http://e/p> ?x } SEQ { <http://e/a> <http://e/p> ?y } FILTER (?y > ?x) }"
    )
    topic = topics.new(2)
    topics.fill(topic, [f'<http://e/a> <http://e/p> "{value}" .' for value in (3, 5)])
    given = ("run", tmp_path / "q.epsparql", "--stream", f"http://e/s={topics.url(topic, 'format=nt')}")
    found = [scepter(*given, "--engine", "local", "--assign-time", "arrival") for _ in range(2)]
    assert found[0].exit_code == 0, found[0].output
    (match,) = (json.loads(line) for line in found[0].stdout.splitlines())
    assert (match["start"], match["end"]) == ("1970-01-01T00:16:40Z", "1970-01-01T00:16:40.001Z")
    assert found[1].stdout == found[0].stdout
