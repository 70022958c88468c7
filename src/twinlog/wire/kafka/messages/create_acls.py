"""API 30, CreateAcls.

Made from spec/kafka/create_acls.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class AclCreation(Struct):
    __slots__ = (
        "host",
        "operation",
        "permission_type",
        "principal",
        "resource_name",
        "resource_pattern_type",
        "resource_type",
    )
    LAYOUT = (
        ("resource_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("resource_pattern_type", "int8", None, 1, 3, 0, -1, -1, False, 3),
        ("principal", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("host", "string", None, 1, 3, 0, -1, -1, False, ""),
        ("operation", "int8", None, 1, 3, 0, -1, -1, False, 0),
        ("permission_type", "int8", None, 1, 3, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        resource_pattern_type: int = 3,
        principal: str = "",
        host: str = "",
        operation: int = 0,
        permission_type: int = 0,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.resource_pattern_type: int = resource_pattern_type
        self.principal: str = principal
        self.host: str = host
        self.operation: int = operation
        self.permission_type: int = permission_type


class CreateAclsRequest(Message):
    __slots__ = ("creations",)
    KEY = 30
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (("creations", "[]struct", AclCreation, 1, 3, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        creations: list[AclCreation] = FRESH,
    ) -> None:
        self.creations: list[AclCreation] = [] if creations is FRESH else creations


class AclCreationResult(Struct):
    __slots__ = (
        "error_code",
        "error_message",
    )
    LAYOUT = (
        ("error_code", "int16", None, 1, 3, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 3, 1, 3, -1, False, ""),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class CreateAclsResponse(Message):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    KEY = 30
    VERSIONS = (1, 3)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 3, 0, -1, -1, False, 0),
        ("results", "[]struct", AclCreationResult, 1, 3, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[AclCreationResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[AclCreationResult] = [] if results is FRESH else results
