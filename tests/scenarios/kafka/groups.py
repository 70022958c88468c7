"""Members of groups on plain sockets: each has a connection of its own, because an answer may wait for others."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from tests.kit.groups import assigned, assignment, subscription
from tests.scenarios.kafka.raw import Connection
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    join_group,
    leave_group,
    list_groups,
    offset_commit,
    offset_delete,
    offset_fetch,
    sync_group,
)

JOIN_GROUP, SYNC_GROUP = 11, 14
PATIENCE_S = 20.0
# What a client meets while a coordinator is made or reads its log; it asks again.
PASSING = (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR)


def until(holds: Callable[[], Any], what: str = "", within_s: float = PATIENCE_S) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + within_s
    while not (found := holds()):
        assert time.monotonic() < deadline, what or "it did not come so"
        time.sleep(0.02)
    return found


def ready(kafka: Connection, group: str) -> None:
    """Asks for the group's coordinator until there is one, as every client does first."""
    until(lambda: find(kafka, group).error_code == 0, "no coordinator")


def find(kafka: Connection, key: str, version: int = 4, key_type: int = 0) -> Any:
    if version < 4:
        return kafka.call(find_coordinator.FindCoordinatorRequest(key=key, key_type=key_type), version)
    asked = find_coordinator.FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
    return kafka.call(asked, version).coordinators[0]


class Group:
    """The members of one test's group; their connections end with it."""

    def __init__(self, bootstrap: str, name: str, topic: str) -> None:
        self.bootstrap, self.name, self.topic = bootstrap, name, topic
        self.closing = ExitStack()
        self.admin = self.closing.enter_context(Connection(bootstrap))
        ready(self.admin, name)

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.close()

    def classic(self, **more: Any) -> Classic:
        return Classic(self, self.closing.enter_context(Connection(self.bootstrap)), **more)

    def consumer(self, member_id: str, **more: Any) -> Consumer:
        return Consumer(self, self.closing.enter_context(Connection(self.bootstrap)), member_id, **more)

    # ---- offsets and administration, by somebody outside of the group ----

    def commit(self, offset: int, partition: int = 0, *, version: int = 9, **more: Any) -> int:
        return commit(self.admin, self.name, self.topic, offset, partition, version=version, **more)

    def committed(self, partition: int = 0, version: int = 9, **more: Any) -> Any:
        """The answer's part for the partition."""
        return fetch_offset(self.admin, self.name, self.topic, partition, version, **more)

    def state(self) -> str:
        return str(self.describe().group_state)

    def describe(self, version: int = 6) -> Any:
        return self.admin.call(describe_groups.DescribeGroupsRequest(groups=[self.name]), version).groups[0]

    def describe_consumer(self, version: int = 1) -> Any:
        asked = consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[self.name])
        return self.admin.call(asked, version).groups[0]

    def listed(self, **filters: list[str]) -> Any:
        """This group's line in ListGroups, or None."""
        answer = self.admin.call(list_groups.ListGroupsRequest(**filters), 5)
        assert answer.error_code == 0
        return next((line for line in answer.groups if line.group_id == self.name), None)

    def delete(self) -> int:
        answer = self.admin.call(delete_groups.DeleteGroupsRequest(groups_names=[self.name]), 2)
        return int(answer.results[0].error_code)

    def delete_offset(self, partition: int = 0) -> tuple[int, int]:
        """The group's error code and the partition's."""
        place = offset_delete.OffsetDeleteRequestPartition(partition_index=partition)
        topic = offset_delete.OffsetDeleteRequestTopic(name=self.topic, partitions=[place])
        answer = self.admin.call(offset_delete.OffsetDeleteRequest(group_id=self.name, topics=[topic]), 0)
        return answer.error_code, answer.topics[0].partitions[0].error_code if answer.topics else 0


def commit(
    kafka: Connection,
    group: str,
    topic: str | bytes,
    offset: int,
    partition: int = 0,
    *,
    version: int = 9,
    member_id: str = "",
    epoch: int = -1,
    leader_epoch: int = -1,
    metadata: str | None = "",
    instance_id: str | None = None,
) -> int:
    """The partition's error code. A topic id asks by version 10."""
    place = offset_commit.OffsetCommitRequestPartition(
        partition_index=partition,
        committed_offset=offset,
        committed_leader_epoch=leader_epoch,
        committed_metadata=metadata,
    )
    named = {"name": topic} if isinstance(topic, str) else {"topic_id": topic}
    request = offset_commit.OffsetCommitRequest(
        group_id=group,
        member_id=member_id,
        generation_id_or_member_epoch=epoch,
        group_instance_id=instance_id,
        topics=[offset_commit.OffsetCommitRequestTopic(**named, partitions=[place])],
    )
    answer = kafka.call(request, version if isinstance(topic, str) else 10)
    return int(answer.topics[0].partitions[0].error_code)


