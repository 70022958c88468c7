"""API 33, AlterConfigs.

Made from spec/kafka/alter_configs.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class AlterConfigsRequestAlterableConfig(Struct):
    __slots__ = (
        "name",
        "value",
    )
    LAYOUT = (
        ("name", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("value", "string", None, 0, 2, 0, 2, -1, False, ""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value


class AlterConfigsRequestResource(Struct):
    __slots__ = (
        "configs",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("resource_type", "int8", None, 0, 2, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 0, 2, 0, -1, -1, False, ""),
        ("configs", "[]struct", AlterConfigsRequestAlterableConfig, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[AlterConfigsRequestAlterableConfig] = FRESH,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[AlterConfigsRequestAlterableConfig] = [] if configs is FRESH else configs


class AlterConfigsRequest(Message):
    __slots__ = (
        "resources",
        "validate_only",
    )
    KEY = 33
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("resources", "[]struct", AlterConfigsRequestResource, 0, 2, 0, -1, -1, False, FRESH),
        ("validate_only", "bool", None, 0, 2, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        resources: list[AlterConfigsRequestResource] = FRESH,
        validate_only: bool = False,
    ) -> None:
        self.resources: list[AlterConfigsRequestResource] = [] if resources is FRESH else resources
        self.validate_only: bool = validate_only


class AlterConfigsResponseResource(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 2, 0, 2, -1, False, ""),
        ("resource_type", "int8", None, 0, 2, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 0, 2, 0, -1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name


class AlterConfigsResponse(Message):
    __slots__ = (
        "responses",
        "throttle_time_ms",
    )
    KEY = 33
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 2, 0, -1, -1, False, 0),
        ("responses", "[]struct", AlterConfigsResponseResource, 0, 2, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[AlterConfigsResponseResource] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[AlterConfigsResponseResource] = [] if responses is FRESH else responses
