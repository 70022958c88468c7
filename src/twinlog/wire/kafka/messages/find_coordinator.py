"""API 10, FindCoordinator.

Made from spec/kafka/find_coordinator.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, Message, Struct


class FindCoordinatorRequest(Message):
    __slots__ = (
        "coordinator_keys",
        "key",
        "key_type",
    )
    KEY = 10
    VERSIONS = (0, 6)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("key", "string", None, 0, 3, 0, -1, -1, False, ""),
        ("key_type", "int8", None, 1, 6, 0, -1, -1, False, 0),
        ("coordinator_keys", "[]string", None, 4, 6, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        key: str = "",
        key_type: int = 0,
        coordinator_keys: list[str] = FRESH,
    ) -> None:
        self.key: str = key
        self.key_type: int = key_type
        self.coordinator_keys: list[str] = [] if coordinator_keys is FRESH else coordinator_keys


class Coordinator(Struct):
    __slots__ = (
        "error_code",
        "error_message",
        "host",
        "key",
        "node_id",
        "port",
    )
    LAYOUT = (
        ("key", "string", None, 4, 6, 0, -1, -1, False, ""),
        ("node_id", "int32", None, 4, 6, 0, -1, -1, False, 0),
        ("host", "string", None, 4, 6, 0, -1, -1, False, ""),
        ("port", "int32", None, 4, 6, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 4, 6, 0, -1, -1, False, 0),
        ("error_message", "string", None, 4, 6, 4, 6, -1, True, ""),
    )

    def __init__(
        self,
        *,
        key: str = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.key: str = key
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.error_code: int = error_code
        self.error_message: str | None = error_message


class FindCoordinatorResponse(Message):
    __slots__ = (
        "coordinators",
        "error_code",
        "error_message",
        "host",
        "node_id",
        "port",
        "throttle_time_ms",
    )
    KEY = 10
    VERSIONS = (0, 6)
    FLEXIBLE_FROM = 3
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 1, 6, 0, -1, -1, True, 0),
        ("error_code", "int16", None, 0, 3, 0, -1, -1, False, 0),
        ("error_message", "string", None, 1, 3, 1, 3, -1, True, ""),
        ("node_id", "int32", None, 0, 3, 0, -1, -1, False, 0),
        ("host", "string", None, 0, 3, 0, -1, -1, False, ""),
        ("port", "int32", None, 0, 3, 0, -1, -1, False, 0),
        ("coordinators", "[]struct", Coordinator, 4, 6, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        node_id: int = 0,
        host: str = "",
        port: int = 0,
        coordinators: list[Coordinator] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.node_id: int = node_id
        self.host: str = host
        self.port: int = port
        self.coordinators: list[Coordinator] = [] if coordinators is FRESH else coordinators
