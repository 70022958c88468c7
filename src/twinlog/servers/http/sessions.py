"""Sessions of browsers: kept here, named by a number nobody can guess, gone with the process."""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from twinlog.host import Chance
from twinlog.servers.http.settings import HttpSettings

ID_SIZE: Final = 32
SESSIONS_MAX: Final = 4096


@dataclass(slots=True, eq=False)
class Session:
    """``token`` goes into a header of every request that changes something; a foreign page cannot know it."""

    user: str
    token: str
    began_ms: int
    used_ms: int
    password_mark: str
    """What the user's password was stored as: a changed password ends the session."""


class Sessions:
    def __init__(self, settings: HttpSettings, chance: Chance, monotonic_ms: Callable[[], int]) -> None:
        self._settings = settings
        self._chance = chance
        self._monotonic_ms = monotonic_ms
        self._sessions: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def begin(self, user: str, password_mark: str) -> tuple[str, Session]:
        """A new id at each login, so that an id that somebody planted is worth nothing."""
        now_ms = self._monotonic_ms()
        if len(self._sessions) >= SESSIONS_MAX:
            self._drop_old(now_ms)
            while len(self._sessions) >= SESSIONS_MAX:
                del self._sessions[next(iter(self._sessions))]
        session_id = self._chance.bytes(ID_SIZE).hex()
        session = Session(user, self._chance.bytes(ID_SIZE).hex(), now_ms, now_ms, password_mark)
        self._sessions[session_id] = session
        return session_id, session

    def find(self, session_id: str) -> Session | None:
        session = self._sessions.get(session_id)
        if session is None:
            return None
        now_ms = self._monotonic_ms()
        if self._is_over(session, now_ms):
            del self._sessions[session_id]
            return None
        session.used_ms = now_ms
        return session

    def is_alive(self, session: Session) -> bool:
        return session in self._sessions.values() and not self._is_over(session, self._monotonic_ms())

    def end(self, session_id: str) -> None:
        self._sessions.pop(session_id, None)

    def _is_over(self, session: Session, now_ms: int) -> bool:
        return (
            now_ms - session.used_ms > self._settings.session_idle_max_ms
            or now_ms - session.began_ms > self._settings.session_max_ms
        )

    def _drop_old(self, now_ms: int) -> None:
        for session_id, session in list(self._sessions.items()):
            if self._is_over(session, now_ms):
                del self._sessions[session_id]


def is_token(session: Session, token: str) -> bool:
    return hmac.compare_digest(session.token.encode(), token.encode())
