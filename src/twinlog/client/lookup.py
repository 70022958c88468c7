"""Questions with one answer a partition, group or transactional id, asked again until the cluster is able to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, TypeVar

from twinlog.client.blocking import PAUSE_MS, Client
from twinlog.client.errors import BrokerError, ConnectionLost, NoAnswer, check
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)

Place: TypeAlias = tuple[str, int]

GROUP: Final = 0
TRANSACTION: Final = 1

T = TypeVar("T")


def persistently(client: Client, attempt: Callable[[], T], timeout_ms: int | None = None) -> T:
    """Tries again while the cluster is on the move: a broker away, a leader elsewhere, a coordinator still loading."""
    deadline_ms = client.door.monotonic_ms() + (client.timeout_ms if timeout_ms is None else timeout_ms)
    while True:
        try:
            return attempt()
        except (ConnectionLost, NoAnswer, BrokerError) as trouble:
            if isinstance(trouble, BrokerError) and not trouble.retriable:
                raise
            if client.door.monotonic_ms() > deadline_ms:
                raise
            if not isinstance(trouble, BrokerError):
                client.close()
            client.door.pause(PAUSE_MS)


def offsets_of(client: Client, wanted: Mapping[Place, int], *, committed: bool = False) -> dict[Place, int]:
    """The first offset at or after each place's time (or EARLIEST, LATEST); -1 where no record is that young.

    With ``committed`` the latest is the last stable offset. The client's view must know the topics; a leader that has
    moved on raises ``BrokerError``, as does a partition that is not there.
    """
    found: dict[Place, int] = {}
    by_leader: dict[int, dict[str, list[ListOffsetsPartition]]] = {}
    for (topic, partition), timestamp in wanted.items():
        leader = client.view.leader(topic, partition)
        if leader < 0:
            known = client.view.topics.get(topic)
            missing = known is not None and partition >= len(known.partitions)
            code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if missing else ErrorCode.LEADER_NOT_AVAILABLE
            raise BrokerError(code, f"looking up offsets of {topic}-{partition}")
        asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
        by_leader.setdefault(leader, {}).setdefault(topic, []).append(asked)
    for leader, topics in by_leader.items():
        request = ListOffsetsRequest(
            replica_id=-1,
            isolation_level=int(committed),
            topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
        )
        for answer in client.call(request, ListOffsetsResponse, leader).topics:
            for each in answer.partitions:
                check(each.error_code, f"looking up offsets of {answer.name}-{each.partition_index}")
                found[answer.name, each.partition_index] = each.offset
    return found


def coordinator(client: Client, kind: int, key: str) -> int:
    """The node that coordinates this group or transactional id."""
    # From version 4 on the question is about a list of keys.
    answer = client.call(FindCoordinatorRequest(key=key, key_type=kind), FindCoordinatorResponse, version_max=3)
    check(answer.error_code, f"looking for the coordinator of {key}", answer.error_message or None)
    if answer.node_id not in client.view.brokers:
        client.refresh(client.view.topics)
    return answer.node_id


def commit_group_offsets(client: Client, group: str, offsets: Mapping[Place, int], note: str = "") -> None:
    """Stores offsets for a group without members, so that every tool sees how far its reader is."""
    topics: dict[str, OffsetCommitRequestTopic] = {}
    for (topic, partition), offset in offsets.items():
        mine = OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset, committed_metadata=note)
        topics.setdefault(topic, OffsetCommitRequestTopic(name=topic)).partitions.append(mine)
    request = OffsetCommitRequest(group_id=group, topics=list(topics.values()))
    # From version 10 on topics are known by id alone.
    node = coordinator(client, GROUP, group)
    answer = client.call(request, OffsetCommitResponse, node, version_max=9)
    for each in answer.topics:
        for partition_answer in each.partitions:
            check(partition_answer.error_code, f"storing offsets of group {group}")


def group_offsets(client: Client, group: str, places: Iterable[Place]) -> dict[Place, int]:
    """What is stored for a group; places without an offset are left out."""
    by_topic: dict[str, list[int]] = {}
    for topic, partition in places:
        by_topic.setdefault(topic, []).append(partition)
    asked = [OffsetFetchRequestTopic(name=name, partition_indexes=each) for name, each in by_topic.items()]
    # From version 8 on the question is about a list of groups.
    node = coordinator(client, GROUP, group)
    request = OffsetFetchRequest(group_id=group, topics=asked)
    answer = client.call(request, OffsetFetchResponse, node, version_max=7)
    check(answer.error_code, f"reading offsets of group {group}")
    found: dict[Place, int] = {}
    for topic_answer in answer.topics:
        for each in topic_answer.partitions:
            check(each.error_code, f"reading offsets of group {group}")
            if each.committed_offset >= 0:
                found[topic_answer.name, each.partition_index] = each.committed_offset
    return found
