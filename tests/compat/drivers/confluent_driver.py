"""confluent-kafka (librdkafka)."""

from __future__ import annotations

import sys
import time
from typing import Any

import confluent_kafka
from confluent_kafka import (
    TIMESTAMP_LOG_APPEND_TIME,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)

from tests.compat.drivers import lines
from tests.compat.drivers.confluent_copier import Copier
from tests.compat.drivers.confluent_member import Member

# "No leaders found" is about the library: when its last connection ended it forgets every broker, and until it is
# connected again the leader that it remembers is none of those it knows. No broker was asked.
LOCAL_CODES = {
    KafkaError._MSG_TIMED_OUT: 7,
    KafkaError._TIMED_OUT: 7,
    KafkaError._UNKNOWN_TOPIC: 3,
    KafkaError._NOENT: 5,
}


def failure(error: KafkaError) -> lines.ClientError:
    return lines.ClientError(LOCAL_CODES.get(error.code(), error.code()), error.str())


def wait(future: Any) -> Any:
    try:
        return future.result(lines.CALL_TIMEOUT_S)
    except KafkaException as error:
        raise failure(error.args[0]) from None


class Driver(Member, Copier):
    version = f"confluent-kafka {confluent_kafka.__version__} librdkafka {confluent_kafka.libversion()[0]}"

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.producers: dict[tuple[Any, ...], Producer] = {}
        self.admin = AdminClient({"bootstrap.servers": bootstrap})

    def producer(self, compression: str, acks: str, idempotent: bool, name: str) -> Producer:
        key = (compression, acks, idempotent, name)
        if key not in self.producers:
            self.producers[key] = Producer(
                {
                    "bootstrap.servers": self.bootstrap,
                    "compression.type": compression,
                    "acks": acks,
                    "enable.idempotence": idempotent,
                    "linger.ms": 20,
                    "message.max.bytes": lines.LARGEST_REQUEST_BYTES,
                    "delivery.timeout.ms": 15000,
                    "topic.metadata.refresh.interval.ms": 2000,
                    "topic.metadata.propagation.max.ms": 5000,
                }
            )
        return self.producers[key]

    def produce(
        self,
        topic: str,
        records: list[dict[str, Any]],
        partition: int | None = None,
        compression: str = "none",
        acks: str = "all",
        idempotent: bool = False,
        producer: str = "",
    ) -> list[tuple[int, int, int]] | None:
        client = self.producer(compression, acks, idempotent, producer)
        reports: list[Any] = [None] * len(records)
        for place, record in enumerate(records):
            key, value, headers, timestamp = lines.record_in(record)

            def done(error: KafkaError | None, message: Any, place: int = place) -> None:
                reports[place] = error or (message.partition(), message.offset(), message.timestamp()[1])

            client.produce(
                topic,
                value=value,
                key=key,
                headers=headers,
                partition=-1 if partition is None else partition,
                timestamp=timestamp or 0,
                on_delivery=done,
            )
        client.flush(lines.CALL_TIMEOUT_S)
        for report in reports:
            if report is None:
                raise lines.ClientError(7, "no delivery report in time")
            if isinstance(report, KafkaError):
                raise failure(report)
        return None if acks == "0" else reports

    def consume(
        self, topic: str, partition: int, offset: int, count: int, timeout_s: float = 15.0, committed: bool = True
    ) -> list[dict[str, Any]]:
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": "assigned-by-hand",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "isolation.level": "read_committed" if committed else "read_uncommitted",
                "check.crcs": True,
                "fetch.wait.max.ms": 500,
            }
        )
        found: list[dict[str, Any]] = []
        passing = None  # an error that the library goes on after by itself, for instance while the broker restarts
        try:
            consumer.assign([TopicPartition(topic, partition, offset)])
            deadline = time.monotonic() + timeout_s
            while len(found) < count and time.monotonic() < deadline:
                for message in consumer.consume(min(10000, count - len(found)), 0.1):
                    if message.error():
                        code = message.error().code()
                        if code == KafkaError._AUTO_OFFSET_RESET:
                            raise lines.ClientError(1, message.error().str())
                        passing = message.error()
                        continue
                    kind, timestamp = message.timestamp()
                    found.append(
                        lines.record_out(
                            message.offset(),
                            timestamp,
                            int(kind == TIMESTAMP_LOG_APPEND_TIME),
                            message.key(),
                            message.value(),
                            message.headers() or [],
                        )
                    )
        finally:
            consumer.close()
        if passing is not None and len(found) < count:
            raise failure(passing)
        return found

    def offset_at(self, topic: str, partition: int, at: str | int) -> dict[str, int]:
        specs = {
            "earliest": OffsetSpec.earliest,
            "latest": OffsetSpec.latest,
            "max_timestamp": OffsetSpec.max_timestamp,
        }
        spec = OffsetSpec.for_timestamp(at) if isinstance(at, int) else specs[at]()
        (future,) = self.admin.list_offsets({TopicPartition(topic, partition): spec}).values()
        try:
            result = wait(future)
        except lines.ClientError as error:
            if error.code in lines.PASSING_CODES:
                self.admin = AdminClient({"bootstrap.servers": self.bootstrap})  # it keeps the old leader epoch
            raise
        return {"offset": result.offset, "timestamp": result.timestamp}

    def partitions(self, topic: str) -> int:
        found = self.admin.list_topics(topic, timeout=lines.CALL_TIMEOUT_S).topics[topic]
        if found.error:
            raise failure(found.error)
        return len(found.partitions)

    def create_topic(self, topic: str, partitions: int = 1, configs: dict[str, str] | None = None) -> None:
        wait(self.admin.create_topics([NewTopic(topic, partitions, config=configs or {})])[topic])

    def delete_topic(self, topic: str) -> None:
        wait(self.admin.delete_topics([topic])[topic])

    def create_partitions(self, topic: str, total: int) -> None:
        wait(self.admin.create_partitions([NewPartitions(topic, total)])[topic])

    def describe_configs(self, topic: str) -> dict[str, Any]:
        (future,) = self.admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
        return {name: entry.value for name, entry in wait(future).items()}

    def alter_configs(self, topic: str, set: dict[str, str], delete: list[str], incremental: bool = True) -> None:
        resource = ConfigResource(ResourceType.TOPIC, topic, set_config=None if incremental else set)
        if incremental:
            for name, value in set.items():
                resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET))
            for name in delete:
                resource.add_incremental_config(ConfigEntry(name, None, incremental_operation=AlterConfigOpType.DELETE))
            (future,) = self.admin.incremental_alter_configs([resource]).values()
        else:
            (future,) = self.admin.alter_configs([resource]).values()
        wait(future)

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        (future,) = self.admin.delete_records([TopicPartition(topic, partition, before)]).values()
        return int(wait(future).low_watermark)

    def list_topics(self) -> list[str]:
        return sorted(self.admin.list_topics(timeout=lines.CALL_TIMEOUT_S).topics)

    def topic_id(self, topic: str) -> str:
        described = wait(self.admin.describe_topics(TopicCollection([topic]))[topic])
        return f"{described.topic_id.get_most_significant_bits()}:{described.topic_id.get_least_significant_bits()}"

    def describe_cluster(self) -> dict[str, Any]:
        cluster = wait(self.admin.describe_cluster())
        return {"cluster_id": cluster.cluster_id, "brokers": len(cluster.nodes), "controller": cluster.controller.id}


if __name__ == "__main__":
    lines.serve(Driver(sys.argv[1]))
