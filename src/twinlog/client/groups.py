"""Consumer groups from outside: who is in them, how far they came, and setting that anew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

from twinlog.base import ProtocolViolation
from twinlog.client.blocking import Client
from twinlog.client.coordinated import Coordinated
from twinlog.client.errors import check
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupDescribeResponseDescribedGroup,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    DescribeGroupsResponseDescribedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
)
from twinlog.wire.kafka.records import decode_assignment

GROUP: Final = 0  # the kind of key whose coordinator is asked for

Place: TypeAlias = tuple[str, int]


class GroupLine(NamedTuple):
    """A group in a list."""

    name: str
    state: str
    type: str
    protocol_type: str


class MemberView(NamedTuple):
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    assignment: tuple[Place, ...]


class GroupView(NamedTuple):
    """A group with its members. ``assignor``: the client's protocol, or the server's assignor."""

    name: str
    state: str
    type: str
    assignor: str
    coordinator: int
    members: tuple[MemberView, ...]


class Committed(NamedTuple):
    offset: int
    leader_epoch: int
    metadata: str


class Groups(Coordinated):
    """Requests about groups, sent to whoever coordinates them."""

    def __init__(self, client: Client) -> None:
        super().__init__(client, GROUP, "group")

    def list(self) -> list[GroupLine]:
        """The groups of every broker, by name."""
        found: list[GroupLine] = []
        for node in sorted(self._client.refresh([]).brokers):
            answer = self._patiently(
                lambda node=node: self._client.call(ListGroupsRequest(), ListGroupsResponse, node),  # type: ignore[misc]
                lambda response: response.error_code,
            )
            check(answer.error_code, "listing groups")
            found += [GroupLine(g.group_id, g.group_state, g.group_type, g.protocol_type) for g in answer.groups]
        return sorted(found)

    def describe(self, name: str) -> GroupView:
        """Either kind of group."""
        newer = self._ask(
            name,
            lambda: ConsumerGroupDescribeRequest(group_ids=[name]),
            ConsumerGroupDescribeResponse,
            lambda response: response.groups[0].error_code,
        ).groups[0]
        if newer.error_code != ErrorCode.GROUP_ID_NOT_FOUND:
            check(newer.error_code, f"describing group {name}", newer.error_message)
            return _consumer_view(newer, self.coordinator(name))
        classic = self._ask(
            name,
            lambda: DescribeGroupsRequest(groups=[name]),
            DescribeGroupsResponse,
            lambda response: response.groups[0].error_code,
        ).groups[0]
        code = ErrorCode.GROUP_ID_NOT_FOUND if classic.group_state == "Dead" else classic.error_code
        check(code, f"describing group {name}", classic.error_message)
        return _classic_view(classic, self.coordinator(name))

    def offsets(self, name: str) -> dict[Place, Committed]:
        """Everything that the group has committed, by topic and partition."""
        answer = self._ask(
            name,
            lambda: OffsetFetchRequest(groups=[_everything_of(name)]),
            OffsetFetchResponse,
            lambda response: response.groups[0].error_code,
        ).groups[0]
        check(answer.error_code, f"reading the offsets of group {name}")
        found = {}
        for topic in answer.topics:
            for each in topic.partitions:
                check(each.error_code, f"reading the offset of {topic.name}-{each.partition_index}")
                value = Committed(each.committed_offset, each.committed_leader_epoch, each.metadata or "")
                found[topic.name, each.partition_index] = value
        return dict(sorted(found.items()))

    def commit(self, name: str, offsets: Mapping[Place, int], member_id: str = "", epoch: int = -1) -> None:
        """Sets offsets: for a group without members, or as a member of it."""
        answer = self._ask(
            name,
            lambda: OffsetCommitRequest(
                group_id=name, member_id=member_id, generation_id_or_member_epoch=epoch, topics=_commits(offsets)
            ),
            OffsetCommitResponse,
            lambda response: max((p.error_code for t in response.topics for p in t.partitions), default=0),
        )
        for topic in answer.topics:
            for each in topic.partitions:
                check(each.error_code, f"committing {topic.name}-{each.partition_index} for group {name}")

    def delete(self, name: str) -> None:
        answer = self._ask(
            name,
            lambda: DeleteGroupsRequest(groups_names=[name]),
            DeleteGroupsResponse,
            lambda response: response.results[0].error_code,
        )
        check(answer.results[0].error_code, f"deleting group {name}")


def _everything_of(name: str) -> OffsetFetchRequestGroup:
    return OffsetFetchRequestGroup(group_id=name, topics=None)


def _commits(offsets: Mapping[Place, int]) -> list[OffsetCommitRequestTopic]:
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (topic, partition), offset in offsets.items():
        place = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        topics.setdefault(topic, OffsetCommitRequestTopic(name=topic)).partitions.append(place)
    return list(topics.values())


def _consumer_view(group: ConsumerGroupDescribeResponseDescribedGroup, coordinator: int) -> GroupView:
    members = []
    for each in group.members:
        places = ((t.topic_name, p) for t in each.assignment.topic_partitions for p in t.partitions)
        members.append(
            MemberView(each.member_id, each.instance_id, each.client_id, each.client_host, tuple(sorted(places)))
        )
    return GroupView(
        group.group_id, group.group_state, "consumer", group.assignor_name, coordinator, tuple(sorted(members))
    )


def _classic_view(group: DescribeGroupsResponseDescribedGroup, coordinator: int) -> GroupView:
    members = [
        MemberView(each.member_id, each.group_instance_id, each.client_id, each.client_host, tuple(_assigned(each)))
        for each in group.members
    ]
    return GroupView(
        group.group_id, group.group_state, "classic", group.protocol_data, coordinator, tuple(sorted(members))
    )


def _assigned(member: DescribedGroupMember) -> Iterable[Place]:
    """What a member of a group of consumers owns; other clients' assignments are their own business."""
    if not member.member_assignment:
        return []
    try:
        read = decode_assignment(member.member_assignment)
    except ProtocolViolation:
        return []
    return sorted((topic.topic, partition) for topic in read.assigned_partitions for partition in topic.partitions)
