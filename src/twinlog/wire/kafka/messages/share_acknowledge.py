"""API 79, ShareAcknowledge.

Made from spec/kafka/share_acknowledge.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class ShareAcknowledgeRequestAcknowledgementBatch(Struct):
    __slots__ = (
        "acknowledge_types",
        "first_offset",
        "last_offset",
    )
    LAYOUT = (
        ("first_offset", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("last_offset", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("acknowledge_types", "[]int8", None, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        acknowledge_types: list[int] = FRESH,
    ) -> None:
        self.first_offset: int = first_offset
        self.last_offset: int = last_offset
        self.acknowledge_types: list[int] = [] if acknowledge_types is FRESH else acknowledge_types


class AcknowledgePartition(Struct):
    __slots__ = (
        "acknowledgement_batches",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 2, 0, -1, -1, False, 0),
        (
            "acknowledgement_batches",
            "[]struct",
            ShareAcknowledgeRequestAcknowledgementBatch,
            1,
            2,
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
        partition_index: int = 0,
        acknowledgement_batches: list[ShareAcknowledgeRequestAcknowledgementBatch] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.acknowledgement_batches: list[ShareAcknowledgeRequestAcknowledgementBatch] = (
            [] if acknowledgement_batches is FRESH else acknowledgement_batches
        )


class AcknowledgeTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 2, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]struct", AcknowledgePartition, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[AcknowledgePartition] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[AcknowledgePartition] = [] if partitions is FRESH else partitions


class ShareAcknowledgeRequest(Message):
    __slots__ = (
        "group_id",
        "is_renew_ack",
        "member_id",
        "share_session_epoch",
        "topics",
    )
    KEY = 79
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("group_id", "string", None, 1, 2, 1, 2, -1, False, None),
        ("member_id", "string", None, 1, 2, 1, 2, -1, False, ""),
        ("share_session_epoch", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("is_renew_ack", "bool", None, 2, 2, 0, -1, -1, False, False),
        ("topics", "[]struct", AcknowledgeTopic, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        is_renew_ack: bool = False,
        topics: list[AcknowledgeTopic] = FRESH,
    ) -> None:
        self.group_id: str | None = group_id
        self.member_id: str | None = member_id
        self.share_session_epoch: int = share_session_epoch
        self.is_renew_ack: bool = is_renew_ack
        self.topics: list[AcknowledgeTopic] = [] if topics is FRESH else topics


class ShareAcknowledgeResponseLeaderIdAndEpoch(Struct):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    LAYOUT = (
        ("leader_id", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 1, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        leader_id: int = 0,
        leader_epoch: int = 0,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class ShareAcknowledgeResponsePartitionData(Struct):
    __slots__ = (
        "current_leader",
        "error_code",
        "error_message",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 2, 1, 2, -1, False, None),
        ("current_leader", "struct", ShareAcknowledgeResponseLeaderIdAndEpoch, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        current_leader: ShareAcknowledgeResponseLeaderIdAndEpoch = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.current_leader: ShareAcknowledgeResponseLeaderIdAndEpoch = (
            ShareAcknowledgeResponseLeaderIdAndEpoch() if current_leader is FRESH else current_leader
        )


class ShareAcknowledgeTopicResponse(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 2, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]struct", ShareAcknowledgeResponsePartitionData, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[ShareAcknowledgeResponsePartitionData] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[ShareAcknowledgeResponsePartitionData] = [] if partitions is FRESH else partitions


class ShareAcknowledgeResponseNodeEndpoint(Struct):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    LAYOUT = (
        ("node_id", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("host", "string", None, 1, 2, 0, -1, -1, False, ""),
        ("port", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("rack", "string", None, 1, 2, 1, 2, -1, False, None),
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        rack: str | None = None,
    ) -> None:
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.rack: str | None = rack


class ShareAcknowledgeResponse(Message):
    __slots__ = (
        "acquisition_lock_timeout_ms",
        "error_code",
        "error_message",
        "node_endpoints",
        "responses",
        "throttle_time_ms",
    )
    KEY = 79
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 2, 1, 2, -1, False, None),
        ("acquisition_lock_timeout_ms", "int32", None, 2, 2, 0, -1, -1, True, 0),
        ("responses", "[]struct", ShareAcknowledgeTopicResponse, 1, 2, 0, -1, -1, False, FRESH),
        ("node_endpoints", "[]struct", ShareAcknowledgeResponseNodeEndpoint, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareAcknowledgeTopicResponse] = FRESH,
        node_endpoints: list[ShareAcknowledgeResponseNodeEndpoint] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.acquisition_lock_timeout_ms: int = acquisition_lock_timeout_ms
        self.responses: list[ShareAcknowledgeTopicResponse] = [] if responses is FRESH else responses
        self.node_endpoints: list[ShareAcknowledgeResponseNodeEndpoint] = (
            [] if node_endpoints is FRESH else node_endpoints
        )
