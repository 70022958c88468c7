"""API 72, PushTelemetry.

Made from spec/kafka/push_telemetry.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import ZERO_UUID, Message


class PushTelemetryRequest(Message):
    __slots__ = (
        "client_instance_id",
        "compression_type",
        "metrics",
        "subscription_id",
        "terminating",
    )
    KEY = 72
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("client_instance_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("subscription_id", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("terminating", "bool", None, 0, 0, 0, -1, -1, False, False),
        ("compression_type", "int8", None, 0, 0, 0, -1, -1, False, 0),
        ("metrics", "bytes", None, 0, 0, 0, -1, -1, False, b""),
    )

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        terminating: bool = False,
        compression_type: int = 0,
        metrics: bytes = b"",
    ) -> None:
        self.client_instance_id: bytes = client_instance_id
        self.subscription_id: int = subscription_id
        self.terminating: bool = terminating
        self.compression_type: int = compression_type
        self.metrics: bytes = metrics


class PushTelemetryResponse(Message):
    __slots__ = (
        "error_code",
        "throttle_time_ms",
    )
    KEY = 72
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
