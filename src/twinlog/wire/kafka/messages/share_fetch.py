"""API 78, ShareFetch.

Made from spec/kafka/share_fetch.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Records, Struct


class ShareFetchRequestAcknowledgementBatch(Struct):
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


class ShareFetchRequestPartition(Struct):
    __slots__ = (
        "acknowledgement_batches",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("acknowledgement_batches", "[]struct", ShareFetchRequestAcknowledgementBatch, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        acknowledgement_batches: list[ShareFetchRequestAcknowledgementBatch] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.acknowledgement_batches: list[ShareFetchRequestAcknowledgementBatch] = (
            [] if acknowledgement_batches is FRESH else acknowledgement_batches
        )


class ShareFetchRequestTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 2, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]struct", ShareFetchRequestPartition, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[ShareFetchRequestPartition] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[ShareFetchRequestPartition] = [] if partitions is FRESH else partitions


class ShareFetchRequestForgottenTopic(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 2, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]int32", None, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ShareFetchRequest(Message):
    __slots__ = (
        "batch_size",
        "forgotten_topics_data",
        "group_id",
        "is_renew_ack",
        "max_bytes",
        "max_records",
        "max_wait_ms",
        "member_id",
        "min_bytes",
        "share_acquire_mode",
        "share_session_epoch",
        "topics",
    )
    KEY = 78
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("group_id", "string", None, 1, 2, 1, 2, -1, False, None),
        ("member_id", "string", None, 1, 2, 1, 2, -1, False, ""),
        ("share_session_epoch", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("max_wait_ms", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("min_bytes", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("max_bytes", "int32", None, 1, 2, 0, -1, -1, False, 2147483647),
        ("max_records", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("batch_size", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("share_acquire_mode", "int8", None, 2, 2, 0, -1, -1, True, 0),
        ("is_renew_ack", "bool", None, 2, 2, 0, -1, -1, False, False),
        ("topics", "[]struct", ShareFetchRequestTopic, 1, 2, 0, -1, -1, False, FRESH),
        ("forgotten_topics_data", "[]struct", ShareFetchRequestForgottenTopic, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str | None = None,
        member_id: str | None = "",
        share_session_epoch: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        max_records: int = 0,
        batch_size: int = 0,
        share_acquire_mode: int = 0,
        is_renew_ack: bool = False,
        topics: list[ShareFetchRequestTopic] = FRESH,
        forgotten_topics_data: list[ShareFetchRequestForgottenTopic] = FRESH,
    ) -> None:
        self.group_id: str | None = group_id
        self.member_id: str | None = member_id
        self.share_session_epoch: int = share_session_epoch
        self.max_wait_ms: int = max_wait_ms
        self.min_bytes: int = min_bytes
        self.max_bytes: int = max_bytes
        self.max_records: int = max_records
        self.batch_size: int = batch_size
        self.share_acquire_mode: int = share_acquire_mode
        self.is_renew_ack: bool = is_renew_ack
        self.topics: list[ShareFetchRequestTopic] = [] if topics is FRESH else topics
        self.forgotten_topics_data: list[ShareFetchRequestForgottenTopic] = (
            [] if forgotten_topics_data is FRESH else forgotten_topics_data
        )


class ShareFetchResponseLeaderIdAndEpoch(Struct):
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


class AcquiredRecords(Struct):
    __slots__ = (
        "delivery_count",
        "first_offset",
        "last_offset",
    )
    LAYOUT = (
        ("first_offset", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("last_offset", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("delivery_count", "int16", None, 1, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        first_offset: int = 0,
        last_offset: int = 0,
        delivery_count: int = 0,
    ) -> None:
        self.first_offset: int = first_offset
        self.last_offset: int = last_offset
        self.delivery_count: int = delivery_count


class ShareFetchResponsePartitionData(Struct):
    __slots__ = (
        "acknowledge_error_code",
        "acknowledge_error_message",
        "acquired_records",
        "current_leader",
        "error_code",
        "error_message",
        "partition_index",
        "records",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 2, 1, 2, -1, False, None),
        ("acknowledge_error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("acknowledge_error_message", "string", None, 1, 2, 1, 2, -1, False, None),
        ("current_leader", "struct", ShareFetchResponseLeaderIdAndEpoch, 1, 2, 0, -1, -1, False, FRESH),
        ("records", "records", None, 1, 2, 0, -1, -1, False, None),
        ("acquired_records", "[]struct", AcquiredRecords, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acknowledge_error_code: int = 0,
        acknowledge_error_message: str | None = None,
        current_leader: ShareFetchResponseLeaderIdAndEpoch = FRESH,
        records: Records = None,
        acquired_records: list[AcquiredRecords] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.acknowledge_error_code: int = acknowledge_error_code
        self.acknowledge_error_message: str | None = acknowledge_error_message
        self.current_leader: ShareFetchResponseLeaderIdAndEpoch = (
            ShareFetchResponseLeaderIdAndEpoch() if current_leader is FRESH else current_leader
        )
        self.records: Records = records
        self.acquired_records: list[AcquiredRecords] = [] if acquired_records is FRESH else acquired_records


class ShareFetchableTopicResponse(Struct):
    __slots__ = (
        "partitions",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 1, 2, 0, -1, -1, False, ZERO_UUID),
        ("partitions", "[]struct", ShareFetchResponsePartitionData, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        partitions: list[ShareFetchResponsePartitionData] = FRESH,
    ) -> None:
        self.topic_id: bytes = topic_id
        self.partitions: list[ShareFetchResponsePartitionData] = [] if partitions is FRESH else partitions


class ShareFetchResponseNodeEndpoint(Struct):
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


class ShareFetchResponse(Message):
    __slots__ = (
        "acquisition_lock_timeout_ms",
        "error_code",
        "error_message",
        "node_endpoints",
        "responses",
        "throttle_time_ms",
    )
    KEY = 78
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 2, 1, 2, -1, False, None),
        ("acquisition_lock_timeout_ms", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("responses", "[]struct", ShareFetchableTopicResponse, 1, 2, 0, -1, -1, False, FRESH),
        ("node_endpoints", "[]struct", ShareFetchResponseNodeEndpoint, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        acquisition_lock_timeout_ms: int = 0,
        responses: list[ShareFetchableTopicResponse] = FRESH,
        node_endpoints: list[ShareFetchResponseNodeEndpoint] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.acquisition_lock_timeout_ms: int = acquisition_lock_timeout_ms
        self.responses: list[ShareFetchableTopicResponse] = [] if responses is FRESH else responses
        self.node_endpoints: list[ShareFetchResponseNodeEndpoint] = [] if node_endpoints is FRESH else node_endpoints
