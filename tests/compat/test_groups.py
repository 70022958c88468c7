"""Groups of every client, in both protocols: join, share, hand over on leaving and on dying, go on after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.clients import Clients
from tests.compat.members import fill, members
from tests.compat.target import Elsewhere, Server, Target

PARTITIONS = 4
WAYS = [
    ("confluent", "classic", "range"),
    ("confluent", "classic", "cooperative"),
    ("confluent", "consumer", ""),
    ("kafka-python", "classic", "range"),
    ("kafka-python", "classic", "cooperative"),
    ("aiokafka", "classic", "range"),
    pytest.param("java", "classic", "range", marks=pytest.mark.slow),  # in the group of all clients, too
    ("java", "classic", "cooperative"),
    ("java", "consumer", ""),
    pytest.param("go", "classic", "range", marks=pytest.mark.slow),
    ("go", "classic", "cooperative"),
    ("go", "consumer", ""),
]
SETTINGS = {
    "groups.session_timeout_min_ms": 1000,
    "groups.consumer_session_timeout_ms": 2000,
    "groups.consumer_heartbeat_interval_ms": 200,
}


@pytest.fixture(scope="module")
def own_target(target: Target) -> Iterator[Server]:
    """A broker of this file's own, quick to notice who is gone."""
    if isinstance(target, Elsewhere):
        pytest.skip("needs settings of its own")
    with Server(settings=SETTINGS) as server:
        yield server


@pytest.fixture(scope="module")
def writers(own_target: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clients]:
    found = Clients(own_target.bootstrap, tmp_path_factory.mktemp("group-clients"))
    yield found
    found.close()


@pytest.mark.parametrize(("client", "protocol", "assignor"), WAYS)
def test_a_groups_whole_life(
    own_target: Server, writers: Clients, new_name, tmp_path: Path, client: str, protocol: str, assignor: str
) -> None:
    topic = new_name()
    writer = writers["confluent"]
    writer.create_topic(topic=topic, partitions=PARTITIONS)
    fill(writer, topic, PARTITIONS, ["a", "b"])
    how = {"protocol": protocol, "assignor": assignor}
    with members(own_target.bootstrap, topic + "-group", topic, tmp_path) as group:
        # The first member reads everything.
        first = group.join(client, **how)
        group.until(lambda: len(first.read) >= 2 * PARTITIONS, "the first member did not read all")
        first.commit()
        # A second one gets half, and each record is read once: the second starts where the first committed.
        second = group.join(client, **how)
        group.until_shared(2, 2, partitions=PARTITIONS)
        fill(writer, topic, PARTITIONS, ["c"])
        group.until(lambda: len(group.values()) >= 3 * PARTITIONS, "new records were not read")
        assert group.values() == sorted(b"%d-%s" % (p, n) for p in range(PARTITIONS) for n in (b"a", b"b", b"c"))
        # One dies without a word, before it commits: its records come again, to the other.
        first.commit()
        group.part(second, crash=True)
        group.until_shared(PARTITIONS, partitions=PARTITIONS)
        fill(writer, topic, PARTITIONS, ["d"])
        taken_over = {b"%d-%s" % (partition, name) for partition in range(PARTITIONS) for name in (b"c", b"d")}
        group.until(lambda: {value for _, _, value in first.read} >= taken_over, "it did not take over")
        first.commit()
        # One leaves in order, and the next finds everything committed, also by a broker that was started anew.
        third = group.join(client, **how)
        group.until_shared(2, 2, partitions=PARTITIONS)
        group.part(first)
        group.until_shared(PARTITIONS, partitions=PARTITIONS)
        own_target.restart()
        fill(writer, topic, PARTITIONS, ["e"])
        group.until(lambda: len(third.read) >= PARTITIONS, "it did not go on after the restart")
        assert group.values() == sorted(b"%d-e" % partition for partition in range(PARTITIONS))


def test_all_clients_share_one_classic_group(own_target: Server, writers: Clients, new_name, tmp_path: Path) -> None:
    """Whoever leads assigns for all the others, who speak other versions of the protocol."""
    topic = new_name()
    writer = writers["confluent"]
    writer.create_topic(topic=topic, partitions=5)
    with members(own_target.bootstrap, topic + "-group", topic, tmp_path) as group:
        for name in ("go", "kafka-python", "confluent", "aiokafka", "java"):
            group.join(name, assignor="range")
        group.until_shared(1, 1, 1, 1, 1, partitions=5)
        fill(writer, topic, 5, ["a"])
        group.until(lambda: len(group.values()) >= 5, "records were not read")
        assert group.values() == [b"%d-a" % partition for partition in range(5)]
        for member in list(group.live[:3]):
            group.part(member)
        group.until_shared(2, 3, partitions=5)


def test_a_live_group_moves_from_classic_to_consumer_and_back(
    own_target: Server, writers: Clients, new_name, tmp_path: Path
) -> None:
    topic = new_name()
    writer = writers["confluent"]
    writer.create_topic(topic=topic, partitions=PARTITIONS)
    fill(writer, topic, PARTITIONS, ["a"])
    with members(own_target.bootstrap, topic + "-group", topic, tmp_path) as group:
        old = group.join("confluent", protocol="classic", assignor="cooperative")
        group.until(lambda: len(old.read) >= PARTITIONS, "the classic member did not read all")
        old.commit()
        new = group.join("go", protocol="consumer")
        group.until_shared(2, 2, partitions=PARTITIONS)
        fill(writer, topic, PARTITIONS, ["b"])
        group.until(lambda: len(group.values()) >= 2 * PARTITIONS, "the mixed group did not read all")
        old.commit()
        new.commit()
        group.part(old)
        group.until_shared(PARTITIONS, partitions=PARTITIONS)
        back = group.join("confluent", protocol="classic", assignor="cooperative")
        group.until_shared(2, 2, partitions=PARTITIONS)
        group.part(new)
        group.until_shared(PARTITIONS, partitions=PARTITIONS)
        fill(writer, topic, PARTITIONS, ["c"])
        group.until(lambda: len(back.read) >= PARTITIONS, "the classic group did not read all")
        assert {value for _, _, value in back.read} == {b"%d-c" % partition for partition in range(PARTITIONS)}
