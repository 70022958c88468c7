"""What a committed reader finds in a topic, without Spark."""

from __future__ import annotations

import json
from typing import Any

from twinlog.client import Client, Consumer, Record
from twinlog.client.blocking import EARLIEST, LATEST
from twinlog.client.lookup import offsets_of


def records_of(client: Client, topic: str) -> list[Record]:
    places = [(topic, each.index) for each in client.topic(topic).partitions]
    starts = offsets_of(client, dict.fromkeys(places, EARLIEST))
    ends = offsets_of(client, dict.fromkeys(places, LATEST), committed=True)
    consumer = Consumer(client, wait_ms=100, committed_only=True)
    consumer.assign(topic, {partition: starts[topic, partition] for _, partition in places})
    found: list[Record] = []
    while any(consumer.positions[place] < ends[place] for place in places):
        found += consumer.poll()
    return found


def values_of(client: Client, topic: str, *, raw: bool = False) -> list[Any]:
    return [record.value if raw else json.loads(record.value or b"null") for record in records_of(client, topic)]
