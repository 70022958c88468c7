"""API 40, ExpireDelegationToken.

Made from spec/kafka/expire_delegation_token.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class ExpireDelegationTokenRequest(Message):
    __slots__ = (
        "expiry_time_period_ms",
        "hmac",
    )
    KEY = 40
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("hmac", "bytes", None, 1, 2, 0, -1, -1, False, b""),
        ("expiry_time_period_ms", "int64", None, 1, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        hmac: bytes = b"",
        expiry_time_period_ms: int = 0,
    ) -> None:
        self.hmac: bytes = hmac
        self.expiry_time_period_ms: int = expiry_time_period_ms


class ExpireDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "throttle_time_ms",
    )
    KEY = 40
    VERSIONS = (1, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("error_code", "int16", None, 1, 2, 0, -1, -1, False, 0),
        ("expiry_timestamp_ms", "int64", None, 1, 2, 0, -1, -1, False, 0),
        ("throttle_time_ms", "int32", None, 1, 2, 0, -1, -1, False, 0),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        expiry_timestamp_ms: int = 0,
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.expiry_timestamp_ms: int = expiry_timestamp_ms
        self.throttle_time_ms: int = throttle_time_ms
