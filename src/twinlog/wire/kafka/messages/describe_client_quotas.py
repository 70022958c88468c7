"""API 48, DescribeClientQuotas.

Made from spec/kafka/describe_client_quotas.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class ComponentData(Struct):
    __slots__ = (
        "entity_type",
        "match",
        "match_type",
    )
    LAYOUT = (
        ("entity_type", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("match_type", "int8", None, 0, 1, 0, -1, -1, False, 0),
        ("match", "string", None, 0, 1, 0, 1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        match_type: int = 0,
        match: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.match_type: int = match_type
        self.match: str | None = match


class DescribeClientQuotasRequest(Message):
    __slots__ = (
        "components",
        "strict",
    )
    KEY = 48
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("components", "[]struct", ComponentData, 0, 1, 0, -1, -1, False, FRESH),
        ("strict", "bool", None, 0, 1, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        components: list[ComponentData] = FRESH,
        strict: bool = False,
    ) -> None:
        self.components: list[ComponentData] = [] if components is FRESH else components
        self.strict: bool = strict


class DescribeClientQuotasResponseEntityData(Struct):
    __slots__ = (
        "entity_name",
        "entity_type",
    )
    LAYOUT = (
        ("entity_type", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("entity_name", "string", None, 0, 1, 0, 1, -1, False, ""),
    )

    def __init__(
        self,
        *,
        entity_type: str = "",
        entity_name: str | None = "",
    ) -> None:
        self.entity_type: str = entity_type
        self.entity_name: str | None = entity_name


class ValueData(Struct):
    __slots__ = (
        "key",
        "value",
    )
    LAYOUT = (
        ("key", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("value", "float64", None, 0, 1, 0, -1, -1, False, 0.0),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
    ) -> None:
        self.key: str = key
        self.value: float = value


class DescribeClientQuotasResponseEntryData(Struct):
    __slots__ = (
        "entity",
        "values",
    )
    LAYOUT = (
        ("entity", "[]struct", DescribeClientQuotasResponseEntityData, 0, 1, 0, -1, -1, False, FRESH),
        ("values", "[]struct", ValueData, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        entity: list[DescribeClientQuotasResponseEntityData] = FRESH,
        values: list[ValueData] = FRESH,
    ) -> None:
        self.entity: list[DescribeClientQuotasResponseEntityData] = [] if entity is FRESH else entity
        self.values: list[ValueData] = [] if values is FRESH else values


class DescribeClientQuotasResponse(Message):
    __slots__ = (
        "entries",
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    KEY = 48
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
        ("entries", "[]struct", DescribeClientQuotasResponseEntryData, 0, 1, 0, 1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        entries: list[DescribeClientQuotasResponseEntryData] | None = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.entries: list[DescribeClientQuotasResponseEntryData] | None = [] if entries is FRESH else entries
