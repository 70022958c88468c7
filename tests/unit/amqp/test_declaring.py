"""Declaring and deleting: what RabbitMQ's clients may rely on (numbers are those of the checklist in the facts)."""

from __future__ import annotations

import pytest

from tests.kit.topology import GUEST, World, code
from twinlog.amqp.ports import Caller, QueueInfo
from twinlog.base import DiskFull, HostFault
from twinlog.cluster.kinds.users import PermissionPut
from twinlog.cluster.kinds.vhosts import VhostPut
from twinlog.wire.amqp.table import Int8, Int64

OTHER = Caller(GUEST, "/", 8)


def test_17_a_passive_declare_of_a_missing_queue_is_404_and_asks_nothing_of_one_that_is_there() -> None:
    world = World()
    missing = world.queue("q", passive=True)
    assert code(missing) == 404 and "no queue 'q' in vhost '/'" in str(missing)
    world.queue("q")
    found = world.queue("q", passive=True, durable=False, auto_delete=True, arguments={"x-message-ttl": "x"})
    assert isinstance(found, QueueInfo) and found.name == "q"


@pytest.mark.parametrize(
    "again",
    [
        {"durable": False},
        {"auto_delete": True},
        {"arguments": {"x-message-ttl": 2000}},
        {"arguments": {}},
        {"arguments": {"x-message-ttl": 1000, "x-max-length": 5}},
        {"arguments": {"x-message-ttl": 1000, "x-queue-type": "stream"}},
    ],
)
def test_18_a_declaration_that_differs_is_406_and_says_in_what(again: dict[str, object]) -> None:
    world = World()
    world.queue("q", arguments={"x-message-ttl": 1000})
    refused = world.queue("q", **{"arguments": {"x-message-ttl": 1000}, **again})
    assert code(refused) == 406
    assert "in vhost '/'" in str(refused) and ("inequivalent arg" in str(refused) or "invalid arg" in str(refused))


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-message-ttl": Int8(100)},
        {"x-message-ttl": Int64(100)},
        {"x-message-ttl": 100, "x-foo": "anything"},
        {"x-message-ttl": 100, "x-queue-type": "classic"},
    ],
)
def test_18_widths_unknown_arguments_and_the_usual_type_make_no_difference(arguments: dict[str, object]) -> None:
    world = World()
    first = world.queue("q", arguments={"x-message-ttl": 100, "x-foo": 1})
    assert world.queue("q", arguments=arguments) is first


def test_47_who_keeps_the_queue_hears_that_it_was_declared_again_or_asked_for() -> None:
    world = World()
    world.queue("q")
    assert world.keeper.used == []
    world.queue("q", passive=True)
    assert world.keeper.used == ["q"]
    world.queue("q")
    assert world.keeper.used == ["q", "q"]


def test_18_a_number_as_text_is_406() -> None:
    world = World()
    assert code(world.queue("q", arguments={"x-message-ttl": "100"})) == 406


@pytest.mark.parametrize(
    "arguments",
    [
        {"x-expires": 0},
        {"x-message-ttl": -1},
        {"x-max-length": -1},
        {"x-max-priority": 256},
        {"x-overflow": "drop"},
        {"x-dead-letter-routing-key": "k"},
        {"x-dead-letter-exchange": 5},
        {"x-single-active-consumer": "yes"},
        {"x-max-age": "1D"},
        {"x-queue-type": "quorum"},
        {"x-queue-type": "other"},
        {"x-queue-type": "stream", "x-max-age": "1X"},
        {"x-queue-type": "stream", "x-message-ttl": 5},
        {"x-queue-type": "stream", "x-max-priority": 5},
    ],
)
def test_an_argument_that_cannot_be_is_406_and_no_queue_is_made(arguments: dict[str, object]) -> None:
    world = World()
    assert code(world.queue("q", arguments=arguments)) == 406
    assert world.topology.find_queue("/", "q") is None


@pytest.mark.parametrize(
    "flags", [{"durable": False}, {"exclusive": True}, {"auto_delete": True}, {"server_named": True}]
)
def test_a_stream_is_durable_shared_and_named(flags: dict[str, bool]) -> None:
    world = World()
    assert code(world.queue("q", arguments={"x-queue-type": "stream"}, **flags)) == 406


