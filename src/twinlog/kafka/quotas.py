"""The door where quotas are charged: every produce and fetch passes it, the answer says how long to be quiet.

The reply leaves at once with the delay in ``throttle_time_ms``; the connection is then not read for so long.
"""

from __future__ import annotations

from typing import Protocol


class Quotas(Protocol):
    """Charges bytes to a client; returns for how many ms its connection stays muted (0: not at all)."""

    def charge_produce(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int: ...
    def charge_fetch(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int: ...


class NoQuotas:
    """Nobody is slowed down."""

    def charge_produce(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
        return 0

    def charge_fetch(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
        return 0
