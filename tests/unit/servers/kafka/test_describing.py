"""DescribeCluster, DescribeTopicPartitions, DescribeLogDirs, and what is true of every handler of metadata."""

from __future__ import annotations

import pytest

from tests.kit.admin import AdminNode, NoRightTo
from twinlog.kafka.rights import NOT_ASKED, Operation
from twinlog.servers.kafka.api import (
    HANDLERS,
    alter_configs,
    create_partitions,
    create_topics,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_topic_partitions,
    incremental_alter_configs,
    list_config_resources,
    metadata,
)
from twinlog.storage.types import DirectoryFacts, LogFacts
from twinlog.wire.kafka.api import APIS
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages.describe_cluster import DescribeClusterRequest
from twinlog.wire.kafka.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from twinlog.wire.kafka.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsRequestCursor,
    DescribeTopicPartitionsRequestTopic,
)

MODULES = [
    alter_configs,
    create_partitions,
    create_topics,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_log_dirs,
    describe_topic_partitions,
    incremental_alter_configs,
    list_config_resources,
    metadata,
]


@pytest.fixture
def node() -> AdminNode:
    node = AdminNode()
    for name, partitions in (("a", 2), ("b", 3), ("c", 1)):
        node.metadata.topic(name, partitions)
    return node


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_an_empty_request_is_answered_in_every_version(module: object) -> None:
    assert HANDLERS[module.KEY] is module  # type: ignore[attr-defined]
    first, last = module.VERSIONS  # type: ignore[attr-defined]
    for version in range(first, last + 1):
        AdminNode().ask(APIS[module.KEY].request(), version)  # type: ignore[attr-defined]


# -- DescribeCluster ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(3))
def test_the_cluster_is_described(node: AdminNode, version: int) -> None:
    answer = node.ask(DescribeClusterRequest(), version)
    assert (answer.error_code, answer.cluster_id, answer.controller_id) == (0, node.image.cluster_id, 1)
    assert [(broker.broker_id, broker.host, broker.port) for broker in answer.brokers] == [(1, "node1", 9092)]
    assert answer.cluster_authorized_operations == NOT_ASKED
    asked = node.ask(DescribeClusterRequest(include_cluster_authorized_operations=True), version)
    assert asked.cluster_authorized_operations == 8096


def test_a_broker_is_not_a_controller_endpoint(node: AdminNode) -> None:
    for kind, code in ((2, ErrorCode.MISMATCHED_ENDPOINT_TYPE), (9, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE)):
        answer = node.ask(DescribeClusterRequest(endpoint_type=kind), 1)
        assert (answer.error_code, answer.brokers) == (code, [])


# -- DescribeTopicPartitions -------------------------------------------------------------------------------------


def page(
    node: AdminNode, *names: str, limit: int = 2000, cursor: tuple[str, int] | None = None
) -> tuple[list[tuple[str, int, list[int]]], tuple[str, int] | None]:
    request = DescribeTopicPartitionsRequest(
        topics=[DescribeTopicPartitionsRequestTopic(name=name) for name in names], response_partition_limit=limit
    )
    if cursor is not None:
        request.cursor = DescribeTopicPartitionsRequestCursor(topic_name=cursor[0], partition_index=cursor[1])
    answer = node.ask(request)
    topics = [
        (topic.name, topic.error_code, [partition.partition_index for partition in topic.partitions])
        for topic in answer.topics
    ]
    further = answer.next_cursor
    return topics, None if further is None else (further.topic_name, further.partition_index)


def test_no_names_mean_all_topics_in_the_order_of_their_names(node: AdminNode) -> None:
    node.metadata.topic("B")
    assert page(node) == ([("B", 0, [0]), ("a", 0, [0, 1]), ("b", 0, [0, 1, 2]), ("c", 0, [0])], None)


@pytest.mark.parametrize("limit", range(1, 8))
@pytest.mark.parametrize("names", [(), ("c", "a", "b")])
def test_pages_of_any_size_add_up_to_the_whole(node: AdminNode, limit: int, names: tuple[str, ...]) -> None:
    found: dict[str, list[int]] = {}
    cursor = None
    for _ in range(7):
        topics, cursor = page(node, *names, limit=limit, cursor=cursor)
        assert sum(len(partitions) for _, _, partitions in topics) <= limit
        for name, code, partitions in topics:
            assert code == 0
            found.setdefault(name, []).extend(partitions)
        if cursor is None:
            break
    assert cursor is None
    assert found == {"a": [0, 1], "b": [0, 1, 2], "c": [0]}


def test_a_page_that_ends_with_a_topic_goes_on_with_the_next(node: AdminNode) -> None:
    assert page(node, limit=2) == ([("a", 0, [0, 1])], ("b", 0))
    assert page(node, "c", limit=1) == ([("c", 0, [0])], None)


@pytest.mark.parametrize("limit", [0, -5])
def test_a_page_has_at_least_one_partition(node: AdminNode, limit: int) -> None:
    assert page(node, limit=limit) == ([("a", 0, [0])], ("a", 1))


