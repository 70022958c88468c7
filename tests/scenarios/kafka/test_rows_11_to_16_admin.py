"""Metadata and admin: topics made, named by id, configured, extended, cut at the front."""

from __future__ import annotations

import struct

import pytest

from tests.compat.target import Server, Target, seen
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.raw import EARLIEST, Connection
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    alter_configs,
    create_partitions,
    create_topics,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_topic_partitions,
    incremental_alter_configs,
    metadata,
)

TOPIC, BROKER = 2, 4
SET, DELETE, APPEND, SUBTRACT = range(4)
DYNAMIC_TOPIC_CONFIG, STATIC_BROKER_CONFIG, DEFAULT_CONFIG = 1, 4, 5


def create(kafka: Connection, *topics: create_topics.CreatableTopic, version: int = 7, **more: object) -> list:
    answer = kafka.call(create_topics.CreateTopicsRequest(topics=list(topics), timeout_ms=10000, **more), version)
    return list(answer.topics)


def wish(name: str, partitions: int = 1, replicas: int = 1, **more: object) -> create_topics.CreatableTopic:
    return create_topics.CreatableTopic(name=name, num_partitions=partitions, replication_factor=replicas, **more)


def configs_of(kafka: Connection, kind: int, name: str, *keys: str, version: int = 4) -> dict[str, object]:
    wanted = describe_configs.DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    asked = describe_configs.DescribeConfigsRequest(resources=[wanted], include_synonyms=True)
    asked.include_documentation = version >= 3
    (result,) = kafka.call(asked, version).results
    assert result.error_code == 0, result.error_message
    return {config.name: config for config in result.configs}


def change(kafka: Connection, name: str, *changes: tuple[str, int, str | None], validate_only: bool = False) -> int:
    configs = [
        incremental_alter_configs.IncrementalAlterConfigsRequestAlterableConfig(
            name=config, config_operation=operation, value=value
        )
        for config, operation, value in changes
    ]
    resource = incremental_alter_configs.IncrementalAlterConfigsRequestResource(
        resource_type=TOPIC, resource_name=name, configs=configs
    )
    asked = incremental_alter_configs.IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (answer,) = kafka.call(asked, 1).responses
    return int(answer.error_code)


# ---- row 11: auto-creation ----


@pytest.mark.parametrize("version", [4, 9, 12, 13])
def test_row_11_metadata_makes_a_missing_topic_when_allowed(
    target: Target, kafka: Connection, new_name, version: int
) -> None:
    name = new_name()
    assert kafka.topic(name, version, create=False).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    first = kafka.topic(name, version, create=True)
    if target.is_twinlog:
        assert (
            first.error_code == 0
        )  # durable and ready before the answer; Apache Kafka says LEADER_NOT_AVAILABLE first
    seen(target, lambda: kafka.topic(name, version, create=True).error_code == 0)
    (partition,) = kafka.topic(name, version).partitions
    assert (partition.partition_index, partition.error_code) == (0, 0)
    assert partition.replica_nodes == partition.isr_nodes == [partition.leader_id]
    seen(target, lambda: kafka.produce(name, batch([Record()])).error_code == 0)


@pytest.mark.parametrize("name", ["a/b", "..", ".", "a b", "x" * 250, "nul\0", "ünïcode", ""])
def test_row_11_an_illegal_name_makes_no_topic(kafka: Connection, name: str) -> None:
    found = kafka.topic(name, create=True)
    assert found.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert name not in {topic.name for topic in kafka.call(metadata.MetadataRequest(topics=None), 12).topics}


def test_row_11_the_longest_name_is_allowed(kafka: Connection, new_name) -> None:
    name = (new_name() + "." + "x" * 249)[:249]
    kafka.create_topic(name)
    assert kafka.produce(name, batch([Record()])).error_code == 0


# ---- row 12: ids ----


