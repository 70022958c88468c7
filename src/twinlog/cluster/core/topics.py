"""Creating, growing and deleting topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from twinlog.base import Refused
from twinlog.cluster.core.placement import Room, check_assignment
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import Image
from twinlog.cluster.kinds import configs
from twinlog.cluster.kinds.configs import ConfigsChanged
from twinlog.cluster.kinds.topics import (
    PartitionInfo,
    PartitionsAdded,
    Topic,
    TopicCreated,
    TopicDeleted,
    TopicErased,
    runs,
)
from twinlog.cluster.ports import NamesTaken, Rules
from twinlog.cluster.record import Record
from twinlog.cluster.settings import ControllerSettings
from twinlog.cluster.streams import clash_with_topics, place_of, queue_names, unbound
from twinlog.cluster.types import Decision, Outcome, PartitionsWanted, Permit, TopicWanted, no_limit
from twinlog.host import Chance

# Kafka's protocol gives a meaning to all zeros and to one; its tools cannot take an id that prints as "-...".
RESERVED_IDS: Final = (bytes(16), bytes(15) + b"\x01")


def new_topic_id(image: Image, chance: Chance) -> bytes:
    while True:
        topic_id = chance.bytes(16)
        if topic_id in RESERVED_IDS or topic_id[0] >> 2 == 62:
            continue
        if topic_id not in image.topics_by_id and topic_id not in image.topics_to_erase:
            return topic_id


def create_topics(
    image: Image,
    wanted: Sequence[TopicWanted],
    rules: Rules,
    settings: ControllerSettings,
    chance: Chance,
    permit: Permit = no_limit,
    taken: NamesTaken | None = None,
) -> Decision[Topic]:
    """Each topic that can be made, with its values, and the reason for each that cannot. ``taken`` knows the names of
    AMQP; without it nobody asks for those."""
    plan = _CreatePlan(image, wanted, rules, settings, chance, permit, taken)
    outcomes: list[Outcome[Topic]] = []
    for each in wanted:
        try:
            outcomes.append(plan.create(each))
        except Refused as refused:
            outcomes.append(refused)
    return Decision(plan.records, outcomes)


class _CreatePlan:
    """The topics of one request, decided one after the other: each must fit beside those before it."""

    def __init__(
        self,
        image: Image,
        wanted: Sequence[TopicWanted],
        rules: Rules,
        settings: ControllerSettings,
        chance: Chance,
        permit: Permit,
        taken: NamesTaken | None,
    ) -> None:
        self.permit = permit
        self.image = image
        self.taken = taken
        self.rules = rules
        self.settings = settings
        self.chance = chance
        self.room = Room(image, settings)
        self.records: list[Record] = []
        self.names: set[str] = set()
        self.name_keys: dict[str, str] = {}
        self.queues: dict[tuple[str, str], str] = {}  # of the topics of this request, with the topic
        if any(rules.topic_name_key(each.name) is not None for each in wanted):  # else nobody needs the walk
            for name in image.topics_by_name:
                self._note_key(name)

    def create(self, wanted: TopicWanted) -> Topic:
        self._check_name(wanted.name)
        values = self._values(wanted)
        if wanted.assignments:
            partitions = self._assigned_partitions(wanted, wanted.assignments)
        else:
            partitions = self._placed_partitions(wanted)
        self._check_stream_names(wanted.name, len(partitions))
        self.permit(len(partitions))
        self.room.note(partitions)
        topic = Topic(wanted.name, new_topic_id(self.image, self.chance), tuple(partitions))
        self.records.append(TopicCreated(topic.name, topic.topic_id, runs(partitions)))
        if values:
            self.records.append(ConfigsChanged(configs.TOPIC, topic.name, values))
        self.names.add(topic.name)
        self._note_key(topic.name)
        return topic

    def _note_key(self, name: str) -> None:
        key = self.rules.topic_name_key(name)
        if key is not None:
            self.name_keys[key] = name

    def _check_name(self, name: str) -> None:
        fault = self.rules.topic_name_fault(name)
        if fault is not None:
            raise Refused(Reason.INVALID_TOPIC_EXCEPTION, fault)
        if name in self.image.topics_by_name or name in self.names:
            raise Refused(Reason.TOPIC_ALREADY_EXISTS, f"topic '{name}' exists already")
        key = self.rules.topic_name_key(name)
        if key is not None and key in self.name_keys:
            raise Refused(
                Reason.INVALID_TOPIC_EXCEPTION,
                f"topic '{name}' would collide with '{self.name_keys[key]}': "
                "in names of metrics '.' and '_' look the same",
            )

    def _check_stream_names(self, name: str, partitions: int) -> None:
        if self.taken is None or not self.taken.sees(name):
            return
        check_stream_names(self.image, name, partitions, self.taken, queue_names(place_of(name).name, partitions))
        vhost, queue = place_of(name)
        queues = [(vhost, each) for each in queue_names(queue, partitions)]
        for each in queues:
            if each in self.queues:
                raise _clash(name, self.queues[each])
        self.queues |= dict.fromkeys(queues, name)

    def _values(self, wanted: TopicWanted) -> dict[str, str]:
        values: dict[str, str] = {}
        for config, value in wanted.configs.items():
            if value is None:
                raise Refused(Reason.INVALID_CONFIG, f"config '{config}' has no value")
            values[config] = value
        fault = self.rules.config_fault(configs.TOPIC, values)
        if fault is not None:
            raise Refused(Reason.INVALID_CONFIG, fault)
        return values

    def _placed_partitions(self, wanted: TopicWanted) -> list[PartitionInfo]:
        count, factor = wanted.partition_count, wanted.replication_factor
        if factor < -1 or factor == 0:
            raise Refused(
                Reason.INVALID_REPLICATION_FACTOR,
                "the replication factor must be above 0, or -1 for what is usual here",
            )
        if count < -1 or count == 0:
            raise Refused(Reason.INVALID_PARTITIONS, "a topic has at least 1 partition; -1 means as many as usual here")
        count = self.settings.partition_count_default if count == -1 else count
        factor = self.settings.replication_factor_default if factor == -1 else factor
        self.room.check_replicas(factor)
        self.room.check(count, factor, count)
        return self.room.place(count, factor)

    def _assigned_partitions(
        self, wanted: TopicWanted, assignments: Mapping[int, Sequence[int]]
    ) -> list[PartitionInfo]:
        if wanted.replication_factor != -1:
            raise Refused(Reason.INVALID_REQUEST, "with an assignment the replication factor must be -1")
        if wanted.partition_count != -1:
            raise Refused(Reason.INVALID_REQUEST, "with an assignment the number of partitions must be -1")
        count = len(assignments)
        if sorted(assignments) != list(range(count)):
            raise Refused(Reason.INVALID_REPLICA_ASSIGNMENT, "the assigned partitions must be numbered 0, 1, 2 ...")
        factor = len(assignments[0])
        self.room.check(count, factor, count)
        return [check_assignment(self.image, assignments[index], factor) for index in range(count)]


def check_stream_names(image: Image, name: str, partitions: int, taken: NamesTaken, queues: Iterable[str]) -> None:
    """``Refused`` if AMQP could not show the topic with so many partitions, ``queues`` of which are new."""
    other = clash_with_topics(image, name, partitions)
    if other is not None:
        raise _clash(name, other)
    vhost, exchange = place_of(name)
    holder = taken.holder(vhost, queues, exchange if partitions > 1 else None)
    if holder is not None:
        raise Refused(
            Reason.INVALID_TOPIC_EXCEPTION,
            f"AMQP's clients would see topic '{name}' with {partitions} partitions under a name that is taken by "
            f"the {holder} in vhost '{vhost}'",
        )


def _clash(name: str, other: str) -> Refused:
    return Refused(
        Reason.INVALID_TOPIC_EXCEPTION,
        f"AMQP's clients would see a partition of topic '{name}' under the name of one of topic '{other}'",
    )


def create_partitions(
    image: Image,
    wanted: Sequence[PartitionsWanted],
    settings: ControllerSettings,
    permit: Permit = no_limit,
    taken: NamesTaken | None = None,
) -> Decision[Topic]:
    """More partitions for topics that exist. Each topic may be named once."""
    assert len({each.name for each in wanted}) == len(wanted)
    room = Room(image, settings)
    records: list[Record] = []
    outcomes: list[Outcome[Topic]] = []
    for each in wanted:
        try:
            topic = image.topics_by_name.get(each.name)
            if topic is None:
                raise Refused(Reason.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic '{each.name}'")
            added = _added_partitions(image, topic, each, room)
            have = len(topic.partitions)
            if taken is not None and taken.sees(topic.name):
                name = place_of(topic.name).name
                new = list(queue_names(name, have + len(added)))[have if have > 1 else 0 :]
                check_stream_names(image, topic.name, have + len(added), taken, new)
            permit(len(added))
            room.note(added)
        except Refused as refused:
            outcomes.append(refused)
            continue
        records.append(PartitionsAdded(topic.topic_id, runs(added)))
        if have == 1:  # the queue of its name becomes an exchange
            records += unbound(image, topic, exchange=False, queues=[place_of(topic.name).name])
        outcomes.append(Topic(topic.name, topic.topic_id, topic.partitions + tuple(added)))
    return Decision(records, outcomes)


def _added_partitions(image: Image, topic: Topic, wanted: PartitionsWanted, room: Room) -> list[PartitionInfo]:
    have = len(topic.partitions)
    if wanted.count <= have:
        raise Refused(
            Reason.INVALID_PARTITIONS,
            f"topic '{wanted.name}' has {have} partitions and can only grow; {wanted.count} was asked for",
        )
    more = wanted.count - have
    factor = len(topic.partitions[0].replicas)
    room.check(more, factor, wanted.count)
    if wanted.assignments is None:
        room.check_replicas(factor)
        return room.place(more, factor)
    if len(wanted.assignments) != more:
        raise Refused(
            Reason.INVALID_REPLICA_ASSIGNMENT,
            f"{more} partitions are to be added, but {len(wanted.assignments)} assignments were given",
        )
    return [check_assignment(image, each, factor) for each in wanted.assignments]


def delete_topics(image: Image, topic_ids: Sequence[bytes], permit: Permit = no_limit) -> Decision[Topic]:
    records: list[Record] = []
    outcomes: list[Outcome[Topic]] = []
    gone: set[bytes] = set()
    for topic_id in topic_ids:
        topic = image.topics_by_id.get(topic_id)
        if topic is None or topic_id in gone:
            outcomes.append(Refused(Reason.UNKNOWN_TOPIC_ID, "there is no topic with this id"))
            continue
        try:
            permit(len(topic.partitions))
        except Refused as refused:
            outcomes.append(refused)
            continue
        gone.add(topic_id)
        partitions = len(topic.partitions)
        names = queue_names(place_of(topic.name).name, partitions)
        records += unbound(image, topic, exchange=partitions > 1, queues=names)
        records.append(TopicDeleted(topic.name, topic_id, partitions))
        outcomes.append(topic)
    return Decision(records, outcomes)


def topics_erased(image: Image, topic_ids: Sequence[bytes]) -> list[Record]:
    """Records that say that no file of these topics is left."""
    return [TopicErased(topic_id) for topic_id in dict.fromkeys(topic_ids) if topic_id in image.topics_to_erase]
