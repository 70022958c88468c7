"""API 11, JoinGroup.

Made from spec/kafka/join_group.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class JoinGroupRequestProtocol(Struct):
    __slots__ = (
        "metadata",
        "name",
    )
    LAYOUT = (
        ("name", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("metadata", "bytes", None, 0, 9, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        metadata: bytes = b"",
    ) -> None:
        self.name: str = name
        self.metadata: bytes = metadata


class JoinGroupRequest(Message):
    __slots__ = (
        "group_id",
        "group_instance_id",
        "member_id",
        "protocol_type",
        "protocols",
        "reason",
        "rebalance_timeout_ms",
        "session_timeout_ms",
    )
    KEY = 11
    VERSIONS = (0, 9)
    FLEXIBLE_FROM = 6
    LAYOUT = (
        ("group_id", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("session_timeout_ms", "int32", None, 0, 9, 0, -1, -1, False, 0),
        ("rebalance_timeout_ms", "int32", None, 1, 9, 0, -1, -1, True, -1),
        ("member_id", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 5, 9, 5, 9, -1, False, None),
        ("protocol_type", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("protocols", "[]struct", JoinGroupRequestProtocol, 0, 9, 0, -1, -1, False, FRESH),
        ("reason", "string", None, 8, 9, 8, 9, -1, True, None),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        session_timeout_ms: int = 0,
        rebalance_timeout_ms: int = -1,
        member_id: str = "",
        group_instance_id: str | None = None,
        protocol_type: str = "",
        protocols: list[JoinGroupRequestProtocol] = FRESH,
        reason: str | None = None,
    ) -> None:
        self.group_id: str = group_id
        self.session_timeout_ms: int = session_timeout_ms
        self.rebalance_timeout_ms: int = rebalance_timeout_ms
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.protocol_type: str = protocol_type
        self.protocols: list[JoinGroupRequestProtocol] = [] if protocols is FRESH else protocols
        self.reason: str | None = reason


class JoinGroupResponseMember(Struct):
    __slots__ = (
        "group_instance_id",
        "member_id",
        "metadata",
    )
    LAYOUT = (
        ("member_id", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 5, 9, 5, 9, -1, True, None),
        ("metadata", "bytes", None, 0, 9, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        metadata: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.metadata: bytes = metadata


class JoinGroupResponse(Message):
    __slots__ = (
        "error_code",
        "generation_id",
        "leader",
        "member_id",
        "members",
        "protocol_name",
        "protocol_type",
        "skip_assignment",
        "throttle_time_ms",
    )
    KEY = 11
    VERSIONS = (0, 9)
    FLEXIBLE_FROM = 6
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 2, 9, 0, -1, -1, True, 0),
        ("error_code", "int16", None, 0, 9, 0, -1, -1, False, 0),
        ("generation_id", "int32", None, 0, 9, 0, -1, -1, False, -1),
        ("protocol_type", "string", None, 7, 9, 7, 9, -1, True, None),
        ("protocol_name", "string", None, 0, 9, 7, 9, -1, False, ""),
        ("leader", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("skip_assignment", "bool", None, 9, 9, 0, -1, -1, False, False),
        ("member_id", "string", None, 0, 9, 0, -1, -1, False, ""),
        ("members", "[]struct", JoinGroupResponseMember, 0, 9, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        generation_id: int = -1,
        protocol_type: str | None = None,
        protocol_name: str | None = "",
        leader: str = "",
        skip_assignment: bool = False,
        member_id: str = "",
        members: list[JoinGroupResponseMember] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.generation_id: int = generation_id
        self.protocol_type: str | None = protocol_type
        self.protocol_name: str | None = protocol_name
        self.leader: str = leader
        self.skip_assignment: bool = skip_assignment
        self.member_id: str = member_id
        self.members: list[JoinGroupResponseMember] = [] if members is FRESH else members