def fetch_offset(
    kafka: Connection, group: str, topic: str, partition: int = 0, version: int = 9, *, stable: bool = False
) -> Any:
    """The answer's part for the partition; the group's own error is put in its place."""
    if version < 8:
        wanted = offset_fetch.OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])
        asked = offset_fetch.OffsetFetchRequest(group_id=group, topics=[wanted], require_stable=stable)
        whole = kafka.call(asked, version)
    else:
        named = offset_fetch.OffsetFetchRequestTopics(name=topic, partition_indexes=[partition])
        one = offset_fetch.OffsetFetchRequestGroup(group_id=group, topics=[named])
        (whole,) = kafka.call(offset_fetch.OffsetFetchRequest(groups=[one], require_stable=stable), version).groups
    if whole.error_code:
        return offset_fetch.OffsetFetchResponsePartitions(
            partition_index=partition, committed_offset=-1, error_code=whole.error_code
        )
    return whole.topics[0].partitions[0]


class Classic:
    """A client of the classic protocol; ``version`` is that of its JoinGroup."""

    def __init__(
        self,
        group: Group,
        kafka: Connection,
        *,
        version: int = 9,
        instance_id: str | None = None,
        topics: list[str] | None = None,
        protocols: tuple[str, ...] = ("range",),
        protocol_type: str = "consumer",
        session_ms: int = 10_000,
        rebalance_ms: int = 10_000,
    ) -> None:
        self.group, self.kafka, self.version, self.instance_id = group, kafka, version, instance_id
        self.topics = [group.topic] if topics is None else topics
        self.protocols, self.protocol_type = protocols, protocol_type
        self.session_ms, self.rebalance_ms = session_ms, rebalance_ms
        self.id = ""
        self.generation = -1
        self.owned: dict[str, list[int]] = {}
        self.joined: Any = None

    @property
    def leads(self) -> bool:
        return self.joined is not None and self.joined.leader == self.id

    def ask_join(self) -> None:
        data = subscription(self.topics, self.owned, self.generation)
        request = join_group.JoinGroupRequest(
            group_id=self.group.name,
            session_timeout_ms=self.session_ms,
            rebalance_timeout_ms=self.rebalance_ms,
            member_id=self.id,
            group_instance_id=self.instance_id,
            protocol_type=self.protocol_type,
            protocols=[join_group.JoinGroupRequestProtocol(name=name, metadata=data) for name in self.protocols],
        )
        self.kafka.send(request, self.version)

    def hear_join(self) -> int:
        """Takes the answer, and joins again where only the id came; the error code."""
        self.joined = self.kafka.receive(JOIN_GROUP, self.version)
        if self.joined.error_code == ErrorCode.MEMBER_ID_REQUIRED:
            self.id = self.joined.member_id
            self.ask_join()
            return self.hear_join()
        if self.joined.error_code == 0:
            self.id, self.generation = self.joined.member_id, self.joined.generation_id
        return int(self.joined.error_code)

    def join(self) -> int:
        self.ask_join()
        return self.hear_join()

    def ask_sync(self, shares: dict[str, bytes] | None = None, generation: int | None = None, **more: Any) -> None:
        request = sync_group.SyncGroupRequest(
            group_id=self.group.name,
            generation_id=self.generation if generation is None else generation,
            member_id=more.pop("member_id", self.id),
            group_instance_id=self.instance_id,
            assignments=[
                sync_group.SyncGroupRequestAssignment(member_id=member_id, assignment=data)
                for member_id, data in (shares or {}).items()
            ],
            **more,
        )
        self.kafka.send(request, 5)

    def hear_sync(self) -> Any:
        answer = self.kafka.receive(SYNC_GROUP, 5)
        if answer.error_code == 0:
            self.owned = assigned(answer.assignment)
        return answer

    def sync(self, shares: dict[str, bytes] | None = None, **more: Any) -> Any:
        self.ask_sync(shares, **more)
        return self.hear_sync()

    def beat(self, generation: int | None = None) -> int:
        request = heartbeat.HeartbeatRequest(
            group_id=self.group.name,
            generation_id=self.generation if generation is None else generation,
            member_id=self.id,
            group_instance_id=self.instance_id,
        )
        return int(self.kafka.call(request, 4).error_code)

    def leave(self, version: int = 5) -> int:
        if version < 3:
            return int(
                self.kafka.call(
                    leave_group.LeaveGroupRequest(group_id=self.group.name, member_id=self.id), version
                ).error_code
            )
        one = leave_group.MemberIdentity(member_id=self.id, group_instance_id=self.instance_id)
        answer = self.kafka.call(leave_group.LeaveGroupRequest(group_id=self.group.name, members=[one]), version)
        return int(answer.error_code or answer.members[0].error_code)

    def commit(self, offset: int, partition: int = 0, **more: Any) -> int:
        more = {"member_id": self.id, "epoch": self.generation, "instance_id": self.instance_id, **more}
        return commit(self.kafka, self.group.name, self.group.topic, offset, partition, **more)


