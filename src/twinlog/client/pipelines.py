"""What pipelines on Spark report of themselves: the last record of each in a compacted topic.

docs/formats/pipeline-reports.md tells the fields. Whoever reports makes the topic; a tombstone takes a pipeline out.
"""

from __future__ import annotations

import json
from typing import Any, Final

from twinlog.client.blocking import EARLIEST, LATEST, Client, Consumer, Producer
from twinlog.client.errors import BrokerError
from twinlog.client.lookup import offsets_of, persistently
from twinlog.wire.kafka.errors import ErrorCode

TOPIC: Final = "__twinlog_pipelines"


def make_sure(client: Client) -> None:
    """Makes the topic if it is not there."""

    def attempt() -> None:
        found = client.refresh([TOPIC]).topics.get(TOPIC)
        if found is None or found.error == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            try:
                client.create_topic(TOPIC, 1, configs={"cleanup.policy": "compact"})
            except BrokerError as error:
                if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                    raise
        client.topic(TOPIC)

    persistently(client, attempt)


def reports(client: Client) -> dict[str, dict[str, Any]]:
    """The last report of every pipeline, by name. What is no report is passed over."""
    found = client.refresh([TOPIC]).topics.get(TOPIC)
    if found is None or found.error:
        return {}
    place = (TOPIC, 0)
    start, stop = (offsets_of(client, {place: at}, committed=True)[place] for at in (EARLIEST, LATEST))
    consumer = Consumer(client, wait_ms=100, committed_only=True)
    consumer.assign(TOPIC, {0: start})
    last: dict[str, dict[str, Any]] = {}
    while consumer.positions[place] < stop:
        for record in consumer.poll():
            name = (record.key or b"").decode(errors="replace")
            last.pop(name, None)
            report = _read(record.value)
            if report is not None:
                last[name] = report | {"name": name}
    return last


def _read(value: bytes | None) -> dict[str, Any] | None:
    try:
        report = json.loads(value or b"null")
    except ValueError:
        return None
    return report if isinstance(report, dict) and isinstance(report.get("state"), str) else None


def forget(client: Client, name: str) -> None:
    """A pipeline that still runs comes back by its next report."""
    producer = Producer(client)
    producer.add(TOPIC, None, name.encode())
    producer.flush()
