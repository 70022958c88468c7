"""API 49, AlterClientQuotas.

Made from spec/kafka/alter_client_quotas.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class AlterClientQuotasRequestEntityData(Struct):
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


class OpData(Struct):
    __slots__ = (
        "key",
        "remove",
        "value",
    )
    LAYOUT = (
        ("key", "string", None, 0, 1, 0, -1, -1, False, ""),
        ("value", "float64", None, 0, 1, 0, -1, -1, False, 0.0),
        ("remove", "bool", None, 0, 1, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        key: str = "",
        value: float = 0.0,
        remove: bool = False,
    ) -> None:
        self.key: str = key
        self.value: float = value
        self.remove: bool = remove


class AlterClientQuotasRequestEntryData(Struct):
    __slots__ = (
        "entity",
        "ops",
    )
    LAYOUT = (
        ("entity", "[]struct", AlterClientQuotasRequestEntityData, 0, 1, 0, -1, -1, False, FRESH),
        ("ops", "[]struct", OpData, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        entity: list[AlterClientQuotasRequestEntityData] = FRESH,
        ops: list[OpData] = FRESH,
    ) -> None:
        self.entity: list[AlterClientQuotasRequestEntityData] = [] if entity is FRESH else entity
        self.ops: list[OpData] = [] if ops is FRESH else ops


class AlterClientQuotasRequest(Message):
    __slots__ = (
        "entries",
        "validate_only",
    )
    KEY = 49
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("entries", "[]struct", AlterClientQuotasRequestEntryData, 0, 1, 0, -1, -1, False, FRESH),
        ("validate_only", "bool", None, 0, 1, 0, -1, -1, False, False),
    )

    def __init__(
        self,
        *,
        entries: list[AlterClientQuotasRequestEntryData] = FRESH,
        validate_only: bool = False,
    ) -> None:
        self.entries: list[AlterClientQuotasRequestEntryData] = [] if entries is FRESH else entries
        self.validate_only: bool = validate_only


class AlterClientQuotasResponseEntityData(Struct):
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


class AlterClientQuotasResponseEntryData(Struct):
    __slots__ = (
        "entity",
        "error_code",
        "error_message",
    )
    LAYOUT = (
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 1, 0, 1, -1, False, ""),
        ("entity", "[]struct", AlterClientQuotasResponseEntityData, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        entity: list[AlterClientQuotasResponseEntityData] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.entity: list[AlterClientQuotasResponseEntityData] = [] if entity is FRESH else entity


class AlterClientQuotasResponse(Message):
    __slots__ = (
        "entries",
        "throttle_time_ms",
    )
    KEY = 49
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = 1
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 1, 0, -1, -1, False, 0),
        ("entries", "[]struct", AlterClientQuotasResponseEntryData, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        entries: list[AlterClientQuotasResponseEntryData] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.entries: list[AlterClientQuotasResponseEntryData] = [] if entries is FRESH else entries
