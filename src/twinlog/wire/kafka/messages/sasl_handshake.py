"""API 17, SaslHandshake.

Made from spec/kafka/sasl_handshake.txt by codegen/generate_kafka.py: change it there.
"""

from __future__ import annotations

from twinlog.wire.kafka.message import FRESH, NEVER, Message


class SaslHandshakeRequest(Message):
    __slots__ = ("mechanism",)
    KEY = 17
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (("mechanism", "string", None, 0, 1, 0, -1, -1, False, ""),)

    def __init__(
        self,
        *,
        mechanism: str = "",
    ) -> None:
        self.mechanism: str = mechanism


class SaslHandshakeResponse(Message):
    __slots__ = (
        "error_code",
        "mechanisms",
    )
    KEY = 17
    VERSIONS = (0, 1)
    FLEXIBLE_FROM = NEVER
    LAYOUT = (
        ("error_code", "int16", None, 0, 1, 0, -1, -1, False, 0),
        ("mechanisms", "[]string", None, 0, 1, 0, -1, -1, False, FRESH),
    )

    def __init__(
        self,
        *,
        error_code: int = 0,
        mechanisms: list[str] = FRESH,
    ) -> None:
        self.error_code: int = error_code
        self.mechanisms: list[str] = [] if mechanisms is FRESH else mechanisms
