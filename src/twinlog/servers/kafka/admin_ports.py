"""What the handlers of metadata need from the node, in their own words. ``kafka.broker.Broker`` has all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from twinlog.base import HostFault
from twinlog.cluster import Controller, Image
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.quotas import Quotas
from twinlog.kafka.rights import Rights
from twinlog.storage.types import DirectoryFacts
from twinlog.wire.kafka.message import Message


class Log(Protocol):
    @property
    def offline(self) -> HostFault | None: ...


class LocalPartition(Protocol):
    """A replica on this node."""

    @property
    def log(self) -> Log: ...


class Partitions(Protocol):
    def of_topic(self, name: str | bytes) -> Sequence[LocalPartition] | None: ...


class Store(Protocol):
    def describe(self) -> list[DirectoryFacts]: ...


class AdminBroker(Protocol):
    @property
    def node_id(self) -> int: ...
    @property
    def image(self) -> Image: ...
    @property
    def controller(self) -> Controller: ...
    @property
    def configs(self) -> ConfigValues: ...
    @property
    def rights(self) -> Rights: ...
    @property
    def quotas(self) -> Quotas: ...
    @property
    def partitions(self) -> Partitions: ...
    @property
    def store(self) -> Store: ...


class Parked(Protocol):
    """What a request waits for."""

    def expire(self) -> None: ...
    def abandon(self) -> None: ...


class Context(Protocol):
    """The request's own circumstances, and the way to answer it later."""

    @property
    def version(self) -> int: ...
    @property
    def principal(self) -> str: ...
    @property
    def client_id(self) -> str | None: ...
    @property
    def now_ms(self) -> int: ...
    @property
    def peer(self) -> tuple[str, int]: ...
    @property
    def listener(self) -> str: ...
    @property
    def came_to(self) -> str: ...

    def park(self, parked: Parked, timeout_ms: int) -> None: ...
    def reply(self, response: Message) -> None: ...
    def throttle(self, wait_ms: int) -> None:
        """The connection is not read for so long; the answer says so."""
