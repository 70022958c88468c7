"""API 43, ElectLeaders.

Made from spec/kafka/elect_leaders.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ElectLeadersRequestTopicPartitions(Struct):
    __slots__ = (
        "partitions",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class ElectLeadersRequest(Message):
    __slots__ = (
        "election_type",
        "timeout_ms",
        "topic_partitions",
    )
    KEY = 43
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("election_type", "int8", None, 1, 2, 0, -1, -1, False, 0),
        ("topic_partitions", "[]struct", ElectLeadersRequestTopicPartitions, 0, 2, 0, 2, -1, False, FRESH),
        ("timeout_ms", "int32", None, 0, 2, 0, -1, -1, False, 60000),
    )

    def __init__(
        self,
        *,
        election_type: int = 0,
        topic_partitions: list[ElectLeadersRequestTopicPartitions] | None = FRESH,
        timeout_ms: int = 60000,
    ) -> None:
        self.election_type: int = election_type
        self.topic_partitions: list[ElectLeadersRequestTopicPartitions] | None = (
            [] if topic_partitions is FRESH else topic_partitions
        )
        self.timeout_ms: int = timeout_ms


class PartitionResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "partition_id",
    )
    LAYOUT = (
        ("partition_id", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 2, 0, 2, -1, False, ""),
    )

    def __init__(
        self,
        *,
        partition_id: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.partition_id: int = partition_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class ReplicaElectionResult(Struct):
    __slots__ = (
        "partition_result",
        "topic",
    )
    LAYOUT = (
        ("topic", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("partition_result", "[]struct", PartitionResult, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        topic: str = "",
        partition_result: list[PartitionResult] = FRESH,
    ) -> None:
        self.topic: str = topic
        self.partition_result: list[PartitionResult] = [] if partition_result is FRESH else partition_result


class ElectLeadersResponse(Message):
    __slots__ = (
        "error_code",
        "replica_election_results",
        "throttle_time_ms",
    )
    KEY = 43
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("replica_election_results", "[]struct", ReplicaElectionResult, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        replica_election_results: list[ReplicaElectionResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.replica_election_results: list[ReplicaElectionResult] = (
            [] if replica_election_results is FRESH else replica_election_results
        )