def test_19_exchanges_differ_by_flags_and_alternate_only() -> None:
    world = World()
    world.exchange("x", "topic", arguments={"alternate-exchange": "a", "x-foo": 1})
    same = {"alternate-exchange": "a", "x-foo": 2}
    assert world.exchange("x", "topic", arguments=same) is None
    for kind, changes in (
        ("topic", {"arguments": {"alternate-exchange": "b"}}),
        ("topic", {"arguments": {}}),
        ("topic", {"arguments": same, "durable": False}),
        ("topic", {"arguments": same, "auto_delete": True}),
        ("topic", {"arguments": same, "internal": True}),
        ("direct", {"arguments": same}),
    ):
        assert code(world.exchange("x", kind, **changes)) == 406
    assert code(world.exchange("y", "strange")) == 406
    assert code(world.exchange("y", arguments={"alternate-exchange": 5})) == 406
    assert code(world.exchange("y", passive=True)) == 404


def test_21_an_exclusive_queue_is_locked_to_others_until_its_connection_ends() -> None:
    world = World()
    mine = world.queue("q", exclusive=True, durable=True)
    assert mine.exclusive_owner == world.caller.connection and not mine.durable
    assert world.queue("q", exclusive=True) is mine
    for answer in (
        world.queue("q", exclusive=True, caller=OTHER),
        world.queue("q", passive=True, caller=OTHER),
        world.bind("q", "amq.direct", caller=OTHER),
        world.delete_queue("q", caller=OTHER),
        world.queue("q", exclusive=False),
    ):
        assert code(answer) == 405
    world.topology.release_owner(world.caller.connection)
    assert world.topology.find_queue("/", "q") is None
    assert world.keeper.heard == [("created", "q"), ("deleted", "q")]
    assert code(world.queue("q", caller=OTHER)) == 0


def test_22_reserved_names() -> None:
    world = World()
    assert code(world.exchange("amq.mine")) == 403
    assert world.exchange("amq.topic", "topic") is None
    assert world.exchange("amq.topic", "topic", passive=True) is None
    assert code(world.exchange("amq.topic", "direct")) == 406
    assert code(world.delete_exchange("amq.topic")) == 403
    assert code(world.queue("amq.mine")) == 403
    assert world.queue("amq.gen-1", server_named=True).name == "amq.gen-1"


def test_23_the_default_exchange_is_not_to_be_touched_and_routes_by_name() -> None:
    world = World()
    world.queue("q")
    for answer in (
        world.exchange(""),
        world.delete_exchange(""),
        world.bind("q", "", "q"),
        world.unbind("q", "", "q"),
        world.bind_exchange("", "amq.direct"),
    ):
        assert code(answer) == 403
    assert world.route("", "q") == ["q"]
    world.delete_queue("q")
    assert world.route("", "q") == []
    world.queue("q")
    assert world.route("", "q") == ["q"]


def test_24_deleting_what_is_not_there_is_fine() -> None:
    world = World()
    assert world.delete_queue("q") == 0
    assert world.delete_exchange("x") is None
    world.queue("q")
    assert world.unbind("q", "amq.direct", "k") is None
    assert world.unbind("other", "none", "k") is None


def test_24_if_unused_and_if_empty_are_obeyed() -> None:
    world = World()
    world.queue("q")
    world.exchange("x")
    world.bind("q", "x")
    assert code(world.delete_exchange("x", if_unused=True)) == 406
    world.keeper.consumers["q"] = 1
    assert code(world.delete_queue("q", if_unused=True)) == 406
    world.keeper.consumers["q"] = 0
    world.keeper.ready["q"] = 3
    assert code(world.delete_queue("q", if_empty=True)) == 406
    assert world.delete_queue("q", if_unused=True) == 3
    assert world.delete_exchange("x", if_unused=True) is None


@pytest.mark.parametrize("durable", [True, False])
def test_26_an_exchange_that_deletes_itself_goes_with_its_last_binding(durable: bool) -> None:
    world = World()
    world.exchange("x", auto_delete=True, durable=durable)
    world.queue("q", durable=durable)
    assert world.topology.find_exchange("/", "x") is not None, "not before it had a binding"
    world.bind("q", "x", "1")
    world.bind("q", "x", "2")
    world.unbind("q", "x", "1")
    assert world.topology.find_exchange("/", "x") is not None
    world.unbind("q", "x", "2")
    world.metadata.journal.sync()
    assert code(world.exchange("x", passive=True)) == 404


