"""Retention, compaction and quotas as real clients see them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import pytest

from tests.compat.clients import CLIENT_NAMES, ClientRefused, Clients, decoded, encoded, java_tool, record
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
OFFSET_OUT_OF_RANGE = 1
INVALID_RECORD = 87
UNKNOWN = -1  # what aiokafka makes of a code that it does not know


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker(settings=SETTINGS) as broker:
        yield broker


@pytest.fixture(scope="module")
def clients(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    found = Clients(broker.kafka, tmp_path_factory.mktemp("clients"))
    yield found
    found.close()


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
        shown = value.decode(errors="replace") if value is not None else None
        found.append((message.offset(), (message.key() or b"").decode(), shown))
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


WRITERS = {"confluent": "zstd", "kafka-python": "gzip", "aiokafka": "snappy", "java": "lz4", "go": "none"}


@pytest.mark.parametrize(("writer", "codec"), WRITERS.items())
def test_every_client_rebuilds_what_any_of_them_wrote_from_about_as_many_records_as_there_are_keys(
    broker: Broker, clients: Clients, writer: str, codec: str
) -> None:
    topic = f"table-{writer}"
    configs = {"cleanup.policy": "compact", "segment.bytes": str(MIB), "min.cleanable.dirty.ratio": "0.01"}
    clients[writer].create_topic(topic=topic, configs=configs)
    keys, rounds = 100, 60
    for number in range(rounds):
        rows = [
            record(b"%d:" % number + bytes(300), b"key %d" % key, headers=[("round", b"%d" % number)])
            for key in range(keys)
        ]
        clients[writer].produce(topic=topic, partition=0, records=rows, compression=codec)
    clients[writer].produce(topic=topic, partition=0, records=[record(None, b"key 0")], compression=codec)
    for _ in range(4):  # noise fills segments whatever the codec, and what lies in the last one is never compacted
        noise = record(os.urandom(500_000), b"noise")
        clients[writer].produce(topic=topic, partition=0, records=[noise], compression=codec)
    until(lambda: len(read_all(broker, topic)) < 4 * keys)
    seen = read_all(broker, topic)
    table = {b"key %d" % key: b"%d:" % (rounds - 1) + bytes(300) for key in range(1, keys)}
    for reader in CLIENT_NAMES:
        found = clients[reader].consume(topic=topic, partition=0, offset=0, count=len(seen))
        assert [each["offset"] for each in found] == [offset for offset, _, _ in seen], reader
        last = {decoded(each["key"]): each for each in found}
        values = {key: decoded(each["value"]) for key, each in last.items() if key != b"noise"}
        assert {key: value for key, value in values.items() if value is not None} == table, reader
        assert last[b"key 1"]["headers"] == [["round", encoded(b"%d" % (rounds - 1))]], reader
    assert ends(broker, topic)[1] == seen[-1][0] + 1, "the end can be reached"


def test_the_console_consumer_prints_a_compacted_topic(broker: Broker, clients: Clients) -> None:
    configs = {"cleanup.policy": "compact", "segment.bytes": str(MIB), "min.cleanable.dirty.ratio": "0.01"}
    clients["java"].create_topic(topic="printed", configs=configs)
    for number in range(30):
        clients["java"].produce(topic="printed", partition=0, records=[record(b"%d" % number, b"tea")])
    noise = [record(b"x" * 500_000, b"noise")] * 4
    for each in noise:
        clients["java"].produce(topic="printed", partition=0, records=[each])
    until(lambda: len(read_all(broker, "printed")) < 10)
    said = java_tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", broker.kafka, "--topic", "printed", "--partition", "0", "--offset", "earliest"),
        *("--max-messages", "1", "--timeout-ms", "15000", "--formatter-property", "print.key=true"),
        *("--formatter-property", "print.offset=true"),
    ).stdout
    assert said.splitlines() == ["Offset:29\ttea\t29"]


@pytest.mark.parametrize("client", CLIENT_NAMES)
def test_row_22_a_record_without_a_key_is_refused_by_a_compacted_topic(clients: Clients, client: str) -> None:
    topic = f"keyed-{client}"
    clients[client].create_topic(topic=topic, configs={"cleanup.policy": "compact"})
    with pytest.raises(ClientRefused) as refused:
        clients[client].produce(topic=topic, partition=0, records=[record(b"v")])
    assert refused.value.code == (UNKNOWN if client == "aiokafka" else INVALID_RECORD)
    assert clients[client].produce(topic=topic, partition=0, records=[record(b"v", b"k")])[0][1] == 0


@pytest.mark.parametrize("client", CLIENT_NAMES)
def test_row_16_a_reader_of_what_age_took_hears_that_it_is_out_of_range(
    broker: Broker, clients: Clients, client: str
) -> None:
    topic = f"aged-{client}"
    configs = {"segment.bytes": str(MIB), "retention.bytes": "100000", "file.delete.delay.ms": "0"}
    clients[client].create_topic(topic=topic, configs=configs)
    for number in range(4):
        rows = [record(b"%d" % number + bytes(400_000))]
        clients[client].produce(topic=topic, partition=0, records=rows)
    until(lambda: ends(broker, topic)[0] > 0)
    with pytest.raises(ClientRefused) as refused:
        clients[client].consume(topic=topic, partition=0, offset=0, count=1, timeout_s=10)
    assert refused.value.code == OFFSET_OUT_OF_RANGE
    start = clients[client].offset_at(topic=topic, partition=0, at="earliest")["offset"]
    assert [each["offset"] for each in clients[client].consume(topic=topic, partition=0, offset=start, count=1)] == [
        start
    ]


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


def configs_tool(broker: Broker, *arguments: str) -> str:
    done = java_tool("kafka.admin.ConfigCommand", "--bootstrap-server", broker.kafka, *arguments)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


QUOTA = 2_000_000


@pytest.fixture(scope="module")
def limited(broker: Broker) -> Iterator[None]:
    """Every client that has no quota of its own, by Kafka's own tool."""
    wanted = f"producer_byte_rate={QUOTA},consumer_byte_rate={QUOTA}"
    whose = ("--entity-type", "clients", "--entity-default")
    configs_tool(broker, "--alter", "--add-config", wanted, *whose)
    assert f"producer_byte_rate={QUOTA}.0" in configs_tool(broker, "--describe", *whose)
    yield
    configs_tool(broker, "--alter", "--delete-config", "producer_byte_rate,consumer_byte_rate", *whose)
    assert "producer_byte_rate" not in configs_tool(broker, "--describe", *whose)


