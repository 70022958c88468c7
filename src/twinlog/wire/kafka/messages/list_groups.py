"""API 16, ListGroups.

Made from spec/kafka/list_groups.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ListGroupsRequest(Message):
    __slots__ = (
        "states_filter",
        "types_filter",
    )
    KEY = 16
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("states_filter", "[]string", None, 4, 5, 0, -1, -1, False, FRESH),
        ("types_filter", "[]string", None, 5, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        states_filter: list[str] = FRESH,
        types_filter: list[str] = FRESH,
    ) -> None:
        self.states_filter: list[str] = [] if states_filter is FRESH else states_filter
        self.types_filter: list[str] = [] if types_filter is FRESH else types_filter


class ListedGroup(Struct):
    __slots__ = (
        "group_id",
        "group_state",
        "group_type",
        "protocol_type",
    )
    LAYOUT = (
        ("group_id", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("protocol_type", "string", None, 0, 5, 0, -1, -1, False, ""),
        ("group_state", "string", None, 4, 5, 0, -1, -1, True, ""),
        ("group_type", "string", None, 5, 5, 0, -1, -1, True, ""),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        protocol_type: str = "",
        group_state: str = "",
        group_type: str = "",
    ) -> None:
        self.group_id: str = group_id
        self.protocol_type: str = protocol_type
        self.group_state: str = group_state
        self.group_type: str = group_type


class ListGroupsResponse(Message):
    __slots__ = (
        "error_code",
        "groups",
        "throttle_time_ms",
    )
    KEY = 16
    VERSIONS = (0, 5)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 5, 0, -1, -1, True, 0),
        ("error_code", "int16", None, 0, 5, 0, -1, -1, False, 0),
        ("groups", "[]struct", ListedGroup, 0, 5, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        groups: list[ListedGroup] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.groups: list[ListedGroup] = [] if groups is FRESH else groups
