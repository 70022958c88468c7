"""Publishers under confirm and a consumer that acknowledges, on one durable queue, and a ledger that judges them.

The consumer now and then publishes a receipt on its own channel and waits for its confirm: whatever it acknowledged
before is then on stable storage, too, and must never come back.
"""

from __future__ import annotations

import threading
from collections import deque

from tests.scenarios.amqp.raw import PERSISTENT, Client, Closed, Message, Refusal
from twinlog.wire.amqp import methods as wire

QUEUE = "work"
RECEIPTS = "receipts"
WINDOW = 40
PREFETCH = 20
ACKS_PER_RECEIPT = 10
TIMEOUT_S = 20.0
GONE = (OSError, Closed, Refusal)  # of the broker, in whatever way


class Ledger:
    """What was published, confirmed, delivered and acknowledged through all lives of a broker; ``broken`` is what a
    consumer must never see. Bodies are ``publisher:number``."""

    def __init__(self) -> None:
        self.confirmed: set[bytes] = set()
        self.acknowledged: set[bytes] = set()  # an acknowledgement was sent; whether it was stored nobody knows
        self.over: set[bytes] = set()  # it was
        self.delivered: dict[bytes, int] = {}
        self.broken: list[str] = []
        self._last: dict[bytes, bytes] = {}

    def deliver(self, body: bytes, redelivered: bool) -> None:
        times = self.delivered[body] = self.delivered.get(body, 0) + 1
        if body in self.over:
            self.broken.append(f"{body!r} came back, and its acknowledgement was stored")
        if times > 1 and not redelivered:
            self.broken.append(f"{body!r} came a second time without a mark")
        publisher = body.partition(b":")[0]
        if not redelivered:
            if body <= self._last.get(publisher, b""):
                self.broken.append(f"{body!r} came after {self._last[publisher]!r}")
            self._last[publisher] = body

    def lost(self) -> set[bytes]:
        """Once the queue is empty: what was confirmed, and is neither there nor was acknowledged."""
        return self.confirmed - self.acknowledged

    def drain(self, address: str) -> int:
        """Takes all that is there; returns how many those were."""
        count = 0
        with Client(address) as client:
            client.opened()
            channel = client.channel()
            while (message := channel.get(QUEUE, no_ack=True)) is not None:
                self.deliver(message.body, message.method.redelivered)
                self.acknowledged.add(message.body)
                count += 1
            client.close()  # a clean one: no_ack counts when the broker has read on
        return count


class Publisher(threading.Thread):
    """Publishes numbered messages under confirm until it is told to stop or the broker is gone. No number is ever used
    twice."""

    def __init__(self, address: str, name: str, stopped: threading.Event | None = None) -> None:
        super().__init__(name=name)
        self.address = address
        self.sent = 0
        self.confirmed = 0
        self.failure: BaseException | None = None
        self._stopped = stopped or threading.Event()

    def bodies(self) -> list[bytes]:
        """Those that were confirmed."""
        return [self.body(number) for number in range(1, self.confirmed + 1)]

    def body(self, number: int) -> bytes:
        return f"{self.name}:{number:08d}".encode()

    def run(self) -> None:
        try:
            with Client(self.address, TIMEOUT_S) as client:
                client.opened()
                channel = client.channel()
                channel.confirm_select()
                while not self._stopped.is_set() or self.confirmed < self.sent:
                    while self.sent - self.confirmed < WINDOW and not self._stopped.is_set():
                        self.sent += 1
                        channel.publish("", QUEUE, self.body(self.sent), PERSISTENT)
                    answer = channel.next_thing()
                    if isinstance(answer, wire.BasicNack):
                        return  # the disk is gone; nothing behind it was confirmed either
                    assert isinstance(answer, wire.BasicAck), answer
                    assert answer.delivery_tag > self.confirmed and (
                        answer.multiple or answer.delivery_tag == self.confirmed + 1
                    )
                    self.confirmed = answer.delivery_tag
        except GONE:
            pass
        except BaseException as failure:
            self.failure = failure


class Consumer(threading.Thread):
    """Acknowledges what it gets, with a few always under way."""

    def __init__(self, address: str, ledger: Ledger, stopped: threading.Event | None = None) -> None:
        super().__init__(name="consumer")
        self.address = address
        self.failure: BaseException | None = None
        self.over = 0  # so many of ``acknowledged`` are known to be stored
        self.acknowledged: list[bytes] = []
        self._ledger = ledger
        self._stopped = stopped or threading.Event()
        self._receipts: deque[tuple[int, int]] = deque()  # number of a receipt, and how many it is for

    def run(self) -> None:
        try:
            with Client(self.address, TIMEOUT_S) as client:
                client.opened()
                channel = client.channel()
                channel.confirm_select()
                channel.qos(PREFETCH)
                channel.consume(QUEUE)
                receipts = 0
                while not self._stopped.is_set():
                    thing = channel.next_thing()
                    if isinstance(thing, wire.BasicAck):
                        while self._receipts and self._receipts[0][0] <= thing.delivery_tag:
                            self.over = self._receipts.popleft()[1]
                        continue
                    if isinstance(thing, wire.BasicNack):
                        return
                    assert isinstance(thing, Message), thing
                    self._ledger.deliver(thing.body, thing.method.redelivered)
                    self.acknowledged.append(thing.body)
                    channel.ack(thing.tag)
                    if len(self.acknowledged) % ACKS_PER_RECEIPT == 0:
                        receipts += 1
                        channel.publish("", RECEIPTS, b"", PERSISTENT)
                        self._receipts.append((receipts, len(self.acknowledged)))
        except GONE:
            pass
        except BaseException as failure:
            self.failure = failure


def declare(address: str) -> None:
    with Client(address) as client:
        client.opened()
        channel = client.channel()
        channel.queue(QUEUE, durable=True)
        channel.queue(RECEIPTS, durable=True, arguments={"x-max-length": 1})
        client.close()


class QueueLoad:
    """One life: two publishers and a consumer. ``end`` enters what they were told into the ledger."""

    def __init__(self, address: str, ledger: Ledger, life: int, publishers: int = 2) -> None:
        self._ledger = ledger
        self._stopped = threading.Event()
        self.publishers = [Publisher(address, f"p{life:05d}{number}", self._stopped) for number in range(publishers)]
        self.consumer = Consumer(address, ledger, self._stopped)
        for thread in (*self.publishers, self.consumer):
            thread.start()

    def stop(self) -> None:
        """Nothing new is published."""
        self._stopped.set()

    def end(self) -> None:
        """The broker is gone, or goes on without them."""
        self.stop()
        for thread in (*self.publishers, self.consumer):
            thread.join(3 * TIMEOUT_S)
            assert not thread.is_alive(), f"{thread.name} hangs"
        for thread in (*self.publishers, self.consumer):
            if thread.failure is not None:
                raise thread.failure
        self._ledger.confirmed.update(body for each in self.publishers for body in each.bodies())
        self._ledger.acknowledged.update(self.consumer.acknowledged)
        self._ledger.over.update(self.consumer.acknowledged[: self.consumer.over])
