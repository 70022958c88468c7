"""aiokafka. Its event loop runs only while a command is being answered or a background task is due."""

from __future__ import annotations

import asyncio
import sys
import time
import warnings
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaConnectionError, KafkaError, OffsetOutOfRangeError, for_code

from tests.compat.drivers import lines
from tests.compat.drivers.aiokafka_copier import Copier
from tests.compat.drivers.aiokafka_member import Member

warnings.simplefilter("ignore")  # the library's own deprecations are not what we test


def failure(error: KafkaError) -> lines.ClientError:
    return lines.ClientError(getattr(error, "errno", -1000), f"{type(error).__name__}: {error}")


def check(code: int, message: str | None = None) -> None:
    if code:
        raise lines.ClientError(code, message or for_code(code).__name__)


class Driver(Member, Copier):
    version = f"aiokafka {aiokafka.__version__}"

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.loop = asyncio.new_event_loop()
        self.producers: dict[tuple[Any, ...], AIOKafkaProducer] = {}
        self.admin: AIOKafkaAdminClient | None = None

    def run(self, work: Any) -> Any:
        async def bounded() -> Any:
            return await asyncio.wait_for(work, lines.CALL_TIMEOUT_S + 10)

        try:
            return self.loop.run_until_complete(bounded())
        except OffsetOutOfRangeError as error:
            raise lines.ClientError(1, str(error)) from None
        except KafkaError as error:
            raise failure(error) from None

    async def opened_admin(self) -> AIOKafkaAdminClient:
        if self.admin is None:
            self.admin = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap, request_timeout_ms=15000)
            await self.admin.start()
        return self.admin

    async def producer(self, compression: str, acks: str, idempotent: bool, name: str) -> AIOKafkaProducer:
        key = (compression, acks, idempotent, name)
        if key not in self.producers:
            client = AIOKafkaProducer(
                bootstrap_servers=self.bootstrap,
                compression_type=None if compression == "none" else compression,
                acks="all" if acks == "all" else int(acks),
                enable_idempotence=idempotent,
                linger_ms=20,
                max_request_size=lines.LARGEST_REQUEST_BYTES,
                max_batch_size=1 << 20,
                request_timeout_ms=15000,
                metadata_max_age_ms=2000,
            )
            await client.start()
            self.producers[key] = client
        return self.producers[key]

    async def consumer(self, **settings: Any) -> AIOKafkaConsumer:
        """Started; where a broker is just restarting, as soon as it is back: the library gives up at once."""
        deadline = time.monotonic() + lines.CALL_TIMEOUT_S
        while True:
            consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False, **settings)
            try:
                await consumer.start()
                return consumer
            except KafkaConnectionError:
                await consumer.stop()
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)

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
        async def work() -> list[tuple[int, int, int]] | None:
            client = await self.producer(compression, acks, idempotent, producer)
            futures = []
            for record in records:
                key, value, headers, timestamp = lines.record_in(record)
                futures.append(
                    await client.send(
                        topic, value=value, key=key, headers=headers, partition=partition, timestamp_ms=timestamp
                    )
                )
            await client.flush()
            sent = [await future for future in futures]
            if acks == "0":
                return None
            return [(done.partition, done.offset, done.timestamp) for done in sent]

        return self.run(work())

    def consume(
        self, topic: str, partition: int, offset: int, count: int, timeout_s: float = 15.0, committed: bool = True
    ) -> list[dict[str, Any]]:
        async def work() -> list[dict[str, Any]]:
            consumer = await self.consumer(
                auto_offset_reset="none",
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
                    batches = await consumer.getmany(place, timeout_ms=100, max_records=count - len(found))
                    for record in batches.get(place, []):
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
            finally:
                await consumer.stop()
            return found

        return self.run(work())

    def offset_at(self, topic: str, partition: int, at: str | int) -> dict[str, int]:
        if at == "max_timestamp":
            raise lines.Unsupported("no call for the newest timestamp's offset")

        async def work() -> dict[str, int]:
            consumer = await self.consumer()
            place = TopicPartition(topic, partition)
            try:
                consumer.assign([place])
                if at == "earliest":
                    return {"offset": (await consumer.beginning_offsets([place]))[place], "timestamp": -1}
                if at == "latest":
                    return {"offset": (await consumer.end_offsets([place]))[place], "timestamp": -1}
                found = (await consumer.offsets_for_times({place: int(at)}))[place]
                if found is None:
                    return {"offset": -1, "timestamp": -1}
                return {"offset": found.offset, "timestamp": found.timestamp}
            finally:
                await consumer.stop()

        return self.run(work())

    def partitions(self, topic: str) -> int:
        async def work() -> int:
            (described,) = await (await self.opened_admin()).describe_topics([topic])
            check(described["error_code"])
            return len(described["partitions"])

        return self.run(work())

    def create_topic(self, topic: str, partitions: int = 1, configs: dict[str, str] | None = None) -> None:
        async def work() -> None:
            admin = await self.opened_admin()
            answer = await admin.create_topics([NewTopic(topic, partitions, 1, topic_configs=configs or {})])
            for _, code, *message in answer.topic_errors:
                check(code, *message)

        self.run(work())

    def delete_topic(self, topic: str) -> None:
        async def work() -> None:
            answer = await (await self.opened_admin()).delete_topics([topic])
            for _, code in answer.topic_error_codes:
                check(code)

        self.run(work())

    def create_partitions(self, topic: str, total: int) -> None:
        async def work() -> None:
            answer = await (await self.opened_admin()).create_partitions({topic: NewPartitions(total)})
            for _, code, message in answer.topic_errors:
                check(code, message)

        self.run(work())

    def describe_configs(self, topic: str) -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            admin = await self.opened_admin()
            (answer,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
            ((code, message, _, _, entries),) = answer.resources
            check(code, message)
            return {entry[0]: entry[1] for entry in entries}

        return self.run(work())

    def alter_configs(self, topic: str, set: dict[str, str], delete: list[str], incremental: bool = True) -> None:
        if incremental:
            raise lines.Unsupported("only the old call that replaces all configs")

        async def work() -> None:
            resource = ConfigResource(ConfigResourceType.TOPIC, topic, configs=set)
            answers = await (await self.opened_admin()).alter_configs([resource])
            for answer in answers:
                for code, message, _, _ in answer.resources:
                    check(code, message)

        self.run(work())

    def delete_records(self, topic: str, partition: int, before: int) -> int:
        async def work() -> int:
            found = await (await self.opened_admin()).delete_records(
                {TopicPartition(topic, partition): RecordsToDelete(before_offset=before)}
            )
            return int(found[TopicPartition(topic, partition)])

        return self.run(work())

    def list_topics(self) -> list[str]:
        async def work() -> list[str]:
            return sorted(await (await self.opened_admin()).list_topics())

        return self.run(work())

    def topic_id(self, topic: str) -> str:
        raise lines.Unsupported("does not know topic ids")

    def describe_cluster(self) -> dict[str, Any]:
        async def work() -> dict[str, Any]:
            cluster = await (await self.opened_admin()).describe_cluster()
            return {
                "cluster_id": cluster["cluster_id"],
                "brokers": len(cluster["brokers"]),
                "controller": cluster["controller_id"],
            }

        return self.run(work())


if __name__ == "__main__":
    lines.serve(Driver(sys.argv[1]))
