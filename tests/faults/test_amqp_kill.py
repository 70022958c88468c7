"""``kill -9`` while publishers wait for confirms and a consumer acknowledges: what was confirmed is there."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path

import pytest

from tests.compat.target import Server
from tests.scenarios.amqp.raw import PERSISTENT, Client, Closed, Message, Refusal
from twinlog.wire.amqp import methods as wire

QUEUE = "work"
WINDOW = 40
GONE = (ConnectionError, OSError, Closed, Refusal)


class Publisher(threading.Thread):
    """Publishes numbered messages under confirm until the broker is gone. No number is ever used twice."""

    def __init__(self, address: str, name: str) -> None:
        super().__init__(name=name)
        self.address = address
        self.sent = 0
        self.confirmed = 0

    def bodies(self) -> list[bytes]:
        """Those that were confirmed."""
        return [self.body(number) for number in range(1, self.confirmed + 1)]

    def body(self, number: int) -> bytes:
        return f"{self.name}:{number:08d}".encode()

    def run(self) -> None:
        with contextlib.suppress(*GONE), Client(self.address).opened() as client:
            channel = client.channel()
            channel.confirm_select()
            while True:
                while self.sent - self.confirmed < WINDOW:
                    self.sent += 1
                    channel.publish("", QUEUE, self.body(self.sent), PERSISTENT)
                self.confirmed = channel.expect(wire.BasicAck).delivery_tag


class Consumer(threading.Thread):
    """Acknowledges what it gets, with a few always under way."""

    def __init__(self, address: str, seen: list[tuple[bytes, bool]]) -> None:
        super().__init__(name="consumer")
        self.address = address
        self.seen = seen

    def run(self) -> None:
        with contextlib.suppress(*GONE), Client(self.address).opened() as client:
            channel = client.channel()
            channel.qos(20)
            channel.consume(QUEUE)
            while True:
                message = channel.expect(Message)
                self.seen.append((message.body, message.method.redelivered))
                channel.ack(message.tag)


def check(seen: list[tuple[bytes, bool]], confirmed: set[bytes]) -> None:
    counts: dict[bytes, int] = {}
    last: dict[bytes, bytes] = {}
    for body, redelivered in seen:
        counts[body] = counts.get(body, 0) + 1
        assert counts[body] == 1 or redelivered, f"{body!r} came a second time without a mark"
        publisher = body.partition(b":")[0]
        if not redelivered:
            assert last.get(publisher, b"") < body, f"{body!r} came after {last[publisher]!r}"
            last[publisher] = body
    assert confirmed - set(counts) == set(), "confirmed messages are lost"


@pytest.mark.parametrize("kills", [3])
def test_what_was_confirmed_survives_being_killed(tmp_path: Path, kills: int) -> None:
    settings = {"amqp.listen": "127.0.0.1:0", "kafka.listen": "off"}
    seen: list[tuple[bytes, bool]] = []
    confirmed: set[bytes] = set()
    with Server(tmp_path / "data", settings=settings) as server:
        with Client(server.amqp).opened() as client:
            client.channel().queue(QUEUE, durable=True)
        for life in range(kills):
            publishers = [Publisher(server.amqp, f"p{life}{number}") for number in range(2)]
            threads = [*publishers, Consumer(server.amqp, seen)]
            for thread in threads:
                thread.start()
            enough = 300 * (life + 1)
            deadline = time.monotonic() + 30
            while any(each.confirmed < enough for each in publishers) and time.monotonic() < deadline:
                time.sleep(0.005)
            server.kill()
            for thread in threads:
                thread.join(20)
            confirmed |= {body for each in publishers for body in each.bodies()}
            server.start()
        with Client(server.amqp).opened() as client:
            channel = client.channel()
            while (message := channel.get(QUEUE, no_ack=True)) is not None:
                seen.append((message.body, message.method.redelivered))
    assert len(confirmed) >= 300 * kills
    check(seen, confirmed)
