"""Two shops: one on the web, which speaks Kafka, and tills, which speak AMQP. Both keep books of what they sold."""

from __future__ import annotations

import json
import random
import threading
import time
from datetime import UTC, datetime
from typing import Any, Final

import confluent_kafka
import pika

from twinlog.base.address import parse_address

WEB: Final = "web-orders"
TILL: Final = "till-orders"  # a stream queue for AMQP, a topic for everybody else
TOPICS: Final = (WEB, TILL)
A_SECOND: Final = {"web": 150, "till": 100}
BAD_EVERY: Final = 250
CUSTOMERS: Final = [f"customer-{number:02}" for number in range(20)]
CONFIRM_S: Final = 30


class Books:
    """What was sold, and confirmed by the broker."""

    def __init__(self) -> None:
        self.orders: list[dict[str, Any]] = []
        self.bad: list[bytes] = []
        self._lock = threading.Lock()
        self._chance = random.Random(7)

    def count(self, channel: str) -> int:
        with self._lock:
            return sum(1 for order in self.orders if order["channel"] == channel)

    def sell(self, channel: str) -> bytes:
        """The next order as the shop sends it. Now and then a shop sends nonsense."""
        with self._lock:
            number = len(self.orders) + len(self.bad)
            if number % BAD_EVERY == BAD_EVERY - 1:
                self.bad.append(b"%s sends nonsense, number %d" % (channel.encode(), number))
                return self.bad[-1]
            order = {
                "id": number,
                "channel": channel,
                "customer": self._chance.choice(CUSTOMERS),
                "cents": self._chance.randrange(100, 20_000),
                "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            }
            self.orders.append(order)
            return json.dumps(order).encode()


class Pace:
    """So many a second, for so long."""

    def __init__(self, channel: str, seconds: float) -> None:
        self._rate = A_SECOND[channel]
        self._began_s = time.monotonic()
        self._seconds = seconds
        self._done = 0

    def due(self) -> int | None:
        """How many are due by now; None when it is over."""
        passed_s = time.monotonic() - self._began_s
        if passed_s >= self._seconds and self._done:
            return None
        due = int(passed_s * self._rate) - self._done
        self._done += due
        return due


def sell_on_the_web(address: str, books: Books, seconds: float) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": address, "linger.ms": 5})
    pace = Pace("web", seconds)
    while (due := pace.due()) is not None:
        for _ in range(due):
            producer.produce(WEB, books.sell("web"))
        producer.poll(0.02)
    left = producer.flush(CONFIRM_S)
    assert left == 0, f"{left} orders were not confirmed"


def till(address: str) -> pika.BlockingConnection:
    host, port = parse_address(address)
    return pika.BlockingConnection(pika.ConnectionParameters(host, port))


def open_queue(address: str) -> None:
    """A stream queue: what AMQP publishes into it, Kafka clients and Spark read as a topic."""
    with till(address) as connection:
        connection.channel().queue_declare(TILL, durable=True, arguments={"x-queue-type": "stream"})


def sell_at_the_till(address: str, books: Books, seconds: float) -> None:
    with till(address) as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        properties = pika.BasicProperties(content_type="application/json", delivery_mode=2)
        pace = Pace("till", seconds)
        while (due := pace.due()) is not None:
            for _ in range(due):
                channel.basic_publish("", TILL, books.sell("till"), properties)
            connection.sleep(0.02)
