"""Creating, growing and deleting topics: what is decided, and in which words it is refused."""

from __future__ import annotations

import pytest

from tests.kit.cluster import Metadata, SeededChance, codes
from twinlog.base import HostFault, Refused
from twinlog.cluster import ControllerSettings, PartitionInfo, PartitionsWanted, Reason, Topic, TopicWanted
from twinlog.cluster.core.topics import new_topic_id


def grow(metadata: Metadata, *wanted: PartitionsWanted, validate_only: bool = False) -> list:
    return metadata.run(lambda done: metadata.controller.create_partitions(wanted, done, validate_only=validate_only))


def refusal(metadata: Metadata, wanted: TopicWanted) -> Refused:
    (outcome,) = metadata.create(wanted)
    assert isinstance(outcome, Refused), outcome
    assert wanted.name not in metadata.image.topics_by_name
    return outcome


def test_what_is_not_said_is_as_usual_here() -> None:
    metadata = Metadata(settings=ControllerSettings(partition_count_default=3))
    topic = metadata.topic("orders", -1)
    assert topic.partitions == (PartitionInfo(1, 0, 0, (1,), (1,)),) * 3
    assert metadata.image.topics_by_name["orders"] == topic


def test_topics_of_one_request_do_not_fail_each_other() -> None:
    metadata = Metadata()
    outcomes = metadata.create(TopicWanted("a"), TopicWanted("bad/name"), TopicWanted("b", 0), TopicWanted("c"))
    assert codes(outcomes) == [0, Reason.INVALID_TOPIC_EXCEPTION, Reason.INVALID_PARTITIONS, 0]
    assert set(metadata.image.topics_by_name) == {"a", "c"}


def test_topics_of_one_request_are_one_entry() -> None:
    metadata = Metadata()
    entries = len(metadata.journal.entries)
    metadata.create(*(TopicWanted(f"topic{number}", configs={"retention.ms": "1"}) for number in range(50)))
    assert len(metadata.journal.entries) == entries + 1


def test_a_check_writes_nothing() -> None:
    metadata = Metadata()
    entries = len(metadata.journal.entries)
    outcomes = metadata.create(TopicWanted("orders", 4), TopicWanted("bad/name"), validate_only=True)
    assert codes(outcomes) == [0, Reason.INVALID_TOPIC_EXCEPTION]
    assert isinstance(outcomes[0], Topic) and len(outcomes[0].partitions) == 4
    assert len(metadata.journal.entries) == entries and not metadata.image.topics_by_name


def test_the_same_topic_cannot_be_made_twice_even_before_the_first_is_durable() -> None:
    metadata = Metadata()
    heard: list = []
    metadata.controller.create_topics([TopicWanted("orders")], heard.append)
    metadata.controller.create_topics([TopicWanted("orders")], heard.append)
    assert heard == [], "neither is answered before the first is durable"
    metadata.journal.sync()
    assert [codes(outcomes) for outcomes in heard] == [[0], [Reason.TOPIC_ALREADY_EXISTS]]


def test_the_same_topic_cannot_be_made_twice_in_one_request() -> None:
    assert codes(Metadata().create(TopicWanted("a"), TopicWanted("a"))) == [0, Reason.TOPIC_ALREADY_EXISTS]


@pytest.mark.parametrize(("first", "second"), [("a.b", "a_b"), ("a_b", "a.b"), ("x.y_z", "x_y.z")])
def test_names_that_look_the_same_in_metrics_collide(first: str, second: str) -> None:
    metadata = Metadata()
    metadata.topic(first)
    refused = refusal(metadata, TopicWanted(second))
    assert refused.code == Reason.INVALID_TOPIC_EXCEPTION and first in refused.message
    assert codes(Metadata().create(TopicWanted(first), TopicWanted(second)))[1] == Reason.INVALID_TOPIC_EXCEPTION


