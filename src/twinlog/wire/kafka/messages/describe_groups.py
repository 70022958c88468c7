"""API 15, DescribeGroups.

Made from spec/kafka/describe_groups.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeGroupsRequest(Message):
    __slots__ = (
        "groups",
        "include_authorized_operations",
    )
    KEY = 15
    VERSIONS = (0, 6)
    FLEXIBLE_FROM = 5
    LAYOUT = (
        ("groups", "[]string", None, 0, 6, 0, -1, -1, False, FRESH),
        ("include_authorized_operations", "bool", None, 3, 6, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        groups: list[str] = FRESH,
        include_authorized_operations: bool = False,
    ) -> None:
        self.groups: list[str] = [] if groups is FRESH else groups
        self.include_authorized_operations: bool = include_authorized_operations


class DescribedGroupMember(Struct):
    __slots__ = (
        "client_host",
        "client_id",
        "group_instance_id",
        "member_assignment",
        "member_id",
        "member_metadata",
    )
    LAYOUT = (
        ("member_id", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("group_instance_id", "string", None, 4, 6, 4, 6, -1, True, None),
        ("client_id", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("client_host", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("member_metadata", "bytes", None, 0, 6, 0, -1, -1, False, b""),
        ("member_assignment", "bytes", None, 0, 6, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        member_id: str = "",
        group_instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        member_metadata: bytes = b"",
        member_assignment: bytes = b"",
    ) -> None:
        self.member_id: str = member_id
        self.group_instance_id: str | None = group_instance_id
        self.client_id: str = client_id
        self.client_host: str = client_host
        self.member_metadata: bytes = member_metadata
        self.member_assignment: bytes = member_assignment


class DescribeGroupsResponseDescribedGroup(Struct):
    __slots__ = (
        "authorized_operations",
        "error_code",
        "error_message",
        "group_id",
        "group_state",
        "members",
        "protocol_data",
        "protocol_type",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 6, 0, -1, -1, False, 0),
        ("error_message", "string", None, 6, 6, 6, 6, -1, False, None),
        ("group_id", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("group_state", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("protocol_type", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("protocol_data", "string", None, 0, 6, 0, -1, -1, False, ""),
        ("members", "[]struct", DescribedGroupMember, 0, 6, 0, -1, -1, False, FRESH),
        ("authorized_operations", "int32", None, 3, 6, 0, -1, -1, False, -2147483648),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = None,
        group_id: str = "",
        group_state: str = "",
        protocol_type: str = "",
        protocol_data: str = "",
        members: list[DescribedGroupMember] = FRESH,
        authorized_operations: int = -2147483648,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.group_id: str = group_id
        self.group_state: str = group_state
        self.protocol_type: str = protocol_type
        self.protocol_data: str = protocol_data
        self.members: list[DescribedGroupMember] = [] if members is FRESH else members
        self.authorized_operations: int = authorized_operations


class DescribeGroupsResponse(Message):
    __slots__ = (
        "groups",
        "throttle_time_ms",
    )
    KEY = 15
    VERSIONS = (0, 6)
    FLEXIBLE_FROM = 5
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 6, 0, -1, -1, True, 0),
        ("groups", "[]struct", DescribeGroupsResponseDescribedGroup, 0, 6, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        groups: list[DescribeGroupsResponseDescribedGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.groups: list[DescribeGroupsResponseDescribedGroup] = [] if groups is FRESH else groups
