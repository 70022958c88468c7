"""confluent-kafka as a member of a group."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException

from tests.compat.drivers import lines

STRATEGIES = {"range": "range", "cooperative": "cooperative-sticky"}


class Member:
    """The group commands of ``lines``. The library answers heartbeats in threads of its own."""

    bootstrap: str
    consumer: Consumer | None = None

    def subscribe(
        self, group: str, topic: str, protocol: str = "classic", assignor: str = "range", instance: str | None = None
    ) -> None:
        settings: dict[str, Any] = {
            "bootstrap.servers": self.bootstrap,
            "group.id": group,
            "group.protocol": protocol,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "fetch.wait.max.ms": 100,
            "reconnect.backoff.max.ms": 500,
            "topic.metadata.refresh.interval.ms": 1000,
        }
        if protocol == "classic":
            settings |= {
                "partition.assignment.strategy": STRATEGIES[assignor],
                "session.timeout.ms": lines.SESSION_MS,
                "heartbeat.interval.ms": lines.HEARTBEAT_MS,
            }
        if instance is not None:
            settings["group.instance.id"] = instance
        self.consumer = Consumer(settings)
        self.consumer.subscribe([topic])

    def poll_group(self, ms: int) -> dict[str, Any]:
        assert self.consumer is not None
        found = []
        deadline = time.monotonic() + ms / 1000
        while time.monotonic() < deadline:
            for message in self.consumer.consume(1000, 0.05):
                error = message.error()
                if error is None:
                    found.append([message.partition(), message.offset(), lines.to_text(message.value())])
                elif error.fatal():
                    raise lines.ClientError(error.code(), error.str())
        return {"owned": sorted(place.partition for place in self.consumer.assignment()), "records": found}

    def commit_group(self) -> None:
        assert self.consumer is not None
        try:
            self.consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:
                raise lines.ClientError(error.args[0].code(), error.args[0].str()) from None

    def leave_group(self) -> None:
        assert self.consumer is not None
        self.consumer.close()
        self.consumer = None
