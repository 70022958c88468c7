"""API 74, ListConfigResources.

Made from spec/kafka/list_config_resources.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ListConfigResourcesRequest(Message):
    __slots__ = ("resource_types",)
    KEY = 74
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (("resource_types", "[]int8", None, 1, 1, 0, -1, -1, False, FRESH),)

    def __init__(
        self,
        *,
        resource_types: list[int] = FRESH,
    ) -> None:
        self.resource_types: list[int] = [] if resource_types is FRESH else resource_types


class ConfigResource(Struct):
    __slots__ = (
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("resource_name", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("resource_type", "int8", None, 1, 1, 0, -1, -1, True, 16),
    )

    def __init__(
        self,
        *,
        resource_name: str = "",
        resource_type: int = 16,
    ) -> None:
        self.resource_name: str = resource_name
        self.resource_type: int = resource_type


class ListConfigResourcesResponse(Message):
    __slots__ = (
        "config_resources",
        "error_code",
        "throttle_time_ms",
    )
    KEY = 74
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("config_resources", "[]struct", ConfigResource, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        config_resources: list[ConfigResource] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.config_resources: list[ConfigResource] = [] if config_resources is FRESH else config_resources