def test_a_dash_collides_with_nothing() -> None:
    metadata = Metadata()
    assert codes(metadata.create(TopicWanted("a-b"), TopicWanted("a.b"), TopicWanted("ab"))) == [0, 0, 0]


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (TopicWanted("t", 0), Reason.INVALID_PARTITIONS),
        (TopicWanted("t", -2), Reason.INVALID_PARTITIONS),
        (TopicWanted("t", 1, 0), Reason.INVALID_REPLICATION_FACTOR),
        (TopicWanted("t", 1, -2), Reason.INVALID_REPLICATION_FACTOR),
        (TopicWanted("t", 1, 2), Reason.INVALID_REPLICATION_FACTOR),
        (TopicWanted("t", 1, 32767), Reason.INVALID_REPLICATION_FACTOR),
        (TopicWanted("t", configs={"nope": "1"}), Reason.INVALID_CONFIG),
        (TopicWanted("t", configs={"retention.ms": "soon"}), Reason.INVALID_CONFIG),
        (TopicWanted("t", configs={"retention.ms": None}), Reason.INVALID_CONFIG),
        (TopicWanted("t", 1, -1, {0: [1]}), Reason.INVALID_REQUEST),
        (TopicWanted("t", -1, 1, {0: [1]}), Reason.INVALID_REQUEST),
        (TopicWanted("t", -1, -1, {1: [1]}), Reason.INVALID_REPLICA_ASSIGNMENT),
        (TopicWanted("t", -1, -1, {0: [1], 2: [1]}), Reason.INVALID_REPLICA_ASSIGNMENT),
        (TopicWanted("t", -1, -1, {0: []}), Reason.INVALID_REPLICA_ASSIGNMENT),
        (TopicWanted("t", -1, -1, {0: [7]}), Reason.INVALID_REPLICA_ASSIGNMENT),
        (TopicWanted("t", -1, -1, {0: [1, 1]}), Reason.INVALID_REPLICA_ASSIGNMENT),
    ],
)
def test_a_topic_that_cannot_be(wanted: TopicWanted, code: int) -> None:
    refused = refusal(Metadata(), wanted)
    assert refused.code == code and refused.message


def test_an_assignment_is_followed() -> None:
    metadata = Metadata()
    metadata.register(2)
    (topic,) = metadata.create(TopicWanted("t", assignments={1: [1, 2], 0: [2, 1]}))
    assert [info.replicas for info in topic.partitions] == [(2, 1), (1, 2)]
    assert [info.leader for info in topic.partitions] == [2, 1]
    (refused,) = metadata.create(TopicWanted("u", assignments={0: [2, 1], 1: [1]}))
    assert refused.code == Reason.INVALID_REPLICA_ASSIGNMENT


def test_replicas_and_leaders_spread_over_the_nodes() -> None:
    metadata = Metadata()
    metadata.register(2)
    metadata.register(3)
    (topic,) = metadata.create(TopicWanted("t", 6, 2))
    assert sorted(info.leader for info in topic.partitions) == [1, 1, 2, 2, 3, 3]
    assert all(len(set(info.replicas)) == 2 and info.isr == info.replicas for info in topic.partitions)


@pytest.mark.parametrize("count", [11, 2**31 - 1])
def test_a_topic_with_too_many_partitions_is_refused_before_it_is_built(count: int) -> None:
    metadata = Metadata(settings=ControllerSettings(partitions_per_topic_max=10))
    assert refusal(metadata, TopicWanted("t", count)).code == Reason.POLICY_VIOLATION


def test_the_partitions_of_the_node_have_a_limit_that_one_request_cannot_step_over() -> None:
    metadata = Metadata(settings=ControllerSettings(partitions_max=10))
    outcomes = metadata.create(TopicWanted("a", 6), TopicWanted("b", 5), TopicWanted("c", 4), TopicWanted("d", 1))
    assert codes(outcomes) == [0, Reason.POLICY_VIOLATION, 0, Reason.POLICY_VIOLATION]
    assert metadata.image.partition_count == 10


def test_a_topic_made_again_has_another_id() -> None:
    metadata = Metadata()
    first = metadata.topic("orders")
    metadata.delete(first.topic_id)
    second = metadata.topic("orders")
    assert first.topic_id != second.topic_id
    assert metadata.image.topics_to_erase[first.topic_id].name == "orders"


