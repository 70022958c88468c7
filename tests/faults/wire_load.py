"""Cheap clients for real brokers: our own bytes over blocking sockets, several requests in flight."""

from __future__ import annotations

import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import closing
from typing import Any

from twinlog import _kernel
from twinlog.client import admin
from twinlog.client.connection import Answer, Connection
from twinlog.client.reader import Reader
from twinlog.wire.kafka.message import Message
from twinlog.wire.kafka.messages import (
    FetchResponse,
    MetadataRequest,
    MetadataResponse,
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

IN_FLIGHT = 5
TIMEOUT_S = 20


class Caller:
    """One connection. ``ConnectionError`` or ``OSError`` when it ends."""

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._socket = socket.create_connection((host, int(port)), timeout=TIMEOUT_S)
        self._core = Connection("faults")
        self._answers: deque[Answer] = deque()
        try:
            self._socket.sendall(self._core.hello())
            self.take()
        except OSError:
            self._socket.close()
            raise

    def send(self, message: Message) -> None:
        self._socket.sendall(self._core.request(message)[1])

    def take(self) -> Answer:
        while not self._answers:
            data = self._socket.recv(1 << 16)
            if not data:
                raise ConnectionError("closed")
            self._answers.extend(self._core.receive(data))
        return self._answers.popleft()

    def call(self, message: Message) -> Answer:
        self.send(message)
        return self.take()

    def close(self) -> None:
        self._socket.close()


def batch(topic: str, partition: int, values: list[bytes]) -> ProduceRequest:
    records = _kernel.build_batch([(0, None, value, None) for value in values])
    data = [PartitionProduceData(index=partition, records=records)]
    return ProduceRequest(acks=-1, timeout_ms=10_000, topic_data=[TopicProduceData(name=topic, partition_data=data)])


class Load:
    """Writers of one partition each, and one who makes topics. What they were told: ``confirmed`` and ``made``."""

    def __init__(self, address: str, topic: str, writers: int = 3) -> None:
        self.topic = topic
        self.confirmed: dict[tuple[int, int], bytes] = {}  # (partition, offset) -> value
        self.made: list[str] = []
        self.failures: list[BaseException] = []
        self.unknown = 0
        self._address = address
        self._stopped = threading.Event()
        with closing(Caller(address)) as caller:
            answer: Any = caller.call(admin.create_topic(topic, writers, 1, {"segment.ms": "100"})).message
        assert answer.topics[0].error_code == 0, answer.topics[0].error_message
        self._threads = [threading.Thread(target=self._guarded, args=(self._write, index)) for index in range(writers)]
        self._threads.append(threading.Thread(target=self._guarded, args=(self._make_topics, 0)))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Nothing new is sent; what was sent gets its answer, or loses its connection."""
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def _guarded(self, work: Callable[[Caller, int], None], index: int) -> None:
        try:
            with closing(Caller(self._address)) as caller:
                work(caller, index)
        except OSError:
            pass  # the broker went down, which was the point
        except BaseException as error:
            self.failures.append(error)

    def _write(self, caller: Caller, partition: int) -> None:
        sent: deque[list[bytes]] = deque()
        number = 0
        try:
            while sent or not self._stopped.is_set():
                while len(sent) < IN_FLIGHT and not self._stopped.is_set():
                    values = [b"%d-%d-%d" % (partition, number, each) + b"." * (number % 400) for each in range(3)]
                    caller.send(batch(self.topic, partition, values))
                    sent.append(values)
                    number += 1
                if not sent:
                    return
                response = caller.take().message
                assert isinstance(response, ProduceResponse)
                result = response.responses[0].partition_responses[0]
                values = sent.popleft()
                if result.error_code:
                    self.unknown += len(values)
                    continue
                assert result.base_offset >= 0, "success without an offset"
                for each, value in enumerate(values):
                    self.confirmed[partition, result.base_offset + each] = value
        finally:
            self.unknown += sum(map(len, sent))

    def _make_topics(self, caller: Caller, _: int) -> None:
        while not self._stopped.wait(0.02):
            name = f"{self.topic}-made-{len(self.made)}"
            answer: Any = caller.call(admin.create_topic(name, 2, 1, {})).message
            if answer.topics[0].error_code:
                return
            self.made.append(name)


def everything_in(address: str, topic: str, partitions: int = 3) -> dict[tuple[int, int], bytes]:
    """All records of a topic by partition and offset. Readers wait for nothing: what is there is there."""
    reader = Reader(wait_ms=0)
    found: dict[tuple[int, int], bytes] = {}
    with closing(Caller(address)) as caller:
        for partition in range(partitions):
            reader.seek(topic, partition, 0)
            while reader.positions[topic, partition] < reader.ends.get((topic, partition), 1 << 62):
                answer = caller.call(reader.request([(topic, partition)]))
                assert isinstance(answer.message, FetchResponse)
                records, wrong = reader.answer(answer.message, answer.buffer)
                assert wrong == [], wrong
                found.update({(partition, record.offset): record.value or b"" for record in records})
    return found


def topics_at(address: str) -> set[str]:
    with closing(Caller(address)) as caller:
        answer = caller.call(MetadataRequest(topics=None, allow_auto_topic_creation=False)).message
    assert isinstance(answer, MetadataResponse)
    return {topic.name for topic in answer.topics if topic.name}
