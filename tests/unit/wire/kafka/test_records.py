"""Coordinator records and embedded data carry their type or version in front."""

from __future__ import annotations

from typing import Any

import pytest

from twinlog.base import ProtocolViolation
from twinlog.wire.kafka import Message, records
from twinlog.wire.kafka.records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataKey,
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)


def test_a_committed_offset_looks_as_kafka_stores_it() -> None:
    key = OffsetCommitKey(group="g", topic="t", partition=3)
    value = OffsetCommitValue(offset=42, leader_epoch=7, metadata="m", commit_timestamp=1000)

    assert records.encode_key(key) == b"\x00\x01" + b"\x00\x01g" + b"\x00\x01t" + b"\x00\x00\x00\x03"
    assert records.encode_value(value, 3) == (
        b"\x00\x03" + (42).to_bytes(8, "big") + b"\x00\x00\x00\x07" + b"\x00\x01m" + (1000).to_bytes(8, "big")
    )
    assert records.decode_group_key(records.encode_key(key)) == key
    assert records.decode_value(key, records.encode_value(value, 3)) == value


def test_every_version_of_a_value_is_read_by_its_number() -> None:
    key = GroupMetadataKey(group="g")
    value = GroupMetadataValue(protocol_type="consumer", members=[MemberMetadata(member_id="m", client_id="c")])

    for version in range(5):
        assert records.decode_value(key, records.encode_value(value, version)) == value


def test_a_transaction_is_stored_under_its_name() -> None:
    key = TransactionLogKey(transactional_id="x")
    value = TransactionLogValue(
        producer_id=9, transaction_status=1, transaction_partitions=[PartitionsSchema(topic="t", partition_ids=[0, 2])]
    )

    assert records.encode_key(key) == b"\x00\x00" + b"\x00\x01x"
    assert records.decode_transaction_key(records.encode_key(key)) == key
    assert records.decode_value(key, records.encode_value(value)) == value
    assert records.encode_value(value)[:2] == b"\x00\x01"


def test_a_type_or_version_from_a_newer_program_is_none() -> None:
    assert records.decode_group_key(b"\x03\xe7something") is None
    assert records.decode_transaction_key(b"\x00\x01something") is None
    assert records.decode_value(GroupMetadataKey(group="g"), b"\x00\x63something") is None


@pytest.mark.parametrize("table", [records.GROUP_RECORDS, records.TRANSACTION_RECORDS])
def test_key_and_value_of_a_record_belong_together(table: dict[int, tuple[type[Message], type[Message]]]) -> None:
    for record_type, (key, value) in table.items():
        assert key.KEY == value.KEY == record_type
        assert key.__name__.removesuffix("Key") == value.__name__.removesuffix("Value")


@pytest.mark.parametrize(
    ("decode", "wire"),
    [
        (records.decode_group_key, b""),
        (records.decode_group_key, b"\x00"),
        (records.decode_group_key, b"\x00\x01\x00\x09g"),
        (records.decode_group_key, records.encode_key(GroupMetadataKey(group="g")) + b"?"),
        (records.decode_transaction_key, b"\x00\x00\xff\xff"),
        (records.decode_subscription, b"\xff\xff"),
        (records.decode_subscription, b"\x00\x00\x7f\xff\xff\xff"),
        (records.decode_assignment, b"\x00\x01\x00"),
        (records.decode_control_key, b"\x00\x00\x00"),
        (records.decode_end_marker, b"\x00\x00\x00\x00"),
    ],
)
def test_broken_records_are_a_violation(decode: Any, wire: bytes) -> None:
    with pytest.raises(ProtocolViolation):
        decode(wire)


def test_a_broken_value_is_a_violation() -> None:
    with pytest.raises(ProtocolViolation):
        records.decode_value(ConsumerGroupMetadataKey(group_id="g"), b"\x00\x00\x00")


def test_a_subscription_of_a_newer_version_is_read_as_far_as_we_know() -> None:
    subscription = ConsumerProtocolSubscription(topics=["t"], generation_id=4, rack_id="r")
    wire = records.encode_embedded(subscription)

    newer = b"\x00\x09" + wire[2:] + b"what version 9 adds"

    assert wire[:2] == b"\x00\x03"
    assert records.decode_subscription(wire) == records.decode_subscription(newer) == subscription


def test_an_assignment_of_the_oldest_version_has_what_old_clients_send() -> None:
    wire = b"\x00\x00" + b"\x00\x00\x00\x01" + b"\x00\x01t" + b"\x00\x00\x00\x02" + bytes(4) + b"\x00\x00\x00\x01"
    wire += b"\xff\xff\xff\xff"

    assignment = records.decode_assignment(wire)

    assert [(part.topic, part.partitions) for part in assignment.assigned_partitions] == [("t", [0, 1])]
    assert assignment.user_data is None
    assert records.encode_embedded(assignment, 0) == wire
    assert isinstance(assignment, ConsumerProtocolAssignment)


def test_control_records_say_how_a_transaction_ended() -> None:
    assert records.encode_control_key(records.CONTROL_COMMIT) == b"\x00\x00" + b"\x00\x01"
    assert records.decode_control_key(b"\x00\x00" + b"\x00\x00") == records.CONTROL_ABORT
    assert records.encode_end_marker(5) == b"\x00\x00" + b"\x00\x00\x00\x05"
    assert records.decode_end_marker(records.encode_end_marker(5)).coordinator_epoch == 5


def test_a_member_that_uses_no_classic_protocol_says_so() -> None:
    never_classic = ConsumerGroupMemberMetadataValue(client_id="c", client_host="h", classic_member_metadata=None)
    key = ConsumerGroupMemberMetadataKey(group_id="g", member_id="m")

    wire = records.encode_value(never_classic)

    assert wire.endswith(b"\x01" + b"\x00\x01" + b"\x00")
    assert records.decode_value(key, wire) == never_classic


def test_a_member_that_came_from_a_classic_group_keeps_what_it_said() -> None:
    key = ConsumerGroupMemberMetadataKey(group_id="g", member_id="m")
    classic = ClassicMemberMetadata(session_timeout_ms=45_000, supported_protocols=[ClassicProtocol(name="range")])
    value = ConsumerGroupMemberMetadataValue(client_id="c", client_host="h", classic_member_metadata=classic)

    wire = records.encode_value(value)

    assert wire.endswith(b"\x01" + b"\x00\x0f" + b"\x01" + b"\x00\x00\xaf\xc8" + b"\x02\x06range\x01\x00" + b"\x00")
    assert records.decode_value(key, wire) == value
