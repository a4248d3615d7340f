"""Where results go: `--output`, a file or a topic."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scepter.cli.options import one_of
from scepter.kafka.address import Address, is_kafka, parse_address

if TYPE_CHECKING:
    from scepter.cli.execute import Job
    from scepter.io.kafka_output import KafkaOutput

RUN_NAME: Final = "kafka-output.json"


@dataclass(frozen=True, slots=True)
class Target:
    """A file, a topic, or (neither) standard output."""

    path: Path | None = None
    topic: Address | None = None


def parse_target(output: str | None, format: str) -> Target:
    """What `--output` names; a topic takes matches as JSON only."""
    if output is None:
        return Target()
    if not is_kafka(output):
        return Target(Path(output))
    one_of("--format for a topic", format, ("jsonl",))
    return Target(topic=parse_address(output))


def kafka_output(job: Job, topic: Address, name: str, events: bool) -> KafkaOutput:
    """The output of a run to a topic; `name` is the same when the run is started again."""
    from scepter.cli.execute import shape
    from scepter.io.kafka_output import KafkaOutput
    from scepter.kafka.client import partitions

    partitions(topic)  # raises if there is no such topic
    return KafkaOutput(topic, name, job.query.text, shape(job.query, job.options), events=events)


def name_of_topics(job: Job, topic: Address) -> str | None:
    """The name of a run in this process between topics, made of the query and the topics: such a run reads what was read
    before it again. None where a source is no topic, and a second run reads something else."""
    if not all(is_kafka(source) for source in job.sources.values()):
        return None
    read = sorted((iri, parse_address(source).name) for iri, source in job.sources.items())
    return hashlib.blake2b(repr((job.query.text, read, topic.name)).encode(), digest_size=16).hexdigest()


def lasting_name(checkpoint: Path | None) -> str:
    """The name of a run that its checkpoint keeps; a new one without a checkpoint. Not made of the query: a run that starts
    anew counts its micro-batches anew, and must not be taken for the one before."""
    if checkpoint is None:
        return uuid.uuid4().hex
    path = checkpoint / RUN_NAME
    if path.exists():
        return str(json.loads(path.read_text(encoding="utf-8"))["run"])
    name = uuid.uuid4().hex
    draft = path.with_suffix(".new")
    draft.write_text(json.dumps({"run": name}), encoding="utf-8")
    draft.replace(path)
    return name
