"""Names of topics."""

from __future__ import annotations

import pytest

from tests.kit.cluster import Metadata
from twinlog.kafka import names
from twinlog.kafka.auto_creation import topic_wanted
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.rights import CLUSTER_NAME, AllRights, Operation, Resource, allowed_operations
from twinlog.kafka.rules import KAFKA_RULES


@pytest.mark.parametrize("name", ["a", "A-z.0_9", "x" * 249, "...", "_", "__consumer_offsets"])
def test_a_legal_name(name: str) -> None:
    assert names.topic_name_fault(name) is None


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 250, "a b", "a/b", "ä", "a\n", "a\0", "٣", "*"])
def test_an_illegal_name_gets_a_reason(name: str) -> None:
    assert names.topic_name_fault(name)


def test_nobody_may_pretend_to_be_kafkas_metadata_log() -> None:
    assert KAFKA_RULES.topic_name_fault("__cluster_metadata")


def test_dots_and_underscores_have_one_key() -> None:
    assert names.topic_name_key("a.b_c") == names.topic_name_key("a_b.c") == "a_b_c"
    assert names.topic_name_key("a-b") is None


def test_the_brokers_own_topics_are_made_as_they_have_to_be() -> None:
    image, configs = Metadata().image, ConfigValues(1, {"offsets.topic.num.partitions": "7"})
    offsets = topic_wanted(configs, image, "__consumer_offsets")
    assert (offsets.partition_count, offsets.replication_factor) == (7, 1)
    assert offsets.configs["cleanup.policy"] == "compact" and offsets.configs["segment.bytes"] == "104857600"
    plain = topic_wanted(configs, image, "orders")
    assert (plain.partition_count, plain.replication_factor, dict(plain.configs)) == (-1, -1, {})


@pytest.mark.parametrize("name", sorted(names.INTERNAL_TOPICS))
def test_the_brokers_own_topics_can_be_made(name: str) -> None:
    metadata = Metadata()
    (topic,) = metadata.create(topic_wanted(ConfigValues(1), metadata.image, name))
    assert len(topic.partitions) == 50 and names.is_internal(topic.name)


class Somebody:
    principal = "User:somebody"
    peer = ("127.0.0.1", 1)


def test_operations_are_the_bits_that_kafka_tells() -> None:
    assert allowed_operations(AllRights(), Somebody(), Resource.TOPIC, "t") == 3576
    assert allowed_operations(AllRights(), Somebody(), Resource.CLUSTER, CLUSTER_NAME) == 8096


def test_operations_without_a_right_are_left_out() -> None:
    class Reader:
        def allows(self, asker: object, operation: Operation, resource: Resource, name: str) -> bool:
            return operation == Operation.READ

    assert allowed_operations(Reader(), Somebody(), Resource.TOPIC, "t") == 1 << Operation.READ
