"""Group records.

Made from spec/kafka/group_records.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, NEVER, ZERO_UUID, Message, Struct


class LegacyOffsetCommitKey(Message):
    __slots__ = (
        "group",
        "partition",
        "topic",
    )
    KEY = 0
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topic", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition", "int32", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group: str = group
        self.topic: str = topic
        self.partition: int = partition


class LegacyOffsetCommitValue(Message):
    __slots__ = (
        "commit_timestamp",
        "metadata",
        "offset",
    )
    KEY = 0
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("offset", "int64", None, 0, 0, 0, -1, -1, False, 0),
        ("metadata", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("commit_timestamp", "int64", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        offset: int = 0,
        metadata: str = "",
        commit_timestamp: int = 0,
    ) -> None:
        self.offset: int = offset
        self.metadata: str = metadata
        self.commit_timestamp: int = commit_timestamp


class OffsetCommitKey(Message):
    __slots__ = (
        "group",
        "partition",
        "topic",
    )
    KEY = 1
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topic", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partition", "int32", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        group: str = "",
        topic: str = "",
        partition: int = 0,
    ) -> None:
        self.group: str = group
        self.topic: str = topic
        self.partition: int = partition


class OffsetCommitValue(Message):
    __slots__ = (
        "commit_timestamp",
        "expire_timestamp",
        "leader_epoch",
        "metadata",
        "offset",
        "topic_id",
    )
    KEY = 1
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("offset", "int64", None, 0, 4, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 3, 4, 0, -1, -1, True, -1),
        ("metadata", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("commit_timestamp", "int64", None, 0, 4, 0, -1, -1, False, 0),
        ("expire_timestamp", "int64", None, 1, 1, 0, -1, -1, True, -1),
        ("topic_id", "uuid", None, 4, 4, 0, -1, 0, True, ZERO_UUID),
    )

    def __init__(
        self,
        *,
        offset: int = 0,
        leader_epoch: int = -1,
        metadata: str = "",
        commit_timestamp: int = 0,
        expire_timestamp: int = -1,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.offset: int = offset
        self.leader_epoch: int = leader_epoch
        self.metadata: str = metadata
        self.commit_timestamp: int = commit_timestamp
        self.expire_timestamp: int = expire_timestamp
        self.topic_id: bytes = topic_id


class GroupMetadataKey(Message):
    __slots__ = ("group",)
    KEY = 2
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group: str = "",
    ) -> None:
        self.group: str = group


class MemberMetadata(Struct):
    __slots__ = (
        "assignment",
        "client_host",
        "client_id",
        "group_instance_id",
        "member_id",
        "rebalance_timeout",
        "session_timeout",
        "subscription",
    )
    LAYOUT = (
        ("member_id", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 3, 4, 3, 4, -1, True, None),
        ("client_id", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("rebalance_timeout", "int32", None, 1, 4, 0, -1, -1, True, -1),
        ("session_timeout", "int32", None, 0, 4, 0, -1, -1, False, 0),
        ("subscription", "bytes", None, 0, 4, 0, -1, -1, False, b""),
        ("assignment", "bytes", None, 0, 4, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout: int = -1,
        session_timeout: int = 0,
        subscription: bytes = b"",
        assignment: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.rebalance_timeout: int = rebalance_timeout
        self.session_timeout: int = session_timeout
        self.subscription: bytes = subscription
        self.assignment: bytes = assignment


class GroupMetadataValue(Message):
    __slots__ = (
        "current_state_timestamp",
        "generation",
        "leader",
        "members",
        "protocol",
        "protocol_type",
    )
    KEY = 2
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("protocol_type", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("generation", "int32", None, 0, 4, 0, -1, -1, False, 0),
        ("protocol", "string", None, 0, 4, 0, 4, -1, False, ""),
        ("leader", "string", None, 0, 4, 0, 4, -1, False, ""),
        ("current_state_timestamp", "int64", None, 2, 4, 0, -1, -1, True, -1),
        ("members", "[]struct", MemberMetadata, 0, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        protocol_type: str = "",
        generation: int = 0,
        protocol: str | None = "",
        leader: str | None = "",
        current_state_timestamp: int = -1,
        members: list[MemberMetadata] = FRESH,
    ) -> None:
        self.protocol_type: str = protocol_type
        self.generation: int = generation
        self.protocol: str | None = protocol
        self.leader: str | None = leader
        self.current_state_timestamp: int = current_state_timestamp
        self.members: list[MemberMetadata] = [] if members is FRESH else members


class ConsumerGroupMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 3
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class ConsumerGroupMetadataValue(Message):
    __slots__ = (
        "epoch",
        "metadata_hash",
    )
    KEY = 3
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("metadata_hash", "int64", None, 0, 0, 0, -1, 0, False, 0),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch: int = epoch
        self.metadata_hash: int = metadata_hash


class ConsumerGroupPartitionMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 4
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class PartitionMetadata(Struct):
    __slots__ = (
        "partition",
        "racks",
    )
    LAYOUT = (
        ("partition", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("racks", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        racks: list[str] = FRESH,
    ) -> None:
        self.partition: int = partition
        self.racks: list[str] = [] if racks is FRESH else racks


class TopicMetadata(Struct):
    __slots__ = (
        "num_partitions",
        "partition_metadata",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("num_partitions", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("partition_metadata", "[]struct", PartitionMetadata, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        num_partitions: int = 0,
        partition_metadata: list[PartitionMetadata] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name
        self.num_partitions: int = num_partitions
        self.partition_metadata: list[PartitionMetadata] = [] if partition_metadata is FRESH else partition_metadata


class ConsumerGroupPartitionMetadataValue(Message):
    __slots__ = ("topics",)
    KEY = 4
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (("topics", "[]struct", TopicMetadata, 0, 0, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        topics: list[TopicMetadata] = FRESH,
    ) -> None:
        self.topics: list[TopicMetadata] = [] if topics is FRESH else topics


class ConsumerGroupMemberMetadataKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 5
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ClassicProtocol(Struct):
    __slots__ = (
        "metadata",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("metadata", "bytes", None, 0, 0, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name: str = name
        self.metadata: bytes = metadata


class ClassicMemberMetadata(Struct):
    __slots__ = (
        "session_timeout_ms",
        "supported_protocols",
    )
    LAYOUT = (
        ("session_timeout_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("supported_protocols", "[]struct", ClassicProtocol, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        session_timeout_ms: int = 0,
        supported_protocols: list[ClassicProtocol] = FRESH,
    ) -> None:
        self.session_timeout_ms: int = session_timeout_ms
        self.supported_protocols: list[ClassicProtocol] = [] if supported_protocols is FRESH else supported_protocols


class ConsumerGroupMemberMetadataValue(Message):
    __slots__ = (
        "classic_member_metadata",
        "client_host",
        "client_id",
        "instance_id",
        "rack_id",
        "rebalance_timeout_ms",
        "server_assignor",
        "subscribed_topic_names",
        "subscribed_topic_regex",
    )
    KEY = 5
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("instance_id", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("rack_id", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("client_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("subscribed_topic_names", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("subscribed_topic_regex", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("rebalance_timeout_ms", "int32", None, 0, 0, 0, -1, -1, False, -1),
        ("server_assignor", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("classic_member_metadata", "struct", ClassicMemberMetadata, 0, 0, 0, 0, 0, False, FRESH),
    )

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
        subscribed_topic_regex: str | None = "",
        rebalance_timeout_ms: int = -1,
        server_assignor: str | None = "",
        classic_member_metadata: ClassicMemberMetadata | None = FRESH,
    ) -> None:
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = [] if subscribed_topic_names is FRESH else subscribed_topic_names
        self.subscribed_topic_regex: str | None = subscribed_topic_regex
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.server_assignor: str | None = server_assignor
        self.classic_member_metadata: ClassicMemberMetadata | None = (
            ClassicMemberMetadata() if classic_member_metadata is FRESH else classic_member_metadata
        )


class ConsumerGroupTargetAssignmentMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 6
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
    )
    KEY = 6
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("assignment_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("assignment_timestamp", "int64", None, 0, 0, 0, -1, 0, False, 0),
    )

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch: int = assignment_epoch
        self.assignment_timestamp: int = assignment_timestamp


class ConsumerGroupTargetAssignmentMemberKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 7
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ConsumerGroupTargetAssignmentMemberValueTopicPartition(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ConsumerGroupTargetAssignmentMemberValue(Message):
    __slots__ = ("topic_partitions",)
    KEY = 7
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        (
            "topic_partitions",
            "[]struct",
            ConsumerGroupTargetAssignmentMemberValueTopicPartition,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
    )

    def __init__(
        self,
        *,
        topic_partitions: list[ConsumerGroupTargetAssignmentMemberValueTopicPartition] = FRESH,
    ) -> None:
        self.topic_partitions: list[ConsumerGroupTargetAssignmentMemberValueTopicPartition] = (
            [] if topic_partitions is FRESH else topic_partitions
        )


class ConsumerGroupCurrentMemberAssignmentKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 8
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ConsumerGroupCurrentMemberAssignmentValueTopicPartitions(Struct):
    __slots__ = (
        "assignment_epochs",
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
        ("assignment_epochs", "[]int32", None, 0, 0, 0, 0, 0, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
        assignment_epochs: list[int] | None = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions
        self.assignment_epochs: list[int] | None = [] if assignment_epochs is FRESH else assignment_epochs


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    __slots__ = (
        "assigned_partitions",
        "member_epoch",
        "partitions_pending_revocation",
        "previous_member_epoch",
        "state",
    )
    KEY = 8
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("previous_member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("state", "int8", None, 0, 0, 0, -1, -1, False, 0),
        (
            "assigned_partitions",
            "[]struct",
            ConsumerGroupCurrentMemberAssignmentValueTopicPartitions,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
        (
            "partitions_pending_revocation",
            "[]struct",
            ConsumerGroupCurrentMemberAssignmentValueTopicPartitions,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
    )

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = FRESH,
        partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = FRESH,
    ) -> None:
        self.member_epoch: int = member_epoch
        self.previous_member_epoch: int = previous_member_epoch
        self.state: int = state
        self.assigned_partitions: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = (
            [] if assigned_partitions is FRESH else assigned_partitions
        )
        self.partitions_pending_revocation: list[ConsumerGroupCurrentMemberAssignmentValueTopicPartitions] = (
            [] if partitions_pending_revocation is FRESH else partitions_pending_revocation
        )


class ShareGroupMemberMetadataKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 10
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ShareGroupMemberMetadataValue(Message):
    __slots__ = (
        "client_host",
        "client_id",
        "rack_id",
        "subscribed_topic_names",
    )
    KEY = 10
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("rack_id", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("client_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("subscribed_topic_names", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        subscribed_topic_names: list[str] = FRESH,
    ) -> None:
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.subscribed_topic_names: list[str] = [] if subscribed_topic_names is FRESH else subscribed_topic_names


class ShareGroupMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 11
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class ShareGroupMetadataValue(Message):
    __slots__ = (
        "epoch",
        "metadata_hash",
    )
    KEY = 11
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("metadata_hash", "int64", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
    ) -> None:
        self.epoch: int = epoch
        self.metadata_hash: int = metadata_hash


class ShareGroupTargetAssignmentMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 12
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class ShareGroupTargetAssignmentMetadataValue(Message):
    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
    )
    KEY = 12
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("assignment_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("assignment_timestamp", "int64", None, 0, 0, 0, -1, 0, False, 0),
    )

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch: int = assignment_epoch
        self.assignment_timestamp: int = assignment_timestamp


class ShareGroupTargetAssignmentMemberKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 13
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ShareGroupTargetAssignmentMemberValueTopicPartition(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ShareGroupTargetAssignmentMemberValue(Message):
    __slots__ = ("topic_partitions",)
    KEY = 13
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        (
            "topic_partitions",
            "[]struct",
            ShareGroupTargetAssignmentMemberValueTopicPartition,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
    )

    def __init__(
        self,
        *,
        topic_partitions: list[ShareGroupTargetAssignmentMemberValueTopicPartition] = FRESH,
    ) -> None:
        self.topic_partitions: list[ShareGroupTargetAssignmentMemberValueTopicPartition] = (
            [] if topic_partitions is FRESH else topic_partitions
        )


class ShareGroupCurrentMemberAssignmentKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 14
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class ShareGroupCurrentMemberAssignmentValueTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ShareGroupCurrentMemberAssignmentValue(Message):
    __slots__ = (
        "assigned_partitions",
        "member_epoch",
        "previous_member_epoch",
        "state",
    )
    KEY = 14
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("previous_member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("state", "int8", None, 0, 0, 0, -1, -1, False, 0),
        (
            "assigned_partitions",
            "[]struct",
            ShareGroupCurrentMemberAssignmentValueTopicPartitions,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
    )

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        assigned_partitions: list[ShareGroupCurrentMemberAssignmentValueTopicPartitions] = FRESH,
    ) -> None:
        self.member_epoch: int = member_epoch
        self.previous_member_epoch: int = previous_member_epoch
        self.state: int = state
        self.assigned_partitions: list[ShareGroupCurrentMemberAssignmentValueTopicPartitions] = (
            [] if assigned_partitions is FRESH else assigned_partitions
        )


class ShareGroupStatePartitionMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 15
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class TopicPartitionsInfo(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ShareGroupStatePartitionMetadataValueTopicInfo(Struct):
    __slots__ = (
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        topic_name: str = "",
    ) -> None:
        self.topic_id: bytes = topic_id
        self.topic_name: str = topic_name


class ShareGroupStatePartitionMetadataValue(Message):
    __slots__ = (
        "deleting_topics",
        "initialized_topics",
        "initializing_topics",
    )
    KEY = 15
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("initializing_topics", "[]struct", TopicPartitionsInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("initialized_topics", "[]struct", TopicPartitionsInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("deleting_topics", "[]struct", ShareGroupStatePartitionMetadataValueTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        initializing_topics: list[TopicPartitionsInfo] = FRESH,
        initialized_topics: list[TopicPartitionsInfo] = FRESH,
        deleting_topics: list[ShareGroupStatePartitionMetadataValueTopicInfo] = FRESH,
    ) -> None:
        self.initializing_topics: list[TopicPartitionsInfo] = (
            [] if initializing_topics is FRESH else initializing_topics
        )
        self.initialized_topics: list[TopicPartitionsInfo] = [] if initialized_topics is FRESH else initialized_topics
        self.deleting_topics: list[ShareGroupStatePartitionMetadataValueTopicInfo] = (
            [] if deleting_topics is FRESH else deleting_topics
        )


class ConsumerGroupRegularExpressionKey(Message):
    __slots__ = (
        "group_id",
        "regular_expression",
    )
    KEY = 16
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("regular_expression", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        regular_expression: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.regular_expression: str = regular_expression


class ConsumerGroupRegularExpressionValue(Message):
    __slots__ = (
        "timestamp",
        "topics",
        "version",
    )
    KEY = 16
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("version", "int64", None, 0, 0, 0, -1, -1, False, 0),
        ("timestamp", "int64", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        topics: list[str] = FRESH,
        version: int = 0,
        timestamp: int = 0,
    ) -> None:
        self.topics: list[str] = [] if topics is FRESH else topics
        self.version: int = version
        self.timestamp: int = timestamp


class StreamsGroupMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 17
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class LastAssignmentConfig(Struct):
    __slots__ = (
        "key",
        "value",
    )
    LAYOUT = (
        ("key", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("value", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class StreamsGroupMetadataValue(Message):
    __slots__ = (
        "epoch",
        "last_assignment_configs",
        "metadata_hash",
        "validated_topology_epoch",
    )
    KEY = 17
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("metadata_hash", "int64", None, 0, 0, 0, -1, -1, False, 0),
        ("validated_topology_epoch", "int32", None, 0, 0, 0, -1, 0, False, -1),
        ("last_assignment_configs", "[]struct", LastAssignmentConfig, 0, 0, 0, 0, 1, False, FRESH),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        metadata_hash: int = 0,
        validated_topology_epoch: int = -1,
        last_assignment_configs: list[LastAssignmentConfig] | None = FRESH,
    ) -> None:
        self.epoch: int = epoch
        self.metadata_hash: int = metadata_hash
        self.validated_topology_epoch: int = validated_topology_epoch
        self.last_assignment_configs: list[LastAssignmentConfig] | None = (
            [] if last_assignment_configs is FRESH else last_assignment_configs
        )


class StreamsGroupMemberMetadataKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 19
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class StreamsGroupMemberMetadataValueEndpoint(Struct):
    __slots__ = (
        "host",
        "port",
    )
    LAYOUT = (
        ("host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("port", "uint16", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        host: str = "",
        port: int = 0,
    ) -> None:
        self.host: str = host
        self.port: int = port


class StreamsGroupMemberMetadataValueKeyValue(Struct):
    __slots__ = (
        "key",
        "value",
    )
    LAYOUT = (
        ("key", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("value", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class StreamsGroupMemberMetadataValue(Message):
    __slots__ = (
        "client_host",
        "client_id",
        "client_tags",
        "instance_id",
        "process_id",
        "rack_id",
        "rebalance_timeout_ms",
        "topology_epoch",
        "user_endpoint",
    )
    KEY = 19
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("instance_id", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("rack_id", "string", None, 0, 0, 0, 0, -1, False, ""),
        ("client_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("rebalance_timeout_ms", "int32", None, 0, 0, 0, -1, -1, False, -1),
        ("topology_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("process_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("user_endpoint", "struct", StreamsGroupMemberMetadataValueEndpoint, 0, 0, 0, 0, -1, False, None),
        ("client_tags", "[]struct", StreamsGroupMemberMetadataValueKeyValue, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        instance_id: str | None = "",
        rack_id: str | None = "",
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int = -1,
        topology_epoch: int = 0,
        process_id: str = "",
        user_endpoint: StreamsGroupMemberMetadataValueEndpoint | None = None,
        client_tags: list[StreamsGroupMemberMetadataValueKeyValue] = FRESH,
    ) -> None:
        self.instance_id: str | None = instance_id
        self.rack_id: str | None = rack_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.topology_epoch: int = topology_epoch
        self.process_id: str = process_id
        self.user_endpoint: StreamsGroupMemberMetadataValueEndpoint | None = user_endpoint
        self.client_tags: list[StreamsGroupMemberMetadataValueKeyValue] = [] if client_tags is FRESH else client_tags


class StreamsGroupTargetAssignmentMetadataKey(Message):
    __slots__ = ("group_id",)
    KEY = 20
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class StreamsGroupTargetAssignmentMetadataValue(Message):
    __slots__ = (
        "assignment_epoch",
        "assignment_timestamp",
    )
    KEY = 20
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("assignment_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("assignment_timestamp", "int64", None, 0, 0, 0, -1, 0, False, 0),
    )

    def __init__(
        self,
        *,
        assignment_epoch: int = 0,
        assignment_timestamp: int = 0,
    ) -> None:
        self.assignment_epoch: int = assignment_epoch
        self.assignment_timestamp: int = assignment_timestamp


class StreamsGroupTargetAssignmentMemberKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 21
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class StreamsGroupTargetAssignmentMemberValueTaskIds(Struct):
    __slots__ = (
        "partitions",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class StreamsGroupTargetAssignmentMemberValue(Message):
    __slots__ = (
        "active_tasks",
        "standby_tasks",
        "warmup_tasks",
    )
    KEY = 21
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("active_tasks", "[]struct", StreamsGroupTargetAssignmentMemberValueTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        ("standby_tasks", "[]struct", StreamsGroupTargetAssignmentMemberValueTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        ("warmup_tasks", "[]struct", StreamsGroupTargetAssignmentMemberValueTaskIds, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        active_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = FRESH,
        standby_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = FRESH,
        warmup_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = FRESH,
    ) -> None:
        self.active_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = (
            [] if active_tasks is FRESH else active_tasks
        )
        self.standby_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = (
            [] if standby_tasks is FRESH else standby_tasks
        )
        self.warmup_tasks: list[StreamsGroupTargetAssignmentMemberValueTaskIds] = (
            [] if warmup_tasks is FRESH else warmup_tasks
        )


class StreamsGroupCurrentMemberAssignmentKey(Message):
    __slots__ = (
        "group_id",
        "member_id",
    )
    KEY = 22
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id


class StreamsGroupCurrentMemberAssignmentValueTaskIds(Struct):
    __slots__ = (
        "assignment_epochs",
        "partitions",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 0, 0, -1, -1, False, FRESH),
        ("assignment_epochs", "[]int32", None, 0, 0, 0, 0, 0, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        partitions: list[int] = FRESH,
        assignment_epochs: list[int] | None = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions
        self.assignment_epochs: list[int] | None = [] if assignment_epochs is FRESH else assignment_epochs


class StreamsGroupCurrentMemberAssignmentValue(Message):
    __slots__ = (
        "active_tasks",
        "active_tasks_pending_revocation",
        "member_epoch",
        "previous_member_epoch",
        "standby_tasks",
        "standby_tasks_pending_revocation",
        "state",
        "warmup_tasks",
        "warmup_tasks_pending_revocation",
    )
    KEY = 22
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("previous_member_epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("state", "int8", None, 0, 0, 0, -1, -1, False, 0),
        ("active_tasks", "[]struct", StreamsGroupCurrentMemberAssignmentValueTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        ("standby_tasks", "[]struct", StreamsGroupCurrentMemberAssignmentValueTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        ("warmup_tasks", "[]struct", StreamsGroupCurrentMemberAssignmentValueTaskIds, 0, 0, 0, -1, -1, False, FRESH),
        (
            "active_tasks_pending_revocation",
            "[]struct",
            StreamsGroupCurrentMemberAssignmentValueTaskIds,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
        (
            "standby_tasks_pending_revocation",
            "[]struct",
            StreamsGroupCurrentMemberAssignmentValueTaskIds,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
        (
            "warmup_tasks_pending_revocation",
            "[]struct",
            StreamsGroupCurrentMemberAssignmentValueTaskIds,
            0,
            0,
            0,
            -1,
            -1,
            False,
            FRESH,
        ),
    )

    def __init__(
        self,
        *,
        member_epoch: int = 0,
        previous_member_epoch: int = 0,
        state: int = 0,
        active_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = FRESH,
        standby_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = FRESH,
        warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = FRESH,
        active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = FRESH,
        standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = FRESH,
        warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = FRESH,
    ) -> None:
        self.member_epoch: int = member_epoch
        self.previous_member_epoch: int = previous_member_epoch
        self.state: int = state
        self.active_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = (
            [] if active_tasks is FRESH else active_tasks
        )
        self.standby_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = (
            [] if standby_tasks is FRESH else standby_tasks
        )
        self.warmup_tasks: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = (
            [] if warmup_tasks is FRESH else warmup_tasks
        )
        self.active_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = (
            [] if active_tasks_pending_revocation is FRESH else active_tasks_pending_revocation
        )
        self.standby_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = (
            [] if standby_tasks_pending_revocation is FRESH else standby_tasks_pending_revocation
        )
        self.warmup_tasks_pending_revocation: list[StreamsGroupCurrentMemberAssignmentValueTaskIds] = (
            [] if warmup_tasks_pending_revocation is FRESH else warmup_tasks_pending_revocation
        )


class StreamsGroupTopologyKey(Message):
    __slots__ = ("group_id",)
    KEY = 23
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        group_id: str = "",
    ) -> None:
        self.group_id: str = group_id


class TopicConfig(Struct):
    __slots__ = (
        "key",
        "value",
    )
    LAYOUT = (
        ("key", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("value", "string", None, 0, 0, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: str = "",
    ) -> None:
        self.key: str = key
        self.value: str = value


class StreamsGroupTopologyValueTopicInfo(Struct):
    __slots__ = (
        "name",
        "partitions",
        "replication_factor",
        "topic_configs",
    )
    LAYOUT = (
        ("name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("partitions", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("replication_factor", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("topic_configs", "[]struct", TopicConfig, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: int = 0,
        replication_factor: int = 0,
        topic_configs: list[TopicConfig] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: int = partitions
        self.replication_factor: int = replication_factor
        self.topic_configs: list[TopicConfig] = [] if topic_configs is FRESH else topic_configs


class StreamsGroupTopologyValueCopartitionGroup(Struct):
    __slots__ = (
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
    )
    LAYOUT = (
        ("source_topics", "[]int16", None, 0, 0, 0, -1, -1, False, FRESH),
        ("source_topic_regex", "[]int16", None, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_source_topics", "[]int16", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        source_topics: list[int] = FRESH,
        source_topic_regex: list[int] = FRESH,
        repartition_source_topics: list[int] = FRESH,
    ) -> None:
        self.source_topics: list[int] = [] if source_topics is FRESH else source_topics
        self.source_topic_regex: list[int] = [] if source_topic_regex is FRESH else source_topic_regex
        self.repartition_source_topics: list[int] = (
            [] if repartition_source_topics is FRESH else repartition_source_topics
        )


class StreamsGroupTopologyValueSubtopology(Struct):
    __slots__ = (
        "copartition_groups",
        "repartition_sink_topics",
        "repartition_source_topics",
        "source_topic_regex",
        "source_topics",
        "state_changelog_topics",
        "subtopology_id",
    )
    LAYOUT = (
        ("subtopology_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("source_topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("source_topic_regex", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("state_changelog_topics", "[]struct", StreamsGroupTopologyValueTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_sink_topics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
        ("repartition_source_topics", "[]struct", StreamsGroupTopologyValueTopicInfo, 0, 0, 0, -1, -1, False, FRESH),
        ("copartition_groups", "[]struct", StreamsGroupTopologyValueCopartitionGroup, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        subtopology_id: str = "",
        source_topics: list[str] = FRESH,
        source_topic_regex: list[str] = FRESH,
        state_changelog_topics: list[StreamsGroupTopologyValueTopicInfo] = FRESH,
        repartition_sink_topics: list[str] = FRESH,
        repartition_source_topics: list[StreamsGroupTopologyValueTopicInfo] = FRESH,
        copartition_groups: list[StreamsGroupTopologyValueCopartitionGroup] = FRESH,
    ) -> None:
        self.subtopology_id: str = subtopology_id
        self.source_topics: list[str] = [] if source_topics is FRESH else source_topics
        self.source_topic_regex: list[str] = [] if source_topic_regex is FRESH else source_topic_regex
        self.state_changelog_topics: list[StreamsGroupTopologyValueTopicInfo] = (
            [] if state_changelog_topics is FRESH else state_changelog_topics
        )
        self.repartition_sink_topics: list[str] = [] if repartition_sink_topics is FRESH else repartition_sink_topics
        self.repartition_source_topics: list[StreamsGroupTopologyValueTopicInfo] = (
            [] if repartition_source_topics is FRESH else repartition_source_topics
        )
        self.copartition_groups: list[StreamsGroupTopologyValueCopartitionGroup] = (
            [] if copartition_groups is FRESH else copartition_groups
        )


class StreamsGroupTopologyValue(Message):
    __slots__ = (
        "epoch",
        "subtopologies",
    )
    KEY = 23
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("epoch", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("subtopologies", "[]struct", StreamsGroupTopologyValueSubtopology, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        epoch: int = 0,
        subtopologies: list[StreamsGroupTopologyValueSubtopology] = FRESH,
    ) -> None:
        self.epoch: int = epoch
        self.subtopologies: list[StreamsGroupTopologyValueSubtopology] = [] if subtopologies is FRESH else subtopologies


RECORDS: dict[int, tuple[type[Message], type[Message]]] = {
    0: (LegacyOffsetCommitKey, LegacyOffsetCommitValue),
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupMetadataKey, GroupMetadataValue),
    3: (ConsumerGroupMetadataKey, ConsumerGroupMetadataValue),
    4: (ConsumerGroupPartitionMetadataKey, ConsumerGroupPartitionMetadataValue),
    5: (ConsumerGroupMemberMetadataKey, ConsumerGroupMemberMetadataValue),
    6: (ConsumerGroupTargetAssignmentMetadataKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: (ConsumerGroupTargetAssignmentMemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: (ConsumerGroupCurrentMemberAssignmentKey, ConsumerGroupCurrentMemberAssignmentValue),
    10: (ShareGroupMemberMetadataKey, ShareGroupMemberMetadataValue),
    11: (ShareGroupMetadataKey, ShareGroupMetadataValue),
    12: (ShareGroupTargetAssignmentMetadataKey, ShareGroupTargetAssignmentMetadataValue),
    13: (ShareGroupTargetAssignmentMemberKey, ShareGroupTargetAssignmentMemberValue),
    14: (ShareGroupCurrentMemberAssignmentKey, ShareGroupCurrentMemberAssignmentValue),
    15: (ShareGroupStatePartitionMetadataKey, ShareGroupStatePartitionMetadataValue),
    16: (ConsumerGroupRegularExpressionKey, ConsumerGroupRegularExpressionValue),
    17: (StreamsGroupMetadataKey, StreamsGroupMetadataValue),
    19: (StreamsGroupMemberMetadataKey, StreamsGroupMemberMetadataValue),
    20: (StreamsGroupTargetAssignmentMetadataKey, StreamsGroupTargetAssignmentMetadataValue),
    21: (StreamsGroupTargetAssignmentMemberKey, StreamsGroupTargetAssignmentMemberValue),
    22: (StreamsGroupCurrentMemberAssignmentKey, StreamsGroupCurrentMemberAssignmentValue),
    23: (StreamsGroupTopologyKey, StreamsGroupTopologyValue),
}