def test_row_12_a_topic_made_again_has_a_new_id_and_the_old_one_is_unknown(
    target: Target, kafka: Connection, new_name
) -> None:
    name = new_name()
    old = kafka.create_topic(name)
    kafka.produce(old, batch([Record(b"old", timestamp=1)]))
    (deleted,) = kafka.call(
        delete_topics.DeleteTopicsRequest(topics=[delete_topics.DeleteTopicState(topic_id=old)], timeout_ms=9999), 6
    ).responses
    assert (deleted.error_code, deleted.name, deleted.topic_id) == (0, name, old)
    seen(target, lambda: kafka.topic(name).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    new = kafka.create_topic(name)
    assert new != old
    assert kafka.end(name) == 0
    seen(target, lambda: kafka.fetch(old, 0, version=13).error_code == ErrorCode.UNKNOWN_TOPIC_ID)
    assert kafka.produce(old, batch([Record()])).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    asked = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(topic_id=old, name=None)])
    (found,) = kafka.call(asked, 12).topics
    assert found.error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert kafka.produce(new, batch([Record()])).base_offset == 0


def test_row_12_deleting_a_topic_drops_what_is_known_of_its_producers(
    target: Target, kafka: Connection, new_name
) -> None:
    name = new_name()
    kafka.create_topic(name)
    for sequence in range(3):
        kafka.produce(name, batch([Record()], producer_id=77, producer_epoch=0, base_sequence=sequence))
    kafka.call(delete_topics.DeleteTopicsRequest(topic_names=[name], timeout_ms=9999), 5)
    seen(target, lambda: kafka.topic(name).error_code != 0)
    kafka.create_topic(name)
    again = kafka.produce(name, batch([Record()], producer_id=77, producer_epoch=0, base_sequence=0))
    assert (again.error_code, again.base_offset) == (0, 0)


def test_row_12_ids_survive_restarts_clean_and_not(own_server: Server) -> None:
    with Connection(own_server.bootstrap) as kafka:
        ids = {f"t{n}": kafka.create_topic(f"t{n}", partitions=2) for n in range(3)}
        cluster = kafka.call(describe_cluster.DescribeClusterRequest(), 0).cluster_id
    for _ in range(2):
        own_server.restart()
        own_server.kill()
        own_server.start()
        with Connection(own_server.bootstrap) as kafka:
            assert {name: kafka.topic(name).topic_id for name in ids} == ids
            assert kafka.call(describe_cluster.DescribeClusterRequest(), 0).cluster_id == cluster


def test_row_11_an_auto_created_topic_is_durable_before_the_answer(own_server: Server) -> None:
    with Connection(own_server.bootstrap) as kafka:
        assert kafka.topic("made-on-the-way", create=True).error_code == 0
    own_server.kill()
    own_server.start()
    with Connection(own_server.bootstrap) as kafka:
        assert kafka.topic("made-on-the-way").error_code == 0


# ---- row 13: DescribeConfigs ----


def test_row_13_every_topic_config_is_described_in_full(kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, configs={"retention.ms": "3600000"})
    configs = configs_of(kafka, TOPIC, name)
    assert set(configs) >= EVERY_TOPIC_CONFIG
    ours = configs["retention.ms"]
    assert (ours.value, ours.config_source, ours.read_only, ours.is_sensitive) == (
        "3600000",
        DYNAMIC_TOPIC_CONFIG,
        False,
        False,
    )
    assert [(s.name, s.source) for s in ours.synonyms][:1] == [("retention.ms", DYNAMIC_TOPIC_CONFIG)]
    assert ours.config_type == 5  # long
    assert ours.documentation
    default = configs["max.message.bytes"]
    assert (default.value, default.config_source) == ("1048588", DEFAULT_CONFIG)
    assert [(s.name, s.value) for s in default.synonyms] == [("message.max.bytes", "1048588")]


EVERY_TOPIC_CONFIG = {
    "cleanup.policy",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.type",
    "compression.zstd.level",
    "delete.retention.ms",
    "file.delete.delay.ms",
    "flush.messages",
    "flush.ms",
    "follower.replication.throttled.replicas",
    "index.interval.bytes",
    "leader.replication.throttled.replicas",
    "local.retention.bytes",
    "local.retention.ms",
    "max.compaction.lag.ms",
    "max.message.bytes",
    "message.timestamp.after.max.ms",
    "message.timestamp.before.max.ms",
    "message.timestamp.type",
    "min.cleanable.dirty.ratio",
    "min.compaction.lag.ms",
    "min.insync.replicas",
    "preallocate",
    "remote.log.copy.disable",
    "remote.log.delete.on.disable",
    "remote.storage.enable",
    "retention.bytes",
    "retention.ms",
    "segment.bytes",
    "segment.index.bytes",
    "segment.jitter.ms",
    "segment.ms",
    "unclean.leader.election.enable",
}


