"""pika on the queue of ``queue_load``: a publisher that waits for each confirm, and a consumer that acknowledges."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pika
from pika.adapters.blocking_connection import BlockingChannel
from pika.exceptions import AMQPError

from tests.faults.queue_load import QUEUE, Ledger
from twinlog.base.address import parse_address

GONE = (AMQPError, OSError)
LOOK_S = 0.2
PERSISTENT = pika.BasicProperties(delivery_mode=2)


class PikaLoad:
    """One life of the broker: both run until it is gone or they are told to stop."""

    def __init__(self, address: str, ledger: Ledger, life: int) -> None:
        self._address = parse_address(address)
        self._ledger = ledger
        self._name = f"pika{life:05d}"
        self._stopped = threading.Event()
        self._failures: list[BaseException] = []
        self.confirmed: list[bytes] = []
        self.acknowledged: list[bytes] = []
        self._threads = [threading.Thread(target=self._guarded, args=(work,)) for work in (self._publish, self._take)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "pika hangs"
        if self._failures:
            raise self._failures[0]
        self._ledger.confirmed.update(self.confirmed)
        self._ledger.acknowledged.update(self.acknowledged)

    def _guarded(self, work: Callable[[BlockingChannel], None]) -> None:
        host, port = self._address
        try:
            connection = pika.BlockingConnection(pika.ConnectionParameters(host, port, heartbeat=0, socket_timeout=20))
            try:
                work(connection.channel())
            finally:
                if connection.is_open:
                    connection.close()
        except GONE:
            pass
        except BaseException as failure:
            self._failures.append(failure)

    def _publish(self, channel: BlockingChannel) -> None:
        channel.confirm_delivery()
        number = 0
        while not self._stopped.is_set():
            number += 1
            body = f"{self._name}:{number:08d}".encode()
            channel.basic_publish("", QUEUE, body, PERSISTENT)
            self.confirmed.append(body)

    def _take(self, channel: BlockingChannel) -> None:
        channel.basic_qos(prefetch_count=20)
        for method, _, body in channel.consume(QUEUE, inactivity_timeout=LOOK_S):
            if self._stopped.is_set():
                return
            if method is not None:
                self._ledger.deliver(body, method.redelivered)
                self.acknowledged.append(body)
                channel.basic_ack(method.delivery_tag)
