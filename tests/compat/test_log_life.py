"""Retention, compaction and quotas as real clients see them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from twinlog.testing import Broker

confluent_kafka = pytest.importorskip("confluent_kafka")
admin_of = pytest.importorskip("confluent_kafka.admin")

SETTINGS = {
    "storage.retention_check_interval_ms": 200,
    "storage.compaction_check_interval_ms": 200,
    "storage.checkpoint_interval_ms": 200,
    "storage.flush_interval_ms": 100,
}
MIB = 1 << 20


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings=SETTINGS) as broker:
        yield broker


@pytest.fixture
def admin(broker: Broker) -> object:
    return admin_of.AdminClient({"bootstrap.servers": broker.kafka})


def create(admin: object, name: str, **configs: object) -> None:
    told = {key.replace("_", "."): str(value) for key, value in configs.items()}
    admin.create_topics([admin_of.NewTopic(name, 1, 1, config=told)])[name].result(30)  # type: ignore[attr-defined]


def send(broker: Broker, topic: str, records: list[tuple[str, str | None]], **options: object) -> None:
    producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka, **options})
    for key, value in records:
        producer.produce(topic, value, key)
        producer.poll(0)
    assert producer.flush(60) == 0


def read_all(broker: Broker, topic: str) -> list[tuple[int, str, str | None]]:
    """Everything from the start to the end, as one who rebuilds a table reads it."""
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.kafka, "group.id": "r", "enable.partition.eof": True}
    )
    place = confluent_kafka.TopicPartition(topic, 0, confluent_kafka.OFFSET_BEGINNING)
    consumer.assign([place])
    found = []
    while True:
        message = consumer.poll(30)
        assert message is not None, "neither a record nor the end"
        if message.error() is not None:
            assert message.error().code() == confluent_kafka.KafkaError._PARTITION_EOF, message.error()
            break
        value = message.value()
        found.append((message.offset(), message.key().decode(), value.decode() if value is not None else None))
    consumer.close()
    return found


def ends(broker: Broker, topic: str) -> tuple[int, int]:
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.kafka, "group.id": "w"})
    low, high = consumer.get_watermark_offsets(confluent_kafka.TopicPartition(topic, 0), timeout=30)
    consumer.close()
    return low, high


def until(condition: Callable[[], bool], within_s: float = 40) -> None:
    deadline_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline_s, "it never came true"
        time.sleep(0.2)


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_a_table_is_rebuilt_from_about_as_many_records_as_it_has_keys(
    broker: Broker, admin: object, codec: str
) -> None:
    topic = f"table-{codec}"
    create(admin, topic, cleanup_policy="compact", segment_bytes=MIB, min_cleanable_dirty_ratio=0.01)
    keys, rounds = 100, 300
    records = [(f"key {number % keys}", f"{number // keys}:" + "v" * 100) for number in range(keys * rounds)]
    send(broker, topic, records, **{"compression.type": codec, "batch.size": 20_000})
    filler = [("filler", "f" * 500_000)] * 4
    send(broker, topic, filler, **{"linger.ms": 0})
    until(lambda: len(read_all(broker, topic)) < 10 * keys)
    found = read_all(broker, topic)
    table = {key: value for _, key, value in found if key != "filler"}
    assert table == {f"key {number}": f"{rounds - 1}:" + "v" * 100 for number in range(keys)}
    assert [offset for offset, _, _ in found] == sorted({offset for offset, _, _ in found})
    assert ends(broker, topic)[1] == found[-1][0] + 1, "the end can be reached"


def test_a_compacted_topic_is_the_same_after_a_crash() -> None:
    with Broker(settings=SETTINGS) as broker:
        admin = admin_of.AdminClient({"bootstrap.servers": broker.kafka})
        create(admin, "t", cleanup_policy="compact", segment_bytes=MIB, min_cleanable_dirty_ratio=0.01)
        send(broker, "t", [(f"k{number % 50}", f"{number}" + "v" * 200) for number in range(20_000)])
        until(lambda: len(read_all(broker, "t")) < 10_000)
        table = {key: value for _, key, value in read_all(broker, "t")}
        broker.kill()
        broker.start()
        assert {key: value for _, key, value in read_all(broker, "t")} == table
        send(broker, "t", [("k0", "after")])
        assert read_all(broker, "t")[-1][2] == "after"


def test_tombstones_go_after_their_time(broker: Broker, admin: object) -> None:
    create(
        admin,
        "gone",
        cleanup_policy="compact",
        segment_bytes=MIB,
        min_cleanable_dirty_ratio=0.01,
        delete_retention_ms=500,
    )
    send(broker, "gone", [("a", "1"), ("b", "1"), ("a", None)])
    send(broker, "gone", [("filler", "f" * 900_000)] * 3, **{"linger.ms": 0})
    until(lambda: "a" not in {key for _, key, _ in read_all(broker, "gone")})
    assert "b" in {key for _, key, _ in read_all(broker, "gone")}


def test_old_data_goes_while_the_topic_is_in_use(broker: Broker, admin: object) -> None:
    create(admin, "short", segment_bytes=MIB, file_delete_delay_ms=0)
    send(broker, "short", [("k", "v" * 100_000)] * 100, **{"linger.ms": 0})
    assert ends(broker, "short") == (0, 100)
    resource = admin_of.ConfigResource(admin_of.ConfigResource.Type.TOPIC, "short")
    resource.add_incremental_config(
        admin_of.ConfigEntry("retention.bytes", str(3 * MIB), incremental_operation=admin_of.AlterConfigOpType.SET)
    )
    admin.incremental_alter_configs([resource])[resource].result(30)  # type: ignore[attr-defined]
    until(lambda: ends(broker, "short")[0] > 50)
    low, high = ends(broker, "short")
    assert high == 100
    assert high - low >= 30, "what it is to keep, it keeps"
    assert len(read_all(broker, "short")) == high - low


def test_a_producer_is_kept_to_its_quota(broker: Broker, admin: object) -> None:
    create(admin, "limited")
    limit = [sys.executable, "-m", "twinlog", "quota", "set", "produce=500000", "--client", "slow"]
    subprocess.run([*limit, "--bootstrap", broker.kafka], check=True, capture_output=True)
    began_s = time.monotonic()
    send(broker, "limited", [("k", "v" * 50_000)] * 60, **{"client.id": "slow", "linger.ms": 0})
    slow_s = time.monotonic() - began_s
    assert slow_s > 3_000_000 / 500_000 * 0.8, "3 MB at 0.5 MB/s take about six seconds"
    began_s = time.monotonic()
    send(broker, "limited", [("k", "v" * 50_000)] * 60, **{"client.id": "fast", "linger.ms": 0})
    assert time.monotonic() - began_s < slow_s
