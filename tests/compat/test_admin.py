"""Topics, their configs, partitions and records, by every client's own admin calls."""

from __future__ import annotations

import pytest

from tests.compat.clients import CLIENT_NAMES, ClientRefused, Clients, record, values
from tests.compat.findings import skip_unless
from tests.compat.target import Target, seen

OFFSET_OUT_OF_RANGE = 1
UNKNOWN_TOPIC = 3
INVALID_TOPIC = 17
TOPIC_EXISTS = 36
INVALID_PARTITIONS = 37
INVALID_CONFIG = 40


def code_of(call, **arguments: object) -> int:
    with pytest.raises(ClientRefused) as refused:
        call(**arguments)
    return refused.value.code


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_a_topic_is_made_seen_and_deleted(target: Target, clients: Clients, new_name, admin: str) -> None:
    topic = new_name()
    client = clients[admin]
    client.create_topic(topic=topic, partitions=3, configs={"retention.ms": "3600000"})
    seen(target, lambda: client.partitions(topic=topic) == 3)
    seen(target, lambda: topic in client.list_topics())
    assert code_of(client.create_topic, topic=topic) == TOPIC_EXISTS
    client.delete_topic(topic=topic)
    seen(target, lambda: topic not in client.list_topics())
    assert code_of(client.delete_topic, topic=topic) == UNKNOWN_TOPIC


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_bad_names_and_configs_are_refused_by_name(target: Target, clients: Clients, new_name, admin: str) -> None:
    client = clients[admin]
    assert code_of(client.create_topic, topic="not a/name") == INVALID_TOPIC
    topic = new_name()
    assert code_of(client.create_topic, topic=topic, configs={"no.such.config": "1"}) == INVALID_CONFIG
    assert code_of(client.create_topic, topic=topic, configs={"retention.ms": "soon"}) == INVALID_CONFIG
    assert topic not in client.list_topics()


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_configs_are_set_and_deleted_one_by_one(target: Target, clients: Clients, new_name, admin: str) -> None:
    skip_unless(admin, "incremental configs")
    topic = new_name()
    client = clients[admin]
    client.create_topic(topic=topic, configs={"segment.bytes": "2097152"})
    client.alter_configs(topic=topic, set={"retention.ms": "1234567", "cleanup.policy": "compact,delete"}, delete=[])
    names = ("retention.ms", "cleanup.policy", "segment.bytes")

    def configs() -> list[str]:
        described = client.describe_configs(topic=topic)
        return [described[name] for name in names]

    seen(target, lambda: configs() == ["1234567", "compact,delete", "2097152"])
    client.alter_configs(topic=topic, set={}, delete=["retention.ms"])
    seen(target, lambda: configs() == ["604800000", "compact,delete", "2097152"])
    assert code_of(client.alter_configs, topic=topic, set={"no.such.config": "1"}, delete=[]) == INVALID_CONFIG
    assert code_of(client.alter_configs, topic=new_name(), set={"retention.ms": "1"}, delete=[]) == UNKNOWN_TOPIC


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_the_older_call_replaces_every_config(target: Target, clients: Clients, new_name, admin: str) -> None:
    skip_unless(admin, "replacing configs")
    topic = new_name()
    client = clients[admin]
    client.create_topic(topic=topic, configs={"segment.bytes": "2097152", "max.message.bytes": "500000"})
    client.alter_configs(topic=topic, set={"retention.ms": "1234567"}, delete=[], incremental=False)

    def configs() -> tuple[str, str]:
        described = client.describe_configs(topic=topic)
        return described["retention.ms"], described["segment.bytes"]

    seen(target, lambda: configs() == ("1234567", "1073741824"))


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_partitions_are_added_and_used(target: Target, clients: Clients, new_name, admin: str) -> None:
    topic = new_name()
    client = clients[admin]
    client.create_topic(topic=topic, partitions=2)
    client.create_partitions(topic=topic, total=5)
    seen(target, lambda: client.partitions(topic=topic) == 5)
    clients["java"].produce(topic=topic, partition=4, records=[record(b"in the new one")])
    assert values(client.consume(topic=topic, partition=4, offset=0, count=1)) == [b"in the new one"]
    assert code_of(client.create_partitions, topic=topic, total=3) == INVALID_PARTITIONS


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_deleted_records_are_gone_and_offsets_go_on(clients: Clients, topic: str, admin: str) -> None:
    client = clients[admin]
    client.produce(topic=topic, partition=0, records=[record(b"%d" % n) for n in range(10)])
    assert client.delete_records(topic=topic, partition=0, before=4) == 4
    assert client.offset_at(topic=topic, partition=0, at="earliest")["offset"] == 4
    with pytest.raises(ClientRefused) as refused:
        client.consume(topic=topic, partition=0, offset=3, count=1, timeout_s=5)
    assert refused.value.code == OFFSET_OUT_OF_RANGE
    placed = client.produce(topic=topic, partition=0, records=[record(b"next")])
    assert placed[0][1] == 10
    read = client.consume(topic=topic, partition=0, offset=4, count=7)
    assert values(read) == [b"4", b"5", b"6", b"7", b"8", b"9", b"next"]


@pytest.mark.parametrize("admin", CLIENT_NAMES)
def test_the_cluster_names_itself_and_its_controller(clients: Clients, admin: str) -> None:
    cluster = clients[admin].describe_cluster()
    assert cluster == clients["confluent"].describe_cluster()
    assert cluster["brokers"] == 1
    assert len(cluster["cluster_id"]) == 22
