"""When a connection is kept, when it is shown a heartbeat, when it is given up."""

from __future__ import annotations

from twinlog.servers.amqp.pulse import Pulse, Signs

SILENT = "missed heartbeats from client"
STALLED = "it takes nothing of what it asked for"


class Line:
    """A connection as its pulse sees it."""

    def __init__(self, heartbeat_s: int, stalled_max_ms: int = 60_000) -> None:
        self.signs = Signs(0, 8, 8, 0, False)
        self.pulse = Pulse(heartbeat_s, stalled_max_ms)
        self.pulse.begin(self.signs)

    def look(self, received: int = 0, sent: int = 0, queued: int = 0, is_held: bool = False) -> str | None:
        """One interval later."""
        self.signs = Signs(
            self.signs.now_ms + int(self.pulse.interval_ms),
            self.signs.received_bytes + received,
            self.signs.sent_bytes + sent,
            queued,
            is_held,
        )
        return self.pulse.look(self.signs)


def test_it_is_looked_at_twice_a_heartbeat_or_four_times_in_the_patience_with_who_takes_nothing() -> None:
    assert Pulse(10, 60_000).interval_ms == 5000
    assert Pulse(60, 60_000).interval_ms == 15_000
    assert Pulse(0, 60_000).interval_ms == 15_000


def test_the_first_heartbeat_is_owed_whatever_was_sent_and_the_next_only_after_silence() -> None:
    line = Line(heartbeat_s=2)
    assert line.look(received=1, sent=100) is None
    assert line.pulse.owes_beat
    line.pulse.has_beaten(8)
    line.look(received=1, sent=8 + 100)
    assert not line.pulse.owes_beat
    line.look(received=1)
    assert line.pulse.owes_beat


def test_a_heartbeat_of_ours_does_not_count_as_traffic() -> None:
    line = Line(heartbeat_s=2)
    for _ in range(4):
        line.look(received=1, sent=8 if line.pulse.owes_beat else 0)
        assert line.pulse.owes_beat
        line.pulse.has_beaten(8)


def test_two_whole_timeouts_without_a_byte_are_too_many() -> None:
    line = Line(heartbeat_s=2)
    assert [line.look() for _ in range(5)] == [None] * 4 + [SILENT]


def test_any_byte_and_any_time_in_which_nothing_is_read_start_the_count_anew() -> None:
    line = Line(heartbeat_s=2)
    for sign in ({"received": 1}, {"is_held": True}):
        assert [line.look() for _ in range(4)] == [None] * 4
        assert line.look(**sign) is None
    assert [line.look() for _ in range(5)] == [None] * 4 + [SILENT]


def test_without_a_heartbeat_nobody_is_too_silent_and_nothing_is_owed() -> None:
    line = Line(heartbeat_s=0)
    assert [line.look() for _ in range(50)] == [None] * 50
    assert not line.pulse.owes_beat


def test_who_takes_nothing_is_given_up_and_who_takes_little_is_not() -> None:
    line = Line(heartbeat_s=0, stalled_max_ms=4000)
    assert line.look(sent=1000, queued=1000) is None
    for queued in (900, 800, 700, 600, 500):
        assert line.look(queued=queued) is None
    assert [line.look(queued=500) for _ in range(4)] == [None, None, None, STALLED]
