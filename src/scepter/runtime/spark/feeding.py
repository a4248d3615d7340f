"""What a query constructs for others of its program on live input: events, which are read in the bucket that made them."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from scepter.rdf.formats import GraphEvent, events_to_batch
from scepter.rdf.nquads import ReadState
from scepter.rdf.source import DeadLetterTaker
from scepter.runtime.matches import Match
from scepter.runtime.spark.arrivals import SALT_ROOM
from scepter.runtime.spark.group_keys import placed
from scepter.runtime.spark.jobs import Job, work
from scepter.runtime.spark.shares import Share


def constructed(job: Job, share: Share, matches: Iterable[Match], report: DeadLetterTaker) -> list[tuple[int, bytes]]:
    """(place, packed rows) of what is made of matches, for the buckets of those that read it; `report` takes what cannot be
    used."""
    stream = job.streams.index(job.plan.feeds[share.units[0]])
    events = [
        GraphEvent(stream, None, m.start, m.end, [(str(t.subject), str(t.predicate), str(t.object)) for t in m.graph])
        for m in matches
        if m.graph
    ]
    if not events:
        return []
    # numbered and salted apart from the events of every reading task, and of a step that is done again
    salt = secrets.randbits(38) * SALT_ROOM
    batch = events_to_batch(events, job.key, job.kind, run=ReadState(job.kind, salt))
    readers = [job.shares[number] for number in share.feeds]
    return [
        (placed(job.buckets, reader.number, bucket), blob)
        for reader in readers
        for bucket, _, blob in work(job, reader).solve([batch], salt, report)
    ]
