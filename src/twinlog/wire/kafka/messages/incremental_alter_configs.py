"""API 44, IncrementalAlterConfigs.

Made from spec/kafka/incremental_alter_configs.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class IncrementalAlterConfigsRequestAlterableConfig(Struct):
    __slots__ = (
        "config_operation",
        "name",
        "value",
    )
    LAYOUT = (
        ("name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("config_operation", "int8", None, 0, 1, 0, -1, -1, False, 0),
        ("value", "string", None, 0, 1, 0, 1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        config_operation: int = 0,
        value: str | None = "",
    ) -> None:
        self.name: str = name
        self.config_operation: int = config_operation
        self.value: str | None = value


class IncrementalAlterConfigsRequestResource(Struct):
    __slots__ = (
        "configs",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("resource_type", "int8", None, 0, 1, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("configs", "[]struct", IncrementalAlterConfigsRequestAlterableConfig, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[IncrementalAlterConfigsRequestAlterableConfig] = FRESH,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[IncrementalAlterConfigsRequestAlterableConfig] = [] if configs is FRESH else configs


class IncrementalAlterConfigsRequest(Message):
    __slots__ = (
        "resources",
        "validate_only",
    )
    KEY = 44
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("resources", "[]struct", IncrementalAlterConfigsRequestResource, 0, 1, 0, -1, -1, False, FRESH),
        ("validate_only", "bool", None, 0, 1, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        resources: list[IncrementalAlterConfigsRequestResource] = FRESH,
        validate_only: bool = False,
    ) -> None:
        self.resources: list[IncrementalAlterConfigsRequestResource] = [] if resources is FRESH else resources
        self.validate_only: bool = validate_only


class IncrementalAlterConfigsResponseResource(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
        ("resource_type", "int8", None, 0, 1, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 0, 1, 0, -1, -1, False, ""),
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


class IncrementalAlterConfigsResponse(Message):
    __slots__ = (
        "responses",
        "throttle_time_ms",
    )
    KEY = 44
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("responses", "[]struct", IncrementalAlterConfigsResponseResource, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        responses: list[IncrementalAlterConfigsResponseResource] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.responses: list[IncrementalAlterConfigsResponseResource] = [] if responses is FRESH else responses