def settle(*members: Classic, partitions: int = 4) -> None:
    """One whole round of these members: all join, the leader deals the topic's partitions out, all sync."""
    newcomers = [member for member in members if member.id == ""]
    for member in sorted(members, key=lambda m: (m not in newcomers, not m.leads)):
        member.ask_join()
        if member in newcomers and member.version >= 4 and member.instance_id is None:
            answer = member.kafka.receive(JOIN_GROUP, member.version)
            assert answer.error_code == ErrorCode.MEMBER_ID_REQUIRED, ErrorCode(answer.error_code)
            member.id = answer.member_id
            member.ask_join()
    for member in members:
        assert member.hear_join() == 0, ErrorCode(member.joined.error_code)
    share(*members, partitions=partitions)


def share(*members: Classic, partitions: int = 4) -> None:
    """The second half of a round."""
    leader = next(member for member in members if member.leads)
    ids = [each.member_id for each in leader.joined.members]
    topic = leader.group.topic
    shares = {
        member_id: assignment({topic: list(range(place, partitions, len(ids)))}) for place, member_id in enumerate(ids)
    }
    for member in members:
        member.ask_sync(shares if member is leader else None)
    for member in members:
        answer = member.hear_sync()
        assert answer.error_code == 0, ErrorCode(answer.error_code)


class Consumer:
    """A client of the consumer protocol."""

    def __init__(self, group: Group, kafka: Connection, member_id: str, **about: Any) -> None:
        self.group, self.kafka, self.id = group, kafka, member_id
        self.about: dict[str, Any] = {"subscribed_topic_names": [group.topic], "rebalance_timeout_ms": 10_000, **about}
        self.epoch = 0
        self.owned: dict[bytes, list[int]] = {}
        self.answer: Any = None

    @property
    def partitions(self) -> list[int]:
        return sorted(p for partitions in self.owned.values() for p in partitions)

    def beat(self, version: int = 1, **fields: Any) -> int:
        """One heartbeat; the error code."""
        if "owned" in fields:
            fields["topic_partitions"] = [
                consumer_group_heartbeat.ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=t, partitions=p)
                for t, p in fields.pop("owned").items()
            ]
        request = consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
            group_id=self.group.name,
            member_id=fields.pop("member_id", self.id),
            member_epoch=fields.pop("epoch", self.epoch),
            **{"instance_id": self.about.get("instance_id"), **fields},
        )
        self.answer = self.kafka.call(request, version)
        if self.answer.error_code == 0:
            self.epoch = self.answer.member_epoch
            self.id = self.answer.member_id
        return int(self.answer.error_code)

    def join(self, **fields: Any) -> int:
        self.epoch, self.owned = 0, {}
        code = self.beat(**{**self.about, "owned": {}, **fields})
        self.take()
        return code

    def take(self) -> None:
        """Gives up and takes on what the last answer says."""
        if self.answer.error_code == 0 and self.answer.assignment is not None:
            self.owned = {each.topic_id: list(each.partitions) for each in self.answer.assignment.topic_partitions}

    def report(self) -> int:
        code = self.beat(owned=self.owned)
        self.take()
        return code

    def leave(self, epoch: int = -1) -> int:
        return self.beat(epoch=epoch)

    def commit(self, offset: int, partition: int = 0, **more: Any) -> int:
        more = {"member_id": self.id, "epoch": self.epoch, **more}
        return commit(self.kafka, self.group.name, self.group.topic, offset, partition, **more)


def converge(*members: Consumer, holds: Callable[[], bool]) -> None:
    """Everybody reports until it is so."""

    def turn() -> bool:
        for member in members:
            assert member.report() == 0, ErrorCode(member.answer.error_code)
        return holds()

    until(turn, "the group did not converge")
