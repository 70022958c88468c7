"""confluent-kafka as a copier: reads, writes and commits what it read as one step."""

from __future__ import annotations

import time

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from tests.compat.drivers import lines


class Copier:
    """The ``copy`` command of ``lines``."""

    bootstrap: str

    def copy(
        self, source: str, target: str, group: str, transactional_id: str, count: int, batch: int, abort_every: int
    ) -> int:
        producer = Producer({"bootstrap.servers": self.bootstrap, "transactional.id": transactional_id, "linger.ms": 1})
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": group,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
            }
        )
        copied = attempts = 0
        deadline = time.monotonic() + lines.COPY_TIMEOUT_S
        try:
            producer.init_transactions(lines.CALL_TIMEOUT_S)
            consumer.subscribe([source])
            while copied < count and time.monotonic() < deadline:
                messages = [each for each in consumer.consume(batch, 0.2) if not each.error()]
                if not messages:
                    continue
                attempts += 1
                producer.begin_transaction()
                for message in messages:
                    producer.produce(target, message.value(), message.key())
                positions = consumer.position(consumer.assignment())
                producer.send_offsets_to_transaction(
                    positions, consumer.consumer_group_metadata(), lines.CALL_TIMEOUT_S
                )
                if abort_every and attempts % abort_every == 0:
                    producer.flush(lines.CALL_TIMEOUT_S)
                    producer.abort_transaction(lines.CALL_TIMEOUT_S)
                    first: dict[int, int] = {}
                    for message in messages:
                        first.setdefault(message.partition(), message.offset())
                    for partition, offset in first.items():
                        consumer.seek(TopicPartition(source, partition, offset))
                else:
                    producer.commit_transaction(lines.CALL_TIMEOUT_S)
                    copied += len(messages)
        except KafkaException as error:
            raise lines.ClientError(error.args[0].code(), error.args[0].str()) from None
        finally:
            consumer.close()
        return copied
