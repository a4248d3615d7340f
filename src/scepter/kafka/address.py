"""`kafka://host:port/topic?…`: a topic, how its messages are read or written, and what the client is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from scepter.errors import nearest, option_error
from scepter.rdf.extensions import EXTENSIONS
from scepter.timeline import TimeKind, parse_datetime, parse_duration

SCHEME: Final = "kafka"
_EXAMPLE: Final = "kafka://localhost:9092/readings"
_PARAMETERS: Final = ("format", "from", "idle", "key", "timeout", "config")
_FORMATS: Final = {name.removeprefix("."): name for name in EXTENSIONS if name != ".parquet"}
_OURS: Final = frozenset(
    {"bootstrap.servers", "group.id", "enable.auto.commit", "enable.partition.eof", "isolation.level", "transactional.id",
     "enable.idempotence", "auto.offset.reset"}
)  # fmt: skip
"""Settings that reading and writing exactly once rest on."""
EARLIEST: Final = "earliest"
LATEST: Final = "latest"


@dataclass(frozen=True, slots=True)
class Address:
    """A topic of a broker, checked as far as it can be without asking the broker."""

    servers: str
    topic: str
    format: str = ""
    """The extension of the messages' format; empty: what the first message looks like."""
    start: str | int = EARLIEST
    """Where a first run begins: `earliest`, `latest`, or a time in milliseconds."""
    key: str | None = None
    """The variable whose value is the key of a match's message."""
    timeout: float = 300.0
    """Seconds without an answer after which a broker counts as gone for good."""
    idle: float | None = None
    """Seconds without a message after which a run in this process does not wait for a partition; None: nobody said."""
    settings: tuple[tuple[str, str], ...] = ()
    """The client's own settings."""

    @property
    def name(self) -> str:
        """The address without what stands behind `?`: it may hold secrets."""
        return f"{SCHEME}://{self.servers}/{self.topic}"

    def place(self, partition: int, offset: int) -> str:
        """A message, as dead letters name it.

        >>> Address("localhost:9092", "readings").place(2, 17)
        'kafka://localhost:9092/readings partition 2 offset 17'
        """
        return f"{self.name} partition {partition} offset {offset}"


def is_kafka(source: object) -> bool:
    """Whether a SOURCE or an output is a topic."""
    return isinstance(source, str) and source.startswith(f"{SCHEME}://")


def parse_address(text: str, *, waits: bool = False) -> Address:
    """The address that a text is; raises OptionError. `waits`: it is read by what can wait for a partition.

    >>> parse_address("kafka://localhost:9092/readings?format=trig").format
    '.trig'
    """
    parts = urlsplit(text)
    servers, topic = parts.netloc, unquote(parts.path.strip("/"))
    if not servers or not topic or "/" in topic:
        what = "names no broker" if not servers else "names no topic" if not topic else f"{topic} is no name of a topic"
        raise _wrong(text, what, f"write for example {_EXAMPLE}")
    if any(not _is_server(server) for server in servers.split(",")):
        raise _wrong(
            text, f"{servers} is not of the form host:port", f"write for example {_EXAMPLE}; several: host:port,host:port"
        )
    given = _parameters(text, parts.query)
    if "idle" in given and not waits:
        raise _wrong(text, "only a topic that is followed in this process has idle=…", "leave it out, and give --max-delay")
    settings = {name: value for name, value in given.items() if "." in name}
    if "config" in given:
        settings = {**_config(text, Path(given["config"])), **settings}
    for name in settings.keys() & _OURS:
        raise _wrong(text, f"the setting {name} is the run's own", f"leave out {name}")
    return Address(
        servers,
        topic,
        _format(text, given.get("format")),
        _start(text, given.get("from", EARLIEST)),
        given.get("key", "").removeprefix("?") or None,
        _seconds(text, "timeout", given.get("timeout", "5min")),
        _seconds(text, "idle", given["idle"]) if "idle" in given else None,
        tuple(sorted(settings.items())),
    )


def _wrong(text: str, what: str, help: str) -> Exception:
    return option_error("kafka-address", f"{text.partition('?')[0]}: {what}", help=help)


def _is_server(text: str) -> bool:
    host, colon, port = text.rpartition(":")
    return bool(host) and bool(colon) and port.isdigit() and 0 < int(port) < 1 << 16


def _parameters(text: str, query: str) -> dict[str, str]:
    given = dict(parse_qsl(query, keep_blank_values=True))
    for name, value in given.items():
        if name not in _PARAMETERS and "." not in name:
            close = nearest(name, _PARAMETERS)
            known = f"the parameters are {', '.join(_PARAMETERS)}, and the client's settings, whose names have a dot"
            raise _wrong(text, f"there is no parameter {name}", f"did you mean {close}?" if close else known)
        if not value:
            raise _wrong(text, f"the parameter {name} has no value", f"leave it out, or write {name}=…")
    return given


def _format(text: str, given: str | None) -> str:
    if given is None:
        return ""
    if given.lower() not in _FORMATS:
        close = nearest(given.lower(), _FORMATS)
        raise _wrong(
            text, f"no format {given} is known", f"did you mean {close}?" if close else f"one of {', '.join(_FORMATS)}"
        )
    return _FORMATS[given.lower()]


def _start(text: str, given: str) -> str | int:
    if given in (EARLIEST, LATEST):
        return given
    try:
        return parse_datetime(given) // 1000
    except ValueError:
        raise _wrong(text, f"from={given} is no place", "from is earliest, latest, or a dateTime with its zone") from None


def _seconds(text: str, name: str, given: str) -> float:
    try:
        return parse_duration(given).ticks(TimeKind.DATETIME, "s") / 1_000_000
    except ValueError as error:
        raise _wrong(text, f"{name}: {error}", "write for example 30s or 5min") from None


def _config(text: str, path: Path) -> Mapping[str, str]:
    """The settings of a file of lines `name=value`, where secrets stay out of the command line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise _wrong(
            text, f"config {path} cannot be read: {getattr(error, 'strerror', None) or error}", "name a file"
        ) from None
    found = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name, equals, value = line.partition("=")
            if not equals:
                raise _wrong(text, f"line {number} of {path} is no setting", "write name=value, a setting on each line")
            found[name.strip()] = value.strip()
    return found
