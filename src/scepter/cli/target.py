"""Where results go: `--output`, a file or a topic."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scepter.cli.options import one_of
from scepter.errors import option_error
from scepter.kafka.address import Address, is_kafka, parse_address
from scepter.kept import sealed, unsealed, write_whole

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
    read = sorted((iri, parse_address(source, waits=True).name) for iri, source in job.sources.items())
    return hashlib.blake2b(repr((job.query.text, read, topic.name)).encode(), digest_size=16).hexdigest()


def lasting_name(checkpoint: Path | None) -> str:
    """The name of a run that its checkpoint keeps; a new one without a checkpoint. Not made of the query: a run that starts
    anew counts its micro-batches anew, and must not be taken for the one before."""
    if checkpoint is None:
        return uuid.uuid4().hex
    path = checkpoint / RUN_NAME
    if path.exists():
        data = path.read_bytes()
        try:  # before it had a checksum, the file was plain JSON
            return str(json.loads(data if data.startswith(b"{") else unsealed(data) or b"")["run"])
        except (ValueError, KeyError, TypeError):
            raise option_error(
                "record-damaged",
                f"{path} is damaged: nobody can tell which messages are written already",
                help="give back the file, or start anew with another --checkpoint and another topic",
            ) from None
    name = uuid.uuid4().hex
    write_whole(path, sealed(json.dumps({"run": name}).encode()))
    return name
