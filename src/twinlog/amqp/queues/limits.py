"""What a queue's arguments and policies ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from twinlog.amqp.arguments import DEAD_LETTER_EXCHANGE, DEAD_LETTER_KEY

DROP_HEAD: Final = "drop-head"
REJECT: Final = "reject-publish"
REJECT_DEAD_LETTER: Final = "reject-publish-dlx"


class Limits:
    """Follows the policies: made anew whenever they change. None is no limit."""

    __slots__ = (
        "body_bytes_max",
        "count_max",
        "dead_letter_exchange",
        "dead_letter_key",
        "expires_ms",
        "message_ttl_ms",
        "overflow",
    )

    def __init__(self, effective: Mapping[str, Any]) -> None:
        self.count_max: int | None = effective.get("x-max-length")
        self.body_bytes_max: int | None = effective.get("x-max-length-bytes")
        self.overflow: str = effective.get("x-overflow", DROP_HEAD)
        self.message_ttl_ms: int | None = effective.get("x-message-ttl")
        self.expires_ms: int | None = effective.get("x-expires")
        self.dead_letter_exchange: str | None = effective.get(DEAD_LETTER_EXCHANGE)
        self.dead_letter_key: str | None = effective.get(DEAD_LETTER_KEY)

    @property
    def any_length(self) -> bool:
        return self.count_max is not None or self.body_bytes_max is not None

    @property
    def rejects(self) -> bool:
        return self.any_length and self.overflow != DROP_HEAD