def test_row_13_only_the_named_configs_come_when_named(kafka: Connection, topic: str) -> None:
    assert set(configs_of(kafka, TOPIC, topic, "retention.ms", "no.such")) == {"retention.ms"}


@pytest.mark.parametrize("name", ["num.partitions", "inter.broker.protocol.version", "delete.topic.enable"])
def test_row_13_the_broker_describes_what_consoles_ask_for(target: Target, kafka: Connection, name: str) -> None:
    broker = kafka.call(describe_cluster.DescribeClusterRequest(), 0).controller_id
    found = configs_of(kafka, BROKER, str(broker))
    if name == "inter.broker.protocol.version" and not target.is_twinlog:
        pytest.skip("Apache Kafka dropped it in 4.0; kafka-ui reads the cluster's version from it")
    assert found[name].value


def test_row_13_an_unknown_topic_has_no_configs(kafka: Connection, new_name) -> None:
    wanted = describe_configs.DescribeConfigsResource(resource_type=TOPIC, resource_name=new_name())
    (result,) = kafka.call(describe_configs.DescribeConfigsRequest(resources=[wanted]), 4).results
    assert result.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


# ---- row 14: changing configs ----


def test_row_14_set_delete_append_subtract(target: Target, kafka: Connection, topic: str) -> None:
    def value(config: str) -> str:
        return str(configs_of(kafka, TOPIC, topic, config)[config].value)

    assert change(kafka, topic, ("cleanup.policy", APPEND, "compact"), ("retention.ms", SET, "5000000")) == 0
    seen(target, lambda: sorted(value("cleanup.policy").split(",")) == ["compact", "delete"])
    assert change(kafka, topic, ("cleanup.policy", SUBTRACT, "delete"), ("retention.ms", DELETE, None)) == 0
    seen(target, lambda: (value("cleanup.policy"), value("retention.ms")) == ("compact", "604800000"))
    assert change(kafka, topic, ("retention.ms", SET, "4000"), validate_only=True) == 0
    assert value("retention.ms") == "604800000"


@pytest.mark.parametrize(
    "wrong",
    [
        ("no.such.config", SET, "1"),
        ("retention.ms", SET, "soon"),
        ("retention.ms", SET, "-2"),
        ("cleanup.policy", SET, "shred"),
        ("max.message.bytes", SET, "-1"),
        ("min.cleanable.dirty.ratio", SET, "1.5"),
        ("message.timestamp.type", SET, "Yesterday"),
        ("retention.ms", APPEND, "1"),
    ],
)
def test_row_14_a_wrong_config_is_refused_and_the_right_one_beside_it_too(
    kafka: Connection, topic: str, wrong: tuple[str, int, str]
) -> None:
    assert change(kafka, topic, ("segment.ms", SET, "3600000"), wrong) == ErrorCode.INVALID_CONFIG
    assert configs_of(kafka, TOPIC, topic, "segment.ms")["segment.ms"].value == "604800000"
    assert change(kafka, topic, ("segment.ms", SET, "3600000")) == 0  # and nothing is stuck


def test_row_14_alter_configs_replaces_all(target: Target, kafka: Connection, new_name) -> None:
    name = new_name()
    kafka.create_topic(name, configs={"retention.ms": "3600000", "segment.ms": "3600000"})
    resource = alter_configs.AlterConfigsRequestResource(
        resource_type=TOPIC,
        resource_name=name,
        configs=[alter_configs.AlterConfigsRequestAlterableConfig(name="segment.ms", value="7200000")],
    )
    (answer,) = kafka.call(alter_configs.AlterConfigsRequest(resources=[resource]), 2).responses
    assert answer.error_code == 0

    def now() -> tuple[str, str]:
        found = configs_of(kafka, TOPIC, name)
        return found["retention.ms"].value, found["segment.ms"].value

    seen(target, lambda: now() == ("604800000", "7200000"))


# ---- row 15: creating ----


