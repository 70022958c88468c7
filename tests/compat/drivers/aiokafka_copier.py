"""aiokafka as a copier: reads, writes and commits what it read as one step."""

from __future__ import annotations

import time
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from tests.compat.drivers import lines


class Copier:
    """The ``copy`` command of ``lines``."""

    bootstrap: str
    loop: Any

    def in_loop(self, work: Any) -> Any:
        raise NotImplementedError

    def copy(
        self, source: str, target: str, group: str, transactional_id: str, count: int, batch: int, abort_every: int
    ) -> int:
        async def work() -> int:
            producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap, transactional_id=transactional_id)
            consumer = AIOKafkaConsumer(
                source,
                bootstrap_servers=self.bootstrap,
                group_id=group,
                auto_offset_reset="earliest",
                enable_auto_commit=False,
                isolation_level="read_committed",
            )
            await producer.start()
            await consumer.start()
            copied = attempts = 0
            deadline = time.monotonic() + lines.COPY_TIMEOUT_S
            try:
                while copied < count and time.monotonic() < deadline:
                    found = await consumer.getmany(timeout_ms=200, max_records=batch)
                    if not found:
                        continue
                    attempts += 1
                    await producer.begin_transaction()
                    for records in found.values():
                        for record in records:
                            await producer.send(target, record.value, record.key)
                    offsets = {place: records[-1].offset + 1 for place, records in found.items()}
                    await producer.send_offsets_to_transaction(offsets, group)
                    if abort_every and attempts % abort_every == 0:
                        await producer.flush()
                        await producer.abort_transaction()
                        for place, records in found.items():
                            consumer.seek(place, records[0].offset)
                    else:
                        await producer.commit_transaction()
                        copied += sum(len(records) for records in found.values())
            finally:
                await consumer.stop()
                await producer.stop()
            return copied

        return int(self.in_loop(work()))
