"""Kafka's own console tools, by their main classes, as an operator would call them."""

from __future__ import annotations

import json

from tests.compat.clients import Clients, java_tool, record, values
from tests.compat.target import Target
from tests.scenarios.kafka.groups import commit, ready
from tests.scenarios.kafka.raw import Connection


def run(main: str, *arguments: str, stdin: str = "") -> str:
    done = java_tool(main, *arguments, stdin=stdin)
    assert done.returncode == 0, f"{main} {arguments}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_kafka_topics_creates_describes_alters_lists_and_deletes(target: Target, new_name) -> None:
    topic = new_name()

    def topics(*arguments: str) -> str:
        return run("org.apache.kafka.tools.TopicCommand", "--bootstrap-server", target.bootstrap, *arguments)

    assert f"Created topic {topic}." in topics(
        "--create", "--topic", topic, "--partitions", "2", "--config", "retention.ms=3600000"
    )
    topics("--alter", "--topic", topic, "--partitions", "3")
    described = topics("--describe", "--topic", topic)
    assert "PartitionCount: 3" in described
    assert "retention.ms=3600000" in described
    assert described.count("Leader: ") == 3
    assert topic in topics("--list").split()
    topics("--delete", "--topic", topic)


def test_kafka_configs_alters_and_describes_a_topic_and_the_broker(
    target: Target, clients: Clients, topic: str
) -> None:
    def configs(*arguments: str) -> str:
        return run("kafka.admin.ConfigCommand", "--bootstrap-server", target.bootstrap, *arguments)

    configs("--alter", "--entity-type", "topics", "--entity-name", topic, "--add-config", "retention.ms=1234567")
    assert clients["confluent"].describe_configs(topic=topic)["retention.ms"] == "1234567"
    described = configs("--describe", "--entity-type", "topics", "--entity-name", topic)
    assert "retention.ms=1234567" in described
    assert "DYNAMIC_TOPIC_CONFIG:retention.ms=1234567" in described
    configs("--alter", "--entity-type", "topics", "--entity-name", topic, "--delete-config", "retention.ms")
    assert clients["confluent"].describe_configs(topic=topic)["retention.ms"] == "604800000"
    broker = str(clients["confluent"].describe_cluster()["controller"])
    everything = configs("--describe", "--all", "--entity-type", "brokers", "--entity-name", broker)
    assert "num.partitions=" in everything


def test_the_console_producer_writes_and_the_console_consumer_reads(
    target: Target, clients: Clients, topic: str
) -> None:
    run(
        "org.apache.kafka.tools.ConsoleProducer",
        *("--bootstrap-server", target.bootstrap, "--topic", topic),
        *("--reader-property", "parse.key=true", "--reader-property", "key.separator=:", "--compression-codec", "lz4"),
        stdin="a:first\nb:second\n",
    )
    assert values(clients["go"].consume(topic=topic, partition=0, offset=0, count=2)) == [b"first", b"second"]
    read = run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", target.bootstrap, "--topic", topic, "--partition", "0", "--offset", "earliest"),
        *("--max-messages", "2", "--timeout-ms", "15000", "--formatter-property", "print.key=true"),
    )
    assert read.splitlines() == ["a\tfirst", "b\tsecond"]


def test_kafka_get_offsets_counts_what_is_there(target: Target, clients: Clients, topic: str) -> None:
    clients["java"].produce(topic=topic, partition=0, records=[record(b"v")] * 7)
    clients["java"].delete_records(topic=topic, partition=0, before=2)

    def offsets(*arguments: str) -> str:
        tool = "org.apache.kafka.tools.GetOffsetShell"
        return run(tool, "--bootstrap-server", target.bootstrap, "--topic-partitions", f"{topic}:0", *arguments)

    assert offsets().strip() == f"{topic}:0:7"
    assert offsets("--time", "earliest").strip() == f"{topic}:0:2"


