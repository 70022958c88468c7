"""Images: what records mean, and what a step costs those who look at the old one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kit.cluster import Metadata
from twinlog.base import Refused
from twinlog.cluster import (
    EMPTY,
    NO_LEADER,
    ConfigOp,
    ConfigOperation,
    ConfigsWanted,
    PartitionsWanted,
    TopicWanted,
    apply,
    whole,
)
from twinlog.cluster.kinds import CODEC
from twinlog.cluster.kinds.brokers import BROKERS
from twinlog.cluster.kinds.configs import CONFIGS
from twinlog.cluster.kinds.topics import TOPICS
from twinlog.cluster.record import ENTRY_FORMAT, Entry
from twinlog.cluster.records import (
    BrokerRegistered,
    BrokerUnregistered,
    ConfigsChanged,
    FeatureLevel,
    PartitionChanged,
    PartitionRun,
    PartitionsAdded,
    ProducerIdsTaken,
    TopicCreated,
    TopicDeleted,
    TopicErased,
)

ORDERS = b"o" * 16
RUN = PartitionRun(2, 1, 0, 0, (1,), (1,))


def created(name: str = "orders", topic_id: bytes = ORDERS, runs: tuple[PartitionRun, ...] = (RUN,)) -> TopicCreated:
    return TopicCreated(name, topic_id, runs)


def registered(node: int = 1, *, clean: bool, incarnation: bytes = b"i" * 16) -> BrokerRegistered:
    return BrokerRegistered(node, incarnation, 9, clean, ())


def test_a_created_topic_is_found_by_name_and_by_id() -> None:
    image, delta = apply(EMPTY, [created()])
    assert image.topics_by_name["orders"] is image.topics_by_id[ORDERS]
    assert len(image.topics_by_name["orders"].partitions) == image.partition_count == 2
    assert [topic.name for topic in delta.topics.created] == ["orders"]


def test_a_step_leaves_the_old_image_and_untouched_kinds_alone() -> None:
    before, _ = apply(EMPTY, [created(), ConfigsChanged("topic", "orders", {"retention.ms": "1"})])
    after, delta = apply(before, [created("more", b"m" * 16)])
    assert "more" not in before.topics_by_name and before.partition_count == 2
    assert after.part(CONFIGS) is before.part(CONFIGS) and after.part(BROKERS) is before.part(BROKERS)
    assert delta.touches(TOPICS) and not delta.touches(CONFIGS)
    assert after.offset == before.offset + 1


def test_an_image_cannot_be_changed() -> None:
    image, _ = apply(EMPTY, [created(), ConfigsChanged("topic", "orders", {"retention.ms": "1"})])
    with pytest.raises(TypeError):
        image.topics_by_name["x"] = image.topics_by_name["orders"]  # type: ignore[index]
    with pytest.raises(TypeError):
        image.configs.of("topic", "orders")["x"] = "y"  # type: ignore[index]


def test_added_partitions_follow_the_others() -> None:
    image, _ = apply(EMPTY, [created()])
    after, delta = apply(image, [PartitionsAdded(ORDERS, (PartitionRun(1, 2, 0, 0, (2,), (2,)),))])
    assert [info.leader for info in after.topics_by_id[ORDERS].partitions] == [1, 1, 2]
    ((before_topic, after_topic),) = delta.topics.changed
    assert (len(before_topic.partitions), len(after_topic.partitions), after.partition_count) == (2, 3, 3)


def test_a_deleted_topic_is_gone_with_its_configs_but_still_to_be_erased() -> None:
    image, _ = apply(EMPTY, [created(), ConfigsChanged("topic", "orders", {"retention.ms": "1"})])
    after, delta = apply(image, [TopicDeleted("orders", ORDERS, 2)])
    assert not after.topics_by_name and not after.topics_by_id and after.partition_count == 0
    assert after.configs.of("topic", "orders") == {}
    assert after.topics_to_erase[ORDERS] == ("orders", ORDERS, 2)
    assert [topic.topic_id for topic in delta.topics.deleted] == [ORDERS]
    erased, _ = apply(after, [TopicErased(ORDERS)])
    assert not erased.topics_to_erase


def test_a_topic_made_and_deleted_in_one_step_was_never_seen_but_is_to_be_erased() -> None:
    image, delta = apply(EMPTY, [created(), TopicDeleted("orders", ORDERS, 2)])
    assert (delta.topics.created, delta.topics.deleted) == ((), ())
    assert ORDERS in image.topics_to_erase


def test_a_name_can_be_used_again_at_once_with_another_id() -> None:
    image, _ = apply(EMPTY, [created()])
    after, delta = apply(image, [TopicDeleted("orders", ORDERS, 2), created(topic_id=b"n" * 16)])
    assert after.topics_by_name["orders"].topic_id == b"n" * 16
    assert [t.topic_id for t in delta.topics.deleted + delta.topics.created] == [ORDERS, b"n" * 16]


def test_configs_are_set_and_removed_one_by_one() -> None:
    image, _ = apply(EMPTY, [ConfigsChanged("broker", "", {"a": "1", "b": "2"})])
    after, delta = apply(image, [ConfigsChanged("broker", "", {"a": "3"}, ("b",))])
    assert after.configs.of("broker", "") == {"a": "3"}
    assert delta.configs.changed == {("broker", "")}
    empty, _ = apply(after, [ConfigsChanged("broker", "", {}, ("a",))])
    assert ("broker", "") not in empty.configs.by_resource


def test_a_crash_raises_the_leader_epoch_of_every_partition_the_node_led() -> None:
    image, _ = apply(EMPTY, [created(runs=(RUN, PartitionRun(1, 2, 5, 5, (2, 1), (2, 1))))])
    after, delta = apply(image, [registered(clean=False)])
    mine, _, others = after.topics_by_id[ORDERS].partitions
    assert (mine.leader, mine.leader_epoch, mine.partition_epoch) == (1, 1, 1)
    assert (others.leader, others.leader_epoch) == (2, 5)
    assert len(delta.topics.changed) == 1


def test_a_clean_restart_changes_no_partition() -> None:
    image, _ = apply(EMPTY, [created()])
    after, delta = apply(image, [registered(clean=True)])
    assert after.topics_by_id[ORDERS] is image.topics_by_id[ORDERS]
    assert delta.topics.changed == ()


@pytest.mark.parametrize("clean", [True, False])
def test_a_partition_without_leader_is_led_again_by_the_node_that_was_in_sync(clean: bool) -> None:
    lost = PartitionChanged(ORDERS, 0, NO_LEADER, 3, 4, (1, 2), (1,))
    image, _ = apply(EMPTY, [created(), lost])
    stranger, _ = apply(image, [registered(2, clean=clean)])
    assert stranger.topics_by_id[ORDERS].partitions[0].leader == NO_LEADER
    after, _ = apply(image, [registered(1, clean=clean)])
    info = after.topics_by_id[ORDERS].partitions[0]
    assert (info.leader, info.leader_epoch, info.partition_epoch, info.isr) == (1, 4, 5, (1,))


def test_neighbours_share_one_state_before_and_after_a_crash() -> None:
    image, _ = apply(EMPTY, [created(runs=(PartitionRun(1000, 1, 0, 0, (1,), (1,)),))])
    after, _ = apply(image, [registered(clean=False)])
    for each in (image, after):
        assert len({id(info) for info in each.topics_by_id[ORDERS].partitions}) == 1


def test_a_topic_of_a_thousand_partitions_is_one_small_record() -> None:
    metadata = Metadata()
    entries = len(metadata.journal.entries)
    metadata.topic("wide", 1000)
    assert len(metadata.journal.entries) == entries + 1
    assert len(metadata.journal.entries[-1]) < 100


def test_a_node_that_is_unregistered_is_gone() -> None:
    image, _ = apply(EMPTY, [registered(clean=True)])
    after, delta = apply(image, [BrokerUnregistered(1)])
    assert not after.brokers and delta.brokers.changed == {1}


def test_a_feature_at_level_nought_is_not_in_use() -> None:
    image, _ = apply(EMPTY, [FeatureLevel("group.version", 1)])
    assert image.features.level("group.version") == 1
    after, _ = apply(image, [FeatureLevel("group.version", 0)])
    assert after.features.levels == {} and after.features.level("group.version") == 0


def test_producer_ids_only_go_up() -> None:
    image, _ = apply(EMPTY, [ProducerIdsTaken(1, 0, 2000)])
    assert image.producer_id_next == 2000
    with pytest.raises(AssertionError):
        apply(image, [ProducerIdsTaken(1, 0, 1000)])


def test_the_whole_of_an_image_is_its_difference_from_nothing() -> None:
    image, _ = apply(EMPTY, [created(), FeatureLevel("group.version", 1)])
    delta = whole(image)
    assert [topic.name for topic in delta.topics.created] == ["orders"]
    assert delta.features.changed == {"group.version"}


# Random histories: what the controller may be asked in any order.
NAMES = st.sampled_from(["a", "b", "c.d", "c_d", "e", "__consumer_offsets", "bad/name"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), NAMES, st.integers(-1, 5)),
        st.tuples(st.just("delete"), NAMES),
        st.tuples(st.just("grow"), NAMES, st.integers(1, 8)),
        st.tuples(st.just("set"), NAMES, st.sampled_from(["retention.ms", "nope"]), st.integers(-2, 3)),
        st.tuples(st.just("erase"), NAMES),
        st.tuples(st.just("restart"), st.booleans()),
        st.tuples(st.just("lose"), NAMES),
        st.tuples(st.just("producer ids")),
    ),
    max_size=30,
)


def take(metadata: Metadata, step: tuple, number: int) -> None:
    controller, image = metadata.controller, metadata.image
    match step:
        case ("create", name, count):
            metadata.create(TopicWanted(name, count))
        case ("delete", name) if name in image.topics_by_name:
            metadata.delete(image.topics_by_name[name].topic_id)
        case ("grow", name, count):
            metadata.run(lambda done: controller.create_partitions([PartitionsWanted(name, count)], done))
        case ("set", name, config, value):
            operation = ConfigOp(config, ConfigOperation.DELETE if value == 3 else ConfigOperation.SET, str(value))
            metadata.run(lambda done: controller.alter_configs([ConfigsWanted("topic", name, [operation])], done))
        case ("erase", _):
            controller.topics_erased(list(image.topics_to_erase)[:1])
        case ("restart", clean):
            metadata.register(1, incarnation=number.to_bytes(16, "big"), clean=clean)
        case ("lose", name) if name in image.topics_by_name:
            controller.leaders_lost(1, [(image.topics_by_name[name].topic_id, 0)])
        case ("producer ids",):
            metadata.run(lambda done: controller.allocate_producer_ids(1, 0, done))
    metadata.journal.sync()


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_replay_and_snapshot_give_the_image_that_was_lived(steps: list[tuple]) -> None:
    metadata = Metadata()
    for number, step in enumerate(steps):
        take(metadata, step, number)
    image = metadata.image
    assert metadata.restarted(registered=False).image == image
    snapshot = Entry(ENTRY_FORMAT, image.offset, 0, 0, tuple(image.records()))
    read_back = CODEC.decode(CODEC.encode(snapshot))
    rebuilt, _ = apply(EMPTY, read_back.records, offset=read_back.offset)
    assert rebuilt == image
    assert image.partition_count == sum(len(topic.partitions) for topic in image.topics_by_name.values())
    assert {topic.topic_id for topic in image.topics_by_name.values()} == set(image.topics_by_id)


def test_a_refusal_is_a_value_too() -> None:
    (refused,) = Metadata().create(TopicWanted("bad/name"))
    assert isinstance(refused, Refused)