@pytest.mark.parametrize("durable", [True, False])
def test_26_a_chain_of_such_exchanges_goes_with_the_queue_at_its_end(durable: bool) -> None:
    world = World()
    for name in ("a", "b", "c"):
        world.exchange(name, "fanout", auto_delete=True, durable=durable)
    world.queue("q", durable=durable)
    world.bind_exchange("b", "a")
    world.bind_exchange("c", "b")
    world.bind("q", "c")
    assert world.route("a") == ["q"]
    world.delete_queue("q")
    for _ in range(3):
        world.metadata.journal.sync()
    assert [code(world.exchange(name, passive=True)) for name in ("a", "b", "c")] == [404] * 3


def test_line_ends_in_names_are_dropped_and_long_names_refused() -> None:
    world = World()
    assert world.queue("a\r\nb").name == "ab"
    assert world.queue("ab", passive=True).name == "ab"
    assert code(world.queue("x" * 256)) == 406


def test_a_durable_thing_is_answered_when_it_is_durable_and_not_seen_before() -> None:
    world = World()
    heard: list[object] = []
    world.topology.declare_queue(
        world.caller,
        "q",
        passive=False,
        durable=True,
        exclusive=False,
        auto_delete=False,
        arguments={},
        server_named=False,
        done=heard.append,
    )
    assert heard == [] and world.topology.find_queue("/", "q") is None and world.keeper.heard == []
    world.metadata.journal.sync()
    assert heard == [world.topology.find_queue("/", "q")] and world.keeper.heard == [("created", "q")]


def test_two_that_declare_the_same_at_once_get_the_same() -> None:
    world = World()
    heard: list[object] = []
    named = {"passive": False, "durable": True, "exclusive": False, "auto_delete": False, "server_named": False}
    for arguments in ({}, {}, {"x-max-length": 5}):
        world.topology.declare_queue(world.caller, "q", arguments=arguments, done=heard.append, **named)  # type: ignore[arg-type]
    assert [code(each) for each in heard] == [406]
    world.metadata.journal.sync()
    assert heard[1] is heard[2] is world.topology.find_queue("/", "q")


def test_a_transient_queue_waits_for_the_durable_one_of_its_name_to_be_gone() -> None:
    world = World()
    durable = world.queue("q")
    heard: list[object] = []
    world.topology.delete_queue(world.caller, "q", if_unused=False, if_empty=False, done=heard.append)
    world.topology.declare_queue(
        world.caller,
        "q",
        passive=False,
        durable=False,
        exclusive=False,
        auto_delete=False,
        arguments={},
        server_named=False,
        done=heard.append,
    )
    assert heard == [] and world.topology.find_queue("/", "q") is durable
    world.metadata.journal.sync()
    assert heard[0] == 0
    transient = world.topology.find_queue("/", "q")
    assert transient is heard[1] and transient is not durable and transient is not None and not transient.durable


def test_durable_things_outlive_a_power_cut_and_transient_ones_do_not() -> None:
    world = World()
    world.exchange("kept", "topic", arguments={"alternate-exchange": "amq.fanout"})
    world.exchange("gone", durable=False)
    queue = world.queue("kept", arguments={"x-message-ttl": Int8(5)})
    world.queue("gone", durable=False)
    world.queue("mine", exclusive=True)
    world.bind("kept", "kept", "a.*")
    world.bind("gone", "kept", "a.*")
    world.bind("kept", "gone", "k")
    assert world.route("kept", "a.b") == ["kept", "gone"]
    after = world.restarted()
    again = after.topology.find_queue("/", "kept")
    assert again is not None and again.id == queue.id
    assert type(again.arguments["x-message-ttl"]) is Int8
    assert after.route("kept", "a.b") == ["kept"]
    assert [after.topology.find_queue("/", name) for name in ("gone", "mine")] == [None, None]
    assert after.topology.find_exchange("/", "gone") is None
    assert after.keeper.heard == [("created", "kept")]