def test_kafka_log_dirs_tells_the_size_of_a_partition(target: Target, clients: Clients, topic: str) -> None:
    clients["java"].produce(topic=topic, partition=0, records=[record(bytes(50_000))])
    told = run(
        "org.apache.kafka.tools.LogDirsCommand",
        *("--bootstrap-server", target.bootstrap, "--describe", "--topic-list", topic),
    )
    (answer,) = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
    partitions = [
        partition for broker in answer["brokers"] for log in broker["logDirs"] for partition in log["partitions"]
    ]
    (found,) = [partition for partition in partitions if partition["partition"] == f"{topic}-0"]
    assert 50_000 < found["size"] < 60_000


def test_kafka_delete_records_and_cluster_id(target: Target, clients: Clients, topic: str, tmp_path) -> None:
    clients["java"].produce(topic=topic, partition=0, records=[record(b"v")] * 7)
    wish = tmp_path / "wish.json"
    wish.write_text(json.dumps({"partitions": [{"topic": topic, "partition": 0, "offset": 5}], "version": 1}))
    tool = "org.apache.kafka.tools.DeleteRecordsCommand"
    told = run(tool, "--bootstrap-server", target.bootstrap, "--offset-json-file", str(wish))
    assert "low_watermark: 5" in told
    told = run("org.apache.kafka.tools.ClusterTool", "cluster-id", "--bootstrap-server", target.bootstrap)
    assert clients["confluent"].describe_cluster()["cluster_id"] in told


def test_kafka_broker_api_versions_understands_every_key(target: Target) -> None:
    told = run("org.apache.kafka.tools.BrokerApiVersionsCommand", "--bootstrap-server", target.bootstrap)
    assert "Produce(0): 0 to" in told
    assert "Fetch(1): 4 to" in told
    assert "UNKNOWN" not in told


def test_kafka_consumer_groups_lists_describes_resets_and_deletes(target: Target, clients: Clients, topic: str) -> None:
    group = topic + "-group"
    clients["java"].produce(topic=topic, partition=0, records=[record(b"v")] * 7)
    read = run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", target.bootstrap, "--topic", topic, "--group", group, "--from-beginning"),
        *("--max-messages", "7", "--timeout-ms", "15000"),
    )
    assert read.splitlines() == ["v"] * 7

    def groups(*arguments: str) -> str:
        tool = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
        return run(tool, "--bootstrap-server", target.bootstrap, *arguments)

    assert [group, "Classic", "Empty"] == next(
        [words[0], words[1], words[-1]]
        for words in map(str.split, groups("--list", "--state", "--type").splitlines())
        if words and words[0] == group
    )
    (line,) = [each for each in groups("--describe", "--group", group).splitlines() if topic in each.split()[1:2]]
    assert line.split()[1:6] == [topic, "0", "7", "7", "0"]
    moved = groups("--reset-offsets", "--group", group, "--topic", topic, "--shift-by", "-3", "--execute")
    assert [group, topic, "0", "4"] in [each.split()[:4] for each in moved.splitlines()]
    assert "successful" in groups("--delete-offsets", "--group", group, "--topic", topic).lower()
    assert f"('{group}') was successful" in groups("--delete", "--group", group)


def test_kafkas_formatters_read_our_offsets_topic(target: Target, clients: Clients, topic: str) -> None:
    with Connection(target.bootstrap) as kafka:
        ready(kafka, topic + "-group")
        assert commit(kafka, topic + "-group", topic, 7, metadata="note") == 0
    said = java_tool(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", target.bootstrap, "--topic", "__consumer_offsets", "--from-beginning"),
        *("--timeout-ms", "3000", "--formatter", "org.apache.kafka.tools.consumer.OffsetsMessageFormatter"),
    ).stdout
    found = [json.loads(line) for line in said.replace("}{", "}\n{").splitlines() if topic in line]
    (ours,) = [each for each in found if each["key"]["data"]["group"] == topic + "-group"]
    assert ours["key"] == {"type": 1, "data": {"group": topic + "-group", "topic": topic, "partition": 0}}
    assert (ours["value"]["data"]["offset"], ours["value"]["data"]["metadata"]) == (7, "note")
