"""API 29, DescribeAcls.

Made from spec/kafka/describe_acls.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeAclsRequest(Message):
    __slots__ = (
        "host_filter",
        "operation",
        "pattern_type_filter",
        "permission_type",
        "principal_filter",
        "resource_name_filter",
        "resource_type_filter",
    )
    KEY = 29
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
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


class AclDescription(Struct):
    __slots__ = (
        "host",
        "operation",
        "permission_type",
        "principal",
    )
    LAYOUT = (
        ("principal", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("host", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("operation", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("permission_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type


class DescribeAclsResource(Struct):
    __slots__ = (
        "acls",
        "pattern_type",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("resource_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("pattern_type", "int8", None, 1, 3, 0, -1, -1, False, 3),
        ("acls", "[]struct", AclDescription, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        pattern_type: int = 3,
        acls: list[AclDescription] = FRESH,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.pattern_type: int = pattern_type
        self.acls: list[AclDescription] = [] if acls is FRESH else acls


class DescribeAclsResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "resources",
        "throttle_time_ms",
    )
    KEY = 29
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 3, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 1, 3, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 3, 1, 3, -1, False, ""),
        ("resources", "[]struct", DescribeAclsResource, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        resources: list[DescribeAclsResource] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resources: list[DescribeAclsResource] = [] if resources is FRESH else resources