def test_row_15_minus_one_means_the_defaults_and_the_answer_tells_them(kafka: Connection, new_name) -> None:
    name = new_name()
    (made,) = create(kafka, wish(name, -1, -1))
    assert (made.error_code, made.num_partitions, made.replication_factor) == (0, 1, 1)
    assert {config.name for config in made.configs} >= {"retention.ms", "cleanup.policy"}
    assert len(made.topic_id) == 16
    assert made.topic_id != bytes(16)


def test_row_15_errors_are_per_topic(kafka: Connection, topic: str, new_name) -> None:
    good, twice = new_name(), new_name()
    config = create_topics.CreatableTopicConfig(name="retention.ms", value="soon")
    results = create(
        kafka,
        wish(good),
        wish(topic),
        wish("not/legal"),
        wish(twice),
        wish(twice),
        wish(new_name(), partitions=0),
        wish(new_name(), replicas=2),
        wish(new_name(), configs=[config]),
    )
    codes = {result.name: result.error_code for result in results}
    assert codes.pop(good) == 0
    assert codes.pop(topic) == ErrorCode.TOPIC_ALREADY_EXISTS
    assert codes.pop("not/legal") == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert codes.pop(twice) == ErrorCode.INVALID_REQUEST
    assert sorted(codes.values()) == sorted(
        [ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_REPLICATION_FACTOR, ErrorCode.INVALID_CONFIG]
    )