def test_an_id_is_never_one_that_is_kept_for_others() -> None:
    class Rigged(SeededChance):
        def __init__(self, draws: list[bytes]) -> None:
            self.draws = draws

        def bytes(self, size: int) -> bytes:
            return self.draws.pop(0)

    metadata = Metadata()
    taken = metadata.topic("a").topic_id
    gone = metadata.topic("b").topic_id
    metadata.delete(gone)
    prints_as_dash = b"\xf8" + bytes(15)
    good = b"\x07" * 16
    draws = [bytes(16), bytes(15) + b"\1", prints_as_dash, taken, gone, good]
    assert new_topic_id(metadata.image, Rigged(draws)) == good


def test_deleting_by_an_unknown_id_is_refused_and_twice_counts_once() -> None:
    metadata = Metadata()
    topic = metadata.topic("orders")
    outcomes = metadata.delete(topic.topic_id, b"?" * 16, topic.topic_id)
    assert codes(outcomes) == [0, Reason.UNKNOWN_TOPIC_ID, Reason.UNKNOWN_TOPIC_ID]


def test_a_deleted_topic_is_to_be_erased_until_its_files_are_gone_also_after_a_restart() -> None:
    metadata = Metadata()
    topic = metadata.topic("orders", 3)
    metadata.delete(topic.topic_id)
    after = metadata.restarted(registered=False)
    assert after.image.topics_to_erase[topic.topic_id].partition_count == 3
    after.controller.topics_erased([topic.topic_id, b"?" * 16])
    after.journal.sync()
    assert not after.image.topics_to_erase
    assert not after.restarted(registered=False).image.topics_to_erase


def test_partitions_are_added_behind_the_others() -> None:
    metadata = Metadata()
    before = metadata.topic("orders", 2)
    (after,) = grow(metadata, PartitionsWanted("orders", 5))
    assert len(after.partitions) == 5 and after.partitions[:2] == before.partitions
    assert metadata.image.topics_by_name["orders"] == after


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        (PartitionsWanted("nope", 2), Reason.UNKNOWN_TOPIC_OR_PARTITION),
        (PartitionsWanted("orders", 2), Reason.INVALID_PARTITIONS),
        (PartitionsWanted("orders", 1), Reason.INVALID_PARTITIONS),
        (PartitionsWanted("orders", -1), Reason.INVALID_PARTITIONS),
        (PartitionsWanted("orders", 3, []), Reason.INVALID_REPLICA_ASSIGNMENT),
        (PartitionsWanted("orders", 3, [[1], [1]]), Reason.INVALID_REPLICA_ASSIGNMENT),
        (PartitionsWanted("orders", 3, [[9]]), Reason.INVALID_REPLICA_ASSIGNMENT),
        (PartitionsWanted("orders", 3, [[]]), Reason.INVALID_REPLICA_ASSIGNMENT),
        (PartitionsWanted("orders", 2**31 - 1), Reason.POLICY_VIOLATION),
    ],
)
def test_partitions_that_cannot_be_added(wanted: PartitionsWanted, code: int) -> None:
    metadata = Metadata()
    metadata.topic("orders", 2)
    (refused,) = grow(metadata, wanted)
    assert refused.code == code and refused.message
    assert len(metadata.image.topics_by_name["orders"].partitions) == 2


def test_growing_can_be_only_checked() -> None:
    metadata = Metadata()
    metadata.topic("orders", 2)
    (topic,) = grow(metadata, PartitionsWanted("orders", 3, [[1]]), validate_only=True)
    assert len(topic.partitions) == 3
    assert len(metadata.image.topics_by_name["orders"].partitions) == 2


def test_a_disk_that_fails_refuses_what_depended_on_it_and_repeats_what_was_refused_anyway() -> None:
    metadata = Metadata()
    heard: list = []
    metadata.controller.create_topics([TopicWanted("a"), TopicWanted("bad/name")], heard.append)
    metadata.journal.sync(HostFault("disk"))
    assert codes(heard[0]) == [Reason.KAFKA_STORAGE_ERROR, Reason.INVALID_TOPIC_EXCEPTION]
    assert not metadata.image.topics_by_name
