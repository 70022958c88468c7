"""CreateTopics, DeleteTopics, CreatePartitions. Row numbers are those of the project's check list."""

from __future__ import annotations

import pytest

from tests.kit.admin import AdminNode, NoRightTo
from twinlog.base import DiskFull, HostFault
from twinlog.kafka.rights import CLUSTER_NAME, Operation
from twinlog.kafka.topic_configs import TOPIC_CONFIGS
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.message import ZERO_UUID
from twinlog.wire.kafka.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from twinlog.wire.kafka.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from twinlog.wire.kafka.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState

CREATE_VERSIONS = range(2, 8)
DELETE_VERSIONS = range(1, 7)


def wanted(
    name: str,
    partitions: int = -1,
    replicas: int = -1,
    assignments: list[tuple[int, list[int]]] | None = None,
    configs: dict[str, str | None] | None = None,
) -> CreatableTopic:
    return CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=replicas,
        assignments=[
            CreatableReplicaAssignment(partition_index=index, broker_ids=ids) for index, ids in assignments or []
        ],
        configs=[CreatableTopicConfig(name=config, value=value) for config, value in (configs or {}).items()],
    )


def creating(*topics: CreatableTopic, **options: object) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=list(topics), **options)  # type: ignore[arg-type]


def codes(answer: object) -> dict[str, int]:
    topics = getattr(answer, "topics", None) or answer.results  # type: ignore[attr-defined]
    return {topic.name: topic.error_code for topic in topics}


def deleting(*names: str | None, ids: tuple[bytes, ...] = (), version: int = 6) -> DeleteTopicsRequest:
    if version < 6:
        return DeleteTopicsRequest(topic_names=list(names), timeout_ms=1000)  # type: ignore[arg-type]
    topics = [DeleteTopicState(name=name) for name in names]
    topics += [DeleteTopicState(name=None, topic_id=topic_id) for topic_id in ids]
    return DeleteTopicsRequest(topics=topics, timeout_ms=1000)


@pytest.fixture
def node() -> AdminNode:
    return AdminNode()


# -- CreateTopics ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", CREATE_VERSIONS)
def test_row_15_a_topic_is_made_and_durable_before_the_answer(node: AdminNode, version: int) -> None:
    context = node.start(creating(wanted("orders", 3, 1)), version)
    assert context.answer is None
    node.metadata.journal.sync()
    (result,) = context.answer.topics
    assert (result.name, result.error_code, result.error_message) == ("orders", 0, None)
    assert result.topic_id == (node.image.topics_by_name["orders"].topic_id if version >= 7 else ZERO_UUID)
    assert (result.num_partitions, result.replication_factor) == ((3, 1) if version >= 5 else (-1, -1))
    assert len(node.metadata.restarted(registered=False).image.topics_by_name["orders"].partitions) == 3


@pytest.mark.parametrize("version", CREATE_VERSIONS[2:])
def test_row_15_minus_one_means_as_usual_here(node: AdminNode, version: int) -> None:
    assert codes(node.ask(creating(wanted("orders", -1, -1)), version)) == {"orders": 0}
    assert len(node.image.topics_by_name["orders"].partitions) == 1


@pytest.mark.parametrize("version", [5, 6, 7])
def test_row_15_from_version_5_the_answer_shows_every_config(node: AdminNode, version: int) -> None:
    (result,) = node.ask(creating(wanted("orders", configs={"retention.ms": "1000"})), version).topics
    shown = {config.name: (config.value, config.config_source) for config in result.configs}
    assert shown.keys() == TOPIC_CONFIGS.keys()
    assert shown["retention.ms"] == ("1000", 1)
    assert shown["segment.bytes"] == ("1073741824", 5)
    assert result.topic_config_error_code == 0


