"""API 42, DeleteGroups.

Made from spec/kafka/delete_groups.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DeleteGroupsRequest(Message):
    __slots__ = ("groups_names",)
    KEY = 42
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (("groups_names", "[]string", None, 0, 2, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        groups_names: list[str] = FRESH,
    ) -> None:
        self.groups_names: list[str] = [] if groups_names is FRESH else groups_names


class DeletableGroupResult(Struct):
    __slots__ = (
        "error_code",
        "group_id",
    )
    LAYOUT = (
        ("group_id", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        group_id: str = "",
        error_code: int = 0,
    ) -> None:
        self.group_id: str = group_id
        self.error_code: int = error_code


class DeleteGroupsResponse(Message):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    KEY = 42
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("results", "[]struct", DeletableGroupResult, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DeletableGroupResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[DeletableGroupResult] = [] if results is FRESH else results
