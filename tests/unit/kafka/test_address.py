from __future__ import annotations

from pathlib import Path

import pytest

from scepter.errors import OptionError
from scepter.kafka.address import Address, is_kafka, parse_address


def test_an_address_in_full() -> None:
    found = parse_address("kafka://a:9092,b:9093/my%20topic?format=jsonld&from=latest&key=?house&timeout=30s&linger.ms=5")
    settings = (("linger.ms", "5"),)
    assert found == Address("a:9092,b:9093", "my topic", ".jsonld", "latest", "house", 30.0, settings=settings)


def test_who_waits_for_a_partition() -> None:
    assert parse_address("kafka://a:1/t?idle=500ms", waits=True).idle == 0.5
    assert parse_address("kafka://a:1/t", waits=True).idle is None


def test_a_time_to_start_from_is_told_in_milliseconds() -> None:
    assert parse_address("kafka://a:1/t?from=1970-01-01T00:00:02Z").start == 2000


def test_settings_of_a_file_stay_out_of_the_name(tmp_path: Path) -> None:
    (tmp_path / "client.properties").write_text("# who\nsasl.username = me\n\nsasl.password=se=cret\n")
    found = parse_address(f"kafka://a:1/t?config={tmp_path / 'client.properties'}&client.id=x")
    assert found.settings == (("client.id", "x"), ("sasl.password", "se=cret"), ("sasl.username", "me"))
    assert "cret" not in found.name


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kafka:///t", "kafka:///t: names no broker"),
        ("kafka://a:1", "kafka://a:1: names no topic"),
        ("kafka://a:1/t/u", "kafka://a:1/t/u: t/u is no name of a topic"),
        ("kafka://a/t", "a is not of the form host:port"),
        ("kafka://a:1,b/t", "a:1,b is not of the form host:port"),
        ("kafka://a:99999/t", "a:99999 is not of the form host:port"),
        ("kafka://a:1/t?form=nq", "did you mean format?"),
        ("kafka://a:1/t?zzz=nq", "the parameters are format, from, idle, key, timeout, config"),
        ("kafka://a:1/t?format=", "the parameter format has no value"),
        ("kafka://a:1/t?format=trg", "did you mean trig?"),
        ("kafka://a:1/t?format=parquet", "no format parquet is known"),
        ("kafka://a:1/t?from=yesterday", "from=yesterday is no place"),
        ("kafka://a:1/t?timeout=soon", "timeout: "),
        ("kafka://a:1/t?idle=5s", "only a topic that is followed in this process has idle="),
        ("kafka://a:1/t?group.id=x", "the setting group.id is the run's own"),
        ("kafka://a:1/t?config=/nowhere/at/all", "config /nowhere/at/all cannot be read"),
    ],
)
def test_what_is_wrong_with_an_address(text: str, told: str) -> None:
    with pytest.raises(OptionError) as error:
        parse_address(text)
    assert error.value.code == "kafka-address"
    assert told in str(error.value)


def test_a_file_of_settings_with_a_line_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a.b=1\nwhat\n")
    with pytest.raises(OptionError, match=r"line 2 of .* is no setting"):
        parse_address(f"kafka://a:1/t?config={tmp_path / 'c'}")


def test_secrets_behind_the_question_mark_are_not_told() -> None:
    with pytest.raises(OptionError) as error:
        parse_address("kafka://a:1/t?sasl.password=hush&what=1")
    assert "hush" not in str(error.value)


def test_what_a_topic_is() -> None:
    assert is_kafka("kafka://a:1/t")
    assert not is_kafka("kafka.nq")
    assert not is_kafka(Path("kafka:/a"))
