"""API 24, AddPartitionsToTxn.

Made from spec/kafka/add_partitions_to_txn.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class AddPartitionsToTxnTopic(Struct):
    __slots__ = (
        "name",
        "partitions",
    )
    LAYOUT = (
        ("name", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("partitions", "[]int32", None, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        partitions: list[int] = FRESH,
    ) -> None:
        self.name: str = name
        self.partitions: list[int] = [] if partitions is FRESH else partitions


class AddPartitionsToTxnTransaction(Struct):
    __slots__ = (
        "producer_epoch",
        "producer_id",
        "topics",
        "transactional_id",
        "verify_only",
    )
    LAYOUT = (
        ("transactional_id", "string", None, 4, 5, 0, -1, -1, False, ""),
        ("producer_id", "int64", None, 4, 5, 0, -1, -1, False, 0),
        ("producer_epoch", "int16", None, 4, 5, 0, -1, -1, False, 0),
        ("verify_only", "bool", None, 4, 5, 0, -1, -1, False, False),
        ("topics", "[]struct", AddPartitionsToTxnTopic, 4, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        producer_id: int = 0,
        producer_epoch: int = 0,
        verify_only: bool = False,
        topics: list[AddPartitionsToTxnTopic] = FRESH,
    ) -> None:
        self.transactional_id: str = transactional_id
        self.producer_id: int = producer_id
        self.producer_epoch: int = producer_epoch
        self.verify_only: bool = verify_only
        self.topics: list[AddPartitionsToTxnTopic] = [] if topics is FRESH else topics


class AddPartitionsToTxnRequest(Message):
    __slots__ = (
        "transactions",
        "v3_and_below_producer_epoch",
        "v3_and_below_producer_id",
        "v3_and_below_topics",
        "v3_and_below_transactional_id",
    )
    KEY = 24
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("transactions", "[]struct", AddPartitionsToTxnTransaction, 4, 5, 0, -1, -1, False, FRESH),
        ("v3_and_below_transactional_id", "string", None, 0, 3, 0, -1, -1, False, ""),
        ("v3_and_below_producer_id", "int64", None, 0, 3, 0, -1, -1, False, 0),
        ("v3_and_below_producer_epoch", "int16", None, 0, 3, 0, -1, -1, False, 0),
        ("v3_and_below_topics", "[]struct", AddPartitionsToTxnTopic, 0, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        transactions: list[AddPartitionsToTxnTransaction] = FRESH,
        v3_and_below_transactional_id: str = "",
        v3_and_below_producer_id: int = 0,
        v3_and_below_producer_epoch: int = 0,
        v3_and_below_topics: list[AddPartitionsToTxnTopic] = FRESH,
    ) -> None:
        self.transactions: list[AddPartitionsToTxnTransaction] = [] if transactions is FRESH else transactions
        self.v3_and_below_transactional_id: str = v3_and_below_transactional_id
        self.v3_and_below_producer_id: int = v3_and_below_producer_id
        self.v3_and_below_producer_epoch: int = v3_and_below_producer_epoch
        self.v3_and_below_topics: list[AddPartitionsToTxnTopic] = (
            [] if v3_and_below_topics is FRESH else v3_and_below_topics
        )


class AddPartitionsToTxnPartitionResult(Struct):
    __slots__ = (
        "partition_error_code",
        "partition_index",
    )
    LAYOUT = (
        ("partition_index", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("partition_error_code", "int16", None, 0, 5, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        partition_index: int = 0,
        partition_error_code: int = 0,
    ) -> None:
        self.partition_index: int = partition_index
        self.partition_error_code: int = partition_error_code


class AddPartitionsToTxnTopicResult(Struct):
    __slots__ = (
        "name",
        "results_by_partition",
    )
    LAYOUT = (
        ("name", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("results_by_partition", "[]struct", AddPartitionsToTxnPartitionResult, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        name: str = "",
        results_by_partition: list[AddPartitionsToTxnPartitionResult] = FRESH,
    ) -> None:
        self.name: str = name
        self.results_by_partition: list[AddPartitionsToTxnPartitionResult] = (
            [] if results_by_partition is FRESH else results_by_partition
        )


class AddPartitionsToTxnResult(Struct):
    __slots__ = (
        "topic_results",
        "transactional_id",
    )
    LAYOUT = (
        ("transactional_id", "string", None, 4, 5, 0, -1, -1, False, ""),
        ("topic_results", "[]struct", AddPartitionsToTxnTopicResult, 4, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        transactional_id: str = "",
        topic_results: list[AddPartitionsToTxnTopicResult] = FRESH,
    ) -> None:
        self.transactional_id: str = transactional_id
        self.topic_results: list[AddPartitionsToTxnTopicResult] = [] if topic_results is FRESH else topic_results


class AddPartitionsToTxnResponse(Message):
    __slots__ = (
        "error_code",
        "results_by_topic_v3_and_below",
        "results_by_transaction",
        "throttle_time_ms",
    )
    KEY = 24
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 4, 5, 0, -1, -1, True, 0),
        ("results_by_transaction", "[]struct", AddPartitionsToTxnResult, 4, 5, 0, -1, -1, False, FRESH),
        ("results_by_topic_v3_and_below", "[]struct", AddPartitionsToTxnTopicResult, 0, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        results_by_transaction: list[AddPartitionsToTxnResult] = FRESH,
        results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.results_by_transaction: list[AddPartitionsToTxnResult] = (
            [] if results_by_transaction is FRESH else results_by_transaction
        )
        self.results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = (
            [] if results_by_topic_v3_and_below is FRESH else results_by_topic_v3_and_below
        )
