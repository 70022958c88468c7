"""The cluster as it is at one offset of the metadata log. Immutable, so that anyone may keep it.

``apply`` is the only way from one image to the next, at start-up and in service alike. It copies only the
kinds that the records touch, and says in a ``Delta`` what became different.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeVar

from twinlog.cluster.kinds import KINDS, READERS
from twinlog.cluster.kinds.base import Edit, Kind
from twinlog.cluster.kinds.brokers import BROKERS, BrokerInfo, BrokersChange
from twinlog.cluster.kinds.configs import CONFIGS, Configs, ConfigsChange
from twinlog.cluster.kinds.features import FEATURES, Features, FeaturesChange
from twinlog.cluster.kinds.formation import FORMATION
from twinlog.cluster.kinds.producer_ids import PRODUCER_IDS
from twinlog.cluster.kinds.topics import TOPICS, DeletedTopic, Topic, TopicsChange
from twinlog.cluster.record import Record

PartT = TypeVar("PartT")
ChangeT = TypeVar("ChangeT")


class Image:
    """All metadata at ``offset``, the offset of the last entry applied (-1: none).

    The usual parts have names of their own; ``part(KIND)`` gives any part.
    """

    __slots__ = (
        "_parts",
        "brokers",
        "cluster_id",
        "configs",
        "features",
        "offset",
        "partition_count",
        "producer_id_next",
        "topics_by_id",
        "topics_by_name",
        "topics_to_erase",
    )

    def __init__(self, offset: int, parts: Mapping[str, Any]) -> None:
        self.offset: Final = offset
        self._parts: Final = parts
        topics = self.part(TOPICS)
        self.topics_by_name: Final[Mapping[str, Topic]] = topics.by_name
        self.topics_by_id: Final[Mapping[bytes, Topic]] = topics.by_id
        self.topics_to_erase: Final[Mapping[bytes, DeletedTopic]] = topics.to_erase
        self.partition_count: Final = topics.partition_count
        self.configs: Final[Configs] = self.part(CONFIGS)
        self.brokers: Final[Mapping[int, BrokerInfo]] = self.part(BROKERS).by_id
        self.features: Final[Features] = self.part(FEATURES)
        self.cluster_id: Final = self.part(FORMATION).cluster_id
        self.producer_id_next: Final = self.part(PRODUCER_IDS).id_next

    def part(self, kind: Kind[PartT, ChangeT]) -> PartT:
        part: PartT = self._parts[kind.name]
        return part

    def with_parts(self, offset: int, parts: Mapping[str, Any]) -> Image:
        return Image(offset, {**self._parts, **parts})

    def records(self) -> Iterator[Record]:
        """Records that make this image out of an empty one."""
        for kind in KINDS:
            yield from kind.dump(self.part(kind))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Image) and self.offset == other.offset and self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Image(offset={self.offset}, topics={len(self.topics_by_name)}, partitions={self.partition_count})"


EMPTY: Final = Image(-1, {kind.name: kind.empty for kind in KINDS})


class Delta:
    """What a step changed. The usual kinds have names of their own; ``change(KIND)`` gives any kind's."""

    __slots__ = ("_changes",)

    def __init__(self, changes: Mapping[str, Any]) -> None:
        self._changes = changes

    def change(self, kind: Kind[PartT, ChangeT]) -> ChangeT:
        change: ChangeT = self._changes.get(kind.name, kind.unchanged)
        return change

    def touches(self, kind: Kind[PartT, ChangeT]) -> bool:
        return kind.name in self._changes

    @property
    def topics(self) -> TopicsChange:
        return self.change(TOPICS)

    @property
    def configs(self) -> ConfigsChange:
        return self.change(CONFIGS)

    @property
    def brokers(self) -> BrokersChange:
        return self.change(BROKERS)

    @property
    def features(self) -> FeaturesChange:
        return self.change(FEATURES)


def apply(image: Image, records: Iterable[Record], *, offset: int | None = None) -> tuple[Image, Delta]:
    """The image after ``records``, and the difference. ``offset`` defaults to the next one."""
    edits: dict[str, Edit[Any, Any]] = {}
    for record in records:
        for kind in READERS[type(record)]:
            edit = edits.get(kind.name)
            if edit is None:
                edit = edits[kind.name] = kind.edit(image.part(kind))
            edit.apply(record)
    parts: dict[str, Any] = {}
    changes: dict[str, Any] = {}
    for name, edit in edits.items():
        parts[name], changes[name] = edit.finish()
    return image.with_parts(image.offset + 1 if offset is None else offset, parts), Delta(changes)


def whole(image: Image) -> Delta:
    """The difference between nothing and ``image``, for whoever joins late."""
    _, delta = apply(EMPTY, image.records())
    return delta
