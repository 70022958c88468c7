"""A stream of AMQP is a topic to Spark."""

from __future__ import annotations

from typing import Any

import pika

from twinlog.testing.broker import Broker


def test_spark_reads_what_amqp_published(spark: Any, broker: Broker, bootstrap: str) -> None:
    connection = pika.BlockingConnection(pika.URLParameters(f"amqp://guest:guest@{broker.amqp}/%2F"))
    channel = connection.channel()
    channel.queue_declare("orders.stream", durable=True, arguments={"x-queue-type": "stream"})
    channel.confirm_delivery()
    for number in range(50):
        properties = pika.BasicProperties(content_type="text/plain", headers={"x-kafka-key": f"k{number % 3}"})
        channel.basic_publish("", "orders.stream", b"%d" % number, properties)
    connection.close()
    reader = spark.read.format("twinlog").option("kafka.bootstrap.servers", bootstrap)
    rows = reader.option("subscribe", "orders.stream").option("includeHeaders", "true").load().collect()
    assert sorted((int(bytes(row.value)), bytes(row.key)) for row in rows) == [
        (number, b"k%d" % (number % 3)) for number in range(50)
    ]
    assert {pair.key: bytes(pair.value) for pair in rows[0].headers} == {
        "amqp": b"",
        "amqp.content-type": b"text/plain",
    }