@pytest.mark.parametrize("client", CLIENT_NAMES)
def test_every_client_is_kept_to_its_quota_and_loses_nothing(
    broker: Broker, clients: Clients, limited: None, client: str
) -> None:
    """Half a second's worth is free, and the last request need not wait: of four MB two take their time."""
    clients["java"].create_topic(topic=f"limited-{client}")
    rows = [record(b"%d:" % number + bytes(100_000)) for number in range(40)]
    began_s = time.monotonic()
    placed = []
    for number in range(0, 40, 4):  # franz-go would take all of them for one batch
        placed += clients[client].produce(topic=f"limited-{client}", partition=0, records=rows[number : number + 4])
    assert time.monotonic() - began_s > 0.8 * (4_000_000 - QUOTA / 2 - MIB) / QUOTA
    assert [offset for _, offset, _ in placed] == list(range(40))
    began_s = time.monotonic()
    found = clients[client].consume(topic=f"limited-{client}", partition=0, offset=0, count=40)
    assert time.monotonic() - began_s > 0.8 * (4_000_000 - QUOTA / 2 - 1.2 * MIB) / QUOTA
    assert [decoded(each["value"]) for each in found] == [decoded(each["value"]) for each in rows]


def test_kafka_configs_limits_users_clients_and_addresses(broker: Broker) -> None:
    told = "--alter", "--add-config"
    configs_tool(broker, *told, "request_percentage=50", "--entity-type", "users", "--entity-name", "ann")
    both = ("--entity-type", "users", "--entity-name", "ann", "--entity-type", "clients", "--entity-name", "app")
    configs_tool(broker, *told, "controller_mutation_rate=7.5", *both)
    configs_tool(broker, *told, "connection_creation_rate=100", "--entity-type", "ips", "--entity-name", "10.0.0.7")
    describe = [sys.executable, "-m", "twinlog", "quota", "describe", "--bootstrap", broker.kafka, "--json"]
    seen = json.loads(subprocess.run(describe, check=True, capture_output=True, text=True).stdout)
    for wanted in (
        {"of": {"user": "ann"}, "quotas": {"request_percentage": 50.0}},
        {"of": {"client-id": "app", "user": "ann"}, "quotas": {"controller_mutation_rate": 7.5}},
        {"of": {"ip": "10.0.0.7"}, "quotas": {"connection_creation_rate": 100.0}},
    ):
        assert wanted in seen
    assert "controller_mutation_rate=7.5" in configs_tool(broker, "--describe", *both)


def test_kafka_topics_is_told_when_to_come_again(broker: Broker) -> None:
    """Eleven seconds' worth of partitions may be made at once; what comes then is refused for a while."""
    own = ("--entity-type", "clients", "--entity-name", "adminclient-limited")
    configs_tool(broker, "--alter", "--add-config", "controller_mutation_rate=10", *own)
    with tempfile.NamedTemporaryFile("w", suffix=".properties") as config:
        config.write("client.id=adminclient-limited\n")
        config.flush()

        def create(topic: str, partitions: int) -> str:
            tool = ("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", broker.kafka)
            wish = ("--create", "--topic", topic, "--partitions", str(partitions))
            return java_tool(*tool, *wish, "--command-config", config.name).stdout

        assert "Created topic first." in create("first", 310)
        assert "come again in" in create("second", 1)
        until(lambda: "Created topic second." in create("second", 1), within_s=60)
