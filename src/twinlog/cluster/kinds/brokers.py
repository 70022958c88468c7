"""Nodes of the cluster: who registered, in which incarnation, and where clients find them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.record import Record


class Endpoint(msgspec.Struct, frozen=True, array_like=True):
    """A door that clients may use, as they should dial it. ``protocol`` is PLAINTEXT, SSL, SASL_PLAINTEXT ..."""

    listener: str
    host: str
    port: int
    protocol: str


class BrokerRegistered(Record, frozen=True, array_like=True, tag="broker.registered/1"):
    """A process took over node ``broker_id``.

    ``incarnation`` is new for each process, ``broker_epoch`` is the offset of the entry that holds this record.
    ``clean``: the process before it left the clean-shutdown marker, so every log ends where it ended.
    """

    broker_id: int
    incarnation: bytes
    broker_epoch: int
    clean: bool
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None


class BrokerUnregistered(Record, frozen=True, array_like=True, tag="broker.unregistered/1"):
    broker_id: int


@dataclass(frozen=True, slots=True)
class BrokerInfo:
    broker_id: int
    incarnation: bytes
    broker_epoch: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None

    def endpoint(self, listener: str, came_to: str = "") -> Endpoint | None:
        """Where clients of ``listener`` find this node; the first door when it has no such listener.

        A door without a host stands open on every address of its machine: a client finds it where it ``came_to``.
        """
        if not self.endpoints:
            return None
        found = next((each for each in self.endpoints if each.listener == listener), self.endpoints[0])
        return found if found.host else msgspec.structs.replace(found, host=came_to)


@dataclass(frozen=True, slots=True)
class Brokers:
    by_id: Mapping[int, BrokerInfo] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BrokersChange:
    changed: frozenset[int] = frozenset()


class BrokersEdit:
    def __init__(self, part: Brokers) -> None:
        self.by_id = dict(part.by_id)
        self.changed: set[int] = set()

    def apply(self, record: Record) -> None:
        if isinstance(record, BrokerRegistered):
            self.by_id[record.broker_id] = BrokerInfo(
                record.broker_id, record.incarnation, record.broker_epoch, record.endpoints, record.rack
            )
        else:
            assert isinstance(record, BrokerUnregistered)
            self.by_id.pop(record.broker_id, None)
        self.changed.add(record.broker_id)

    def finish(self) -> tuple[Brokers, BrokersChange]:
        return Brokers(MappingProxyType(self.by_id)), BrokersChange(frozenset(self.changed))


def dump(part: Brokers) -> Iterator[Record]:
    for each in part.by_id.values():
        # clean=True: a snapshot states what is, and must not raise leader epochs a second time.
        yield BrokerRegistered(each.broker_id, each.incarnation, each.broker_epoch, True, each.endpoints, each.rack)


BROKERS = Kind(
    "brokers",
    records=(BrokerRegistered, BrokerUnregistered),
    empty=Brokers(),
    unchanged=BrokersChange(),
    edit=BrokersEdit,
    dump=dump,
)
