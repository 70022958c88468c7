"""What the pipelines made, beside what the shops' books say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import confluent_kafka
import pyarrow.dataset

from demo.shops import Books

WINDOW_S: Final = 10
WAIT_S: Final = 10.0


class Check(NamedTuple):
    """A sentence, and whether it is so."""

    holds: bool
    text: str


def checks(books: Books, bootstrap: str, home: Path) -> list[Check]:
    expected = revenue_by_books(books)
    # The last record of a window and a channel counts: each update of it was written once.
    found = {
        (moment(each["start"]), each["channel"]): (each["orders"], each["cents"])
        for each in map(json.loads, (record.value() for record in records(bootstrap, "revenue")))
    }
    archived = pyarrow.dataset.dataset(home / "archive", partitioning="hive").to_table(columns=["id"])
    dead = list(records(bootstrap, "orders-dead"))
    reasons = {dict(record.headers() or ())["twinlog.reason"] for record in dead}
    return [
        Check(
            found == expected,
            f"the topic 'revenue' has {len(found)} windows with {sum(orders for orders, _ in found.values())} orders "
            f"and {sum(cents for _, cents in found.values()) / 100:,.2f} of revenue; the shops' books say "
            f"{len(expected)}, {len(books.orders)} and {sum(order['cents'] for order in books.orders) / 100:,.2f}",
        ),
        Check(
            sorted(archived.column("id").to_pylist()) == sorted(order["id"] for order in books.orders),
            f"the archive holds {archived.num_rows} orders in Parquet, each once",
        ),
        Check(
            sorted(record.value() for record in dead) == sorted(books.bad) and len(reasons) == 1,
            f"{len(dead)} records that are no orders are among the dead letters, with the reason: "
            f"{b', '.join(reasons).decode()}",
        ),
    ]


def revenue_by_books(books: Books) -> dict[tuple[float, str], tuple[int, int]]:
    made: dict[tuple[float, str], tuple[int, int]] = {}
    for order in books.orders:
        at = moment(order["at"])
        place = (at - at % WINDOW_S, order["channel"])
        orders, cents = made.get(place, (0, 0))
        made[place] = (orders + 1, cents + order["cents"])
    return made


def moment(text: str) -> float:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def records(bootstrap: str, topic: str) -> Iterator[Any]:
    """Everything committed in a topic of one partition, as any Kafka client sees it."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "checks", "isolation.level": "read_committed"}
    consumer = confluent_kafka.Consumer({**settings, "enable.partition.eof": True, "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, confluent_kafka.OFFSET_BEGINNING)])
    while (record := consumer.poll(WAIT_S)) is not None:
        if record.error():
            assert record.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, record.error()
            break
        yield record
    consumer.close()
