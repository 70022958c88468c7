"""API 71, GetTelemetrySubscriptions.

Made from spec/kafka/get_telemetry_subscriptions.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, ZERO_UUID, Message


class GetTelemetrySubscriptionsRequest(Message):
    __slots__ = ("client_instance_id",)
    KEY = 71
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (("client_instance_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),)

    def __init__(
        self,
        *,
        client_instance_id: bytes = ZERO_UUID,
    ) -> None:
        self.client_instance_id: bytes = client_instance_id


class GetTelemetrySubscriptionsResponse(Message):
    __slots__ = (
        "accepted_compression_types",
        "client_instance_id",
        "delta_temporality",
        "error_code",
        "push_interval_ms",
        "requested_metrics",
        "subscription_id",
        "telemetry_max_bytes",
        "throttle_time_ms",
    )
    KEY = 71
    VERSIONS = (0, 0)
    FLEXIBLE_FROM = 0
    LAYOUT = (
        ("throttle_time_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("error_code", "int16", None, 0, 0, 0, -1, -1, False, 0),
        ("client_instance_id", "uuid", None, 0, 0, 0, -1, -1, False, ZERO_UUID),
        ("subscription_id", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("accepted_compression_types", "[]int8", None, 0, 0, 0, -1, -1, False, FRESH),
        ("push_interval_ms", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("telemetry_max_bytes", "int32", None, 0, 0, 0, -1, -1, False, 0),
        ("delta_temporality", "bool", None, 0, 0, 0, -1, -1, False, False),
        ("requested_metrics", "[]string", None, 0, 0, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        client_instance_id: bytes = ZERO_UUID,
        subscription_id: int = 0,
        accepted_compression_types: list[int] = FRESH,
        push_interval_ms: int = 0,
        telemetry_max_bytes: int = 0,
        delta_temporality: bool = False,
        requested_metrics: list[str] = FRESH,
    ) -> None:
        self.throttle_time_ms: int = throttle_time_ms
        self.error_code: int = error_code
        self.client_instance_id: bytes = client_instance_id
        self.subscription_id: int = subscription_id
        self.accepted_compression_types: list[int] = (
            [] if accepted_compression_types is FRESH else accepted_compression_types
        )
        self.push_interval_ms: int = push_interval_ms
        self.telemetry_max_bytes: int = telemetry_max_bytes
        self.delta_temporality: bool = delta_temporality
        self.requested_metrics: list[str] = [] if requested_metrics is FRESH else requested_metrics
