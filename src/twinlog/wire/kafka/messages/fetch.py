"""API 1, Fetch.

Made from spec/kafka/fetch.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Records, Struct


class FetchRequestReplicaState(Struct):
    __slots__ = (
        "replica_epoch",
        "replica_id",
    )
    LAYOUT = (
        ("replica_id", "int32", None, 15, 18, 0, -1, -1, False, -1),
        ("replica_epoch", "int64", None, 15, 18, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        replica_id: int = -1,
        replica_epoch: int = -1,
    ) -> None:
        self.replica_id: int = replica_id
        self.replica_epoch: int = replica_epoch


class FetchRequestPartition(Struct):
    __slots__ = (
        "current_leader_epoch",
        "fetch_offset",
        "high_watermark",
        "last_fetched_epoch",
        "log_start_offset",
        "partition",
        "partition_max_bytes",
        "replica_directory_id",
    )
    LAYOUT = (
        ("partition", "int32", None, 4, 18, 0, -1, -1, False, 0),
        ("current_leader_epoch", "int32", None, 9, 18, 0, -1, -1, True, -1),
        ("fetch_offset", "int64", None, 4, 18, 0, -1, -1, False, 0),
        ("last_fetched_epoch", "int32", None, 12, 18, 0, -1, -1, False, -1),
        ("log_start_offset", "int64", None, 5, 18, 0, -1, -1, True, -1),
        ("partition_max_bytes", "int32", None, 4, 18, 0, -1, -1, False, 0),
        ("replica_directory_id", "uuid", None, 17, 18, 0, -1, 0, True, ZERO_UUID),
        ("high_watermark", "int64", None, 18, 18, 0, -1, 1, True, 9223372036854775807),
    )

    def __init__(
        self,
        *,
        partition: int = 0,
        current_leader_epoch: int = -1,
        fetch_offset: int = 0,
        last_fetched_epoch: int = -1,
        log_start_offset: int = -1,
        partition_max_bytes: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        high_watermark: int = 9223372036854775807,
    ) -> None:
        self.partition: int = partition
        self.current_leader_epoch: int = current_leader_epoch
        self.fetch_offset: int = fetch_offset
        self.last_fetched_epoch: int = last_fetched_epoch
        self.log_start_offset: int = log_start_offset
        self.partition_max_bytes: int = partition_max_bytes
        self.replica_directory_id: bytes = replica_directory_id
        self.high_watermark: int = high_watermark


class FetchRequestTopic(Struct):
    __slots__ = (
        "partitions",
        "topic",
        "topic_id",
    )
    LAYOUT = (
        ("topic", "string", None, 4, 12, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 13, 18, 0, -1, -1, True, ZERO_UUID),
        ("partitions", "[]struct", FetchRequestPartition, 4, 18, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchRequestPartition] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[FetchRequestPartition] = [] if partitions is FRESH else partitions


class FetchRequestForgottenTopic(Struct):
    __slots__ = (
        "partitions",
        "topic",
        "topic_id",
    )
    LAYOUT = (
        ("topic", "string", None, 7, 12, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 13, 18, 0, -1, -1, True, ZERO_UUID),
        ("partitions", "[]int32", None, 7, 18, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class FetchRequest(Message):
    __slots__ = (
        "cluster_id",
        "forgotten_topics_data",
        "isolation_level",
        "max_bytes",
        "max_wait_ms",
        "min_bytes",
        "rack_id",
        "replica_id",
        "replica_state",
        "session_epoch",
        "session_id",
        "topics",
    )
    KEY = 1
    VERSIONS = (4, 18)
    FLEXIBLE_FROM = 12
    LAYOUT = (
        ("cluster_id", "string", None, 12, 18, 12, 18, 0, True, None),
        ("replica_id", "int32", None, 4, 14, 0, -1, -1, False, -1),
        ("replica_state", "struct", FetchRequestReplicaState, 15, 18, 0, -1, 1, False, None),
        ("max_wait_ms", "int32", None, 4, 18, 0, -1, -1, False, 0),
        ("min_bytes", "int32", None, 4, 18, 0, -1, -1, False, 0),
        ("max_bytes", "int32", None, 4, 18, 0, -1, -1, False, 2147483647),
        ("isolation_level", "int8", None, 4, 18, 0, -1, -1, False, 0),
        ("session_id", "int32", None, 7, 18, 0, -1, -1, True, 0),
        ("session_epoch", "int32", None, 7, 18, 0, -1, -1, True, -1),
        ("topics", "[]struct", FetchRequestTopic, 4, 18, 0, -1, -1, False, FRESH),
        ("forgotten_topics_data", "[]struct", FetchRequestForgottenTopic, 7, 18, 0, -1, -1, False, FRESH),
        ("rack_id", "string", None, 11, 18, 0, -1, -1, True, ""),
    )

    def __init__(
        self,
        *,
        cluster_id: str | None = None,
        replica_id: int = -1,
        replica_state: FetchRequestReplicaState | None = None,
        max_wait_ms: int = 0,
        min_bytes: int = 0,
        max_bytes: int = 2147483647,
        isolation_level: int = 0,
        session_id: int = 0,
        session_epoch: int = -1,
        topics: list[FetchRequestTopic] = FRESH,
        forgotten_topics_data: list[FetchRequestForgottenTopic] = FRESH,
        rack_id: str = "",
    ) -> None:
        self.cluster_id: str | None = cluster_id
        self.replica_id: int = replica_id
        self.replica_state: FetchRequestReplicaState | None = replica_state
        self.max_wait_ms: int = max_wait_ms
        self.min_bytes: int = min_bytes
        self.max_bytes: int = max_bytes
        self.isolation_level: int = isolation_level
        self.session_id: int = session_id
        self.session_epoch: int = session_epoch
        self.topics: list[FetchRequestTopic] = [] if topics is FRESH else topics
        self.forgotten_topics_data: list[FetchRequestForgottenTopic] = (
            [] if forgotten_topics_data is FRESH else forgotten_topics_data
        )
        self.rack_id: str = rack_id


class FetchResponseEpochEndOffset(Struct):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    LAYOUT = (
        ("epoch", "int32", None, 12, 18, 0, -1, -1, False, -1),
        ("end_offset", "int64", None, 12, 18, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        epoch: int = -1,
        end_offset: int = -1,
    ) -> None:
        self.epoch: int = epoch
        self.end_offset: int = end_offset


class FetchResponseLeaderIdAndEpoch(Struct):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    LAYOUT = (
        ("leader_id", "int32", None, 12, 18, 0, -1, -1, False, -1),
        ("leader_epoch", "int32", None, 12, 18, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class SnapshotId(Struct):
    __slots__ = (
        "end_offset",
        "epoch",
    )
    LAYOUT = (
        ("end_offset", "int64", None, 12, 18, 0, -1, -1, False, -1),
        ("epoch", "int32", None, 12, 18, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        end_offset: int = -1,
        epoch: int = -1,
    ) -> None:
        self.end_offset: int = end_offset
        self.epoch: int = epoch


class AbortedTransaction(Struct):
    __slots__ = (
        "first_offset",
        "producer_id",
    )
    LAYOUT = (
        ("producer_id", "int64", None, 4, 18, 0, -1, -1, False, 0),
        ("first_offset", "int64", None, 4, 18, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        first_offset: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.first_offset: int = first_offset


class FetchResponsePartitionData(Struct):
    __slots__ = (
        "aborted_transactions",
        "current_leader",
        "diverging_epoch",
        "error_code",
        "high_watermark",
        "last_stable_offset",
        "log_start_offset",
        "partition_index",
        "preferred_read_replica",
        "records",
        "snapshot_id",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 4, 18, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 4, 18, 0, -1, -1, False, 0),
        ("high_watermark", "int64", None, 4, 18, 0, -1, -1, False, 0),
        ("last_stable_offset", "int64", None, 4, 18, 0, -1, -1, False, -1),
        ("log_start_offset", "int64", None, 5, 18, 0, -1, -1, True, -1),
        ("diverging_epoch", "struct", FetchResponseEpochEndOffset, 12, 18, 0, -1, 0, False, None),
        ("current_leader", "struct", FetchResponseLeaderIdAndEpoch, 12, 18, 0, -1, 1, False, None),
        ("snapshot_id", "struct", SnapshotId, 12, 18, 0, -1, 2, False, None),
        ("aborted_transactions", "[]struct", AbortedTransaction, 4, 18, 4, 18, -1, False, FRESH),
        ("preferred_read_replica", "int32", None, 11, 18, 0, -1, -1, False, -1),
        ("records", "records", None, 4, 18, 4, 18, -1, False, None),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        high_watermark: int = 0,
        last_stable_offset: int = -1,
        log_start_offset: int = -1,
        diverging_epoch: FetchResponseEpochEndOffset | None = None,
        current_leader: FetchResponseLeaderIdAndEpoch | None = None,
        snapshot_id: SnapshotId | None = None,
        aborted_transactions: list[AbortedTransaction] | None = FRESH,
        preferred_read_replica: int = -1,
        records: Records = None,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.high_watermark: int = high_watermark
        self.last_stable_offset: int = last_stable_offset
        self.log_start_offset: int = log_start_offset
        self.diverging_epoch: FetchResponseEpochEndOffset | None = diverging_epoch
        self.current_leader: FetchResponseLeaderIdAndEpoch | None = current_leader
        self.snapshot_id: SnapshotId | None = snapshot_id
        self.aborted_transactions: list[AbortedTransaction] | None = (
            [] if aborted_transactions is FRESH else aborted_transactions
        )
        self.preferred_read_replica: int = preferred_read_replica
        self.records: Records = records


class FetchableTopicResponse(Struct):
    __slots__ = (
        "partitions",
        "topic",
        "topic_id",
    )
    LAYOUT = (
        ("topic", "string", None, 4, 12, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 13, 18, 0, -1, -1, True, ZERO_UUID),
        ("partitions", "[]struct", FetchResponsePartitionData, 4, 18, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        topic_id: bytes = ZERO_UUID,
        partitions: list[FetchResponsePartitionData] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.topic_id: bytes = topic_id
        self.partitions: list[FetchResponsePartitionData] = [] if partitions is FRESH else partitions


class FetchResponseNodeEndpoint(Struct):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    LAYOUT = (
        ("node_id", "int32", None, 16, 18, 0, -1, -1, False, 0),
        ("host", "string", None, 16, 18, 0, -1, -1, False, ""),
        ("port", "int32", None, 16, 18, 0, -1, -1, False, 0),
        ("rack", "string", None, 16, 18, 16, 18, -1, False, None),
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


class FetchResponse(Message):
    __slots__ = (
        "error_code",
        "node_endpoints",
        "responses",
        "session_id",
        "throttle_time_ms",
    )
    KEY = 1
    VERSIONS = (4, 18)
    FLEXIBLE_FROM = 12
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 4, 18, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 7, 18, 0, -1, -1, True, 0),
        ("session_id", "int32", None, 7, 18, 0, -1, -1, False, 0),
        ("responses", "[]struct", FetchableTopicResponse, 4, 18, 0, -1, -1, False, FRESH),
        ("node_endpoints", "[]struct", FetchResponseNodeEndpoint, 16, 18, 0, -1, 0, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        session_id: int = 0,
        responses: list[FetchableTopicResponse] = FRESH,
        node_endpoints: list[FetchResponseNodeEndpoint] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.session_id: int = session_id
        self.responses: list[FetchableTopicResponse] = [] if responses is FRESH else responses
        self.node_endpoints: list[FetchResponseNodeEndpoint] = [] if node_endpoints is FRESH else node_endpoints
