"""API 32, DescribeConfigs.

Made from spec/kafka/describe_configs.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class DescribeConfigsResource(Struct):
    __slots__ = (
        "configuration_keys",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("resource_type", "int8", None, 1, 4, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 1, 4, 0, -1, -1, False, ""),
        ("configuration_keys", "[]string", None, 1, 4, 1, 4, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        resource_type: int = 0,
        resource_name: str = "",
        configuration_keys: list[str] | None = FRESH,
    ) -> None:
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configuration_keys: list[str] | None = [] if configuration_keys is FRESH else configuration_keys


class DescribeConfigsRequest(Message):
    __slots__ = (
        "include_documentation",
        "include_synonyms",
        "resources",
    )
    KEY = 32
    VERSIONS = (1, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("resources", "[]struct", DescribeConfigsResource, 1, 4, 0, -1, -1, False, FRESH),
        ("include_synonyms", "bool", None, 1, 4, 0, -1, -1, False, False),
        ("include_documentation", "bool", None, 3, 4, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        resources: list[DescribeConfigsResource] = FRESH,
        include_synonyms: bool = False,
        include_documentation: bool = False,
    ) -> None:
        self.resources: list[DescribeConfigsResource] = [] if resources is FRESH else resources
        self.include_synonyms: bool = include_synonyms
        self.include_documentation: bool = include_documentation


class DescribeConfigsSynonym(Struct):
    __slots__ = (
        "name",
        "source",
        "value",
    )
    LAYOUT = (
        ("name", "string", None, 1, 4, 0, -1, -1, False, ""),
        ("value", "string", None, 1, 4, 1, 4, -1, False, ""),
        ("source", "int8", None, 1, 4, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.source: int = source


class DescribeConfigsResourceResult(Struct):
    __slots__ = (
        "config_source",
        "config_type",
        "documentation",
        "is_sensitive",
        "name",
        "read_only",
        "synonyms",
        "value",
    )
    LAYOUT = (
        ("name", "string", None, 1, 4, 0, -1, -1, False, ""),
        ("value", "string", None, 1, 4, 1, 4, -1, False, ""),
        ("read_only", "bool", None, 1, 4, 0, -1, -1, False, False),
        ("config_source", "int8", None, 1, 4, 0, -1, -1, False, -1),
        ("is_sensitive", "bool", None, 1, 4, 0, -1, -1, False, False),
        ("synonyms", "[]struct", DescribeConfigsSynonym, 1, 4, 0, -1, -1, False, FRESH),
        ("config_type", "int8", None, 3, 4, 0, -1, -1, True, 0),
        ("documentation", "string", None, 3, 4, 3, 4, -1, True, ""),
    )

    def __init__(
        self,
        *,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: list[DescribeConfigsSynonym] = FRESH,
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name: str = name
        self.value: str | None = value
        self.read_only: bool = read_only
        self.config_source: int = config_source
        self.is_sensitive: bool = is_sensitive
        self.synonyms: list[DescribeConfigsSynonym] = [] if synonyms is FRESH else synonyms
        self.config_type: int = config_type
        self.documentation: str | None = documentation


class DescribeConfigsResult(Struct):
    __slots__ = (
        "configs",
        "error_code",
        "error_message",
        "resource_name",
        "resource_type",
    )
    LAYOUT = (
        ("error_code", "int16", None, 1, 4, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 4, 1, 4, -1, False, ""),
        ("resource_type", "int8", None, 1, 4, 0, -1, -1, False, 0),
        ("resource_name", "string", None, 1, 4, 0, -1, -1, False, ""),
        ("configs", "[]struct", DescribeConfigsResourceResult, 1, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: list[DescribeConfigsResourceResult] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.resource_type: int = resource_type
        self.resource_name: str = resource_name
        self.configs: list[DescribeConfigsResourceResult] = [] if configs is FRESH else configs


class DescribeConfigsResponse(Message):
    __slots__ = (
        "results",
        "throttle_time_ms",
    )
    KEY = 32
    VERSIONS = (1, 4)
    FLEXIBLE_FROM = 4
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 4, 0, -1, -1, False, 0),
        ("results", "[]struct", DescribeConfigsResult, 1, 4, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        results: list[DescribeConfigsResult] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.results: list[DescribeConfigsResult] = [] if results is FRESH else results
