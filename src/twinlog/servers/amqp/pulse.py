"""Whether a client still lives, whether it takes what it is sent, and whether it is our turn to show that we live."""

from __future__ import annotations

from typing import Final, NamedTuple

IDLE_HALVES_MAX: Final = 4  # two whole timeouts, looked at twice in each


class Signs(NamedTuple):
    """What is known of a connection at a moment; bytes are counted from its beginning."""

    now_ms: int
    received_bytes: int
    sent_bytes: int
    queued_bytes: int
    """Of what was sent, what the client has not taken yet."""
    is_held: bool
    """We do not read, so nothing can be received."""


class Pulse:
    """``look`` every ``interval_ms``: twice a heartbeat, or as often as the other limit needs."""

    def __init__(self, heartbeat_s: int, stalled_max_ms: int) -> None:
        self.interval_ms: float = stalled_max_ms / 4
        if heartbeat_s:
            self.interval_ms = min(self.interval_ms, heartbeat_s * 500)
        self.owes_beat = False
        self._heartbeat_s = heartbeat_s
        self._stalled_max_ms = stalled_max_ms
        self._halves_idle = 0
        self._has_beaten = False
        self._received_seen = 0
        self._sent_seen = 0
        self._taken_seen = 0
        self._stalled_since_ms = 0

    def begin(self, signs: Signs) -> None:
        self._received_seen = signs.received_bytes
        self._sent_seen = signs.sent_bytes
        self._stalled_since_ms = signs.now_ms

    def look(self, signs: Signs) -> str | None:
        """Why the connection is to be closed, if it is. Else ``owes_beat`` says whether to send a heartbeat now."""
        if self._heartbeat_s:
            if self._is_silent(signs):
                return "missed heartbeats from client"
            self.owes_beat = not self._has_beaten or signs.sent_bytes == self._sent_seen
            self._sent_seen = signs.sent_bytes
        if self._is_stalled(signs):
            return "it takes nothing of what it asked for"
        return None

    def has_beaten(self, size: int) -> None:
        self._has_beaten = True
        self._sent_seen += size

    def _is_silent(self, signs: Signs) -> bool:
        if signs.received_bytes != self._received_seen or signs.is_held:
            self._received_seen = signs.received_bytes
            self._halves_idle = 0
            return False
        self._halves_idle += 1
        waited_ms = self._halves_idle * self.interval_ms
        return self._halves_idle > IDLE_HALVES_MAX and waited_ms > self._heartbeat_s * 2000

    def _is_stalled(self, signs: Signs) -> bool:
        taken = signs.sent_bytes - signs.queued_bytes
        if signs.queued_bytes == 0 or taken != self._taken_seen:
            self._taken_seen = taken
            self._stalled_since_ms = signs.now_ms
            return False
        return signs.now_ms - self._stalled_since_ms >= self._stalled_max_ms
