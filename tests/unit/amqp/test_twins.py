"""Topics as AMQP sees them: streams, super streams, and whose name it is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.cluster import codes
from tests.kit.topology import World, code
from twinlog.amqp.topology.twins import arguments_of, configs_of, overruled_by_policies
from twinlog.cluster import PartitionsWanted, Topic, TopicWanted
from twinlog.cluster.errors import Reason
from twinlog.cluster.kinds.policies import PolicyPut
from twinlog.cluster.kinds.vhosts import VhostPut
from twinlog.cluster.types import ConfigOp, ConfigOperation, ConfigsWanted
from twinlog.kafka.names import INTERNAL_TOPICS

STREAM = {"x-queue-type": "stream"}


def stream(world: World, name: str, **arguments: Any) -> Any:
    return world.queue(name, arguments={**STREAM, **arguments})


def grow(world: World, name: str, count: int) -> Any:
    wanted = [PartitionsWanted(name, count)]
    (outcome,) = world.metadata.run(lambda done: world.metadata.controller.create_partitions(wanted, done))
    return outcome


def queues(world: World, vhost: str = "/") -> list[str]:
    return sorted(world.topology.graph.vhosts[vhost].queues)


def test_declaring_a_stream_makes_a_topic_that_keeps_everything() -> None:
    world = World()
    info = stream(world, "s")
    topic = world.metadata.image.topics_by_name["s"]
    assert len(topic.partitions) == 1 and info.twin.topic_id == topic.topic_id
    assert world.metadata.image.configs.of("topic", "s") == {"retention.ms": "-1", "retention.bytes": "-1"}
    assert stream(world, "s") is info and world.queue("s", passive=True) is info
    assert world.keeper.heard == [("created", "s")]
    assert world.route("", "s") == ["s"]


def test_every_topic_of_one_partition_is_a_stream_but_not_the_brokers_own() -> None:
    world = World()
    for name in ("t", "__consumer_offsets"):
        world.metadata.topic(name)
    assert queues(world) == ["t"]
    assert stream(world, "t").name == "t", "a topic's usual settings are no arguments"
    assert code(stream(world, "__consumer_offsets")) == 406
    world.metadata.delete(world.metadata.image.topics_by_name["t"].topic_id)
    assert queues(world) == [] and world.keeper.heard[-1] == ("deleted", "t")


def test_streams_are_there_again_after_a_restart_with_their_bindings() -> None:
    world = World()
    stream(world, "s", **{"x-max-age": "1D"})
    world.metadata.topic("p", 2)
    world.exchange("x", "topic")
    world.bind("s", "x", "a.#")
    world.bind("p-1", "x", "b")
    world.bind_exchange("p", "x", "0")
    again = world.restarted()
    assert queues(again) == ["p-0", "p-1", "s"]
    assert (again.route("x", "a.b"), again.route("x", "b"), again.route("x", "0")) == (["s"], ["p-1"], ["p-0"])
    assert again.topology.find_queue("/", "s").arguments == {**STREAM, "x-max-age": "86400s"}  # type: ignore[union-attr]


def test_arguments_are_configs_of_the_topic_in_both_directions() -> None:
    given = {**STREAM, "x-max-age": "2h", "x-max-length-bytes": 5_000_000, "x-stream-max-segment-size-bytes": 2_000_000}
    configs = configs_of(given)
    assert configs == {"retention.ms": "7200000", "retention.bytes": "5000000", "segment.bytes": "2000000"}
    assert arguments_of(configs) == {**given, "x-max-age": "7200s"}
    assert arguments_of({"retention.ms": "1500"}) == {**STREAM, "x-max-age": "2s"}
    assert arguments_of({"retention.ms": "-1", "cleanup.policy": "compact"}) == STREAM


def test_a_second_declaration_is_compared_by_what_it_keeps() -> None:
    world = World()
    info = stream(world, "s", **{"x-max-age": "2h", "x-max-length-bytes": 10})
    assert stream(world, "s", **{"x-max-age": "120m", "x-max-length-bytes": 10, "x-initial-cluster-size": 3}) is info
    for other in ({}, {"x-max-age": "1h", "x-max-length-bytes": 10}, {"x-max-age": "2h"}):
        refused = stream(world, "s", **other)
        assert code(refused) == 406 and "inequivalent arg" in str(refused)
    assert code(world.queue("s", arguments={"x-queue-type": "classic"})) == 406


def test_configs_changed_by_kafka_are_arguments_at_once() -> None:
    world = World()
    info = stream(world, "s")
    change = ConfigsWanted("topic", "s", [ConfigOp("retention.ms", ConfigOperation.SET, "60000")])
    world.metadata.run(lambda done: world.metadata.controller.alter_configs([change], done))
    assert info.arguments["x-max-age"] == info.effective["x-max-age"] == "60s"
    assert world.keeper.heard[-1] == ("changed", "s")


def test_a_policy_beats_the_arguments_of_a_stream() -> None:
    world = World()
    info = stream(world, "s", **{"x-max-age": "1D"})
    world.administer("put_policy", PolicyPut("/", False, "p", "^s$", "streams", 0, {"max-age": "2D"}))
    assert info.effective["x-max-age"] == "2D" and info.arguments["x-max-age"] == "86400s"


def test_policies_decide_configs_of_topics_that_are_streams_and_of_no_others() -> None:
    world = World()
    for name in ("t", "p", "__consumer_offsets"):
        world.metadata.topic(name, 2 if name == "p" else 1, retention_bytes="77")
    stream(world, "s", **{"x-max-length-bytes": 10})

    def overruled(topic: str) -> dict[str, str]:
        return overruled_by_policies(world.metadata.image, topic, internal=INTERNAL_TOPICS)

    for apply_to in ("all", "queues", "classic_queues"):
        world.administer("put_policy", PolicyPut("/", False, "wide", ".*", apply_to, 9, {"max-length-bytes": 1}))
    assert [overruled(topic) for topic in ("t", "p", "s", "__consumer_offsets")] == [{}, {}, {}, {}]
    definition = {"max-length-bytes": 5, "max-age": "1m", "stream-max-segment-size-bytes": 1 << 20}
    world.administer("put_policy", PolicyPut("/", False, "streams", "^(t|p-[0-9]+|__.*)$", "streams", 0, definition))
    configs = {"retention.bytes": "5", "retention.ms": "60000", "segment.bytes": str(1 << 20)}
    assert [overruled(topic) for topic in ("t", "p", "s", "__consumer_offsets")] == [configs, configs, {}, {}]
    world.administer("put_policy", PolicyPut("/", True, "limit", ".*", "streams", 0, {"max-length-bytes": 7}))
    assert overruled("s") == {"retention.bytes": "7"}
    assert overruled("missing") == {}


def test_deleting_the_stream_deletes_the_topic_with_what_was_bound() -> None:
    world = World()
    stream(world, "s")
    world.exchange("x", "fanout")
    world.bind("s", "x")
    world.keeper.ready["s"] = 7
    assert code(world.delete_queue("s", if_empty=True)) == 406
    assert world.delete_queue("s") == 7
    assert "s" not in world.metadata.image.topics_by_name and world.route("x") == []
    stream(world, "s")
    assert world.route("x") == [], "another stream of that name is bound to nothing"


def test_a_topic_of_several_partitions_is_a_super_stream() -> None:
    world = World()
    world.metadata.topic("p", 3)
    assert queues(world) == ["p-0", "p-1", "p-2"]
    assert [world.route("p", key) for key in ("0", "2", "3")] == [["p-0"], ["p-2"], []]
    assert world.exchange("p", "direct") is None, "it is durable, direct, and does not go away by itself"
    assert code(world.exchange("p", "topic")) == 406
    assert code(world.delete_exchange("p")) == 406
    assert code(world.delete_queue("p-1")) == 406
    (edge, *_) = world.topology.graph.vhosts["/"].exchanges["p"].edges
    assert code(world.unbind("p-0", "p", "0", dict(edge.arguments))) == 406
    assert world.bind("p-0", "p", "0", dict(edge.arguments)) is None, "bound again, nothing changes"
    world.queue("audit")
    world.bind("audit", "p", "1")
    assert sorted(world.route("p", "1")) == ["audit", "p-1"]
    world.metadata.delete(world.metadata.image.topics_by_name["p"].topic_id)
    assert queues(world) == ["audit"] and code(world.exchange("p", passive=True)) == 404


def test_growing_turns_a_stream_into_a_super_stream_and_adds_to_one() -> None:
    world = World()
    world.metadata.topic("t")
    world.exchange("x", "fanout")
    world.bind("t", "x")
    assert isinstance(grow(world, "t", 2), Topic)
    assert queues(world) == ["t-0", "t-1"] and world.route("x") == []
    first = world.topology.find_queue("/", "t-0")
    grow(world, "t", 3)
    assert queues(world) == ["t-0", "t-1", "t-2"] and world.topology.find_queue("/", "t-0") is first
    assert world.restarted().route("t", "2") == ["t-2"]


@pytest.mark.parametrize("durable", [True, False])
def test_a_name_that_a_queue_has_is_refused_to_topics(durable: bool) -> None:
    world = World()
    world.queue("q", durable=durable)
    world.queue("p-1", durable=durable)
    world.exchange("e", durable=durable)
    wanted = [TopicWanted("q"), TopicWanted("p", 2), TopicWanted("e", 2), TopicWanted("e"), TopicWanted("amq.topic", 2)]
    outcomes = world.metadata.create(*wanted)
    clash = Reason.INVALID_TOPIC_EXCEPTION
    assert codes(outcomes) == [clash, clash, clash, 0, clash]
    assert "queue 'q' in vhost '/'" in str(outcomes[0])
    assert code(grow(world, "e", 3)) == clash, "its exchange would have the name of another"
    assert world.queue("q", durable=durable).type == "classic"


def test_partitions_and_topics_do_not_share_a_name() -> None:
    world = World()
    clash = Reason.INVALID_TOPIC_EXCEPTION
    world.metadata.topic("a", 2)
    assert codes(world.metadata.create(TopicWanted("a-1"), TopicWanted("a-2"), TopicWanted("a-1", 2))) == [clash, 0, 0]
    assert code(grow(world, "a", 3)) == clash
    assert codes(world.metadata.create(TopicWanted("n-0"), TopicWanted("n", 2))) == [0, clash], "also in one request"
    refused = stream(world, "a-1", **{"x-max-age": "1D"})
    assert code(refused) == 406 and "inequivalent" in str(refused)


def test_without_its_vhost_a_topic_is_no_stream_and_nobodys_name_is_in_the_way() -> None:
    world = World()
    world.queue("q")
    assert world.administer("delete_vhost", "/") is None
    world.metadata.topic("q")
    world.metadata.topic("t")
    assert world.administer("put_vhost", VhostPut("/")) is None
    assert queues(world) == ["q", "t"]
    assert "t" in world.metadata.image.topics_by_name, "topics of the first vhost outlive it"


def test_streams_of_other_vhosts_are_topics_that_go_with_them() -> None:
    world = World(vhost="dev")
    world.administer("put_vhost", VhostPut("dev"), creator="guest")
    info = stream(world, "s 1")
    assert (info.vhost, info.twin.topic) == ("dev", "vhost.dev.s-201")
    assert queues(world) == [] and queues(world, "dev") == ["s 1"]
    world.metadata.topic("vhost.dev.t", 2)
    assert queues(world, "dev") == ["s 1", "t-0", "t-1"]
    assert world.administer("delete_vhost", "dev") is None
    assert not world.metadata.image.topics_by_name
    assert code(stream(World(), "s" * 250)) == 406, "no topic has such a name"


def test_what_is_decided_counts_before_it_is_written() -> None:
    world = World()
    heard: list[Any] = []

    def declare(**arguments: Any) -> None:
        world.topology.declare_queue(
            world.caller, "s", passive=False, durable=True, exclusive=False, auto_delete=False,
            arguments=arguments, server_named=False, done=heard.append,
        )  # fmt: skip

    declare(**STREAM)
    declare(**STREAM)
    declare(**{"x-queue-type": "classic"})
    assert [code(each) for each in heard] == [406], "the refusal need not wait for the disk"
    world.metadata.controller.create_topics([TopicWanted("s")], heard.append)
    world.metadata.journal.sync()
    world.metadata.journal.sync()
    assert [getattr(each, "name", None) for each in heard if not isinstance(each, list)] == [None, "s", "s"]
    ((again,),) = [each for each in heard if isinstance(each, list)]
    assert code(again) == Reason.TOPIC_ALREADY_EXISTS
    world.topology.delete_queue(world.caller, "s", if_unused=False, if_empty=False, done=heard.append)
    declare()
    world.metadata.journal.sync()
    world.metadata.journal.sync()
    assert heard[-1].type == "classic", "the stream was gone before this queue was declared"
