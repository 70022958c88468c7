"""A node on which something happens: what the screenshots of every page show."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import confluent_kafka
import pika  # type: ignore[import-untyped]

from tests.kit.http import Api
from twinlog.testing import Broker


def declare(api: Api) -> None:
    for topic, partitions in (("orders", 3), ("payments", 6), ("clicks", 12)):
        api.put(f"/api/topics/{topic}", {"partitions": partitions})
    api.put("/api/topics/customers", {"partitions": 1, "configs": {"cleanup.policy": "compact"}})
    api.put("/api/topics/__twinlog_pipelines", {"partitions": 1, "configs": {"cleanup.policy": "compact"}})
    api.put("/api/exchanges/%2F/events", {"type": "topic"})
    api.put("/api/exchanges/%2F/eu", {"type": "fanout"})
    letters = {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work.dead"}
    for queue, arguments in (("mail", {}), ("warehouse", {"x-max-length": 10_000}), ("audit", {}), ("work.dead", {})):
        api.put(f"/api/queues/%2F/{queue}", {"arguments": arguments})
    api.put("/api/queues/%2F/work", {"arguments": letters})
    api.post("/api/bindings/%2F/e/events/e/eu", {"routing_key": "order.eu.#"})
    for queue in ("mail", "warehouse"):
        api.post(f"/api/bindings/%2F/e/eu/q/{queue}")
    api.post("/api/bindings/%2F/e/events/q/audit", {"routing_key": "#"})
    api.post("/api/bindings/%2F/e/events/q/work", {"routing_key": "order.*.paid"})
    api.put("/api/policies/%2F/keep-short", {"pattern": "^audit$", "definition": {"max-length": 5000}})
    api.put("/api/users/anna", {"password": "secret", "tags": "monitoring"})
    api.put("/api/vhosts/shop", {"description": "orders and payments"})
    api.put("/api/permissions/shop/anna", {"configure": "^anna-", "write": ".*", "read": ".*"})


def report(broker: Broker) -> None:
    now_ms = int(time.time() * 1000)
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka})
    common = {"run_id": "5f0c", "started_ms": now_ms - 600_000, "reported_ms": now_ms, "master": "local[2]"}
    for name, told in (
        (
            "orders-to-lake",
            {
                "state": "running",
                "batch_id": 118,
                "rows_per_second": 4210.5,
                "input_rows": 42_105,
                "output_rows": 42_105,
                "batch_ms": 9_850,
                "lag": {"total": 1_204, "topics": {"orders": 1_204}},
                "sources": ["topic orders"],
                "sinks": ["delta /lake/orders"],
            },
        ),
        (
            "payments-by-hour",
            {
                "state": "failed",
                "batch_id": 12,
                "lag": {"total": 88_310, "topics": {"payments": 88_310}},
                "sources": ["topic payments"],
                "sinks": ["topic totals"],
                "last_error": "java.lang.OutOfMemoryError: Java heap space\n\tat org.apache.spark.sql.execution ...",
            },
        ),
        ("backfill", {"state": "finished", "batch_id": 3, "sources": ["topic clicks"], "sinks": ["parquet /lake"]}),
    ):
        producer.produce("__twinlog_pipelines", key=name, value=json.dumps(common | told), partition=0)
    assert producer.flush(20) == 0


def records(broker: Broker, stop: threading.Event) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka, "linger.ms": 20})
    number = 0
    while not stop.wait(0.02):
        for topic, each in (("orders", 4), ("payments", 2), ("clicks", 11)):
            for _ in range(each):
                number += 1
                value = json.dumps({"order": number, "customer": f"c-{number % 97}", "total": number % 5000 / 100})
                producer.produce(topic, key=f"c-{number % 97}", value=value, headers={"source": "shop"})
        producer.poll(0)
    producer.flush(20)


def members(broker: Broker, group: str, topic: str, stop: threading.Event) -> None:
    names = {"bootstrap.servers": broker.kafka, "group.id": group, "client.id": f"{group}-1"}
    consumer = confluent_kafka.Consumer({**names, "auto.offset.reset": "earliest", "auto.commit.interval.ms": 300})
    consumer.subscribe([topic])
    while not stop.is_set():
        consumer.consume(20, 0.1)
    consumer.close()


def messages(broker: Broker, stop: threading.Event) -> None:
    host, _, port = broker.amqp.rpartition(":")
    properties = {"connection_name": "shop frontend", "product": "pika"}
    parameters = pika.ConnectionParameters(host, int(port), client_properties=properties)
    connection = pika.BlockingConnection(parameters)
    channel = connection.channel()
    channel.basic_qos(prefetch_count=20)
    persistent = pika.BasicProperties(delivery_mode=2, content_type="application/json", headers={"source": "shop"})
    channel.basic_consume("mail", lambda at, method, about, body: channel.basic_ack(method.delivery_tag))
    number = 0
    while not stop.is_set():
        for key in ("order.eu.paid", "order.us.paid", "order.eu.sent"):
            number += 1
            channel.basic_publish("events", key, json.dumps({"order": number}).encode(), persistent)
        connection.process_data_events(0.03)
    connection.close()


@contextmanager
def busy(broker: Broker, api: Api) -> Iterator[None]:
    declare(api)
    report(broker)
    stop = threading.Event()
    works = [
        threading.Thread(target=records, args=(broker, stop)),
        threading.Thread(target=members, args=(broker, "billing", "payments", stop)),
        threading.Thread(target=members, args=(broker, "dashboards", "orders", stop)),
        threading.Thread(target=messages, args=(broker, stop)),
    ]
    for each in works:
        each.start()
    try:
        body = {"routing_key": "work", "payload": '{"order": 0}', "payload_encoding": "string", "properties": {}}
        for _ in range(3):
            api.post("/api/exchanges/%2F/amq.default/publish", body)
        api.post("/api/queues/%2F/work/get", {"count": 3, "ackmode": "reject_requeue_false"})
        yield
    finally:
        stop.set()
        for each in works:
            each.join(30)