def test_row_15_configs_are_hidden_from_those_who_may_not_see_them(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.DESCRIBE_CONFIGS)
    (result,) = node.ask(creating(wanted("orders", 3))).topics
    assert (result.error_code, result.topic_config_error_code) == (0, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    assert (result.num_partitions, result.configs) == (-1, [])


@pytest.mark.parametrize("version", CREATE_VERSIONS)
def test_row_15_a_check_makes_nothing(node: AdminNode, version: int) -> None:
    answer = node.ask(creating(wanted("orders", 3, 1), wanted("a b", 1, 1), validate_only=True), version)
    assert codes(answer) == {"orders": 0, "a b": ErrorCode.INVALID_TOPIC_EXCEPTION}
    assert not node.image.topics_by_name
    assert answer.topics[0].topic_id == ZERO_UUID


def test_row_15_errors_are_each_topics_own(node: AdminNode) -> None:
    node.metadata.topic("there")
    answer = node.ask(
        creating(
            wanted("fine"),
            wanted("there"),
            wanted("none", 0),
            wanted("many", 1, 3),
            wanted("odd", configs={"nope": "1"}),
            wanted("null", configs={"retention.ms": None}),
            wanted("fine too", 1),
        )
    )
    assert codes(answer) == {
        "fine": 0,
        "there": ErrorCode.TOPIC_ALREADY_EXISTS,
        "none": ErrorCode.INVALID_PARTITIONS,
        "many": ErrorCode.INVALID_REPLICATION_FACTOR,
        "odd": ErrorCode.INVALID_CONFIG,
        "null": ErrorCode.INVALID_CONFIG,
        "fine too": ErrorCode.INVALID_TOPIC_EXCEPTION,
    }
    assert all(topic.error_message for topic in answer.topics if topic.error_code)
    assert set(node.image.topics_by_name) == {"there", "fine"}


def test_row_15_an_assignment_is_followed(node: AdminNode) -> None:
    (result,) = node.ask(creating(wanted("orders", assignments=[(1, [1]), (0, [1])]))).topics
    assert (result.error_code, result.num_partitions) == (0, 2)


@pytest.mark.parametrize(
    ("topic", "code"),
    [
        (wanted("t", 1, -1, [(0, [1])]), ErrorCode.INVALID_REQUEST),
        (wanted("t", -1, 1, [(0, [1])]), ErrorCode.INVALID_REQUEST),
        (wanted("t", assignments=[(1, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wanted("t", assignments=[(0, [])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wanted("t", assignments=[(0, [7])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (wanted("t", assignments=[(0, [1]), (0, [1])]), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_row_15_an_assignment_that_cannot_be(node: AdminNode, topic: CreatableTopic, code: int) -> None:
    assert codes(node.ask(creating(topic))) == {"t": code}


def test_a_topic_named_twice_is_refused_once_and_not_made(node: AdminNode) -> None:
    answer = node.ask(creating(wanted("a"), wanted("b"), wanted("a")))
    assert [(topic.name, topic.error_code) for topic in answer.topics] == [("a", ErrorCode.INVALID_REQUEST), ("b", 0)]
    assert set(node.image.topics_by_name) == {"b"}


def test_an_empty_request_has_an_empty_answer(node: AdminNode) -> None:
    assert node.ask(creating()).topics == []


def test_the_right_to_create_may_be_on_the_cluster_or_on_the_topic(node: AdminNode) -> None:
    node.rights = NoRightTo(Operation.CREATE, names=(CLUSTER_NAME, "secret"))
    answer = node.ask(creating(wanted("secret"), wanted("open")))
    assert codes(answer) == {"secret": ErrorCode.TOPIC_AUTHORIZATION_FAILED, "open": 0}
    node.rights = NoRightTo(Operation.CREATE, names=("secret",))
    assert codes(node.ask(creating(wanted("secret")))) == {"secret": 0}


@pytest.mark.parametrize(("asked_ms", "waited_ms"), [(0, 1000), (5000, 5000), (2**31 - 1, 300_000), (-5, 1000)])
def test_every_wait_has_a_bound(node: AdminNode, asked_ms: int, waited_ms: int) -> None:
    context = node.start(creating(wanted("orders"), wanted("a b"), timeout_ms=asked_ms), 7)
    assert context.parked is not None and context.timeout_ms == waited_ms
    context.parked.expire()
    assert codes(context.answer) == {"orders": ErrorCode.REQUEST_TIMED_OUT, "a b": ErrorCode.REQUEST_TIMED_OUT}
    node.metadata.journal.sync()


def test_a_full_disk_refuses_and_the_next_request_goes_through(node: AdminNode) -> None:
    node.metadata.journal.refuse_with = DiskFull("disk", "no room")
    assert codes(node.ask(creating(wanted("orders")))) == {"orders": ErrorCode.KAFKA_STORAGE_ERROR}
    node.metadata.journal.refuse_with = None
    assert codes(node.ask(creating(wanted("orders")))) == {"orders": 0}


# -- DeleteTopics ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", DELETE_VERSIONS)
def test_a_topic_is_deleted_by_name(node: AdminNode, version: int) -> None:
    topic = node.metadata.topic("orders")
    context = node.start(deleting("orders", "nope", version=version), version)
    assert context.answer is None and "orders" in node.image.topics_by_name
    node.metadata.journal.sync()
    found = {result.name: result.error_code for result in context.answer.responses}
    assert found == {"orders": 0, "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert "orders" not in node.image.topics_by_name
    if version == 6:
        assert context.answer.responses[0].topic_id == topic.topic_id


def test_row_12_a_topic_is_deleted_by_id_and_the_old_id_stays_unknown(node: AdminNode) -> None:
    old = node.metadata.topic("orders").topic_id
    (result,) = node.ask(deleting(ids=(old,))).responses
    assert (result.name, result.topic_id, result.error_code) == ("orders", old, 0)
    node.metadata.topic("orders")
    (result,) = node.ask(deleting(ids=(old,))).responses
    assert (result.name, result.error_code) == (None, ErrorCode.UNKNOWN_TOPIC_ID)
    assert "orders" in node.image.topics_by_name


def test_deleting_is_asked_for_by_one_name_or_one_id(node: AdminNode) -> None:
    topic_id = node.metadata.topic("orders").topic_id
    both = DeleteTopicState(name="orders", topic_id=topic_id)
    neither = DeleteTopicState(name=None)
    answer = node.ask(DeleteTopicsRequest(topics=[both, neither], timeout_ms=1))
    assert [result.error_code for result in answer.responses] == [ErrorCode.INVALID_REQUEST] * 2
    (result,) = node.ask(deleting("orders", "orders")).responses
    assert result.error_code == ErrorCode.INVALID_REQUEST
    assert "orders" in node.image.topics_by_name


def test_the_same_topic_by_name_and_by_id_is_deleted_once(node: AdminNode) -> None:
    topic_id = node.metadata.topic("orders").topic_id
    answer = node.ask(deleting("orders", ids=(topic_id,)))
    assert [result.error_code for result in answer.responses] == [0, ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize("version", DELETE_VERSIONS)
def test_the_node_can_forbid_deletion(version: int) -> None:
    node = AdminNode(static={"delete.topic.enable": "false"})
    node.metadata.topic("orders")
    (result,) = node.ask(deleting("orders", version=version), version).responses
    code = ErrorCode.INVALID_REQUEST if version < 3 else ErrorCode.TOPIC_DELETION_DISABLED
    assert result.error_code == code and "orders" in node.image.topics_by_name


def test_without_the_right_nothing_is_deleted_and_nothing_learnt(node: AdminNode) -> None:
    topic_id = node.metadata.topic("orders").topic_id
    node.rights = NoRightTo(Operation.DELETE)
    answer = node.ask(deleting("orders", "nope", ids=(topic_id,)))
    assert [result.error_code for result in answer.responses] == [ErrorCode.TOPIC_AUTHORIZATION_FAILED] * 3
    node.rights = NoRightTo(Operation.DESCRIBE, Operation.DELETE)
    (result,) = node.ask(deleting(ids=(topic_id,))).responses
    assert (result.error_code, result.name) == (ErrorCode.UNKNOWN_TOPIC_ID, None)
    assert "orders" in node.image.topics_by_name


def test_a_topic_being_created_can_be_deleted_before_either_is_durable(node: AdminNode) -> None:
    created = node.start(creating(wanted("orders")), 7)
    deleted = node.start(deleting("orders"), 6)
    node.metadata.journal.sync()
    assert codes(created.answer) == {"orders": 0} and deleted.answer.responses[0].error_code == 0
    assert not node.image.topics_by_name


def test_a_deletion_that_the_disk_did_not_take_did_not_happen(node: AdminNode) -> None:
    node.metadata.topic("orders")
    context = node.start(deleting("orders"), 6)
    node.metadata.journal.sync(HostFault("disk"))
    assert context.answer.responses[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert "orders" in node.image.topics_by_name


# -- CreatePartitions --------------------------------------------------------------------------------------------


def growing(*topics: tuple[str, int, list[list[int]] | None], **options: bool) -> CreatePartitionsRequest:
    return CreatePartitionsRequest(
        topics=[
            CreatePartitionsTopic(
                name=name,
                count=count,
                assignments=None
                if assignments is None
                else [CreatePartitionsAssignment(broker_ids=ids) for ids in assignments],
            )
            for name, count, assignments in topics
        ],
        timeout_ms=1000,
        **options,
    )


@pytest.mark.parametrize("version", range(4))
def test_row_15_there_is_one_entry_for_each_topic(node: AdminNode, version: int) -> None:
    node.metadata.topic("orders", 2)
    answer = node.ask(growing(("orders", 5, None), ("nope", 2, None)), version)
    assert codes(answer) == {"orders": 0, "nope": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert len(node.image.topics_by_name["orders"].partitions) == 5
    assert answer.results[0].error_message is None and answer.results[1].error_message


@pytest.mark.parametrize(
    ("count", "assignments", "code"),
    [
        (2, None, ErrorCode.INVALID_PARTITIONS),
        (1, None, ErrorCode.INVALID_PARTITIONS),
        (3, [], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (3, [[1], [1]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (3, [[9]], ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (3, [[1]], 0),
    ],
)
def test_partitions_by_count_and_assignment(
    node: AdminNode, count: int, assignments: list[list[int]] | None, code: int
) -> None:
    node.metadata.topic("orders", 2)
    assert codes(node.ask(growing(("orders", count, assignments)))) == {"orders": code}


def test_growing_a_topic_named_twice_is_refused_once(node: AdminNode) -> None:
    node.metadata.topic("orders", 2)
    answer = node.ask(growing(("orders", 3, None), ("orders", 4, None)))
    assert [result.error_code for result in answer.results] == [ErrorCode.INVALID_REQUEST]


def test_growing_can_be_checked_and_forbidden(node: AdminNode) -> None:
    node.metadata.topic("orders", 2)
    assert codes(node.ask(growing(("orders", 3, None), validate_only=True))) == {"orders": 0}
    node.rights = NoRightTo(Operation.ALTER)
    assert codes(node.ask(growing(("orders", 3, None)))) == {"orders": ErrorCode.TOPIC_AUTHORIZATION_FAILED}
    assert len(node.image.topics_by_name["orders"].partitions) == 2
