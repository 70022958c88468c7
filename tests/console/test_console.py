"""The console in Chromium: somebody works with it, nothing comes from elsewhere, and no name does anything."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.console.browser import LOGIN, NEEDED, drive
from tests.kit.http import Api
from twinlog.testing import Broker

pytestmark = NEEDED

SCROLL_DOWN = """(() => {
    const box = document.querySelector('.body')
    box.scrollTop = box.scrollHeight
    return box.scrollHeight
})()"""


def test_somebody_works_through_topics_and_groups(broker: Broker, api: Api, tmp_path: Path) -> None:
    steps = [
        *LOGIN,
        ["see", "Messages a second"],
        ["until", "document.querySelector('canvas') !== null"],
        ["shoot", "overview"],
        ["open", "#/topics"],
        ["click", "New topic"],
        ["fill", "Name", "orders"],
        ["fill", "Partitions", "3"],
        ["answer", "Create"],
        ["see", "topic"],
        ["click", "Produce"],
        ["fill", "Key", "customer 1"],
        ["fill", "Value", '{"order": 1, "lines": [{"sku": "A"}]}'],
        ["fill", "Headers", "source=shop"],
        ["fill", "Partition (empty", "0"],
        ["answer", "Produce"],
        ["see", "customer 1"],
        ["click", "0"],
        ["see", '"sku": "A"'],
        ["shoot", "topic"],
        ["tab", "Partitions"],
        ["until", "document.querySelectorAll('.space .line').length === 3"],
        ["shoot", "topic-partitions"],
        ["tab", "Configs"],
        ["see", "Nothing is set"],
        ["tab", "Charts"],
        ["see", "Records, in all"],
        ["open", "#/topics"],
        ["see", "orders"],
        ["shoot", "topics"],
        ["open", "#/transactions"],
        ["see", "transactional ids"],
        ["shoot", "transactions"],
        ["open", "#/alarms"],
        ["see", "Data directory"],
        ["shoot", "alarms"],
        ["open", "#/connections"],
        ["see", "connections"],
        ["shoot", "connections"],
        ["open", "#/people"],
        ["see", "administrator"],
        ["shoot", "people"],
    ]
    drive(broker, tmp_path, steps)
    assert api.get("/api/topics/orders")["partitions"] == 3
    (record,) = api.get("/api/topics/orders/records?offset=0")["records"]
    assert record["headers"] == [{"name": "source", "value": {"text": "shop"}}]


def test_offsets_of_a_group_are_reset_after_a_look_at_what_would_be(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/topics/clicks", {"partitions": 1})
    for number in range(10):
        api.post("/api/topics/clicks/records", {"value": str(number)})
    # A group without members is made by its first commit.
    while api.call("POST", "/api/groups/readers/offsets", {"topic": "clicks", "to": "latest"}).status == 503:
        pass
    steps = [
        *LOGIN,
        ["open", "#/groups"],
        ["follow", "readers"],
        ["see", "Reset offsets"],
        ["click", "Reset offsets"],
        ["click", "Show what would be"],
        ["see", "Offset then"],
        ["shoot", "group-reset"],
        ["answer", "Set them"],
        ["tab", "Lag over time"],
        ["see", "Records dealt with, a second"],
        ["shoot", "group"],
        ["open", "#/groups"],
        ["see", "readers"],
        ["shoot", "groups"],
    ]
    drive(broker, tmp_path, steps)
    assert api.get("/api/groups/readers")["lag"] == 10


def test_somebody_works_through_queues_and_exchanges(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/exchanges/%2F/events", {"type": "topic"})
    api.put("/api/exchanges/%2F/eu", {"type": "fanout"})
    for queue in ("mail", "warehouse", "audit", "dead"):
        api.put(f"/api/queues/%2F/{queue}")
    api.put("/api/queues/%2F/work", {"arguments": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}})
    api.post("/api/bindings/%2F/e/events/e/eu", {"routing_key": "eu.#"})
    for queue in ("mail", "warehouse"):
        api.post(f"/api/bindings/%2F/e/eu/q/{queue}")
    api.post("/api/bindings/%2F/e/events/q/audit", {"routing_key": "#"})
    message = {"routing_key": "work", "payload": "poison", "payload_encoding": "string", "properties": {}}
    api.post("/api/exchanges/%2F/amq.default/publish", message)
    api.post("/api/queues/%2F/work/get", {"count": 1, "ackmode": "reject_requeue_false"})
    steps = [
        *LOGIN,
        ["open", "#/exchanges/%2F/events"],
        ["fill", "Routing key", "eu.order"],
        ["click", "Show the way"],
        ["see", "warehouse"],
        ["until", "document.querySelectorAll('path.lit').length === 4"],
        ["shoot", "exchange"],
        ["click", "Publish it"],
        ["fill", "Payload", "from the console"],
        ["answer", "Publish"],
        ["open", "#/exchanges"],
        ["see", "amq.topic"],
        ["shoot", "exchanges"],
        ["open", "#/queues"],
        ["follow", "audit"],
        ["click", "Look at the first messages"],
        ["see", "from the console"],
        ["shoot", "queue"],
        ["tab", "Bindings"],
        ["see", "events"],
        ["tab", "About"],
        ["see", "Durable"],
        ["click", "Move messages"],
        ["fill", "To the queue", "mail"],
        ["answer", "Move"],
        ["open", "#/queues/%2F/dead"],
        ["click", "Look at the first messages"],
        ["see", "rejected in work"],
        ["shoot", "dead-letters"],
        ["click", "Requeue dead letters"],
        ["answer", "Move"],
        ["open", "#/queues"],
        ["see", "warehouse"],
        ["shoot", "queues"],
        ["scheme", "dark"],
        ["shoot", "queues-dark"],
        ["open", "#/"],
        ["see", "Messages a second"],
        ["shoot", "overview-dark"],
        ["size", 420, 800],
        ["shoot", "overview-narrow"],
    ]
    drive(broker, tmp_path, steps)
    assert api.get("/api/queues/%2F/audit")["messages"] == 0
    assert api.get("/api/queues/%2F/mail")["messages"] == 2
    assert api.get("/api/queues/%2F/work")["messages"] == 1
    assert api.get("/api/queues/%2F/dead")["messages"] == 0


def test_ten_thousand_queues_and_five_thousand_partitions_are_quick(broker: Broker, api: Api, tmp_path: Path) -> None:
    made = [{"name": f"many-{number:05}", "vhost": "/", "durable": False} for number in range(10_000)]
    api.post("/api/definitions", {"queues": made})
    api.put("/api/topics/wide", {"partitions": 5000})
    steps: list[list[Any]] = [
        *LOGIN,
        ["ask", "began", "performance.now()"],
        ["open", "#/queues"],
        ["see", "many-00001"],
        ["ask", "shown", "performance.now()"],
        ["ask", "rows", "document.querySelectorAll('.space .line').length"],
        ["ask", "scrolled", SCROLL_DOWN],
        ["see", "many-09999"],
        ["fill", "Filter queues by name", "many-0777"],
        ["see", "many-07777"],
        ["shoot", "many-queues"],
        ["click", "Ready"],
        ["see", "many-0777"],
        ["open", "#/topics/wide"],
        ["tab", "Partitions"],
        ["see", "5,000 partitions"],
        ["ask", "partition rows", "document.querySelectorAll('.space .line').length"],
    ]
    seen = drive(broker, tmp_path, steps)
    assert seen["scrolled"] > 300_000
    assert seen["rows"] < 100, "only the rows in sight are in the page"
    assert seen["partition rows"] < 100


def test_a_stream_and_its_topic_are_one_page(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/queues/%2F/followed", {"arguments": {"x-queue-type": "stream", "x-max-age": "1D"}})
    message = {"routing_key": "followed", "payload": "by AMQP", "payload_encoding": "string", "properties": {}}
    api.post("/api/exchanges/%2F/amq.default/publish", message)
    api.post("/api/topics/followed/records", {"value": "by Kafka"})
    seen = [["see", "by AMQP"], ["see", "by Kafka"], ["see", "stream in /"]]
    steps: list[list[Any]] = [
        *LOGIN,
        ["open", "#/queues"],
        ["see", "Nothing here yet"],
        ["tick", "streams, which are topics"],
        ["follow", "followed"],
        *seen,
        ["tab", "Configs"],
        ["see", "86400000"],
        ["tab", "AMQP"],
        ["see", "are one log"],
        ["see", "x-max-age"],
        ["open", "#/topics/followed"],
        *seen,
    ]
    drive(broker, tmp_path, steps)


SCHEMA = json.dumps(
    {
        "type": "record",
        "name": "Order",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "drink", "type": "string"},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "note", "type": ["null", "string"]},
            {"name": "paid", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "next", "type": ["null", "Order"]},
        ],
    }
)
# 7, "tea", ["a"], "x", 12.34, the first millisecond of 1970, none.
ORDER = b"\x0e" + b"\x06tea" + b"\x02\x02a\x00" + b"\x02\x02x" + b"\x04\x04\xd2" + b"\x00" + b"\x00"


def length(data: bytes) -> bytes:
    """Avro's way to write a length: twice it, seven bits a byte."""
    value, written = 2 * len(data), b""
    while value > 0x7F:
        written += bytes((value & 0x7F | 0x80,))
        value >>= 7
    return written + bytes((value,)) + data


