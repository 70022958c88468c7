"""API 92, DeleteShareGroupOffsets.

Made from spec/kafka/delete_share_group_offsets.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message, Struct


class DeleteShareGroupOffsetsRequestTopic(Struct):
    __slots__ = ("topic_name",)
    LAYOUT = (("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        topic_name: str = "",
    ) -> None:
        self.topic_name: str = topic_name


class DeleteShareGroupOffsetsRequest(Message):
    __slots__ = (
        "group_id",
        "topics",
    )
    KEY = 92
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("group_id", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topics", "[]struct", DeleteShareGroupOffsetsRequestTopic, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        topics: list[DeleteShareGroupOffsetsRequestTopic] = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.topics: list[DeleteShareGroupOffsetsRequestTopic] = [] if topics is FRESH else topics


class DeleteShareGroupOffsetsResponseTopic(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "topic_id",
        "topic_name",
    )
    LAYOUT = (
        ("topic_name", "string", None, 0, 0, 0, -1, -1, False, ""),
        ("topic_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
    )

    def __init__(
        self,
        *,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        error_code: int = 0,
        error_message: str | None = None,
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class DeleteShareGroupOffsetsResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "responses",
        "throttle_time_ms",
    )
    KEY = 92
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, None),
        ("responses", "[]struct", DeleteShareGroupOffsetsResponseTopic, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = None,
        responses: list[DeleteShareGroupOffsetsResponseTopic] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.responses: list[DeleteShareGroupOffsetsResponseTopic] = [] if responses is FRESH else responses
