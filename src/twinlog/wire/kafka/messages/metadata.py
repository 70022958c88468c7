"""API 3, Metadata.

Made from spec/kafka/metadata.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class MetadataRequestTopic(Struct):
    __slots__ = (
        "name",
        "topic_id",
    )
    LAYOUT = (
        ("topic_id", "uuid", None, 10, 13, 0, -1, -1, True, ZERO_UUID),
        ("name", "string", None, 0, 13, 10, 13, -1, False, ""),
    )

    def __init__(
        self,
        *,
        topic_id: bytes = ZERO_UUID,
        name: str | None = "",
    ) -> None:
        self.topic_id: bytes = topic_id
        self.name: str | None = name


class MetadataRequest(Message):
    __slots__ = (
        "allow_auto_topic_creation",
        "include_cluster_authorized_operations",
        "include_topic_authorized_operations",
        "topics",
    )
    KEY = 3
    VERSIONS = (0, 13)
    FLEXIBLE_FROM = 9
    LAYOUT = (
        ("topics", "[]struct", MetadataRequestTopic, 0, 13, 1, 13, -1, False, FRESH),
        ("allow_auto_topic_creation", "bool", None, 4, 13, 0, -1, -1, False, True),
        ("include_cluster_authorized_operations", "bool", None, 8, 10, 0, -1, -1, False, False),
        ("include_topic_authorized_operations", "bool", None, 8, 13, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        topics: list[MetadataRequestTopic] | None = FRESH,
        allow_auto_topic_creation: bool = True,
        include_cluster_authorized_operations: bool = False,
        include_topic_authorized_operations: bool = False,
    ) -> None:
        self.topics: list[MetadataRequestTopic] | None = [] if topics is FRESH else topics
        self.allow_auto_topic_creation: bool = allow_auto_topic_creation
        self.include_cluster_authorized_operations: bool = include_cluster_authorized_operations
        self.include_topic_authorized_operations: bool = include_topic_authorized_operations


class MetadataResponseBroker(Struct):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    LAYOUT = (
        ("node_id", "int32", None, 0, 13, 0, -1, -1, False, 0),
        ("host", "string", None, 0, 13, 0, -1, -1, False, ""),
        ("port", "int32", None, 0, 13, 0, -1, -1, False, 0),
        ("rack", "string", None, 1, 13, 1, 13, -1, True, None),
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


class MetadataResponsePartition(Struct):
    __slots__ = (
        "error_code",
        "isr_nodes",
        "leader_epoch",
        "leader_id",
        "offline_replicas",
        "partition_index",
        "replica_nodes",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 13, 0, -1, -1, False, 0),
        ("partition_index", "int32", None, 0, 13, 0, -1, -1, False, 0),
        ("leader_id", "int32", None, 0, 13, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 7, 13, 0, -1, -1, True, -1),
        ("replica_nodes", "[]int32", None, 0, 13, 0, -1, -1, False, FRESH),
        ("isr_nodes", "[]int32", None, 0, 13, 0, -1, -1, False, FRESH),
        ("offline_replicas", "[]int32", None, 5, 13, 0, -1, -1, True, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        partition_index: int = 0,
        leader_id: int = 0,
        leader_epoch: int = -1,
        replica_nodes: list[int] = FRESH,
        isr_nodes: list[int] = FRESH,
        offline_replicas: list[int] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.partition_index: int = partition_index
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.replica_nodes: list[int] = [] if replica_nodes is FRESH else replica_nodes
        self.isr_nodes: list[int] = [] if isr_nodes is FRESH else isr_nodes
        self.offline_replicas: list[int] = [] if offline_replicas is FRESH else offline_replicas


class MetadataResponseTopic(Struct):
    __slots__ = (
        "error_code",
        "is_internal",
        "name",
        "partitions",
        "topic_authorized_operations",
        "topic_id",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 13, 0, -1, -1, False, 0),
        ("name", "string", None, 0, 13, 12, 13, -1, False, ""),
        ("topic_id", "uuid", None, 10, 13, 0, -1, -1, True, ZERO_UUID),
        ("is_internal", "bool", None, 1, 13, 0, -1, -1, True, False),
        ("partitions", "[]struct", MetadataResponsePartition, 0, 13, 0, -1, -1, False, FRESH),
        ("topic_authorized_operations", "int32", None, 8, 13, 0, -1, -1, False, -2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        is_internal: bool = False,
        partitions: list[MetadataResponsePartition] = FRESH,
        topic_authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.is_internal: bool = is_internal
        self.partitions: list[MetadataResponsePartition] = [] if partitions is FRESH else partitions
        self.topic_authorized_operations: int = topic_authorized_operations


class MetadataResponse(Message):
    __slots__ = (
        "brokers",
        "cluster_authorized_operations",
        "cluster_id",
        "controller_id",
        "error_code",
        "throttle_time_ms",
        "topics",
    )
    KEY = 3
    VERSIONS = (0, 13)
    FLEXIBLE_FROM = 9
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 3, 13, 0, -1, -1, True, 0),
        ("brokers", "[]struct", MetadataResponseBroker, 0, 13, 0, -1, -1, False, FRESH),
        ("cluster_id", "string", None, 2, 13, 2, 13, -1, True, None),
        ("controller_id", "int32", None, 1, 13, 0, -1, -1, True, -1),
        ("topics", "[]struct", MetadataResponseTopic, 0, 13, 0, -1, -1, False, FRESH),
        ("cluster_authorized_operations", "int32", None, 8, 10, 0, -1, -1, False, -2147483648),
        ("error_code", "int16", None, 13, 13, 0, -1, -1, True, 0),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        brokers: list[MetadataResponseBroker] = FRESH,
        cluster_id: str | None = None,
        controller_id: int = -1,
        topics: list[MetadataResponseTopic] = FRESH,
        cluster_authorized_operations: int = -2147483648,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.brokers: list[MetadataResponseBroker] = [] if brokers is FRESH else brokers
        self.cluster_id: str | None = cluster_id
        self.controller_id: int = controller_id
        self.topics: list[MetadataResponseTopic] = [] if topics is FRESH else topics
        self.cluster_authorized_operations: int = cluster_authorized_operations
        self.error_code: int = error_code
