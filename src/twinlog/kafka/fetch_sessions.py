"""Fetch sessions: who has one, who gets one when places are short.

A place is given up by the session unused for longest, if it was not used within the protected time; else by the
smallest session older than that, if the newcomer is larger. Otherwise the newcomer goes without, which is correct
and only costs it longer requests.
"""

from __future__ import annotations

from typing import Final

from twinlog.base import Refused
from twinlog.host import Chance
from twinlog.kafka.fetch_view import FetchSession
from twinlog.kafka.settings import KafkaSettings
from twinlog.wire.kafka.errors import ErrorCode

NO_SESSION_ID: Final = 0
EPOCH_FIRST: Final = 0  # make me a session
EPOCH_NONE: Final = -1  # close mine, or never make one


class FetchSessions:
    """All sessions of the node, the longest unused first."""

    def __init__(self, settings: KafkaSettings, chance: Chance) -> None:
        self._settings = settings
        self._chance = chance
        self._sessions: dict[int, FetchSession] = {}
        self.partition_count = 0
        self.evicted_count = 0

    def __len__(self) -> int:
        return len(self._sessions)

    def use(self, session_id: int, epoch: int, uses_ids: bool, now_ms: int) -> FetchSession:
        """The session that an incremental request continues."""
        session = self._sessions.get(session_id)
        if session is None:
            raise Refused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.uses_ids != uses_ids:
            raise Refused(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        if session.epoch != epoch:
            raise Refused(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        session.used_ms = now_ms
        del self._sessions[session_id]
        self._sessions[session_id] = session
        session.next_epoch()
        return session

    def make(self, size: int, uses_ids: bool, now_ms: int) -> FetchSession | None:
        """A new session for ``size`` partitions, if there is a place for it."""
        settings = self._settings
        if not size or self.partition_count + size > settings.fetch_session_partitions_max:
            return None
        if len(self._sessions) >= settings.fetch_sessions_max and not self._evict(size, now_ms):
            return None
        session_id = NO_SESSION_ID
        while session_id == NO_SESSION_ID or session_id in self._sessions:
            session_id = 1 + self._chance.below(2**31 - 1)
        session = self._sessions[session_id] = FetchSession(session_id, uses_ids, now_ms)
        return session

    def close(self, session_id: int) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            self.partition_count -= len(session.entries)
            session.close()

    def resized(self, session: FetchSession, size_before: int) -> None:
        """Keeps the sum of all partitions; a session that outgrows it is refused, and starts again without."""
        self.partition_count += len(session.entries) - size_before
        if self.partition_count > self._settings.fetch_session_partitions_max:
            self.close(session.session_id)
            raise Refused(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)

    def _evict(self, size: int, now_ms: int) -> bool:
        if not self._sessions:
            return False
        before_ms = now_ms - self._settings.fetch_session_protected_ms
        victim = next(iter(self._sessions.values()))
        if victim.used_ms >= before_ms:
            old = [each for each in self._sessions.values() if each.created_ms < before_ms]
            if not old:
                return False
            victim = min(old, key=lambda each: len(each.entries))
            if len(victim.entries) >= size:
                return False
        self.evicted_count += 1
        self.close(victim.session_id)
        return True
