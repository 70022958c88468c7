"""API 12, Heartbeat.

Made from spec/kafka/heartbeat.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class HeartbeatRequest(Message):
    __slots__ = (
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
    )
    KEY = 12
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("group_id", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("generation_id", "int32", None, 0, 4, 0, -1, -1, False, 0),
        ("member_id", "string", None, 0, 4, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 3, 4, 3, 4, -1, False, None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.generation_id: int = generation_id
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id


class HeartbeatResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
    )
    KEY = 12
    VERSIONS = (0, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 4, 0, -1, -1, True, 0),
        ("error_code", "int16", None, 0, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
