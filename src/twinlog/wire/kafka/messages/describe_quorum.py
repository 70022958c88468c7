"""API 55, DescribeQuorum.

Made from spec/kafka/describe_quorum.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class DescribeQuorumRequestPartitionData(Struct):
    __slots__ = ("partition_index",)
    LAYOUT = (("partition_index", "int32", None, 0, 2, 0, -1, -1, False, 0),)

    def __init__(
        self,
        *,
        partition_index: int = 0,
    ) -> None:
        self.partition_index: int = partition_index


class DescribeQuorumRequestTopicData(Struct):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("partitions", "[]struct", DescribeQuorumRequestPartitionData, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[DescribeQuorumRequestPartitionData] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[DescribeQuorumRequestPartitionData] = [] if partitions is FRESH else partitions


class DescribeQuorumRequest(Message):
    __slots__ = ("topics",)
    KEY = 55
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (("topics", "[]struct", DescribeQuorumRequestTopicData, 0, 2, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        topics: list[DescribeQuorumRequestTopicData] = FRESH,
    ) -> None:
        self.topics: list[DescribeQuorumRequestTopicData] = [] if topics is FRESH else topics


class DescribeQuorumResponseReplicaState(Struct):
    __slots__ = (
        "last_caught_up_timestamp",
        "last_fetch_timestamp",
        "log_end_offset",
        "replica_directory_id",
        "replica_id",
    )
    LAYOUT = (
        ("replica_id", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("replica_directory_id", "uuid", None, 2, 2, 0, -1, -1, False, ZERO_UUID),
        ("log_end_offset", "int64", None, 0, 2, 0, -1, -1, False, 0),
        ("last_fetch_timestamp", "int64", None, 1, 2, 0, -1, -1, True, -1),
        ("last_caught_up_timestamp", "int64", None, 1, 2, 0, -1, -1, True, -1),
    )

    def __init__(
        self,
        *,
        replica_id: int = 0,
        replica_directory_id: bytes = ZERO_UUID,
        log_end_offset: int = 0,
        last_fetch_timestamp: int = -1,
        last_caught_up_timestamp: int = -1,
    ) -> None:
        self.replica_id: int = replica_id
        self.replica_directory_id: bytes = replica_directory_id
        self.log_end_offset: int = log_end_offset
        self.last_fetch_timestamp: int = last_fetch_timestamp
        self.last_caught_up_timestamp: int = last_caught_up_timestamp


class DescribeQuorumResponsePartitionData(Struct):
    __slots__ = (
        "current_voters",
        "error_code",
        "error_message",
        "high_watermark",
        "leader_epoch",
        "leader_id",
        "observers",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 2, 2, 2, 2, -1, True, ""),
        ("leader_id", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("leader_epoch", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("high_watermark", "int64", None, 0, 2, 0, -1, -1, False, 0),
        ("current_voters", "[]struct", DescribeQuorumResponseReplicaState, 0, 2, 0, -1, -1, False, FRESH),
        ("observers", "[]struct", DescribeQuorumResponseReplicaState, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        leader_id: int = 0,
        leader_epoch: int = 0,
        high_watermark: int = 0,
        current_voters: list[DescribeQuorumResponseReplicaState] = FRESH,
        observers: list[DescribeQuorumResponseReplicaState] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch
        self.high_watermark: int = high_watermark
        self.current_voters: list[DescribeQuorumResponseReplicaState] = (
            [] if current_voters is FRESH else current_voters
        )
        self.observers: list[DescribeQuorumResponseReplicaState] = [] if observers is FRESH else observers


class DescribeQuorumResponseTopicData(Struct):
    __slots__ = (
        "partitions",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("partitions", "[]struct", DescribeQuorumResponsePartitionData, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        partitions: list[DescribeQuorumResponsePartitionData] = FRESH,
    ) -> None:
        self.topic_name: str = topic_name
        self.partitions: list[DescribeQuorumResponsePartitionData] = [] if partitions is FRESH else partitions


class DescribeQuorumResponseListener(Struct):
    __slots__ = (
        "host",
        "name",
        "port",
    )
    LAYOUT = (
        ("name", "string", None, 2, 2, 0, -1, -1, False, ""),
        ("host", "string", None, 2, 2, 0, -1, -1, False, ""),
        ("port", "uint16", None, 2, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        name: str = "",
        host: str = "",
        port: int = 0,
    ) -> None:
        self.name: str = name
        self.host: str = host
        self.port: int = port


class Node(Struct):
    __slots__ = (
        "listeners",
        "node_id",
    )
    LAYOUT = (
        ("node_id", "int32", None, 2, 2, 0, -1, -1, False, 0),
        ("listeners", "[]struct", DescribeQuorumResponseListener, 2, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        node_id: int = 0,
        listeners: list[DescribeQuorumResponseListener] = FRESH,
    ) -> None:
        self.node_id: int = node_id
        self.listeners: list[DescribeQuorumResponseListener] = [] if listeners is FRESH else listeners


class DescribeQuorumResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "nodes",
        "topics",
    )
    KEY = 55
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 2, 2, 2, 2, -1, True, ""),
        ("topics", "[]struct", DescribeQuorumResponseTopicData, 0, 2, 0, -1, -1, False, FRESH),
        ("nodes", "[]struct", Node, 2, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        topics: list[DescribeQuorumResponseTopicData] = FRESH,
        nodes: list[Node] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topics: list[DescribeQuorumResponseTopicData] = [] if topics is FRESH else topics
        self.nodes: list[Node] = [] if nodes is FRESH else nodes