def test_row_15_an_explicit_assignment_is_taken_or_refused(kafka: Connection, new_name) -> None:
    broker = kafka.call(describe_cluster.DescribeClusterRequest(), 0).controller_id

    def assigned(*brokers: list[int]) -> create_topics.CreatableTopic:
        return wish(
            new_name(),
            -1,
            -1,
            assignments=[
                create_topics.CreatableReplicaAssignment(partition_index=index, broker_ids=ids)
                for index, ids in enumerate(brokers)
            ],
        )

    (made,) = create(kafka, assigned([broker], [broker]))
    assert (made.error_code, made.num_partitions) == (0, 2)
    (refused,) = create(kafka, assigned([broker + 500]))
    assert refused.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    (refused,) = create(kafka, assigned([broker, broker]))
    assert refused.error_code == ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_row_15_validate_only_makes_nothing(kafka: Connection, new_name) -> None:
    name = new_name()
    (checked,) = create(kafka, wish(name), validate_only=True)
    assert checked.error_code == 0
    assert kafka.topic(name).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_row_15_two_names_that_differ_by_dot_and_underscore_collide(kafka: Connection, new_name) -> None:
    name = new_name().replace("_", ".")
    kafka.create_topic(name)
    (refused,) = create(kafka, wish(name.replace(".", "_")))
    assert refused.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_row_15_create_partitions_answers_once_a_topic(target: Target, kafka: Connection, new_name) -> None:
    grown, same, shrunk, missing = (new_name() for _ in range(4))
    for name in (grown, same, shrunk):
        kafka.create_topic(name, partitions=3)
    counts = {grown: 5, same: 3, shrunk: 2, missing: 2}
    asked = create_partitions.CreatePartitionsRequest(
        topics=[create_partitions.CreatePartitionsTopic(name=n, count=c, assignments=None) for n, c in counts.items()],
        timeout_ms=10000,
    )
    results = kafka.call(asked, 3).results
    assert len(results) == 4
    assert {result.name: result.error_code for result in results} == {
        grown: 0,
        same: ErrorCode.INVALID_PARTITIONS,
        shrunk: ErrorCode.INVALID_PARTITIONS,
        missing: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    seen(target, lambda: len(kafka.topic(grown).partitions) == 5)
    seen(target, lambda: kafka.produce(grown, batch([Record()]), partition=4).error_code == 0)


def test_row_15_describe_topic_partitions_pages_by_its_cursor(kafka: Connection, new_name) -> None:
    names = sorted(new_name() for _ in range(3))
    for name in names:
        kafka.create_topic(name, partitions=4)
    found, cursor = [], None
    while True:
        asked = describe_topic_partitions.DescribeTopicPartitionsRequest(
            topics=[describe_topic_partitions.DescribeTopicPartitionsRequestTopic(name=name) for name in names],
            response_partition_limit=3,
            cursor=cursor,
        )
        answer = kafka.call(asked, 0)
        for topic in answer.topics:
            found += [(topic.name, partition.partition_index) for partition in topic.partitions]
        assert sum(len(topic.partitions) for topic in answer.topics) <= 3
        if answer.next_cursor is None:
            break
        cursor = describe_topic_partitions.DescribeTopicPartitionsRequestCursor(
            topic_name=answer.next_cursor.topic_name, partition_index=answer.next_cursor.partition_index
        )
    assert found == [(name, index) for name in names for index in range(4)]


def test_row_15_log_dirs_count_the_bytes_of_a_partition(kafka: Connection, topic: str) -> None:
    sent = batch([Record(bytes(10_000))])
    for _ in range(3):
        kafka.produce(topic, sent)
    wanted = describe_log_dirs.DescribableLogDirTopic(topic=topic, partitions=[0])
    answer = kafka.call(describe_log_dirs.DescribeLogDirsRequest(topics=[wanted]), 4)
    assert answer.error_code == 0
    sizes = [
        partition.partition_size
        for directory in answer.results
        for found in directory.topics
        for partition in found.partitions
        if found.name == topic
    ]
    assert sizes == [3 * len(sent)]
    assert all(directory.total_bytes > directory.usable_bytes > 0 for directory in answer.results)


# ---- row 16: DeleteRecords ----


def delete_to(kafka: Connection, topic: str, offset: int, partition: int = 0) -> tuple[int, int]:
    wanted = delete_records.DeleteRecordsTopic(
        name=topic, partitions=[delete_records.DeleteRecordsPartition(partition_index=partition, offset=offset)]
    )
    answer = kafka.call(delete_records.DeleteRecordsRequest(topics=[wanted], timeout_ms=10000), 2)
    found = answer.topics[0].partitions[0]
    return int(found.error_code), int(found.low_watermark)


def test_row_16_deleted_records_are_out_of_range_and_offsets_go_on(kafka: Connection, topic: str) -> None:
    for _ in range(4):
        kafka.produce(topic, batch([Record()] * 5))
    assert delete_to(kafka, topic, 7) == (0, 7)
    assert kafka.offset(topic, EARLIEST).offset == 7
    below = kafka.fetch(topic, 6)
    assert below.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    first = kafka.fetch(topic, 7)
    assert (first.error_code, first.log_start_offset) == (0, 7)
    assert delete_to(kafka, topic, 3) == (0, 7)
    assert delete_to(kafka, topic, 21)[0] == ErrorCode.OFFSET_OUT_OF_RANGE
    assert delete_to(kafka, topic, -1) == (0, 20)
    assert kafka.produce(topic, batch([Record()])).base_offset == 20
    assert delete_to(kafka, topic, 0, partition=9)[0] == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_row_16_the_log_start_survives_a_restart(own_server: Server) -> None:
    with Connection(own_server.bootstrap) as kafka:
        kafka.create_topic("cut")
        kafka.produce("cut", batch([Record()] * 10))
        assert delete_to(kafka, "cut", 6) == (0, 6)
    own_server.kill()
    own_server.start()
    with Connection(own_server.bootstrap) as kafka:
        assert (kafka.offset("cut", EARLIEST).offset, kafka.end("cut")) == (6, 10)


# ---- what a stranger's frame may not do here ----


def test_row_11_a_topic_asked_for_twice_is_made_once(target: Target, new_name) -> None:
    """Two connections that produce to a missing topic at the same time meet one topic."""
    name = new_name()
    with Connection(target.bootstrap) as one, Connection(target.bootstrap) as two:
        asked = metadata.MetadataRequest(topics=[metadata.MetadataRequestTopic(name=name)])
        one.send(asked, 12)
        two.send(asked, 12)
        for kafka in (one, two):
            kafka.receive(3, 12)
        seen(target, lambda: one.topic(name).error_code == 0)
        assert one.topic(name).topic_id == two.topic(name).topic_id


def test_row_12_an_unknown_id_is_answered_not_dropped(kafka: Connection) -> None:
    unknown = struct.pack(">QQ", 1, 2)
    assert kafka.fetch(unknown, 0, version=13).error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert kafka.produce(unknown, batch([Record()])).error_code == ErrorCode.UNKNOWN_TOPIC_ID
