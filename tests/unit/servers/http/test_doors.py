"""Sessions and wrong passwords, against a clock that a test moves."""

from __future__ import annotations

from tests.kit.cluster import SeededChance
from twinlog.servers.http.lockout import FREE_TRIES, KEYS_MAX, WAIT_MAX_MS, Lockout
from twinlog.servers.http.sessions import SESSIONS_MAX, Sessions, is_token
from twinlog.servers.http.settings import HttpSettings


class Clock:
    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> int:
        return self.ms


def sessions(clock: Clock) -> Sessions:
    return Sessions(HttpSettings(), SeededChance(), clock)


def test_a_session_ends_when_it_is_not_used() -> None:
    clock = Clock()
    kept = sessions(clock)
    session_id, _ = kept.begin("bob", "mark")
    clock.ms += HttpSettings().session_idle_max_ms
    assert kept.find(session_id) is not None
    clock.ms += HttpSettings().session_idle_max_ms + 1
    assert kept.find(session_id) is None
    assert len(kept) == 0


def test_a_session_ends_however_much_it_is_used() -> None:
    clock = Clock()
    kept = sessions(clock)
    session_id, session = kept.begin("bob", "mark")
    while clock.ms <= HttpSettings().session_max_ms:
        assert kept.find(session_id) is session
        clock.ms += 60_000
    assert kept.find(session_id) is None
    assert not kept.is_alive(session)


def test_sessions_are_bounded_and_the_oldest_goes() -> None:
    kept = sessions(Clock())
    first, _ = kept.begin("bob", "mark")
    others = [kept.begin("bob", "mark")[0] for _ in range(SESSIONS_MAX)]
    assert len(kept) == SESSIONS_MAX
    assert kept.find(first) is None
    assert kept.find(others[-1]) is not None


def test_ids_and_tokens_are_long_and_never_the_same() -> None:
    kept = sessions(Clock())
    made = [kept.begin("bob", "mark") for _ in range(50)]
    assert len({session_id for session_id, _ in made} | {session.token for _, session in made}) == 100
    assert all(len(session_id) == 64 for session_id, _ in made)
    assert is_token(made[0][1], made[0][1].token)
    assert not is_token(made[0][1], made[1][1].token)


def test_each_wrong_password_makes_the_next_try_wait_longer() -> None:
    clock = Clock()
    lockout = Lockout(clock)
    for _ in range(FREE_TRIES):
        assert lockout.wait_ms("1.2.3.4", "bob") == 0
        lockout.failed("1.2.3.4", "bob")
    waits = []
    for _ in range(8):
        waits.append(lockout.wait_ms("1.2.3.4", "bob"))
        clock.ms += waits[-1]
        assert lockout.wait_ms("1.2.3.4", "bob") == 0
        lockout.failed("1.2.3.4", "bob")
    assert waits[:3] == [1000, 2000, 4000]
    assert waits[-1] == WAIT_MAX_MS
    assert lockout.wait_ms("1.2.3.4", "eve") == 0
    assert lockout.wait_ms("5.6.7.8", "bob") == 0, "nobody can lock a user out from elsewhere"


def test_a_right_password_forgives() -> None:
    lockout = Lockout(Clock())
    for _ in range(FREE_TRIES + 1):
        lockout.failed("1.2.3.4", "bob")
    lockout.succeeded("1.2.3.4", "bob")
    assert lockout.wait_ms("1.2.3.4", "bob") == 0


def test_many_names_from_one_address_wait_together_and_are_bounded() -> None:
    lockout = Lockout(Clock())
    for number in range(KEYS_MAX + 100):
        lockout.failed("1.2.3.4", f"user{number}")
    assert lockout.wait_ms("1.2.3.4", "somebody else") > 0
    assert len(lockout._failures) <= KEYS_MAX