def avro_file() -> bytes:
    head = b"\x02" + length(b"avro.schema") + length(SCHEMA.encode()) + b"\x00"
    return b"Obj\x01" + head + b"s" * 16 + b"\x02" + length(ORDER) + b"s" * 16


def test_avro_is_read_by_a_schema_that_somebody_gives_or_that_is_in_it(
    broker: Broker, api: Api, tmp_path: Path
) -> None:
    api.put("/api/topics/drinks")
    for value in (b"\0\0\0\0\x2a" + ORDER, avro_file(), b"\0\0\0\0\x2a" + ORDER[:9], ORDER):
        api.post("/api/topics/drinks/records", {"value": {"base64": base64.b64encode(value).decode()}})
    steps: list[list[Any]] = [
        *LOGIN,
        ["open", "#/topics/drinks"],
        ["row", "0"],
        ["see", "perhaps Avro with schema 42 of a registry"],
        ["row", "1"],
        ["see", "by the schema in it"],
        ["see", '"paid": "12.34"'],
        ["choose", "Show as", "avro"],
        ["row", "0"],
        ["see", "which the broker does not have"],
        ["fill", "Avro schema", "{"],
        ["see", "The schema is not JSON"],
        ["fill", "Avro schema", SCHEMA],
        ["see", "schema 42 of a registry, by your schema"],
        ["see", '"drink": "tea"'],
        ["see", "1970-01-01T00:00:00.000Z"],
        ["shoot", "avro"],
        ["row", "2"],
        ["see", "not read as Avro: the bytes end too early"],
        ["row", "3"],
        ["see", '"note": "x"'],
        ["reload"],
        ["row", "3"],
        ["see", '"note": "x"'],
        ["choose", "Show as", "bytes"],
        ["see", "000000  0e 06 74 65 61"],
    ]
    drive(broker, tmp_path, steps)


