"""API 13, LeaveGroup.

Made from spec/kafka/leave_group.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class MemberIdentity(Struct):
    __slots__ = (
        "group_instance_id",
        "member_id",
        "reason",
    )
    LAYOUT = (
        ("member_id", "string", None, 3, 5, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 3, 5, 3, 5, -1, False, None),
        ("reason", "string", None, 5, 5, 5, 5, -1, True, None),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.reason: str | None = reason


class LeaveGroupRequest(Message):
    __slots__ = (
        "group_id",
        "member_id",
        "members",
    )
    KEY = 13
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("group_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("member_id", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("members", "[]struct", MemberIdentity, 3, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        member_id: str = "",
        members: list[MemberIdentity] = FRESH,
    ) -> None:
        self.group_id: str = group_id
        self.member_id: str = member_id
        self.members: list[MemberIdentity] = [] if members is FRESH else members


class MemberResponse(Struct):
    __slots__ = (
        "error_code",
        "group_instance_id",
        "member_id",
    )
    LAYOUT = (
        ("member_id", "string", None, 3, 5, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 3, 5, 3, 5, -1, False, ""),
        ("error_code", "int16", None, 3, 5, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = "",
        error_code: int = 0,
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.error_code: int = error_code


class LeaveGroupResponse(Message):
    __slots__ = (
        "error_code",
        "members",
        "throttle_time_ms",
    )
    KEY = 13
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 5, 0, -1, -1, True, 0),
        ("error_code", "int16", None, 0, 5, 0, -1, -1, False, 0),
        ("members", "[]struct", MemberResponse, 3, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        members: list[MemberResponse] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.members: list[MemberResponse] = [] if members is FRESH else members
