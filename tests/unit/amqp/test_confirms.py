"""Confirms leave in order, together, and only when the disk has what they confirm."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from twinlog.amqp.channel.confirms import Confirms
from twinlog.base import HostFault

CHANNEL = 3


class Disk:
    def __init__(self) -> None:
        self.waiting: dict[int, Callable[[HostFault | None], None]] = {}

    def when_durable(self, mark: int, done: Callable[[HostFault | None], None]) -> None:
        self.waiting[mark] = done


class World:
    def __init__(self) -> None:
        self.sent: list[tuple[str, int, bool]] = []
        self.unsynced = 0
        self.disk = Disk()
        self.confirms = Confirms(CHANNEL, self._send, self._hold)
        self.confirms.is_on = True

    def _send(self, data: bytes) -> None:
        kind, channel, size, class_id, method_id, tag, multiple, end = struct.unpack(">BHIHHQBB", data)
        assert (kind, channel, size, class_id, end) == (1, CHANNEL, len(data) - 8, 60, 0xCE)
        self.sent.append(({80: "ack", 120: "nack"}[method_id], tag, bool(multiple)))

    def _hold(self, size: int) -> None:
        self.unsynced += size

    def turn(self, *runs: tuple[int, int, int]) -> None:
        for accepted, refused, mark in runs:
            self.confirms.note(accepted, refused, mark, 100)
        self.confirms.end_turn(self.disk.when_durable)

    def durable(self, mark: int, fault: HostFault | None = None) -> list[Any]:
        self.disk.waiting.pop(mark)(fault)
        sent, self.sent = self.sent, []
        return sent


def test_all_of_a_turn_is_confirmed_by_one_frame_when_it_is_durable() -> None:
    world = World()
    world.turn((10, 0, 1), (5, 0, 2))
    assert world.sent == []
    assert world.durable(2) == [("ack", 15, True)]


def test_a_single_message_is_confirmed_alone() -> None:
    world = World()
    world.turn((1, 0, 1))
    assert world.durable(1) == [("ack", 1, False)]


def test_what_needs_no_disk_is_confirmed_at_once() -> None:
    world = World()
    world.turn((3, 0, 0))
    assert world.sent == [("ack", 3, True)]


def test_confirms_keep_the_order_of_publishing() -> None:
    world = World()
    world.turn((2, 0, 1))
    world.turn((3, 0, 0))
    assert world.sent == []
    assert world.durable(1) == [("ack", 5, True)]


def test_what_a_queue_refused_is_nacked_and_nothing_else() -> None:
    world = World()
    world.turn((2, 3, 1), (1, 0, 1))
    assert world.durable(1) == [("ack", 2, True), ("nack", 5, True), ("ack", 6, False)]


def test_a_disk_that_fails_makes_nacks() -> None:
    world = World()
    world.turn((4, 0, 1))
    assert world.durable(1, HostFault("disk")) == [("nack", 4, True)]


def test_nothing_is_confirmed_after_the_channel_is_closed() -> None:
    world = World()
    world.turn((4, 0, 1))
    world.confirms.forget()
    assert world.durable(1) == []


def test_what_the_disk_has_not_got_is_counted() -> None:
    world = World()
    world.turn((4, 0, 1), (4, 0, 1))
    assert world.unsynced == 200
    world.durable(1)
    assert world.unsynced == 0