def test_everything_is_reached_by_keyboard_and_has_a_name(broker: Broker, api: Api, tmp_path: Path) -> None:
    api.put("/api/queues/%2F/by-keyboard")
    unnamed = """[...document.querySelectorAll('button, a, input, select, textarea')].filter((each) =>
        !(each.innerText || each.getAttribute('aria-label') || each.labels?.[0]?.innerText || each.title ||
          each.querySelector('[aria-label], text'))).map((each) => each.outerHTML)"""
    steps: list[list[Any]] = [
        ["open", ""],
        ["see", "One broker"],
        ["ask", "focus", "document.activeElement.name"],
        ["login", "guest", "guest"],
        ["open", "#/queues"],
        ["see", "by-keyboard"],
        ["ask", "_", "document.querySelector('input[type=search]').focus()"],
        ["tabs", "document.activeElement.closest('.space') !== null"],
        ["ask", "reached", "document.activeElement.innerText"],
    ]
    for number, page in enumerate(
        ("#/", "#/queues", "#/queues/%2F/by-keyboard", "#/exchanges/%2F/amq.topic", "#/people")
    ):
        steps += [
            ["open", page],
            ["until", "document.querySelector('main h1') !== null"],
            ["ask", f"unnamed {number}", unnamed],
        ]
        steps.append(
            [
                "ask",
                f"landmarks {number}",
                "['main', 'nav', 'header', 'h1'].every((each) => document.querySelector(each))",
            ]
        )
    seen = drive(broker, tmp_path, steps)
    assert seen["focus"] == "user"
    assert seen["reached"], "a row's link has the focus"
    assert all(value == [] for name, value in seen.items() if name.startswith("unnamed")), seen
    assert all(value for name, value in seen.items() if name.startswith("landmarks"))
