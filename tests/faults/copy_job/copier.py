"""One copier, as a program of its own: reads, writes, and commits its offsets within the transaction.

    python -m tests.faults.copy_job.copier BOOTSTRAP SOURCE TARGET GROUP TRANSACTIONAL_ID BATCH

It ends with 0 when there has been nothing to read for a while, and otherwise when something went wrong that a program
answers by beginning anew: whoever started it starts it again.
"""

from __future__ import annotations

import sys
import time

from confluent_kafka import Consumer, KafkaException, Producer

IDLE_S = 6.0
CALL_S = 20.0


def main(bootstrap: str, source: str, target: str, group: str, transactional_id: str, batch: str) -> int:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "transactional.id": transactional_id,
            "transaction.timeout.ms": 5_000,
            # With its default librdkafka may wait for ever in send_offsets_to_transaction: tests/compat/FINDINGS.md.
            "metadata.recovery.strategy": "none",
        }
    )
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "isolation.level": "read_committed",
            "session.timeout.ms": 2_000,
            "heartbeat.interval.ms": 300,
        }
    )
    producer.init_transactions(CALL_S)
    consumer.subscribe([source])
    last_read = time.monotonic()
    while time.monotonic() - last_read < IDLE_S:
        messages = [message for message in consumer.consume(int(batch), 0.3) if not message.error()]
        if not messages:
            continue
        last_read = time.monotonic()
        producer.begin_transaction()
        for message in messages:
            producer.produce(target, message.value(), message.key())
            producer.poll(0)
        producer.send_offsets_to_transaction(
            consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), CALL_S
        )
        producer.commit_transaction(CALL_S)
    consumer.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KafkaException as error:
        print(error, file=sys.stderr)
        sys.exit(1)
