"""kafka-python."""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType, OffsetSpec
from kafka.errors import KafkaError, OffsetOutOfRangeError

from tests.compat.drivers import lines
from tests.compat.drivers.kafka_python_copier import Copier
from tests.compat.drivers.kafka_python_member import Member

warnings.simplefilter("ignore")  # the library's own deprecations are not what we test


def failure(error: KafkaError) -> lines.ClientError:
    return lines.ClientError(getattr(error, "errno", -1000), f"{type(error).__name__}: {error}")


class Driver(Member, Copier):
    version = f"kafka-python {kafka.__version__}"

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.producers: dict[tuple[Any, ...], KafkaProducer] = {}
        self.admin = KafkaAdminClient(bootstrap_servers=bootstrap)

    def producer(self, compression: str, acks: str, idempotent: bool, name: str) -> KafkaProducer:
        key = (compression, acks, idempotent, name)
        if key not in self.producers:
            self.producers[key] = KafkaProducer(
                bootstrap_servers=self.bootstrap,
                compression_type=None if compression == "none" else compression,
                acks="all" if acks == "all" else int(acks),
                enable_idempotence=idempotent,
                linger_ms=20,
                max_request_size=lines.LARGEST_REQUEST_BYTES,
                delivery_timeout_ms=15000,
                request_timeout_ms=10000,
                max_block_ms=15000,
                metadata_max_age_ms=2000,
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
        try:
            futures = []
            for record in records:
                key, value, headers, timestamp = lines.record_in(record)
                futures.append(
                    client.send(
                        topic, value=value, key=key, headers=headers, partition=partition, timestamp_ms=timestamp
                    )
                )
            client.flush(lines.CALL_TIMEOUT_S)
            sent = [future.get(lines.CALL_TIMEOUT_S) for future in futures]
        except KafkaError as error:
            raise failure(error) from None
        return None if acks == "0" else [(done.partition, done.offset, done.timestamp) for done in sent]

    def consume(
        self, topic: str, partition: int, offset: int, count: int, timeout_s: float = 15.0, committed: bool = True
    ) -> list[dict[str, Any]]:
        consumer = KafkaConsumer(
            bootstrap_servers=self.bootstrap,
            auto_offset_reset="none",
            enable_auto_commit=False,
            isolation_level="read_committed" if committed else "read_uncommitted",
            check_crcs=True,
        )
        place = TopicPartition(topic, partition)
        found: list[dict[str, Any]] = []
        try:
            consumer.assign([place])
            consumer.seek(place, offset)
            deadline = time.monotonic() + timeout_s
            while len(found) < count and time.monotonic() < deadline:
                for record in consumer.poll(100, max_records=count - len(found)).get(place, []):
                    found.append(
                        lines.record_out(
                            record.offset,
                            record.timestamp,
                            record.timestamp_type,
                            record.key,
                            record.value,
                            list(record.headers),
                        )
                    )
        except OffsetOutOfRangeError as error:
            raise lines.ClientError(1, str(error)) from None
        finally:
            consumer.close(autocommit=False)
        return found

    def offset_at(self, topic: str, partition: int, at: str | int) -> dict[str, int]:
        specs = {
            "earliest": OffsetSpec.EARLIEST,
            "latest": OffsetSpec.LATEST,
            "max_timestamp": OffsetSpec.MAX_TIMESTAMP,
        }
        spec = at if isinstance(at, int) else specs[at]
        try:
            (found,) = self.admin.list_partition_offsets({TopicPartition(topic, partition): spec}).values()
        except KafkaError as error:
            raise failure(error) from None
        return {"offset": found.offset, "timestamp": found.timestamp}

    def partitions(self, topic: str) -> int:
        try:
            (described,) = self.admin.describe_topics([topic])
        except KafkaError as error:
            raise failure(error) from None
        if described["error_code"]:
            raise lines.ClientError(described["error_code"], "describe_topics")
        return len(described["partitions"])

    def create_topic(self, topic: str, partitions: int = 1, configs: dict[str, str] | None = None) -> None:
        try:
            self.admin.create_topics({topic: {"num_partitions": partitions, "configs": configs or {}}})
        except KafkaError as error:
            raise failure(error) from None

    def delete_topic(self, topic: str) -> None:
        try:
            self.admin.delete_topics([topic])
        except KafkaError as error:
            raise failure(error) from None

    def create_partitions(self, topic: str, total: int) -> None:
        try:
            self.admin.create_partitions({topic: total})
        except KafkaError as error:
            raise failure(error) from None

    def describe_configs(self, topic: str) -> dict[str, Any]:
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        described = self.admin.describe_configs([resource], config_filter="all")
        (kind,) = described.values()
        return {name: entry["value"] for name, entry in kind[topic].items()}

    def alter_configs(self, topic: str, set: dict[str, str], delete: list[str], incremental: bool = True) -> None:
        configs: dict[str, Any] = {name: ("set", value) for name, value in set.items()}
        configs.update(dict.fromkeys(delete, ("delete", None)))
        try:
            answers = self.admin.alter_configs(
                [ConfigResource(ConfigResourceType.TOPIC, topic, configs)],
                incremental=incremental,
                raise_on_unknown=False,  # the broker's word counts here
            )
            for told in answers["topic"].values():
                if told != "OK":  # the library gives the error as text: "[Error 40] ..."
                    raise lines.ClientError(int(told.removeprefix("[Error ").partition("]")[0]), told)
        except KafkaError as error:
            raise failure(error) from None

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        try:
            (found,) = self.admin.delete_records({TopicPartition(topic, partition): before}).values()
        except KafkaError as error:
            raise failure(error) from None
        return int(found["low_watermark"])

    def list_topics(self) -> list[str]:
        return sorted(self.admin.list_topics())

    def topic_id(self, topic: str) -> str:
        (described,) = self.admin.describe_topics([topic])
        return str(described["topic_id"])

    def describe_cluster(self) -> dict[str, Any]:
        cluster = self.admin.describe_cluster()
        return {
            "cluster_id": cluster["cluster_id"],
            "brokers": len(cluster["brokers"]),
            "controller": cluster["controller_id"],
        }


if __name__ == "__main__":
    lines.serve(Driver(sys.argv[1]))
