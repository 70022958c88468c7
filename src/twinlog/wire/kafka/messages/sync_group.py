"""API 14, SyncGroup.

Made from spec/kafka/sync_group.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class SyncGroupRequestAssignment(Struct):
    __slots__ = (
        "assignment",
        "member_id",
    )
    LAYOUT = (
        ("member_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("assignment", "bytes", None, 0, 5, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        assignment: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.assignment: bytes = assignment


class SyncGroupRequest(Message):
    __slots__ = (
        "assignments",
        "generation_id",
        "group_id",
        "group_instance_id",
        "member_id",
        "protocol_name",
        "protocol_type",
    )
    KEY = 14
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("group_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("generation_id", "int32", None, 0, 5, 0, -1, -1, False, 0),
        ("member_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 3, 5, 3, 5, -1, False, None),
        ("protocol_type", "string", None, 5, 5, 5, 5, -1, True, None),
        ("protocol_name", "string", None, 5, 5, 5, 5, -1, True, None),
        ("assignments", "[]struct", SyncGroupRequestAssignment, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        generation_id: int = 0,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignments: list[SyncGroupRequestAssignment] = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.generation_id: int = generation_id
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.protocol_type: str | None = protocol_type
        self.protocol_name: str | None = protocol_name
        self.assignments: list[SyncGroupRequestAssignment] = [] if assignments is FRESH else assignments


class SyncGroupResponse(Message):
    __slots__ = (
        "assignment",
        "error_code",
        "protocol_name",
        "protocol_type",
        "throttle_time_ms",
    )
    KEY = 14
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 5, 0, -1, -1, True, 0),
        ("error_code", "int16", None, 0, 5, 0, -1, -1, False, 0),
        ("protocol_type", "string", None, 5, 5, 5, 5, -1, True, None),
        ("protocol_name", "string", None, 5, 5, 5, 5, -1, True, None),
        ("assignment", "bytes", None, 0, 5, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        protocol_type: str | None = None,
        protocol_name: str | None = None,
        assignment: bytes = b"",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.protocol_type: str | None = protocol_type
        self.protocol_name: str | None = protocol_name
        self.assignment: bytes = assignment
