"""Metadata. Row numbers are those of the project's check list of what small brokers get wrong."""

from __future__ import annotations

import pytest

from tests.kit.admin import AdminNode, NoRightTo
from twinlog.base import HostFault
from twinlog.kafka.rights import NOT_ASKED, Operation
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID
from twinlog.wire.kafka.messages.metadata import MetadataRequest, MetadataRequestTopic

VERSIONS = range(14)


def asking(*names: str | None, ids: tuple[bytes, ...] = (), **options: bool) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=name) for name in names]
    topics += [MetadataRequestTopic(name=None, topic_id=topic_id) for topic_id in ids]
    return MetadataRequest(topics=topics, **options)


def everything(version: int = 12) -> MetadataRequest:
    return MetadataRequest(topics=[] if version == 0 else None)


@pytest.fixture
def node() -> AdminNode:
    node = AdminNode()
    node.metadata.topic("orders", 3)
    node.metadata.topic("payments", 1)
    return node


@pytest.mark.parametrize("version", VERSIONS)
def test_row_8_no_list_means_all_topics(node: AdminNode, version: int) -> None:
    answer = node.ask(everything(version), version)
    assert sorted(topic.name for topic in answer.topics) == ["orders", "payments"]
    assert [(broker.node_id, broker.host, broker.port) for broker in answer.brokers] == [(1, "node1", 9092)]


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_row_8_an_empty_list_means_no_topic(node: AdminNode, version: int) -> None:
    answer = node.ask(asking(), version)
    assert answer.topics == [] and len(answer.brokers) == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_a_topic_is_told_with_leaders_and_epochs(node: AdminNode, version: int) -> None:
    node.metadata.register(1, incarnation=b"2" * 16, clean=False)
    (topic,) = node.ask(asking("orders"), version).topics
    assert (topic.name, topic.error_code, topic.is_internal) == ("orders", 0, False)
    assert topic.topic_id == (node.image.topics_by_name["orders"].topic_id if version >= 10 else ZERO_UUID)
    assert [partition.partition_index for partition in topic.partitions] == [0, 1, 2]
    for partition in topic.partitions:
        assert (partition.error_code, partition.leader_id) == (0, 1)
        assert (partition.replica_nodes, partition.isr_nodes, partition.offline_replicas) == ([1], [1], [])
        assert partition.leader_epoch == (1 if version >= 7 else -1)


def test_the_cluster_is_told_with_its_id_and_controller(node: AdminNode) -> None:
    answer = node.ask(asking(), 12)
    assert (answer.cluster_id, answer.controller_id) == (node.image.cluster_id, 1)
    assert node.ask(asking(), 13).error_code == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_row_11_an_unknown_topic_is_created_and_durable_before_the_answer(node: AdminNode, version: int) -> None:
    context = node.start(asking("fresh"), version)
    assert context.answer is None, "it must not be named before it is durable"
    node.metadata.journal.sync()
    (topic,) = context.answer.topics
    assert (topic.error_code, len(topic.partitions), topic.partitions[0].leader_id) == (0, 1, 1)
    assert "fresh" in node.metadata.restarted(registered=False).image.topics_by_name


def test_row_11_creation_takes_the_usual_number_of_partitions() -> None:
    node = AdminNode()
    node.controller.settings = type(node.controller.settings)(partition_count_default=4)
    (topic,) = node.ask(asking("fresh")).topics
    assert len(topic.partitions) == 4


@pytest.mark.parametrize("version", VERSIONS[4:])
def test_row_11_a_client_can_forbid_creation(node: AdminNode, version: int) -> None:
    (topic,) = node.ask(asking("fresh", allow_auto_topic_creation=False), version).topics
    assert (topic.error_code, topic.partitions) == (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, [])
    assert "fresh" not in node.image.topics_by_name


def test_row_11_the_node_can_forbid_creation() -> None:
    node = AdminNode(static={"auto.create.topics.enable": "false"})
    (topic,) = node.ask(asking("fresh")).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not node.image.topics_by_name


@pytest.mark.parametrize("name", ["", ".", "a b", "x" * 250])
def test_row_11_an_illegal_name_is_refused_and_not_created(node: AdminNode, name: str) -> None:
    (topic,) = node.ask(asking(name)).topics
    assert (topic.error_code, topic.name) == (ErrorCode.INVALID_TOPIC_EXCEPTION, name)


def test_row_11_a_name_that_collides_is_refused_and_the_others_are_created(node: AdminNode) -> None:
    node.metadata.topic("a.b")
    answer = node.ask(asking("a_b", "fine", "orders"))
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [
        ("a_b", ErrorCode.INVALID_TOPIC_EXCEPTION),
        ("fine", 0),
        ("orders", 0),
    ]


def test_row_11_two_clients_that_ask_at_once_get_the_same_topic(node: AdminNode) -> None:
    first, second = node.start(asking("fresh"), 12), node.start(asking("fresh"), 12)
    node.metadata.journal.sync()
    assert first.answer.topics == second.answer.topics
    assert first.answer.topics[0].error_code == 0


def test_row_11_a_disk_that_fails_creates_nothing_and_says_so(node: AdminNode) -> None:
    context = node.start(asking("fresh", "orders"), 12)
    node.metadata.journal.sync(HostFault("disk"))
    assert [topic.error_code for topic in context.answer.topics] == [ErrorCode.KAFKA_STORAGE_ERROR, 0]
    assert ErrorCode.KAFKA_STORAGE_ERROR.retriable


