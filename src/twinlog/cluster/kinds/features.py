"""Finalized feature levels: what every node agreed to do, not merely what it could do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.record import Record


class FeatureLevel(Record, frozen=True, array_like=True, tag="feature.level/1"):
    """``level`` 0 means: not in use."""

    name: str
    level: int


@dataclass(frozen=True, slots=True)
class Features:
    levels: Mapping[str, int] = field(default_factory=dict)

    def level(self, name: str) -> int:
        return self.levels.get(name, 0)


@dataclass(frozen=True, slots=True)
class FeaturesChange:
    changed: frozenset[str] = frozenset()


class FeaturesEdit:
    def __init__(self, part: Features) -> None:
        self.levels = dict(part.levels)
        self.changed: set[str] = set()

    def apply(self, record: Record) -> None:
        assert isinstance(record, FeatureLevel)
        if record.level:
            self.levels[record.name] = record.level
        else:
            self.levels.pop(record.name, None)
        self.changed.add(record.name)

    def finish(self) -> tuple[Features, FeaturesChange]:
        return Features(MappingProxyType(self.levels)), FeaturesChange(frozenset(self.changed))


def dump(part: Features) -> Iterator[Record]:
    for name, level in part.levels.items():
        yield FeatureLevel(name, level)


FEATURES = Kind(
    "features",
    records=(FeatureLevel,),
    empty=Features(),
    unchanged=FeaturesChange(),
    edit=FeaturesEdit,
    dump=dump,
)
