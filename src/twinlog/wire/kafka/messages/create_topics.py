"""API 19, CreateTopics.

Made from spec/kafka/create_topics.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class CreatableReplicaAssignment(Struct):
    __slots__ = (
        "broker_ids",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 2, 7, 0, -1, -1, False, 0),
        ("broker_ids", "[]int32", None, 2, 7, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        broker_ids: list[int] = FRESH,
    ) -> None:
        self.partition_index: int = partition_index
        self.broker_ids: list[int] = [] if broker_ids is FRESH else broker_ids


class CreatableTopicConfig(Struct):
    __slots__ = (
        "name",
        "value",
    )
    LAYOUT = (
        ("name", "string", None, 2, 7, 0, -1, -1, False, ""),
        ("value", "string", None, 2, 7, 2, 7, -1, False, ""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value


class CreatableTopic(Struct):
    __slots__ = (
        "assignments",
        "configs",
        "name",
        "num_partitions",
        "replication_factor",
    )
    LAYOUT = (
        ("name", "string", None, 2, 7, 0, -1, -1, False, ""),
        ("num_partitions", "int32", None, 2, 7, 0, -1, -1, False, 0),
        ("replication_factor", "int16", None, 2, 7, 0, -1, -1, False, 0),
        ("assignments", "[]struct", CreatableReplicaAssignment, 2, 7, 0, -1, -1, False, FRESH),
        ("configs", "[]struct", CreatableTopicConfig, 2, 7, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        num_partitions: int = 0,
        replication_factor: int = 0,
        assignments: list[CreatableReplicaAssignment] = FRESH,
        configs: list[CreatableTopicConfig] = FRESH,
    ) -> None:
        self.name: str = name
        self.num_partitions: int = num_partitions
        self.replication_factor: int = replication_factor
        self.assignments: list[CreatableReplicaAssignment] = [] if assignments is FRESH else assignments
        self.configs: list[CreatableTopicConfig] = [] if configs is FRESH else configs


class CreateTopicsRequest(Message):
    __slots__ = (
        "timeout_ms",
        "topics",
        "validate_only",
    )
    KEY = 19
    VERSIONS = (2, 7)
    FLEXIBLE_FROM = 5
    LAYOUT = (
        ("topics", "[]struct", CreatableTopic, 2, 7, 0, -1, -1, False, FRESH),
        ("timeout_ms", "int32", None, 2, 7, 0, -1, -1, False, 60000),
        ("validate_only", "bool", None, 2, 7, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        topics: list[CreatableTopic] = FRESH,
        timeout_ms: int = 60000,
        validate_only: bool = False,
    ) -> None:
        self.topics: list[CreatableTopic] = [] if topics is FRESH else topics
        self.timeout_ms: int = timeout_ms
        self.validate_only: bool = validate_only


class CreatableTopicConfigs(Struct):
    __slots__ = (
        "config_source",
        "is_sensitive",
        "name",
        "read_only",
        "value",
    )
    LAYOUT = (
        ("name", "string", None, 5, 7, 0, -1, -1, False, ""),
        ("value", "string", None, 5, 7, 5, 7, -1, False, ""),
        ("read_only", "bool", None, 5, 7, 0, -1, -1, False, False),
        ("config_source", "int8", None, 5, 7, 0, -1, -1, True, -1),
        ("is_sensitive", "bool", None, 5, 7, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.read_only: bool = read_only
        self.config_source: int = config_source
        self.is_sensitive: bool = is_sensitive


class CreatableTopicResult(Struct):
    __slots__ = (
        "configs",
        "error_code",
        "error_message",
        "name",
        "num_partitions",
        "replication_factor",
        "topic_config_error_code",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 2, 7, 0, -1, -1, False, ""),
        ("topic_id", "uuid", None, 7, 7, 0, -1, -1, True, ZERO_UUID),
        ("error_code", "int16", None, 2, 7, 0, -1, -1, False, 0),
        ("error_message", "string", None, 2, 7, 2, 7, -1, False, ""),
        ("topic_config_error_code", "int16", None, 5, 7, 0, -1, 0, True, 0),
        ("num_partitions", "int32", None, 5, 7, 0, -1, -1, True, -1),
        ("replication_factor", "int16", None, 5, 7, 0, -1, -1, True, -1),
        ("configs", "[]struct", CreatableTopicConfigs, 5, 7, 5, 7, -1, True, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = "",
        topic_config_error_code: int = 0,
        num_partitions: int = -1,
        replication_factor: int = -1,
        configs: list[CreatableTopicConfigs] | None = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.topic_config_error_code: int = topic_config_error_code
        self.num_partitions: int = num_partitions
        self.replication_factor: int = replication_factor
        self.configs: list[CreatableTopicConfigs] | None = [] if configs is FRESH else configs


class CreateTopicsResponse(Message):
    __slots__ = (
        "throttle_time_ms",
        "topics",
    )
    KEY = 19
    VERSIONS = (2, 7)
    FLEXIBLE_FROM = 5
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 2, 7, 0, -1, -1, False, 0),
        ("topics", "[]struct", CreatableTopicResult, 2, 7, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        topics: list[CreatableTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.topics: list[CreatableTopicResult] = [] if topics is FRESH else topics