def test_creation_that_takes_too_long_is_answered_with_try_again(node: AdminNode) -> None:
    context = node.start(asking("fresh"), 12)
    assert context.parked is not None and context.timeout_ms == 30_000
    context.parked.expire()
    assert context.answer.topics[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    node.metadata.journal.sync()
    assert "fresh" in node.image.topics_by_name, "the creation stands"


def test_a_client_that_left_is_not_answered(node: AdminNode) -> None:
    context = node.start(asking("fresh"), 12)
    assert context.parked is not None
    context.parked.abandon()
    node.metadata.journal.sync()
    assert context.answer is None


def test_the_brokers_own_topic_is_created_as_it_has_to_be(node: AdminNode) -> None:
    (topic,) = node.ask(asking("__consumer_offsets")).topics
    assert (topic.is_internal, len(topic.partitions)) == (True, 50)
    assert node.image.configs.of("topic", "__consumer_offsets")["cleanup.policy"] == "compact"


def test_a_topic_asked_for_twice_is_told_once(node: AdminNode) -> None:
    assert len(node.ask(asking("orders", "orders")).topics) == 1


@pytest.mark.parametrize("version", [12, 13])
def test_row_12_a_topic_is_found_by_its_id_and_an_old_id_is_unknown(node: AdminNode, version: int) -> None:
    old = node.image.topics_by_name["orders"].topic_id
    (topic,) = node.ask(asking(ids=(old,)), version).topics
    assert (topic.name, topic.topic_id, len(topic.partitions)) == ("orders", old, 3)
    node.metadata.delete(old)
    new = node.metadata.topic("orders").topic_id
    (topic,) = node.ask(asking(ids=(old,)), version).topics
    assert (topic.error_code, topic.name, topic.topic_id) == (ErrorCode.UNKNOWN_TOPIC_ID, None, old)
    assert new != old


@pytest.mark.parametrize("version", [10, 11])
def test_ids_are_not_for_asking_before_version_12(node: AdminNode, version: int) -> None:
    topic_id = node.image.topics_by_name["orders"].topic_id
    (topic,) = node.ask(asking(ids=(topic_id,)), version).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST


def test_neither_name_nor_id_is_no_question(node: AdminNode) -> None:
    (topic,) = node.ask(asking(None), 12).topics
    assert topic.error_code == ErrorCode.INVALID_REQUEST


def test_a_leader_whose_log_is_offline_is_not_named(node: AdminNode) -> None:
    partitions = node.partitions.of_topic("orders")
    assert partitions is not None
    partitions[1].log.offline = HostFault("disk")
    (topic,) = node.ask(asking("orders")).topics
    states = [(each.error_code, each.leader_id, each.offline_replicas) for each in topic.partitions]
    assert states == [(0, 1, []), (ErrorCode.LEADER_NOT_AVAILABLE, -1, [1]), (0, 1, [])]


def test_a_leader_whose_log_is_not_there_yet_is_not_named() -> None:
    node = AdminNode(partitions_follow=False)
    node.metadata.topic("orders")
    (topic,) = node.ask(asking("orders")).topics
    assert topic.partitions[0].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert topic.partitions[0].leader_id == -1


def test_a_partition_that_lost_its_leader_says_so(node: AdminNode) -> None:
    node.controller.leaders_lost(1, [(node.image.topics_by_name["orders"].topic_id, 2)])
    node.metadata.journal.sync()
    (topic,) = node.ask(asking("orders")).topics
    assert [each.leader_id for each in topic.partitions] == [1, 1, -1]
    assert topic.partitions[2].error_code == ErrorCode.LEADER_NOT_AVAILABLE
    assert topic.partitions[2].isr_nodes == [1]


@pytest.mark.parametrize("version", VERSIONS[8:])
def test_operations_are_told_to_those_who_ask(node: AdminNode, version: int) -> None:
    answer = node.ask(asking("orders"), version)
    assert answer.topics[0].topic_authorized_operations == NOT_ASKED
    answer = node.ask(asking("orders", include_topic_authorized_operations=True), version)
    assert answer.topics[0].topic_authorized_operations == 3576


@pytest.mark.parametrize("version", [8, 9, 10])
def test_operations_on_the_cluster_are_told_until_version_10(node: AdminNode, version: int) -> None:
    assert node.ask(asking(), version).cluster_authorized_operations == NOT_ASKED
    answer = node.ask(asking(include_cluster_authorized_operations=True), version)
    assert answer.cluster_authorized_operations == 8096


def test_without_the_right_a_topic_is_neither_listed_nor_told(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.DESCRIBE, names=("orders",))
    assert [topic.name for topic in node.ask(everything()).topics] == ["payments"]
    (topic,) = node.ask(asking("orders")).topics
    assert (topic.error_code, topic.partitions) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, [])
    (topic,) = node.ask(asking(ids=(node.image.topics_by_name["orders"].topic_id,))).topics
    assert (topic.error_code, topic.name) == (ErrorCode.UNKNOWN_TOPIC_ID, None)


def test_without_the_right_nothing_is_created(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.CREATE)
    (topic,) = node.ask(asking("fresh")).topics
    assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and "fresh" not in node.image.topics_by_name


def test_a_thousand_partitions_are_told(node: AdminNode) -> None:
    node.metadata.topic("wide", 1000)
    (topic,) = node.ask(asking("wide")).topics
    assert [each.partition_index for each in topic.partitions] == list(range(1000))
