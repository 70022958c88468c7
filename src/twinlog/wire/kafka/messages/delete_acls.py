"""API 31, DeleteAcls.

Made from spec/kafka/delete_acls.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DeleteAclsFilter(Struct):
    __slots__ = (
        "host_filter",
        "operation",
        "pattern_type_filter",
        "permission_type",
        "principal_filter",
        "resource_name_filter",
        "resource_type_filter",
    )
    LAYOUT = (
        ("resource_type_filter", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("resource_name_filter", "string", None, 1, 3, 1, 3, -1, False, ""),
        ("pattern_type_filter", "int8", None, 1, 3, 0, -1, -1, False, 3),
        ("principal_filter", "string", None, 1, 3, 1, 3, -1, False, ""),
        ("host_filter", "string", None, 1, 3, 1, 3, -1, False, ""),
        ("operation", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("permission_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        resource_type_filter: int = 0,
        resource_name_filter: str | None = "",
        pattern_type_filter: int = 3,
        principal_filter: str | None = "",
        host_filter: str | None = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type_filter: int = resource_type_filter
        self.resource_name_filter: str | None = resource_name_filter
        self.pattern_type_filter: int = pattern_type_filter
        self.principal_filter: str | None = principal_filter
        self.host_filter: str | None = host_filter
        self.operation: int = operation
        self.permission_type: int = permission_type


class DeleteAclsRequest(Message):
    __slots__ = ("filters",)
    KEY = 31
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (("filters", "[]struct", DeleteAclsFilter, 1, 3, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        filters: list[DeleteAclsFilter] = FRESH,
    ) -> None:
        self.filters: list[DeleteAclsFilter] = [] if filters is FRESH else filters


class DeleteAclsMatchingAcl(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "host",
        "operation",
        "pattern_type",
        "permission_type",
        "principal",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("error_code", "int16", None, 1, 3, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 3, 1, 3, -1, False, ""),
        ("resource_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("pattern_type", "int8", None, 1, 3, 0, -1, -1, False, 3),
        ("principal", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("host", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("operation", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("permission_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type


class DeleteAclsFilterResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "matching_acls",
    )
    LAYOUT = (
        ("error_code", "int16", None, 1, 3, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 3, 1, 3, -1, False, ""),
        ("matching_acls", "[]struct", DeleteAclsMatchingAcl, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        matching_acls: list[DeleteAclsMatchingAcl] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.matching_acls: list[DeleteAclsMatchingAcl] = [] if matching_acls is FRESH else matching_acls


class DeleteAclsResponse(Message):
    __slots__ = (
        "filter_results",
        "throttle_time_ms",
    )
    KEY = 31
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 3, 0, -1, -1, False, 0),
        ("filter_results", "[]struct", DeleteAclsFilterResult, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        filter_results: list[DeleteAclsFilterResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.filter_results: list[DeleteAclsFilterResult] = [] if filter_results is FRESH else filter_results
