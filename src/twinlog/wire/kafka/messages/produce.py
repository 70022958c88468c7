"""API 0, Produce.

Made from spec/kafka/produce.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Records, Struct


class PartitionProduceData(Struct):
    __slots__ = (
        "index",
        "records",
    )
    LAYOUT = (
        ("index", "int32", None, 3, 13, 0, -1, -1, False, 0),
        ("records", "records", None, 3, 13, 3, 13, -1, False, None),
    )

    def __init__(
        self,
        *,
        index: int = 0,
        records: Records = None,
    ) -> None:
        self.index: int = index
        self.records: Records = records


class TopicProduceData(Struct):
    __slots__ = (
        "name",
        "partition_data",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 3, 12, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 13, 13, 0, -1, -1, True, ZERO_UUID),
        ("partition_data", "[]struct", PartitionProduceData, 3, 13, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_data: list[PartitionProduceData] = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partition_data: list[PartitionProduceData] = [] if partition_data is FRESH else partition_data


class ProduceRequest(Message):
    __slots__ = (
        "acks",
        "timeout_ms",
        "topic_data",
        "transactional_id",
    )
    KEY = 0
    VERSIONS = (3, 13)
    FLEXIBLE_FROM = 9
    LAYOUT = (
        ("transactional_id", "string", None, 3, 13, 3, 13, -1, False, None),
        ("acks", "int16", None, 3, 13, 0, -1, -1, False, 0),
        ("timeout_ms", "int32", None, 3, 13, 0, -1, -1, False, 0),
        ("topic_data", "[]struct", TopicProduceData, 3, 13, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        transactional_id: str | None = None,
        acks: int = 0,
        timeout_ms: int = 0,
        topic_data: list[TopicProduceData] = FRESH,
    ) -> None:
        self.transactional_id: str | None = transactional_id
        self.acks: int = acks
        self.timeout_ms: int = timeout_ms
        self.topic_data: list[TopicProduceData] = [] if topic_data is FRESH else topic_data


class BatchIndexAndErrorMessage(Struct):
    __slots__ = (
        "batch_index",
        "batch_index_error_message",
    )
    LAYOUT = (
        ("batch_index", "int32", None, 8, 13, 0, -1, -1, False, 0),
        ("batch_index_error_message", "string", None, 8, 13, 8, 13, -1, False, None),
    )

    def __init__(
        self,
        *,
        batch_index: int = 0,
        batch_index_error_message: str | None = None,
    ) -> None:
        self.batch_index: int = batch_index
        self.batch_index_error_message: str | None = batch_index_error_message


class ProduceResponseLeaderIdAndEpoch(Struct):
    __slots__ = (
        "leader_epoch",
        "leader_id",
    )
    LAYOUT = (
        ("leader_id", "int32", None, 10, 13, 0, -1, -1, False, -1),
        ("leader_epoch", "int32", None, 10, 13, 0, -1, -1, False, -1),
    )

    def __init__(
        self,
        *,
        leader_id: int = -1,
        leader_epoch: int = -1,
    ) -> None:
        self.leader_id: int = leader_id
        self.leader_epoch: int = leader_epoch


class PartitionProduceResponse(Struct):
    __slots__ = (
        "base_offset",
        "current_leader",
        "error_code",
        "error_message",
        "index",
        "log_append_time_ms",
        "log_start_offset",
        "record_errors",
    )
    LAYOUT = (
        ("index", "int32", None, 3, 13, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 3, 13, 0, -1, -1, False, 0),
        ("base_offset", "int64", None, 3, 13, 0, -1, -1, False, 0),
        ("log_append_time_ms", "int64", None, 3, 13, 0, -1, -1, False, -1),
        ("log_start_offset", "int64", None, 5, 13, 0, -1, -1, True, -1),
        ("record_errors", "[]struct", BatchIndexAndErrorMessage, 8, 13, 0, -1, -1, True, FRESH),
        ("error_message", "string", None, 8, 13, 8, 13, -1, True, None),
        ("current_leader", "struct", ProduceResponseLeaderIdAndEpoch, 10, 13, 0, -1, 0, False, None),
    )

    def __init__(
        self,
        *,
        index: int = 0,
        error_code: int = 0,
        base_offset: int = 0,
        log_append_time_ms: int = -1,
        log_start_offset: int = -1,
        record_errors: list[BatchIndexAndErrorMessage] = FRESH,
        error_message: str | None = None,
        current_leader: ProduceResponseLeaderIdAndEpoch | None = None,
    ) -> None:
        self.index: int = index
        self.error_code: int = error_code
        self.base_offset: int = base_offset
        self.log_append_time_ms: int = log_append_time_ms
        self.log_start_offset: int = log_start_offset
        self.record_errors: list[BatchIndexAndErrorMessage] = [] if record_errors is FRESH else record_errors
        self.error_message: str | None = error_message
        self.current_leader: ProduceResponseLeaderIdAndEpoch | None = current_leader


class TopicProduceResponse(Struct):
    __slots__ = (
        "name",
        "partition_responses",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 3, 12, 0, -1, -1, True, ""),
        ("topic_id", "uuid", None, 13, 13, 0, -1, -1, True, ZERO_UUID),
        ("partition_responses", "[]struct", PartitionProduceResponse, 3, 13, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_responses: list[PartitionProduceResponse] = FRESH,
    ) -> None:
        self.name: str = name
        self.topic_id: bytes = topic_id
        self.partition_responses: list[PartitionProduceResponse] = (
            [] if partition_responses is FRESH else partition_responses
        )


class ProduceResponseNodeEndpoint(Struct):
    __slots__ = (
        "host",
        "node_id",
        "port",
        "rack",
    )
    LAYOUT = (
        ("node_id", "int32", None, 10, 13, 0, -1, -1, False, 0),
        ("host", "string", None, 10, 13, 0, -1, -1, False, ""),
        ("port", "int32", None, 10, 13, 0, -1, -1, False, 0),
        ("rack", "string", None, 10, 13, 10, 13, -1, False, None),
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


class ProduceResponse(Message):
    __slots__ = (
        "node_endpoints",
        "responses",
        "throttle_time_ms",
    )
    KEY = 0
    VERSIONS = (3, 13)
    FLEXIBLE_FROM = 9
    LAYOUT = (
        ("responses", "[]struct", TopicProduceResponse, 3, 13, 0, -1, -1, False, FRESH),
        ("throttle_time_ms", "int32", None, 3, 13, 0, -1, -1, False, 0),
        ("node_endpoints", "[]struct", ProduceResponseNodeEndpoint, 10, 13, 0, -1, 0, False, FRESH),
    )

    def __init__(
        self,
        *,
        responses: list[TopicProduceResponse] = FRESH,
        throttle_time_ms: int = 0,
        node_endpoints: list[ProduceResponseNodeEndpoint] = FRESH,
    ) -> None:
        self.responses: list[TopicProduceResponse] = [] if responses is FRESH else responses
        self.throttle_time_ms: int = throttle_time_ms
        self.node_endpoints: list[ProduceResponseNodeEndpoint] = [] if node_endpoints is FRESH else node_endpoints