def test_a_page_has_at_most_two_thousand_partitions(node: AdminNode) -> None:
    node.metadata.topic("wide", 2500)
    ((_, _, partitions),), cursor = page(node, "wide", limit=2**31 - 1)
    assert (len(partitions), cursor) == (2000, ("wide", 2000))


def test_a_cursor_on_a_topic_that_is_gone_goes_on_behind_it(node: AdminNode) -> None:
    assert page(node, cursor=("aa", 5)) == ([("b", 0, [0, 1, 2]), ("c", 0, [0])], None)


def test_a_cursor_behind_the_last_partition_finds_none(node: AdminNode) -> None:
    assert page(node, "a", cursor=("a", 50)) == ([("a", 0, [])], None)


@pytest.mark.parametrize("cursor", [("zzz", 0), ("a", -1)])
def test_a_cursor_that_cannot_be_is_refused(node: AdminNode, cursor: tuple[str, int]) -> None:
    assert page(node, "a", "b", cursor=cursor) == (
        [("a", ErrorCode.INVALID_REQUEST, []), ("b", ErrorCode.INVALID_REQUEST, [])],
        None,
    )


def test_names_that_do_not_exist_are_told_and_nothing_is_created(node: AdminNode) -> None:
    assert page(node, "nope", "a b", "c") == (
        [
            ("a b", ErrorCode.INVALID_TOPIC_EXCEPTION, []),
            ("c", 0, [0]),
            ("nope", ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, []),
        ],
        None,
    )
    assert "nope" not in node.image.topics_by_name


def test_topics_without_the_right_are_left_out_or_refused(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.DESCRIBE, names=("b",))
    assert page(node) == ([("a", 0, [0, 1]), ("c", 0, [0])], None)
    assert page(node, "b", "c") == ([("b", ErrorCode.TOPIC_AUTHORIZATION_FAILED, []), ("c", 0, [0])], None)


def test_a_partition_is_told_with_its_replicas_and_operations(node: AdminNode) -> None:
    answer = node.ask(DescribeTopicPartitionsRequest(topics=[DescribeTopicPartitionsRequestTopic(name="c")]))
    (topic,) = answer.topics
    (partition,) = topic.partitions
    assert topic.topic_id == node.image.topics_by_name["c"].topic_id
    assert topic.topic_authorized_operations == 3576
    assert (partition.leader_id, partition.leader_epoch, partition.replica_nodes) == (1, 0, [1])
    assert (partition.isr_nodes, partition.eligible_leader_replicas, partition.last_known_elr) == ([1], [], [])


# -- DescribeLogDirs ---------------------------------------------------------------------------------------------


@pytest.fixture
def stored(node: AdminNode) -> AdminNode:
    a, b = (node.image.topics_by_name[name].topic_id for name in "ab")
    node.store.directories = [
        DirectoryFacts(
            "/data/1", b"1" * 16, None, 1000, 400, [LogFacts(a, 0, 10), LogFacts(a, 1, 20), LogFacts(b, 0, 30)]
        ),
        DirectoryFacts("/data/2", b"2" * 16, "sync failed", 0, 0, [LogFacts(b, 1, 40)]),
        DirectoryFacts("/data/3", b"3" * 16, None, 2000, 2000, [LogFacts(b"?" * 16, 0, 50)]),
    ]
    return node


def directories(answer: object) -> dict[str, tuple[int, dict[str, dict[int, int]]]]:
    return {
        result.log_dir: (
            result.error_code,
            {
                topic.name: {partition.partition_index: partition.partition_size for partition in topic.partitions}
                for topic in result.topics
            },
        )
        for result in answer.results  # type: ignore[attr-defined]
    }


@pytest.mark.parametrize("version", range(1, 6))
def test_directories_are_told_with_their_logs(stored: AdminNode, version: int) -> None:
    answer = stored.ask(DescribeLogDirsRequest(topics=None), version)
    assert directories(answer) == {
        "/data/1": (0, {"a": {0: 10, 1: 20}, "b": {0: 30}}),
        "/data/2": (ErrorCode.KAFKA_STORAGE_ERROR, {}),
        "/data/3": (0, {}),
    }
    first = answer.results[0]
    assert (first.total_bytes, first.usable_bytes) == ((1000, 400) if version >= 4 else (-1, -1))


def test_only_the_logs_asked_for_are_told(stored: AdminNode) -> None:
    topics = [
        DescribableLogDirTopic(topic="a", partitions=[1, 7]),
        DescribableLogDirTopic(topic="nope", partitions=[0]),
    ]
    answer = stored.ask(DescribeLogDirsRequest(topics=topics))
    assert directories(answer)["/data/1"] == (0, {"a": {1: 20}})
    assert directories(stored.ask(DescribeLogDirsRequest(topics=[])))["/data/1"] == (0, {})


@pytest.mark.parametrize("version", range(1, 6))
def test_directories_are_told_only_to_those_with_the_right(stored: AdminNode, version: int) -> None:
    stored.rights = NoRightTo(Operation.DESCRIBE)
    answer = stored.ask(DescribeLogDirsRequest(topics=None), version)
    assert answer.results == []
    assert answer.error_code == (ErrorCode.CLUSTER_AUTHORIZATION_FAILED if version >= 3 else 0)
