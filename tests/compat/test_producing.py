"""Producing with every client: acknowledgements, idempotence, limits, topics made on the way."""

from __future__ import annotations

import pytest

from tests.compat.clients import CLIENT_NAMES, ClientRefused, Clients, record, values
from tests.compat.findings import can

MESSAGE_TOO_LARGE = 10


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_records_arrive_in_order_at_every_level_of_acknowledgement(
    clients: Clients, topic: str, writer: str, acks: str
) -> None:
    bodies = [b"%d" % n for n in range(20)]
    placed = clients[writer].produce(topic=topic, partition=0, records=[record(b) for b in bodies], acks=acks)
    assert acks == "0" or [offset for _, offset, _ in placed] == list(range(20))
    assert values(clients["java"].consume(topic=topic, partition=0, offset=0, count=20)) == bodies


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_an_idempotent_producer_places_each_record_once(clients: Clients, topic: str, writer: str) -> None:
    sent: list[bytes] = []
    for turn in range(5):
        bodies = [b"%d-%d" % (turn, n) for n in range(40)]
        placed = clients[writer].produce(
            topic=topic, partition=0, records=[record(b) for b in bodies], idempotent=True, compression="lz4"
        )
        assert [offset for _, offset, _ in placed] == list(range(len(sent), len(sent) + 40))
        sent += bodies
    assert values(clients["confluent"].consume(topic=topic, partition=0, offset=0, count=200)) == sent
    assert clients["confluent"].offset_at(topic=topic, partition=0, at="latest")["offset"] == 200


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_a_record_above_the_topics_limit_is_refused_by_name(clients: Clients, topic: str, writer: str) -> None:
    with pytest.raises(ClientRefused) as refused:
        clients[writer].produce(topic=topic, partition=0, records=[record(bytes(1_200_000))])
    assert refused.value.code == MESSAGE_TOO_LARGE
    placed = clients[writer].produce(topic=topic, partition=0, records=[record(b"small")])
    assert [offset for _, offset, _ in placed] == [0]


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_a_raised_limit_lets_a_large_record_through(clients: Clients, new_name, writer: str) -> None:
    topic = new_name()
    clients["confluent"].create_topic(topic=topic, configs={"max.message.bytes": "12000000"})
    large = bytes(range(256)) * 40_000
    clients[writer].produce(topic=topic, partition=0, records=[record(large)])
    reader = CLIENT_NAMES[CLIENT_NAMES.index(writer) - 1]
    assert values(clients[reader].consume(topic=topic, partition=0, offset=0, count=1)) == [large]


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_producing_makes_a_missing_topic(clients: Clients, new_name, writer: str) -> None:
    topic = new_name()
    placed = clients[writer].produce(topic=topic, records=[record(b"first", b"key")])
    assert [(partition, offset) for partition, offset, _ in placed] == [(0, 0)]
    assert topic in clients[writer].list_topics()
    assert values(clients[writer].consume(topic=topic, partition=0, offset=0, count=1)) == [b"first"]


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_the_same_key_goes_to_the_same_partition(clients: Clients, new_name, writer: str) -> None:
    topic = new_name()
    clients["confluent"].create_topic(topic=topic, partitions=4)
    keys = [b"key-%d" % (n % 10) for n in range(100)]
    placed = clients[writer].produce(topic=topic, records=[record(b"v", key) for key in keys])
    homes = {(key, partition) for key, (partition, _, _) in zip(keys, placed, strict=True)}
    assert len(homes) == 10
    ends = [clients[writer].offset_at(topic=topic, partition=p, at="latest")["offset"] for p in range(4)]
    assert sum(ends) == 100


@pytest.mark.parametrize("writer", CLIENT_NAMES)
def test_a_topic_made_again_is_a_new_one(clients: Clients, new_name, writer: str) -> None:
    topic = new_name()
    client = clients[writer]
    client.create_topic(topic=topic)
    first_id = client.topic_id(topic=topic) if can(writer, "topic ids") else None
    client.produce(topic=topic, partition=0, records=[record(b"old")] * 3, producer="lives on")
    client.delete_topic(topic=topic)
    client.create_topic(topic=topic)
    follows = can(writer, "live producer over a topic made again")
    # The live producer's first tries may meet its stale knowledge of the topic: some libraries fail those batches.
    for _ in range(5):
        try:
            placed = client.produce(
                topic=topic, partition=0, records=[record(b"new")], producer="lives on" if follows else "new one"
            )
            break
        except ClientRefused as refused:
            last = refused
    else:
        raise AssertionError("never wrote to the new topic") from last
    assert placed[0][1] == 0
    assert values(client.consume(topic=topic, partition=0, offset=0, count=1)) == [b"new"]
    if first_id is not None:
        assert client.topic_id(topic=topic) != first_id
