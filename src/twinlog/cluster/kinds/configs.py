"""Settings that are metadata: of topics, of brokers, of groups. Only what somebody set is kept, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.kinds.topics import TopicDeleted
from twinlog.cluster.record import Record

TOPIC: Final = "topic"
BROKER: Final = "broker"  # name "" is the default of all brokers
GROUP: Final = "group"

NOTHING: Final[Mapping[str, str]] = MappingProxyType({})


class ConfigsChanged(Record, frozen=True, array_like=True, tag="configs.changed/1"):
    """Sets and removes values of one resource; ``kind`` is topic, broker or group."""

    kind: str
    name: str
    set: dict[str, str]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Configs:
    by_resource: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    def of(self, kind: str, name: str) -> Mapping[str, str]:
        """What was set on this resource; empty when nothing was."""
        return self.by_resource.get((kind, name), NOTHING)


@dataclass(frozen=True, slots=True)
class ConfigsChange:
    """Resources with other values than before, as (kind, name)."""

    changed: frozenset[tuple[str, str]] = frozenset()


class ConfigsEdit:
    def __init__(self, part: Configs) -> None:
        self.by_resource = dict(part.by_resource)
        self.changed: set[tuple[str, str]] = set()

    def apply(self, record: Record) -> None:
        if isinstance(record, TopicDeleted):
            if self.by_resource.pop((TOPIC, record.name), None) is not None:
                self.changed.add((TOPIC, record.name))
            return
        assert isinstance(record, ConfigsChanged)
        resource = (record.kind, record.name)
        values = {**self.by_resource.get(resource, NOTHING), **record.set}
        for name in record.removed:
            values.pop(name, None)
        if values:
            self.by_resource[resource] = MappingProxyType(values)
        else:
            self.by_resource.pop(resource, None)
        self.changed.add(resource)

    def finish(self) -> tuple[Configs, ConfigsChange]:
        return Configs(MappingProxyType(self.by_resource)), ConfigsChange(frozenset(self.changed))


def dump(part: Configs) -> Iterator[Record]:
    for (kind, name), values in part.by_resource.items():
        yield ConfigsChanged(kind, name, dict(values))


CONFIGS = Kind(
    "configs",
    records=(ConfigsChanged,),
    reads=(TopicDeleted,),
    empty=Configs(),
    unchanged=ConfigsChange(),
    edit=ConfigsEdit,
    dump=dump,
)
