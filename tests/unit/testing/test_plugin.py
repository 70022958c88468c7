"""What other people's tests get: fixtures that pytest finds by itself, and faults that really happen."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import confluent_kafka
import pika
import pytest

from twinlog.testing import ApiRefused, Broker

TESTS = '''
import confluent_kafka
import pytest


@pytest.fixture(scope="session")
def twinlog_settings():
    return {"topics.partition_count_default": 2}


def test_one(twinlog_broker, twinlog_topic, twinlog_queue):
    producer = confluent_kafka.Producer({"bootstrap.servers": twinlog_broker.kafka})
    producer.produce(twinlog_topic, "tea")
    assert producer.flush(20) == 0
    assert twinlog_broker.ask("GET", f"/api/topics/{twinlog_topic}")["records"] == 1
    assert twinlog_broker.ask("GET", f"/api/queues/%2F/{twinlog_queue}")["messages"] == 0
    twinlog_broker.kill()


def test_two(twinlog_broker, twinlog_new_topic, twinlog_new_queue, twinlog_faults):
    """After a test that killed it, it is there again; and nothing is left of the other test."""
    names = [twinlog_new_topic(partitions=3, **{"cleanup.policy": "compact"}), twinlog_new_topic()]
    assert [each["name"] for each in twinlog_broker.ask("GET", "/api/topics")] == names
    assert twinlog_broker.ask("GET", f"/api/topics/{names[0]}")["partitions"] == 3
    queue = twinlog_new_queue(**{"x-max-length": 2})
    queues = twinlog_broker.ask("GET", "/api/queues")
    assert [each["name"] for each in queues if each["type"] == "classic"] == [queue]
    assert {each["name"] for each in queues} == {queue, names[1], *(f"{names[0]}-{index}" for index in range(3))}
    twinlog_faults.slow_disk(50)


def test_three(twinlog_broker, twinlog_new_queue, twinlog_advance):
    queue = twinlog_new_queue(**{"x-message-ttl": 60_000})
    message = {"routing_key": queue, "payload": "m", "payload_encoding": "string", "properties": {}}
    twinlog_broker.ask("POST", "/api/exchanges/%2F/amq.default/publish", message)
    twinlog_advance(minutes=2)
    while twinlog_broker.ask("GET", f"/api/queues/%2F/{queue}")["messages"]:
        pass
'''


def test_fixtures_are_found_and_clean_up(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path)
    assert "3 passed" in done.stdout, done.stdout + done.stderr


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings={"amqp.listen": "127.0.0.1:0", "http.listen": "127.0.0.1:0"}, faults=True) as broker:
        yield broker


def amqp(broker: Broker) -> pika.BlockingConnection:
    host, _, port = broker.amqp.rpartition(":")
    return pika.BlockingConnection(pika.ConnectionParameters(host, int(port)))


def ends(connection: pika.BlockingConnection) -> None:
    with pytest.raises(pika.exceptions.AMQPError):
        while True:
            connection.process_data_events(1)


def test_a_slow_disk_makes_confirms_late_and_heals(broker: Broker) -> None:
    broker.create_topic("slow")
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka, "linger.ms": 0})

    def spent_ms() -> float:
        stamps: list[float] = []
        producer.produce("slow", "v", on_delivery=lambda error, message: stamps.append(message.latency()))
        assert producer.flush(30) == 0
        return stamps[0] * 1000

    spent_ms()
    broker.faults.slow_disk(400)
    assert spent_ms() >= 400
    broker.faults.heal()
    assert min(spent_ms() for _ in range(5)) < 400


def test_dropped_connections_are_gone_and_what_they_held_comes_again(broker: Broker) -> None:
    broker.create_queue("work")
    first = amqp(broker)
    channel = first.channel()
    channel.confirm_delivery()
    channel.basic_publish("", "work", b"job")
    taken = [next(channel.consume("work", inactivity_timeout=20))]
    assert taken[0][2] == b"job"
    assert broker.faults.redeliver("work") == 1
    ends(first)
    second = amqp(broker)
    method, _, body = next(second.channel().consume("work", inactivity_timeout=20))
    assert (body, method.redelivered) == (b"job", True)
    assert broker.faults.drop_connections(protocol="amqp") == 1
    ends(second)


def test_what_the_broker_refuses_is_raised_with_its_reason(broker: Broker) -> None:
    broker.create_queue("there", arguments={"x-max-length": 1})
    with pytest.raises(ApiRefused, match="x-max-length"):
        broker.create_queue("there", arguments={"x-max-length": 2})
    broker.delete_queue("there")
    with pytest.raises(ApiRefused, match="404"):
        broker.delete_queue("there")


def gone(read: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while read():
        assert time.monotonic() < deadline


def test_an_hour_passes_at_once_for_messages_sessions_and_transactions(broker: Broker) -> None:
    broker.create_queue("short", arguments={"x-message-ttl": 1_800_000})
    message = {"routing_key": "short", "payload": "m", "payload_encoding": "string", "properties": {}}
    broker.ask("POST", "/api/exchanges/%2F/amq.default/publish", message)
    broker.create_topic("old", configs={"retention.ms": 60_000, "segment.ms": 1000})
    broker.ask("POST", "/api/topics/old/records", {"value": "v"})
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka, "transactional.id": "slow"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("old", "in a transaction")
    assert producer.flush(20) == 0
    assert broker.ask("GET", "/api/queues/%2F/short")["messages"] == 1
    before_ms = time.time() * 1000
    assert broker.advance(hours=1) >= before_ms + 3_600_000
    gone(lambda: broker.ask("GET", "/api/queues/%2F/short")["messages"])
    gone(lambda: broker.ask("GET", "/api/transactions/slow")["open_ms"] is not None)
    with pytest.raises(confluent_kafka.KafkaException):
        producer.commit_transaction(20)
    broker.ask("POST", "/api/topics/old/records", {"value": "new"})
    broker.advance(minutes=10)
    gone(lambda: broker.ask("GET", "/api/topics/old/partitions")[0]["offset_start"] == 0)


def test_time_and_disk_are_turned_only_where_that_was_asked_for() -> None:
    with Broker() as plain:
        with pytest.raises(AssertionError, match="faults=True"):
            plain.advance(seconds=1)
        plain.faults.heal()
    with Broker(faults=True) as turnable:
        turnable.kill()
        turnable.start()
        assert turnable.advance(days=1) > time.time() * 1000
        assert turnable.stop() == 0
