"""Copy jobs of every client that knows transactions: read, write and commit the offsets as one step."""

from __future__ import annotations

import pytest

from tests.compat.clients import Clients, record, values
from tests.scenarios.kafka.raw import Connection
from tests.scenarios.kafka.transactions import described

COPIERS = ["confluent", "kafka-python", "aiokafka", "java"]
RECORDS = 120
PARTITIONS = 2


@pytest.mark.parametrize("copier", COPIERS)
def test_a_copy_job_that_aborts_now_and_then_copies_everything_once(clients: Clients, new_name, copier: str) -> None:
    source, target, first_id, second_id = (new_name() for _ in range(4))
    client = clients[copier]
    client.create_topic(topic=source, partitions=PARTITIONS)
    client.create_topic(topic=target, partitions=1)
    numbers = [b"%d" % number for number in range(RECORDS)]
    for partition in range(PARTITIONS):
        client.produce(
            topic=source, partition=partition, records=[record(n, key=n) for n in numbers[partition::PARTITIONS]]
        )
    copy = {"source": source, "target": target, "group": new_name(), "batch": 10, "abort_every": 4}
    half = client.copy(**copy, transactional_id=first_id, count=RECORDS // 2)
    rest = client.copy(**copy, transactional_id=second_id, count=RECORDS - half)
    assert half + rest == RECORDS, "the second job goes on where the offsets of the first one stand"
    client.produce(topic=target, partition=0, records=[record(b"-1")])
    for reader in ("java", "confluent"):
        found = clients[reader].consume(topic=target, partition=0, offset=0, count=RECORDS + 1)
        assert sorted(values(found), key=lambda value: int(value or b"")) == [b"-1", *numbers], reader
    with Connection(clients.bootstrap) as kafka:
        ended = described(kafka, first_id)
        assert ended.transaction_state in ("CompleteCommit", "CompleteAbort")
        assert (ended.producer_epoch > 5) == (copier == "java"), "who knows version 2 gets a new epoch at every end"
