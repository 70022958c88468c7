"""Topics and their partitions: ids, replicas, leaders, epochs, in-sync sets.

A topic of a thousand partitions is one record, because neighbours that look the same are one run, and one
shared ``PartitionInfo`` in memory. A deleted topic stays on a list of topics to erase until its node says
that the files are gone: a restart in between then deletes because a record says so, never because a name
is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple

import msgspec

from twinlog.cluster.kinds.base import Kind
from twinlog.cluster.kinds.brokers import BrokerRegistered
from twinlog.cluster.record import Record

NO_LEADER: Final = -1


class PartitionRun(msgspec.Struct, frozen=True, array_like=True):
    """``count`` neighbouring partitions with the same state."""

    count: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class TopicCreated(Record, frozen=True, array_like=True, tag="topic.created/1"):
    name: str
    topic_id: bytes
    runs: tuple[PartitionRun, ...]


class PartitionsAdded(Record, frozen=True, array_like=True, tag="topic.partitions_added/1"):
    """The new partitions follow the ones the topic has."""

    topic_id: bytes
    runs: tuple[PartitionRun, ...]


class PartitionChanged(Record, frozen=True, array_like=True, tag="topic.partition_changed/1"):
    """The whole new state of one partition."""

    topic_id: bytes
    partition: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


class TopicDeleted(Record, frozen=True, array_like=True, tag="topic.deleted/1"):
    """Carries what erasing needs, because the topic itself is gone from the image."""

    name: str
    topic_id: bytes
    partition_count: int


class TopicErased(Record, frozen=True, array_like=True, tag="topic.erased/1"):
    """No file of the deleted topic is left."""

    topic_id: bytes


class PartitionInfo(NamedTuple):
    """The state of a partition. ``partition_epoch`` counts its changes, ``leader_epoch`` its leaders."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    topic_id: bytes
    partitions: tuple[PartitionInfo, ...]


class DeletedTopic(NamedTuple):
    name: str
    topic_id: bytes
    partition_count: int


@dataclass(frozen=True, slots=True)
class Topics:
    by_name: Mapping[str, Topic] = field(default_factory=dict)
    by_id: Mapping[bytes, Topic] = field(default_factory=dict)
    to_erase: Mapping[bytes, DeletedTopic] = field(default_factory=dict)
    partition_count: int = 0


@dataclass(frozen=True, slots=True)
class TopicsChange:
    """``changed`` holds (before, after): partitions added, or leaders, epochs or in-sync sets moved.

    A topic that was created and deleted in the same step is in neither list, but is still to be erased.
    """

    created: tuple[Topic, ...] = ()
    changed: tuple[tuple[Topic, Topic], ...] = ()
    deleted: tuple[Topic, ...] = ()


def infos(runs: Iterable[PartitionRun]) -> tuple[PartitionInfo, ...]:
    partitions: list[PartitionInfo] = []
    for run in runs:
        info = PartitionInfo(run.leader, run.leader_epoch, run.partition_epoch, run.replicas, run.isr)
        partitions += [info] * run.count
    return tuple(partitions)


def runs(partitions: Iterable[PartitionInfo]) -> tuple[PartitionRun, ...]:
    return tuple(PartitionRun(sum(1 for _ in same), *info) for info, same in groupby(partitions))


