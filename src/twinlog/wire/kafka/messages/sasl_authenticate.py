"""API 36, SaslAuthenticate.

Made from spec/kafka/sasl_authenticate.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import Message


class SaslAuthenticateRequest(Message):
    __slots__ = ("auth_bytes",)
    KEY = 36
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (("auth_bytes", "bytes", None, 0, 2, 0, -1, -1, False, b""),)

    def __init__(
        self,
        *,
        auth_bytes: bytes = b"",
    ) -> None:
        self.auth_bytes: bytes = auth_bytes


class SaslAuthenticateResponse(Message):
    __slots__ = (
        "auth_bytes",
        "error_code",
        "error_message",
        "session_lifetime_ms",
    )
    KEY = 36
    VERSIONS = (0, 2)
    FLEXIBLE_FROM = 2
    LAYOUT = (
        ("error_code", "int16", None, 0, 2, 0, -1, -1, False, 0),
        ("error_message", "string", None, 0, 2, 0, 2, -1, False, ""),
        ("auth_bytes", "bytes", None, 0, 2, 0, -1, -1, False, b""),
        ("session_lifetime_ms", "int64", None, 1, 2, 0, -1, -1, True, 0),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        error_message: str | None = "",
        auth_bytes: bytes = b"",
        session_lifetime_ms: int = 0,
    ) -> None:
        self.error_code: int = error_code
        self.error_message: str | None = error_message
        self.auth_bytes: bytes = auth_bytes
        self.session_lifetime_ms: int = session_lifetime_ms
