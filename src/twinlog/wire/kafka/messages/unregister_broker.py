"""API 64, UnregisterBroker.

Made from spec/kafka/unregister_broker.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class UnregisterBrokerRequest(Message):
    __slots__ = ("broker_id",)
    KEY = 64
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (("broker_id", "int32", None, 0, 0, 0, -1, -1, False, 0),)

    def __init__(
        self,
        *,
        broker_id: int = 0,
    ) -> None:
        self.broker_id: int = broker_id


class UnregisterBrokerResponse(Message):
    __slots__ = (
        "error_code",
        "error_message",
        "throttle_time_ms",
    )
    KEY = 64
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 0, 0, 0, -1, False, ""),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.error_message: str | None = error_message
