"""What lies in the metadata log can be read for ever, or is refused in words."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from twinlog.cluster import records
from twinlog.cluster.kinds import CODEC
from twinlog.cluster.record import ENTRY_FORMAT, Entry, Record, RecordCodec, UnknownRecord

GOLDEN = Path(__file__).parents[2] / "golden" / "cluster" / "records.txt"
TOPIC_ID = bytes(range(16))
RUN = records.PartitionRun(3, 1, 4, 6, (1, 2), (1,))

EXAMPLES: dict[str, Record] = {
    "cluster.formed/1": records.ClusterFormed("U9YBxuId0dbNmpmEtaGYLQ", 1_700_000_000_000),
    "broker.registered/1": records.BrokerRegistered(
        1, TOPIC_ID, 7, False, (records.Endpoint("PLAINTEXT", "broker.example", 9092, "PLAINTEXT"),), "rack-a"
    ),
    "broker.unregistered/1": records.BrokerUnregistered(2),
    "feature.level/1": records.FeatureLevel("group.version", 1),
    "producer_ids.taken/1": records.ProducerIdsTaken(1, 7, 3000),
    "topic.created/1": records.TopicCreated("orders", TOPIC_ID, (RUN,)),
    "topic.partitions_added/1": records.PartitionsAdded(TOPIC_ID, (RUN, RUN)),
    "topic.partition_changed/1": records.PartitionChanged(TOPIC_ID, 2, -1, 5, 7, (1, 2), (1,)),
    "topic.deleted/1": records.TopicDeleted("orders", TOPIC_ID, 3),
    "topic.erased/1": records.TopicErased(TOPIC_ID),
    "configs.changed/1": records.ConfigsChanged("topic", "orders", {"retention.ms": "1000"}, ("segment.bytes",)),
    "quota.put/1": records.QuotaPut((("client-id", None), ("user", "ann")), {"producer_byte_rate": 1048576.0}),
    "quota.deleted/1": records.QuotaDeleted((("ip", "10.0.0.1"),)),
    "vhost.first_made/1": records.FirstVhostMade(),
    "vhost.put/1": records.VhostPut("/", "all of it", ("prod",), "classic", {"max-queues": 9}),
    "vhost.deleted/1": records.VhostDeleted("/"),
    "user.put/1": records.UserPut(
        "ann", "AAAA", "rabbit_password_hashing_sha256", ("administrator",), {"max-channels": 5}
    ),
    "user.deleted/1": records.UserDeleted("ann"),
    "permission.put/1": records.PermissionPut("/", "ann", ".*", "^a", ""),
    "permission.deleted/1": records.PermissionDeleted("/", "ann"),
    "permission.topic_put/1": records.TopicPermissionPut("/", "ann", "amq.topic", "^a", "^b"),
    "permission.topic_deleted/1": records.TopicPermissionDeleted("/", "ann", "amq.topic"),
    "policy.put/1": records.PolicyPut(
        "/", False, "short", "^tmp", "queues", 3, {"max-length": 10, "overflow": "drop-head"}
    ),
    "policy.deleted/1": records.PolicyDeleted("/", True, "short"),
    "exchange.declared/1": records.ExchangeDeclared("/", "x", "topic", False, True, bytes(4)),
    "exchange.deleted/1": records.ExchangeDeleted("/", "x"),
    "queue.ids_spent/1": records.QueueIdsSpent(77),
    "queue.declared/1": records.QueueDeclared(76, "/", "q", "classic", False, bytes(4)),
    "queue.deleted/1": records.QueueDeleted("/", "q"),
    "binding.made/1": records.Bound("/", "x", True, "q", "a.*", bytes(4)),
    "binding.undone/1": records.Unbound("/", "x", False, "y", "a.*", bytes(4)),
}


def golden() -> dict[str, bytes]:
    lines = [line.split() for line in GOLDEN.read_text().splitlines() if line and not line.startswith("#")]
    return {tag: bytes.fromhex(payload) for tag, payload in lines}


def entry_of(*record: Record) -> Entry:
    return Entry(ENTRY_FORMAT, 41, 0, 1_700_000_000_000, record)


def test_every_record_has_an_example_and_a_golden_line() -> None:
    assert EXAMPLES.keys() == CODEC.types.keys() == golden().keys()


@pytest.mark.parametrize("tag", EXAMPLES)
def test_a_record_is_written_as_it_always_was(tag: str) -> None:
    assert CODEC.encode(entry_of(EXAMPLES[tag])) == golden()[tag]


@pytest.mark.parametrize("tag", EXAMPLES)
def test_a_record_is_read_as_it_always_was(tag: str) -> None:
    assert CODEC.decode(golden()[tag]) == entry_of(EXAMPLES[tag])


def test_a_newer_version_of_a_known_record_is_refused_by_name() -> None:
    payload = msgspec.msgpack.encode([ENTRY_FORMAT, 5, 0, 0, [["topic.created/2", "orders"]]])
    with pytest.raises(UnknownRecord, match=r"entry 5 holds version 2 of 'topic\.created'.*newer release"):
        CODEC.decode(payload)


def test_a_record_of_an_unknown_kind_is_refused_by_name() -> None:
    payload = msgspec.msgpack.encode([ENTRY_FORMAT, 5, 0, 0, [["quota.set/1", "orders"]]])
    with pytest.raises(UnknownRecord, match=r"unknown kind 'quota\.set/1'"):
        CODEC.decode(payload)


def test_an_entry_of_another_format_is_refused() -> None:
    with pytest.raises(UnknownRecord, match="entry format 2"):
        CODEC.decode(msgspec.msgpack.encode([2, {"anything": "else"}]))


@pytest.mark.parametrize(
    "records_field",
    [
        [["topic.created/1", 7, TOPIC_ID, []]],
        [["topic.created/1"]],
        [[]],
        [17],
        [{"type": "topic.created/1"}],
        "text",
    ],
)
def test_a_record_of_the_wrong_shape_is_refused(records_field: object) -> None:
    with pytest.raises(UnknownRecord):
        CODEC.decode(msgspec.msgpack.encode([ENTRY_FORMAT, 5, 0, 0, records_field]))


@pytest.mark.parametrize("tag", EXAMPLES)
def test_an_entry_cut_anywhere_is_refused(tag: str) -> None:
    payload = golden()[tag]
    for end in range(len(payload)):
        with pytest.raises(UnknownRecord):
            CODEC.decode(payload[:end])


@pytest.mark.parametrize("tag", EXAMPLES)
def test_bytes_behind_an_entry_are_refused(tag: str) -> None:
    with pytest.raises(UnknownRecord):
        CODEC.decode(golden()[tag] + b"\0")


def test_two_records_cannot_share_a_tag() -> None:
    class Other(Record, frozen=True, array_like=True, tag="topic.erased/1"):
        topic_id: bytes

    with pytest.raises(AssertionError):
        RecordCodec([records.TopicErased, Other])
