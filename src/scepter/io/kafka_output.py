"""Matches as messages of a topic: JSON as in a file, with an id, and a key."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from scepter.errors import nearest, option_error
from scepter.io.kafka_marks import Marks, Reached
from scepter.io.results import Match, Shape, record
from scepter.kafka.address import EARLIEST, Address
from scepter.kafka.messages import read_span
from scepter.kafka.topic import spans_of
from scepter.kafka.transactions import ID_HEADER, Mark, Outgoing, Transactions
from scepter.rdf.terms import IRI, BlankNode, Literal, Term

_AT_ONCE: Final = 10_000


def match_id(match: Match, query: str) -> str:
    """What a match is called: the same in every run of the query's text over the same events, whatever the engine. Blank nodes
    count as such, since their labels differ from run to run."""
    bindings = sorted((name, _lasting(term)) for name, term in match.bindings.items())
    graph = None if match.graph is None else sorted(tuple(_lasting(term) for term in triple) for triple in match.graph)
    occurrence = None if match.occurrence is None else tuple(_lasting(term) for term in match.occurrence)
    told = (query, match.query, match.start, match.end, bindings, graph, match.boolean, occurrence)
    return hashlib.blake2b(repr(told).encode(), digest_size=12, person=b"scepter-match").hexdigest()


def _lasting(term: Term) -> str:
    return "_:" if isinstance(term, BlankNode) else str(term)


class KafkaOutput:
    """Writes matches, each step of a run once."""

    def __init__(self, address: Address, name: str, query: str, shape: Shape, *, events: bool = False) -> None:
        """`name` is the run's, the same when it is started again; `query` the query's text."""
        if address.key is not None and address.key not in shape.variables:
            close = nearest(address.key, shape.variables)
            raise option_error(
                "kafka-address",
                f"{address.name}: key={address.key} is no variable of the result",
                help=f"did you mean {close}?" if close else f"its variables are {', '.join(shape.variables) or 'none'}",
            )
        self._address, self._query, self._shape, self._events = address, query, shape, events
        self.transactions = Transactions(address, name)

    def outgoing(self, matches: Iterable[Match]) -> Iterator[Outgoing]:
        """The messages of matches; of two that look the same, the second has a number behind its id."""
        seen: Counter[str] = Counter()
        for match in matches:
            id = match_id(match, self._query)
            seen[id] += 1
            id = id if seen[id] == 1 else f"{id}-{seen[id]}"
            fields = {"id": id, **record(match, self._shape, events=self._events)}
            yield Outgoing(id, self._key(match, id), json.dumps(fields, ensure_ascii=False))

    def _key(self, match: Match, id: str) -> str:
        if self._address.key is None:
            return id
        term = match.bindings.get(self._address.key)
        match term:
            case None:
                return ""
            case IRI(value):
                return value
            case Literal(lexical):
                return lexical
            case _:
                return str(term)

    def write(self, matches: Iterable[Match], marks: Sequence[Mark] = ()) -> int:
        """The matches of a step and how far it goes, in one transaction; how many there were."""
        messages = list(self.outgoing(matches))
        if messages or marks:
            self.transactions.write(messages, marks)
        return len(messages)

    def written(self, since: Mapping[int, int]) -> Counter[str]:
        """What the topic holds from some offsets on of this query's matches, by their ids without the numbers behind them."""
        found: Counter[str] = Counter()
        for span in spans_of(replace(self._address, start=EARLIEST)):
            for hand in read_span(self._address, replace(span, start=max(span.start, since.get(span.partition, 0)))):
                ids = (value for each in hand for name, value in each.headers() or () if name == ID_HEADER)
                found.update(_bare(id.decode()) for id in ids)
        return found

    def close(self) -> None:
        """Leave the broker."""
        self.transactions.close()


def _bare(id: str) -> str:
    return id.partition("-")[0]


class MessageWriter:
    """Writes the matches of bounded input, some thousands in a transaction: a run that fails half-way has written those."""

    def __init__(self, output: KafkaOutput) -> None:
        self._output = output
        self._waiting: list[Match] = []

    def write(self, match: Match) -> None:
        """Take one match."""
        self._waiting.append(match)
        if len(self._waiting) >= _AT_ONCE:
            self._flush()

    def write_all(self, matches: Sequence[Match]) -> None:
        """Take some matches."""
        for match in matches:
            self.write(match)

    def close(self) -> None:
        """Write what is still held back, and leave the broker."""
        self._flush()
        self._output.close()

    def _flush(self) -> None:
        self._output.write(self._waiting)
        self._waiting = []


class FollowedOutput:
    """Writes the matches of a followed run in this process, those of a step in a transaction. A run that begins `again` with
    topics that an earlier one has read finds its matches again: those that are written are left out, by their ids.

    Where it is known how far back the query looks (`marks`), a step commits where it would have to begin again, and what it
    has told. The next run begins there. Only the matches of the instant that was open may be found again then: their ids are
    in what was written since that instant was opened."""

    def __init__(self, output: KafkaOutput, marks: Marks | None, *, again: bool) -> None:
        self._output, self.marks = output, marks
        self.begun = None if marks is None else marks.begin(output.transactions)
        since = {} if self.begun is None else self.begun.written
        self._written = output.written(since) if again else Counter[str]()
        self.reached: Callable[[], Reached | None] = lambda: None
        """How far the run is."""

    def write(self, match: Match) -> None:
        """Write one match."""
        self.write_all([match])

    def write_all(self, matches: Sequence[Match]) -> None:
        """Write the matches of a step."""
        fresh = list(self._output.outgoing(matches))
        if self._written:
            fresh = [message for message in fresh if not self._is_written(_bare(message.id))]
        reached = None if self.marks is None else self.reached()
        marks = [] if self.marks is None or reached is None else self.marks.of(reached)
        if fresh or marks:
            self._output.transactions.write(fresh, marks)

    def _is_written(self, id: str) -> bool:
        if not self._written[id]:
            return False
        self._written[id] -= 1
        return True

    def close(self) -> None:
        """Nothing is held back."""

    def leave(self) -> None:
        """Leave the broker."""
        self._output.close()


class BatchOutput:
    """The output of micro-batches, each written once: the number of the last one is committed with it, as an offset of the
    output topic's first partition in a group of the run's own."""

    def __init__(self, output: KafkaOutput, topic: str) -> None:
        self._output = output
        self._topic = topic
        mark = output.transactions.marks([(topic, 0)]).get((topic, 0))
        self._next = 0 if mark is None else mark.offset

    def take(self, batch: int, matches: Sequence[Match]) -> int:
        """Write the matches of a micro-batch; how many were."""
        if batch < self._next:
            return 0
        # what has no match is not marked: to do it again gives no match again
        written = self._output.write(matches, [Mark(self._topic, 0, batch + 1)]) if matches else 0
        self._next = batch + 1
        return written

    def close(self) -> None:
        """Leave the broker."""
        self._output.close()
