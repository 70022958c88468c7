"""API 27, WriteTxnMarkers.

Made from spec/kafka/write_txn_markers.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class WritableTxnMarkerTopic(Struct):
    __slots__ = (
        "name",
        "partition_indexes",
    )
    LAYOUT = (
        ("name", "string", None, 1, 2, 0, -1, -1, False, ""),
        ("partition_indexes", "[]int32", None, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partition_indexes: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.partition_indexes: list[int] = [] if partition_indexes is FRESH else partition_indexes


class WritableTxnMarker(Struct):
    __slots__ = (
        "coordinator_epoch",
        "producer_epoch",
        "producer_id",
        "topics",
        "transaction_result",
        "transaction_version",
    )
    LAYOUT = (
        ("producer_id", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("producer_epoch", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("transaction_result", "bool", None, 1, 2, 0, -1, -1, False, False),
        ("topics", "[]struct", WritableTxnMarkerTopic, 1, 2, 0, -1, -1, False, FRESH),
        ("coordinator_epoch", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("transaction_version", "int8", None, 2, 2, 0, -1, -1, True, 0),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        producer_epoch: int = 0,
        transaction_result: bool = False,
        topics: list[WritableTxnMarkerTopic] = FRESH,
        coordinator_epoch: int = 0,
        transaction_version: int = 0,
    ) -> None:
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.transaction_result: bool = transaction_result
        self.topics: list[WritableTxnMarkerTopic] = [] if topics is FRESH else topics
        self.coordinator_epoch: int = coordinator_epoch
        self.transaction_version: int = transaction_version


class WriteTxnMarkersRequest(Message):
    __slots__ = ("markers",)
    KEY = 27
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 1
    LAYOUT = (("markers", "[]struct", WritableTxnMarker, 1, 2, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarker] = FRESH,
    ) -> None:
        self.markers: list[WritableTxnMarker] = [] if markers is FRESH else markers


class WritableTxnMarkerPartitionResult(Struct):
    __slots__ = (
        "error_code",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 1, 2, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.error_code: int = error_code


class WritableTxnMarkerTopicResult(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 1, 2, 0, -1, -1, False, ""),
        ("partitions", "[]struct", WritableTxnMarkerPartitionResult, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[WritableTxnMarkerPartitionResult] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[WritableTxnMarkerPartitionResult] = [] if partitions is FRESH else partitions


class WritableTxnMarkerResult(Struct):
    __slots__ = (
        "producer_id",
        "topics",
    )
    LAYOUT = (
        ("producer_id", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("topics", "[]struct", WritableTxnMarkerTopicResult, 1, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        producer_id: int = 0,
        topics: list[WritableTxnMarkerTopicResult] = FRESH,
    ) -> None:
        self.producer_id: int = producer_id
        self.topics: list[WritableTxnMarkerTopicResult] = [] if topics is FRESH else topics


class WriteTxnMarkersResponse(Message):
    __slots__ = ("markers",)
    KEY = 27
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 1
    LAYOUT = (("markers", "[]struct", WritableTxnMarkerResult, 1, 2, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        markers: list[WritableTxnMarkerResult] = FRESH,
    ) -> None:
        self.markers: list[WritableTxnMarkerResult] = [] if markers is FRESH else markers
