"""``twinlog group`` against a running broker, with members that speak either protocol."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.compat.fixtures import new_name
from tests.scenarios.command_line.test_commands import Shell
from tests.scenarios.kafka.batches import Record, batch
from tests.scenarios.kafka.groups import Group, converge, settle, until
from tests.scenarios.kafka.raw import Connection
from twinlog.testing import Broker

__all__ = ["new_name"]

RECORDS = [Record(b"%d" % number, timestamp=int(time.time() * 1000) - 10_000 + number) for number in range(10)]


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def twinlog(broker: Broker) -> Shell:
    return Shell(broker.kafka)


@pytest.fixture
def group(broker: Broker, request: pytest.FixtureRequest) -> Iterator[Group]:
    """A group over a topic of two partitions with ten records in the first, of which three are committed."""
    name = request.node.name.removeprefix("test_").replace("[", "-").replace("]", "")
    with Connection(broker.kafka) as kafka:
        kafka.create_topic(name, 2)
        assert kafka.produce(name, batch(RECORDS)).error_code == 0
    with Group(broker.kafka, f"{name}-readers", name) as made:
        assert made.commit(3, 0) == 0
        yield made


def partitions(text: str) -> dict[int, tuple[int | None, int | None]]:
    return {each["partition"]: (each["committed"], each["lag"]) for each in json.loads(text)["partitions"]}


def test_groups_are_listed(twinlog: Shell, group: Group) -> None:
    listed = {each["group"]: each for each in json.loads(twinlog("group", "list", "--json"))}
    assert listed[group.name] == {"group": group.name, "state": "Empty", "type": "classic", "protocol_type": ""}
    assert [group.name, "Empty", "classic"] in [line.split() for line in twinlog("group", "list").splitlines()]


def test_a_classic_group_is_described(twinlog: Shell, group: Group) -> None:
    member = group.classic(instance_id="still")
    settle(member, partitions=2)
    told = json.loads(twinlog("group", "describe", group.name, "--json"))
    assert (told["state"], told["type"], told["assignor"], told["coordinator"]) == ("Stable", "classic", "range", 1)
    (only,) = told["members"]
    assert (only["member"], only["instance"], only["client"], only["host"]) == (
        member.id,
        "still",
        "scenario",
        "127.0.0.1",
    )
    assert [each["partition"] for each in only["partitions"]] == [0, 1]
    assert [(p["committed"], p["end"], p["lag"], p["member"]) for p in told["partitions"]] == [
        (3, 10, 7, member.id),
        (None, 0, None, member.id),
    ]
    shown = twinlog("group", "describe", group.name)
    assert f"{group.name}  Stable  type classic  assignor range  coordinator 1" in shown
    assert [group.topic, "0", "3", "10", "7", member.id] in [line.split() for line in shown.splitlines()]


def test_a_consumer_group_is_described(twinlog: Shell, group: Group) -> None:
    member = group.consumer("one")
    assert member.join() == 0
    told = json.loads(twinlog("group", "describe", group.name, "--json"))
    assert (told["state"], told["type"], told["assignor"]) == ("Stable", "consumer", "uniform")
    assert [each["member"] for each in told["partitions"]] == ["one", "one"]


@pytest.mark.parametrize(
    ("words", "offsets"),
    [
        (["--to-earliest"], {0: 0}),
        (["--to-latest"], {0: 10}),
        (["--to-offset", "7"], {0: 7}),
        (["--to-offset", "99"], {0: 10}),
        (["--shift-by", "2"], {0: 5}),
        (["--shift-by", "-2"], {0: 1}),
        (["--shift-by", "-99"], {0: 0}),
        (["--to-datetime", "2020-01-01T00:00Z"], {0: 0}),
        (["--to-datetime", "2100-01-01T00:00Z"], {0: 10}),
    ],
    ids=lambda value: "".join(value).replace(":", "") if isinstance(value, list) else "",
)
def test_offsets_are_reset(twinlog: Shell, group: Group, words: list[str], offsets: dict[int, int]) -> None:
    done = json.loads(twinlog("group", "reset-offsets", group.name, *words, "--execute", "--json"))
    assert done["executed"]
    assert {each["partition"]: each["new"] for each in done["partitions"]} == offsets
    assert group.committed(0).committed_offset == offsets[0]
    assert group.committed(1).committed_offset == -1


def test_nothing_is_reset_without_execute(twinlog: Shell, group: Group) -> None:
    dry = twinlog("group", "reset-offsets", group.name, "--to-latest")
    assert dry.splitlines()[-1] == "Nothing was changed: --execute sets these offsets."
    assert dry.splitlines()[1].split() == [group.topic, "0", "3", "10"]
    assert group.committed(0).committed_offset == 3


def test_topics_and_partitions_are_chosen_also_for_a_group_to_come(twinlog: Shell, group: Group) -> None:
    twinlog("group", "reset-offsets", group.name, "--topic", f"{group.topic}:1", "--to-earliest", "--execute")
    assert partitions(twinlog("group", "describe", group.name, "--json")) == {0: (3, 7), 1: (0, 0)}
    name = group.name + "-to-come"
    twinlog("group", "reset-offsets", name, "--topic", group.topic, "--to-latest", "--execute")
    assert partitions(twinlog("group", "describe", name, "--json")) == {0: (10, 0), 1: (0, 0)}


def test_a_group_goes_with_its_offsets(twinlog: Shell, group: Group) -> None:
    code, _, err = twinlog.run("group", "delete", group.name, given=b"n\n")
    assert (code, "nothing was deleted" in err) == (1, True)
    assert twinlog("group", "delete", group.name, "--yes") == f"Deleted {group.name}.\n"
    assert group.listed() is None


def test_refusals_say_what_to_do_next(twinlog: Shell, group: Group) -> None:
    settle(group.classic(session_ms=600_000), partitions=2)
    for words, ends_with, what, step in (
        (("describe", "absent"), 1, "GROUP_ID_NOT_FOUND", "twinlog group list"),
        (("delete", "-y", "absent"), 1, "GROUP_ID_NOT_FOUND", "twinlog group list"),
        (("delete", "-y", group.name), 1, "NON_EMPTY_GROUP", "Stop its members"),
        (("reset-offsets", group.name, "--to-latest"), 1, "it has 1 members", "Stop its members"),
        (("reset-offsets", "absent", "--to-latest"), 1, "GROUP_ID_NOT_FOUND", "twinlog group list"),
        (("reset-offsets", "absent"), 2, "say where to", "--to-earliest"),
        (("reset-offsets", "absent", "--to-latest", "--to-offset", "1"), 2, "say where to, once", "--to-earliest"),
        (("reset-offsets", "absent", "--to-datetime", "soon"), 2, "it is no time", "2026"),
        (("reset-offsets", "new", "-t", "absent", "--to-latest"), 1, "UNKNOWN_TOPIC_OR_PARTITION", "topic list"),
        (("reset-offsets", "new", "-t", f"{group.topic}:7", "--to-latest"), 2, "partitions 0 to 1", ""),
        (("reset-offsets", "new", "-t", f"{group.topic}:x", "--to-latest"), 2, "write numbers", ""),
        (("reset-offsets", "new", "-t", group.topic, "--shift-by", "1"), 1, "no committed offset", "--to-offset"),
    ):
        code, _, err = twinlog.run("group", *words)
        assert code == ends_with, (words, err)
        assert what in err, words
        assert step in err, words
        assert "Traceback" not in err


def test_commands_share_a_topic_as_members_of_a_group(twinlog: Shell, group: Group) -> None:
    """The group committed 3 of the 10 records in partition 0; what one command printed the next does not."""
    words = ("consume", group.topic, "--group", group.name)
    assert twinlog(*words, "--count", "4").split() == ["3", "4", "5", "6"]
    assert group.committed(0).committed_offset == 7
    assert twinlog(*words, "--exit").split() == ["7", "8", "9"]
    assert (group.committed(0).committed_offset, group.committed(1).committed_offset) == (10, -1)
    assert group.listed().group_state == "Empty"  # each of them left in order
    assert twinlog(*words, "--exit") == ""


@contextlib.contextmanager
def killed_at_the_end(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


def test_a_command_hands_partitions_to_another_member_and_takes_them_back(twinlog: Shell, group: Group) -> None:
    with killed_at_the_end(twinlog.start("consume", group.topic, "--group", group.name)) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(7)] == [b"%d\n" % number for number in range(3, 10)]
        other = group.consumer("other")
        assert other.join() == 0
        converge(other, holds=lambda: len(other.partitions) == 1)
        until(lambda: group.committed(0).committed_offset == 10, "what was printed was not committed")
        assert other.leave() == 0
        until(lambda: len(group.describe_consumer().members[0].assignment.topic_partitions[0].partitions) == 2)
        group.admin.produce(group.topic, batch([Record(b"late")]), partition=other.partitions[0])
        assert process.stdout.readline() == b"late\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert group.listed().group_state == "Empty"


def test_a_group_is_not_told_where_to_read(twinlog: Shell, group: Group) -> None:
    for words in (("-p", "0"), ("--from", "5")):
        code, _, err = twinlog.run("consume", group.topic, "--group", group.name, *words)
        assert code == 2
        assert "--from may be beginning or end" in err


def test_a_member_waits_for_a_broker_that_restarts_and_goes_on_where_it_was(new_name) -> None:
    with Broker() as own:
        shell = Shell(own.kafka)
        name = new_name()
        with Connection(own.kafka) as kafka:
            kafka.create_topic(name, 2)
            kafka.produce(name, batch(RECORDS))
        with killed_at_the_end(shell.start("consume", name, "--group", "restarted")) as process:
            assert process.stdout is not None
            assert [process.stdout.readline() for _ in range(10)] == [b"%d\n" % number for number in range(10)]
            for turn in range(2):
                own.kill()
                own.start()
                late = Record(b"after %d" % turn, timestamp=RECORDS[0].timestamp)
                with Connection(own.kafka) as kafka:
                    kafka.produce(name, batch([late]))
                # What was printed but not yet committed when the broker died may come again; nothing is left out.
                until(lambda wanted=late.value + b"\n": process.stdout.readline() == wanted)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 0
        with Group(own.kafka, "restarted", name) as group:
            assert group.committed(0).committed_offset == 12
            assert group.listed().group_state == "Empty"
