"""kafka-python as a copier: reads, writes and commits what it read as one step."""

from __future__ import annotations

import time

from kafka import KafkaConsumer, KafkaProducer
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from tests.compat.drivers import lines


class Copier:
    """The ``copy`` command of ``lines``."""

    bootstrap: str

    def copy(
        self, source: str, target: str, group: str, transactional_id: str, count: int, batch: int, abort_every: int
    ) -> int:
        producer = KafkaProducer(bootstrap_servers=self.bootstrap, transactional_id=transactional_id, linger_ms=1)
        consumer = KafkaConsumer(
            source,
            bootstrap_servers=self.bootstrap,
            group_id=group,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            isolation_level="read_committed",
        )
        copied = attempts = 0
        deadline = time.monotonic() + lines.COPY_TIMEOUT_S
        try:
            producer.init_transactions()
            while copied < count and time.monotonic() < deadline:
                found = consumer.poll(200, max_records=batch)
                if not found:
                    continue
                attempts += 1
                producer.begin_transaction()
                for records in found.values():
                    for record in records:
                        producer.send(target, record.value, record.key)
                offsets = {place: OffsetAndMetadata(records[-1].offset + 1, "", -1) for place, records in found.items()}
                producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
                if abort_every and attempts % abort_every == 0:
                    producer.flush()
                    producer.abort_transaction()
                    for place, records in found.items():
                        consumer.seek(place, records[0].offset)
                else:
                    producer.commit_transaction()
                    copied += sum(len(records) for records in found.values())
        except KafkaError as error:
            raise lines.ClientError(getattr(error, "errno", -1000), f"{type(error).__name__}: {error}") from None
        finally:
            consumer.close(autocommit=False)
            producer.close()
        return copied