class TopicsEdit:
    def __init__(self, part: Topics) -> None:
        self.before = part
        self.by_name = dict(part.by_name)
        self.by_id = dict(part.by_id)
        self.to_erase = dict(part.to_erase)
        self.partition_count = part.partition_count
        self.touched: dict[bytes, None] = {}

    def apply(self, record: Record) -> None:
        if isinstance(record, TopicCreated):
            assert record.name not in self.by_name and record.topic_id not in self.by_id, record.name
            self._put(Topic(record.name, record.topic_id, infos(record.runs)))
        elif isinstance(record, PartitionsAdded):
            topic = self.by_id[record.topic_id]
            self._put(Topic(topic.name, topic.topic_id, topic.partitions + infos(record.runs)))
        elif isinstance(record, PartitionChanged):
            self._change_partition(record)
        elif isinstance(record, TopicDeleted):
            topic_gone = self.by_id.pop(record.topic_id, None)
            if topic_gone is not None:
                del self.by_name[topic_gone.name]
                self.partition_count -= len(topic_gone.partitions)
                self.touched[record.topic_id] = None
            self.to_erase[record.topic_id] = DeletedTopic(record.name, record.topic_id, record.partition_count)
        elif isinstance(record, TopicErased):
            self.to_erase.pop(record.topic_id, None)
        else:
            assert isinstance(record, BrokerRegistered)
            self._follow_registration(record)

    def finish(self) -> tuple[Topics, TopicsChange]:
        created, changed, deleted = [], [], []
        for topic_id in self.touched:
            before, after = self.before.by_id.get(topic_id), self.by_id.get(topic_id)
            if before is None and after is not None:
                created.append(after)
            elif before is not None and after is None:
                deleted.append(before)
            elif before is not None and after is not None:
                changed.append((before, after))
        part = Topics(
            MappingProxyType(self.by_name),
            MappingProxyType(self.by_id),
            MappingProxyType(self.to_erase),
            self.partition_count,
        )
        return part, TopicsChange(tuple(created), tuple(changed), tuple(deleted))

    def _put(self, topic: Topic) -> None:
        old = self.by_id.get(topic.topic_id)
        self.partition_count += len(topic.partitions) - (len(old.partitions) if old else 0)
        self.by_name[topic.name] = topic
        self.by_id[topic.topic_id] = topic
        self.touched[topic.topic_id] = None

    def _change_partition(self, record: PartitionChanged) -> None:
        topic = self.by_id[record.topic_id]
        partitions = list(topic.partitions)
        partitions[record.partition] = PartitionInfo(
            record.leader, record.leader_epoch, record.partition_epoch, record.replicas, record.isr
        )
        self._put(Topic(topic.name, topic.topic_id, tuple(partitions)))

    def _follow_registration(self, record: BrokerRegistered) -> None:
        """A node came back: it leads again what nobody else may lead, and says so if it may have lost a tail.

        After a clean stop every log ends where readers saw it end, so leaders keep their epochs. After a crash
        a tail that was never promised (acks 0 and 1) may be gone although it was read. The new leader epoch is
        what lets a reader notice.
        """
        node = record.broker_id
        renewed: dict[PartitionInfo, PartitionInfo] = {}  # neighbours share their state, before and after
        for topic in list(self.by_name.values()):
            partitions = tuple([_led_again(info, node, record.clean, renewed) for info in topic.partitions])
            if partitions != topic.partitions:
                self._put(Topic(topic.name, topic.topic_id, partitions))


def _led_again(
    info: PartitionInfo, node: int, clean: bool, renewed: dict[PartitionInfo, PartitionInfo]
) -> PartitionInfo:
    orphaned = info.leader == NO_LEADER and node in info.isr
    if not orphaned and (clean or info.leader != node):
        return info
    after = renewed.get(info)
    if after is None:
        after = info._replace(leader=node, leader_epoch=info.leader_epoch + 1, partition_epoch=info.partition_epoch + 1)
        renewed[info] = after
    return after


def dump(part: Topics) -> Iterator[Record]:
    # Deletions first: a topic of the same name may have been created since.
    for gone in part.to_erase.values():
        yield TopicDeleted(gone.name, gone.topic_id, gone.partition_count)
    for topic in part.by_name.values():
        yield TopicCreated(topic.name, topic.topic_id, runs(topic.partitions))


TOPICS = Kind(
    "topics",
    records=(TopicCreated, PartitionsAdded, PartitionChanged, TopicDeleted, TopicErased),
    reads=(BrokerRegistered,),
    empty=Topics(),
    unchanged=TopicsChange(),
    edit=TopicsEdit,
    dump=dump,
)