def test_ids_of_queues_are_never_given_twice() -> None:
    world = World()
    ids = []
    for _ in range(3):
        for name, durable in (("d", True), ("t", False)):
            ids.append(world.queue(name, durable=durable).id)
            world.delete_queue(name)
        world = world.restarted()
    assert len(set(ids)) == len(ids)


def test_a_full_disk_refuses_and_leaves_everything_as_it_was() -> None:
    world = World()
    world.metadata.journal.refuse_with = DiskFull("metadata", "no space")
    assert isinstance(world.queue("q"), HostFault)
    assert world.topology.find_queue("/", "q") is None
    world.metadata.journal.refuse_with = None
    assert world.queue("q").name == "q"


def test_a_vhost_takes_all_with_it_and_others_keep_theirs() -> None:
    world = World()
    world.queue("q")
    world.administer("put_vhost", VhostPut("other"), creator=GUEST)
    there = Caller(GUEST, "other", 9)
    assert world.queue("q", caller=there).vhost == "other"
    assert world.queue("mine", caller=there, exclusive=True).vhost == "other"
    assert world.bind("q", "amq.fanout", caller=there) is None
    assert world.administer("delete_vhost", "other") is None
    assert not world.topology.has_vhost("other")
    assert code(world.queue("q", caller=there)) in (403, 530)
    world.topology.release_owner(9)
    assert world.route("", "q") == ["q"]
    world.administer("put_vhost", VhostPut("other"), creator=GUEST)
    assert world.topology.find_queue("other", "q") is None
    assert code(world.administer("delete_vhost", "none")) == 404


def test_a_vhost_says_how_many_queues_it_may_hold_and_of_which_type_they_are() -> None:
    world = World()
    world.administer("put_vhost", VhostPut("/", default_queue_type="stream", limits={"max-queues": 2}))
    assert world.queue("s").type == "stream"
    assert world.queue("c", exclusive=True).type == "classic"
    refused = world.queue("more")
    assert code(refused) == 406 and "limit" in str(refused)
    world.administer("set_vhost_limits", "/", {"max-queues": -1})
    assert world.queue("more").type == "stream"


def test_rights_are_asked_for_each_thing() -> None:
    """53: the table of the checklist."""
    world = World()
    world.queue("q")
    world.exchange("x")
    world.user("eve")
    eve = Caller("eve", "/", 9)
    assert code(world.queue("q", caller=eve)) == 403

    world.administer("put_permission", PermissionPut("/", "eve", "^mine", "^mine", "^(mine|x)"))
    assert code(world.queue("mine", caller=eve)) == 0
    assert code(world.queue("q", caller=eve)) == 403
    assert code(world.queue("q", passive=True, caller=eve)) == 403
    assert code(world.queue("mine2", caller=eve, arguments={"x-dead-letter-exchange": "x"})) == 403
    assert code(world.queue("mine2", caller=eve, arguments={"x-dead-letter-exchange": "mine"})) == 0
    assert code(world.exchange("mine", caller=eve, arguments={"alternate-exchange": "x"})) == 403
    assert code(world.exchange("mine", caller=eve)) == 0
    assert code(world.bind("mine", "x", caller=eve)) == 0
    assert code(world.bind("mine", "amq.topic", caller=eve)) == 403
    assert code(world.bind("q", "x", caller=eve)) == 403
    assert code(world.delete_exchange("x", caller=eve)) == 403
    assert code(world.delete_queue("q", caller=eve)) == 403
    assert code(world.delete_queue("mine", caller=eve)) == 0


@pytest.mark.parametrize("changes", [{}, {"durable": False}, {"exclusive": True}])
def test_a_queue_beyond_what_a_node_may_have_is_406_and_one_that_is_there_is_not(changes: dict[str, object]) -> None:
    world = World(queues_max=2)
    world.queue("a")
    world.queue("b", durable=False)
    refused = world.queue("c", **changes)
    assert code(refused) == 406 and "limit of 2 queues" in str(refused)
    assert isinstance(world.queue("a"), QueueInfo), "declared again"
    world.delete_queue("b")
    assert isinstance(world.queue("c", **changes), QueueInfo)
