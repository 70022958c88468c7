"""Records what real clients and a real Kafka say to each other, as golden files for the codec.

    python -m tests.golden.kafka.capture LISTEN_PORT BROKER_PORT JAVA_CLASSPATH

The broker at BROKER_PORT has to advertise LISTEN_PORT. Every client walks through what it can do; the frames that pass
are sorted by API and version, and the first few of each that are not too long are kept, one file per client.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from twinlog.wire.kafka import APIS

HERE = Path(__file__).parent
KEPT_PER_KIND = 2
FRAME_SIZE_MAX = 3000

# (kind, key, version) -> frames without their size
Heard = dict[tuple[str, int, int], list[bytes]]


class Recorder:
    """Passes bytes on between clients and the broker and cuts them into frames on the way."""

    def __init__(self, broker_port: int) -> None:
        self.broker_port = broker_port
        self.heard: Heard = {}

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        broker_reader, broker_writer = await asyncio.open_connection("127.0.0.1", self.broker_port)
        asked: dict[int, tuple[int, int]] = {}
        await asyncio.gather(
            self.pump(reader, broker_writer, "request", asked), self.pump(broker_reader, writer, "response", asked)
        )

    async def pump(self, reader: Any, writer: Any, kind: str, asked: dict[int, tuple[int, int]]) -> None:
        try:
            while True:
                size = await reader.readexactly(4)
                frame = await reader.readexactly(int.from_bytes(size, "big"))
                if kind == "request":
                    key, version = (int.from_bytes(frame[at : at + 2], "big", signed=True) for at in (0, 2))
                    asked[int.from_bytes(frame[4:8], "big")] = key, version
                else:
                    key, version = asked[int.from_bytes(frame[:4], "big")]
                kept = self.heard.setdefault((kind, key, version), [])
                # Directories belong to the machine of the broker, not into a golden file.
                if frame not in kept and tempfile.gettempdir().encode() not in frame:
                    kept.append(frame)
                writer.write(size + frame)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def write(self, path: Path, client: str) -> None:
        lines = [f"# {client}"]
        for (kind, key, version), frames in sorted(self.heard.items(), key=lambda item: (item[0][1:], item[0][0])):
            if key not in APIS:
                continue  # the broker talking to itself
            # Longer frames say more, so of those that are not too long the longest are kept.
            short = sorted((frame for frame in frames if len(frame) <= FRAME_SIZE_MAX), key=len, reverse=True)
            lines += [f"{kind} {APIS[key].name} {version} {frame.hex()}" for frame in short[:KEPT_PER_KIND]]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def librdkafka(servers: str) -> str:
    import confluent_kafka as ck
    from confluent_kafka import admin as ck_admin

    topic = "golden-librdkafka"
    admin = ck_admin.AdminClient({"bootstrap.servers": servers, "client.id": "ck-admin"})
    partition = ck.TopicPartition(topic, 0)
    attempt(lambda: admin.create_topics([ck_admin.NewTopic(topic, 2, 1)])[topic].result(9))
    attempt(lambda: admin.create_partitions([ck_admin.NewPartitions(topic, 3)])[topic].result(9))
    for more in ({"acks": "all", "enable.idempotence": True}, {"acks": 1, "compression.type": "lz4"}):
        producer = ck.Producer({"bootstrap.servers": servers, "client.id": "ck-producer", **more})
        producer.produce(topic, b"value", b"key", 0, headers=[("h", b"1")])
        producer.flush(9)
    producer = ck.Producer({"bootstrap.servers": servers, "transactional.id": "ck-txn"})
    producer.init_transactions(9)
    producer.begin_transaction()
    producer.produce(topic, b"in a transaction", partition=0)
    for protocol in ("classic", "consumer"):
        group = f"ck-{protocol}"
        consumer = ck.Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": group,
                "group.protocol": protocol,
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "client.rack": "r1",
            }
        )
        consumer.subscribe([topic])
        until = time.monotonic() + 8
        while consumer.poll(0.3) is None and time.monotonic() < until:
            pass
        metadata = consumer.consumer_group_metadata()
        committed = ck.TopicPartition(topic, 0, 1)
        attempt(lambda c=consumer, o=committed: c.commit(offsets=[o], asynchronous=False))
        attempt(lambda c=consumer: c.committed([partition], 9))
        attempt(lambda c=consumer: c.get_watermark_offsets(partition, 9))
        attempt(lambda c=consumer: c.offsets_for_times([ck.TopicPartition(topic, 0, 1)], 9))
        if protocol == "classic":
            attempt(lambda m=metadata: producer.send_offsets_to_transaction([ck.TopicPartition(topic, 0, 1)], m, 9))
        attempt(lambda g=group: admin.describe_consumer_groups([g])[g].result(9))
        consumer.close()
    producer.commit_transaction(9)
    resource = ck_admin.ConfigResource(ck_admin.ConfigResource.Type.TOPIC, topic)
    attempt(lambda: admin.describe_configs([resource])[resource].result(9))
    entry = ck_admin.ConfigEntry("retention.ms", "70000", incremental_operation=ck_admin.AlterConfigOpType.SET)
    changed = ck_admin.ConfigResource(ck_admin.ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
    attempt(lambda: admin.incremental_alter_configs([changed])[changed].result(9))
    attempt(lambda: admin.describe_cluster().result(9))
    attempt(lambda: admin.list_consumer_groups().result(9))
    attempt(lambda: admin.describe_topics(ck.TopicCollection([topic]))[topic].result(9))
    attempt(lambda: admin.list_offsets({partition: ck_admin.OffsetSpec.latest()})[partition].result(9))
    attempt(lambda: admin.list_consumer_group_offsets([ck.ConsumerGroupTopicPartitions("ck-classic")]))
    attempt(lambda: admin.delete_records([ck.TopicPartition(topic, 0, 1)])[partition].result(9))
    attempt(lambda: admin.elect_leaders(ck.ElectionType.PREFERRED, [partition]).result(9))
    attempt(lambda: admin.describe_user_scram_credentials(["a"])["a"].result(9))
    any_acl = ck_admin.AclBindingFilter(
        ck_admin.ResourceType.ANY,
        None,
        ck_admin.ResourcePatternType.ANY,
        None,
        None,
        ck_admin.AclOperation.ANY,
        ck_admin.AclPermissionType.ANY,
    )
    attempt(lambda: admin.describe_acls(any_acl).result(9))
    attempt(lambda: admin.delete_consumer_groups(["ck-classic"])["ck-classic"].result(9))
    attempt(lambda: admin.delete_topics([topic])[topic].result(9))
    return f"confluent-kafka {ck.__version__}, librdkafka {ck.libversion()[0]}"


def aiokafka(servers: str) -> str:
    return asyncio.run(aiokafka_walk(servers))


async def aiokafka_walk(servers: str) -> str:
    import aiokafka
    from aiokafka import admin as ak_admin

    topic = "golden-aiokafka"
    admin = ak_admin.AIOKafkaAdminClient(bootstrap_servers=servers, client_id="ak-admin")
    await admin.start()
    await admin.create_topics([ak_admin.NewTopic(topic, 2, 1)])
    producer = aiokafka.AIOKafkaProducer(bootstrap_servers=servers, transactional_id="ak-txn", client_id="ak")
    await producer.start()
    async with producer.transaction():
        await producer.send_and_wait(topic, b"value", b"key", partition=0)
        offsets = {aiokafka.TopicPartition(topic, 0): 1}
        await producer.send_offsets_to_transaction(offsets, "ak-group")
    await producer.stop()
    consumer = aiokafka.AIOKafkaConsumer(
        topic, bootstrap_servers=servers, group_id="ak-group-2", auto_offset_reset="earliest", enable_auto_commit=False
    )
    await consumer.start()
    await asyncio.wait_for(consumer.getone(), 9)
    await consumer.commit({aiokafka.TopicPartition(topic, 0): (1, "noted")})
    await consumer.committed(aiokafka.TopicPartition(topic, 0))
    await consumer.offsets_for_times({aiokafka.TopicPartition(topic, 0): 1})
    await admin.describe_consumer_groups(["ak-group-2"])
    await consumer.stop()
    await admin.list_consumer_groups()
    await admin.list_consumer_group_offsets("ak-group-2")
    await admin.describe_cluster()
    await admin.describe_configs([ak_admin.config_resource.ConfigResource("topic", topic)])
    await admin.delete_topics([topic])
    await admin.close()
    return f"aiokafka {aiokafka.__version__}"


def kafka_python(servers: str) -> str:
    import kafka
    from kafka.admin import KafkaAdminClient, NewTopic

    topic = "golden-kafka-python"
    admin = KafkaAdminClient(bootstrap_servers=servers, client_id="kp-admin")
    attempt(lambda: admin.create_topics([NewTopic(topic, 2, 1)]))
    producer = kafka.KafkaProducer(bootstrap_servers=servers, client_id="kp", transactional_id="kp-txn")
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, b"value", b"key", partition=0).get(9)
    producer.commit_transaction()
    producer.close()
    consumer = kafka.KafkaConsumer(
        topic, bootstrap_servers=servers, group_id="kp-group", auto_offset_reset="earliest", enable_auto_commit=False
    )
    until = time.monotonic() + 8
    while not consumer.poll(300) and time.monotonic() < until:
        pass
    partition = kafka.TopicPartition(topic, 0)
    attempt(consumer.commit)
    attempt(lambda: consumer.committed(partition))
    attempt(lambda: consumer.offsets_for_times({partition: 1}))
    attempt(lambda: admin.describe_groups(["kp-group"]))
    consumer.close()
    for name in ("list_groups", "list_topics", "describe_cluster", "describe_log_dirs", "list_transactions"):
        attempt(lambda n=name: getattr(admin, n)())
    attempt(lambda: admin.describe_topics([topic]))
    attempt(lambda: admin.delete_topics([topic]))
    admin.close()
    return f"kafka-python {kafka.__version__}"


def java(servers: str, classpath: str) -> str:
    subprocess.run(["java", "-cp", classpath, str(HERE / "JavaClient.java"), servers], check=True, timeout=300)
    jars = [jar.stem for jar in Path(classpath.rstrip("*")).glob("kafka-clients-*.jar")]
    return " ".join(jars)


def stored_records(servers: str) -> list[str]:
    """What the coordinators keep of all these walks, one record of each type and kind of value."""
    import confluent_kafka as ck

    consumer = ck.Consumer({"bootstrap.servers": servers, "group.id": "reader", "auto.offset.reset": "earliest"})
    seen: dict[tuple[str, bytes, bytes], str] = {}
    for topic in ("__consumer_offsets", "__transaction_state"):
        partitions = consumer.list_topics(topic, 9).topics[topic].partitions
        consumer.assign([ck.TopicPartition(topic, partition, 0) for partition in partitions])
        while (message := consumer.poll(3)) is not None:
            key, value = message.key(), message.value()
            if key is not None:
                line = f"{topic} {key.hex()} {value.hex() if value is not None else '-'}"
                seen[topic, key[:2], (value or b"")[:2]] = line
    consumer.close()
    return sorted(seen.values())


def attempt(call: Any) -> None:
    try:
        call()
    except Exception as failure:
        print(f"  passed over: {failure!r}")


def main() -> None:
    listen_port, broker_port, classpath = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    recorder = Recorder(broker_port)
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    start = asyncio.start_server(recorder.serve, "127.0.0.1", listen_port)
    asyncio.run_coroutine_threadsafe(start, loop).result(9)
    servers = f"127.0.0.1:{listen_port}"
    walks: dict[str, Any] = {
        "java": lambda: java(servers, classpath),
        "librdkafka": lambda: librdkafka(servers),
        "aiokafka": lambda: aiokafka(servers),
        "kafka_python": lambda: kafka_python(servers),
    }
    for name, walk in walks.items():
        recorder.heard = {}
        client = walk()
        time.sleep(1)
        recorder.write(HERE / f"{name}.txt", client)
        print(f"{name}: {len(recorder.heard)} kinds of frames")
    stored = stored_records(servers)
    (HERE / "stored_records.txt").write_text("\n".join(["# Kafka's coordinators", *stored]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
