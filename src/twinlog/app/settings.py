"""Every setting of a node, by section. A section's settings are declared in the room that obeys them.

``SECTIONS`` is what the file, the environment, the command line and the reference page are made from; a room
that gets settings is plugged in by one field of ``NodeSettings``. Names in a section are unique, even when several
rooms share it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, get_type_hints

from twinlog.amqp.settings import AmqpSettings
from twinlog.amqp.store.settings import QueueStoreSettings
from twinlog.base.address import is_address
from twinlog.base.settings import Form, Setting, setting, settings_of
from twinlog.base.units import GIB, KIB, MIB
from twinlog.cluster.settings import ControllerSettings, MetadataLogSettings
from twinlog.kafka.groups import GroupSettings
from twinlog.kafka.settings import KafkaSettings
from twinlog.kafka.transactions import TransactionSettings
from twinlog.servers.http.settings import HttpSettings
from twinlog.storage.settings import StorageSettings

OFF: Final = "off"
ADDRESS_OR_OFF: Final = Form("HOST:PORT, or off", lambda text: text == OFF or is_address(text))
ADDRESS_OR_NOTHING: Final = Form("HOST:PORT, or nothing", lambda text: text == "" or is_address(text))
CONFIG_PAIRS: Final = Form("a list of NAME=VALUE", lambda pairs: all("=" in pair for pair in pairs))
NOT_EMPTY: Final = Form("a path", lambda text: bool(text.strip()))


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentitySettings:
    """Who this node is and where it keeps things."""

    data_dir: str = setting("./twinlog-data", form=NOT_EMPTY, doc="Where data is kept; one node a directory.")
    more_data_dirs: tuple[str, ...] = setting(
        (), doc="More directories, one a disk; a new partition goes where the fewest are. Metadata stay in the first."
    )
    id: int = setting(1, min=0, max=1_000_000, doc="The number by which clients and other nodes know this one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class KafkaListenSettings:
    """Where Kafka clients come in."""

    listen: str = setting(
        "127.0.0.1:9092", form=ADDRESS_OR_OFF, doc="Where Kafka clients connect; port 0 takes a free one."
    )
    advertised: str = setting(
        "",
        form=ADDRESS_OR_NOTHING,
        doc="The address that clients are told to come back to. When none is given: the one they came to.",
    )
    configs: tuple[str, ...] = setting(
        (),
        form=CONFIG_PAIRS,
        doc="Kafka's own broker configs in its own words, like `log.retention.ms=86400000`.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpListenSettings:
    """Where RabbitMQ clients come in."""

    listen: str = setting(
        "127.0.0.1:5672", form=ADDRESS_OR_OFF, doc="Where AMQP clients connect; port 0 takes a free one."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpListenSettings:
    """Where browsers and management tools come in."""

    listen: str = setting("127.0.0.1:15672", form=ADDRESS_OR_OFF, doc="Where HTTP clients connect.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLineSettings:
    """What the node tells on standard error."""

    level: str = setting(
        "info", choices=("debug", "info", "warning", "error"), doc="The least important lines that are written."
    )
    format: str = setting("text", choices=("text", "json"), doc="Lines for people, or one JSON object a line.")
    peer_lines_max: int = setting(
        10, unit="lines", min=1, max=10_000, doc="Lines that one peer can cause in ten seconds; the rest is counted."
    )


def section(name: str, group: type) -> Any:
    return dataclasses.field(default_factory=group, metadata={"section": name})


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySettings:
    """What connections may hold in memory: half-read requests, and answers that are not taken."""

    connections_max_bytes: int = setting(
        0,
        unit="bytes",
        min=0,
        max=1024 * GIB,
        doc="What all connections may hold together; 0 is a quarter of the machine's memory. From 60 % on producers "
        "are slowed down and publishers not read, from 80 % on nobody new comes in, and at all of it those that hold "
        "most are closed.",
    )
    connection_max_bytes: int = setting(
        256 * MIB,
        unit="bytes",
        min=0,
        max=1024 * GIB,
        doc="A connection that holds more is closed; 0 is no limit. The largest request has to fit twice.",
    )
    send_queue_max_bytes: int = setting(
        MIB,
        unit="bytes",
        min=64 * KIB,
        max=GIB,
        doc="With more than this waiting for a client that does not take it, the client's requests are not read, and "
        "its consumers get nothing more, until it took three quarters of it.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSettings:
    """Everything a node can be told. Each field is a group from one room, shown under its section's name."""

    identity: IdentitySettings = section("node", IdentitySettings)
    kafka_listen: KafkaListenSettings = section("kafka", KafkaListenSettings)
    kafka: KafkaSettings = section("kafka", KafkaSettings)
    groups: GroupSettings = section("groups", GroupSettings)
    transactions: TransactionSettings = section("transactions", TransactionSettings)
    topics: ControllerSettings = section("topics", ControllerSettings)
    storage: StorageSettings = section("storage", StorageSettings)
    metadata: MetadataLogSettings = section("metadata", MetadataLogSettings)
    amqp_listen: AmqpListenSettings = section("amqp", AmqpListenSettings)
    amqp: AmqpSettings = section("amqp", AmqpSettings)
    queues: QueueStoreSettings = section("queues", QueueStoreSettings)
    http_listen: HttpListenSettings = section("http", HttpListenSettings)
    http: HttpSettings = section("http", HttpSettings)
    memory: MemorySettings = section("memory", MemorySettings)
    log_lines: LogLineSettings = section("log", LogLineSettings)


class Entry(NamedTuple):
    """A setting in its place: ``section.name`` for people, ``group`` the field of ``NodeSettings`` that holds it."""

    section: str
    group: str
    setting: Setting

    @property
    def key(self) -> str:
        return f"{self.section}.{self.setting.name}"

    @property
    def variable(self) -> str:
        return f"TWINLOG_{self.section}_{self.setting.name}".upper()

    def value_in(self, settings: NodeSettings) -> Any:
        return getattr(getattr(settings, self.group), self.setting.name)


def entries() -> Iterator[Entry]:
    types = get_type_hints(NodeSettings)
    for field in dataclasses.fields(NodeSettings):
        for declared in settings_of(types[field.name]):
            yield Entry(field.metadata["section"], field.name, declared)


ENTRIES: Final[dict[str, Entry]] = {entry.key: entry for entry in entries()}

# The settings that have a word of their own on the command line; all others go by --set section.name=value.
FLAGS: Final[dict[str, str]] = {
    "--data-dir": "node.data_dir",
    "--kafka": "kafka.listen",
    "--amqp": "amqp.listen",
    "--http": "http.listen",
}
