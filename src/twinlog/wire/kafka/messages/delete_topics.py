"""API 20, DeleteTopics.

Made from spec/kafka/delete_topics.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class DeleteTopicState(Struct):
    __slots__ = (
        "name",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 6, 6, 6, 6, -1, False, None),
        ("topic_id", "uuid", None, 6, 6, 0, -1, -1, False, ZERO_UUID),
    )

    def __init__(
        self,
        *,
        name: str | None = None,
        topic_id: bytes = ZERO_UUID,
    ) -> None:
        self.name: str | None = name
        self.topic_id: bytes = topic_id


class DeleteTopicsRequest(Message):
    __slots__ = (
        "timeout_ms",
        "topic_names",
        "topics",
    )
    KEY = 20
    VERSIONS = (1, 6)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("topics", "[]struct", DeleteTopicState, 6, 6, 0, -1, -1, False, FRESH),
        ("topic_names", "[]string", None, 1, 5, 0, -1, -1, True, FRESH),
        ("timeout_ms", "int32", None, 1, 6, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        topics: list[DeleteTopicState] = FRESH,
        topic_names: list[str] = FRESH,
        timeout_ms: int = 0,
    ) -> None:
        self.topics: list[DeleteTopicState] = [] if topics is FRESH else topics
        self.topic_names: list[str] = [] if topic_names is FRESH else topic_names
        self.timeout_ms: int = timeout_ms


class DeletableTopicResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "name",
        "topic_id",
    )
    LAYOUT = (
        ("name", "string", None, 1, 6, 6, 6, -1, False, ""),
        ("topic_id", "uuid", None, 6, 6, 0, -1, -1, True, ZERO_UUID),
        ("error_code", "int16", None, 1, 6, 0, -1, -1, False, 0),
        ("error_message", "string", None, 5, 6, 5, 6, -1, True, None),
    )

    def __init__(
        self,
        *,
        name: str | None = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.name: str | None = name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DeleteTopicsResponse(Message):
    __slots__ = (
        "responses",
        "throttle_time_ms",
    )
    KEY = 20
    VERSIONS = (1, 6)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 6, 0, -1, -1, False, 0),
        ("responses", "[]struct", DeletableTopicResult, 1, 6, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[DeletableTopicResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[DeletableTopicResult] = [] if responses is FRESH else responses
