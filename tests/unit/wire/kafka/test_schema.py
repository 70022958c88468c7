"""The kernel's codec on bytes written by hand: what the forms of the wire are, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kit.kafka_messages import schema_of
from twinlog._kernel import Malformed, Schema
from twinlog.wire.kafka.messages import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    ApiVersionsRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseAssignment,
    ConsumerProtocolSubscription,
    FetchableTopicResponse,
    FetchRequest,
    FetchRequestPartition,
    FetchRequestTopic,
    FetchResponse,
    FetchResponseLeaderIdAndEpoch,
    FetchResponsePartitionData,
    HeartbeatRequest,
    ListTransactionsRequest,
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    OffsetCommitValue,
    OpData,
    PartitionProduceData,
    ProduceRequest,
    PushTelemetryRequest,
    TopicProduceData,
    TransactionLogValue,
)

METADATA_4 = schema_of(MetadataRequest, 4)
METADATA_9 = schema_of(MetadataRequest, 9)
API_VERSIONS_3 = schema_of(ApiVersionsRequest, 3)
NULL_TOPICS_4 = b"\xff\xff\xff\xff\x01"
NULL_TOPICS_9 = b"\x00\x01\x00\x00\x00"


def fetch_response(**fields: Any) -> FetchResponse:
    return FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[FetchResponsePartitionData(**fields)])]
    )


# -- forms


def test_old_versions_have_fixed_lengths() -> None:
    wire = b"\x00\x00\x00\x02" + b"\x00\x01a" + b"\x00\x02bc" + b"\x01"

    message = METADATA_4.decode(wire)

    assert message == MetadataRequest(topics=[MetadataRequestTopic(name="a"), MetadataRequestTopic(name="bc")])
    assert METADATA_4.encode(message) == wire


def test_flexible_versions_have_varint_lengths_and_a_tag_section_behind_each_struct() -> None:
    wire = b"\x02" + b"\x02a" + b"\x00" + b"\x01\x01\x00" + b"\x00"

    message = METADATA_9.decode(wire)

    assert message == MetadataRequest(
        topics=[MetadataRequestTopic(name="a")], include_cluster_authorized_operations=True
    )
    assert METADATA_9.encode(message) == wire


@pytest.mark.parametrize(("schema", "null"), [(METADATA_4, NULL_TOPICS_4), (METADATA_9, NULL_TOPICS_9)])
def test_null_is_not_the_empty_array(schema: Schema, null: bytes) -> None:
    assert schema.decode(null).topics is None
    assert schema.encode(MetadataRequest(topics=None)) == null
    assert schema.decode(schema.encode(MetadataRequest(topics=[]))).topics == []


def test_a_string_of_128_bytes_has_a_length_of_two_bytes() -> None:
    wire = b"\x81\x01" + b"n" * 128 + b"\x01" + b"\x00"

    message = API_VERSIONS_3.decode(wire)

    assert message.client_software_name == "n" * 128
    assert API_VERSIONS_3.encode(message) == wire


def test_a_nullable_struct_has_a_byte_in_front() -> None:
    schema = schema_of(ConsumerGroupHeartbeatResponse, 0)
    nothing = ConsumerGroupHeartbeatResponse(member_id="m")
    something = ConsumerGroupHeartbeatResponse(member_id="m", assignment=ConsumerGroupHeartbeatResponseAssignment())

    assert schema.encode(nothing)[-2:] == b"\xff\x00"
    assert schema.encode(something)[-4:] == b"\x01\x01\x00\x00"
    assert schema.decode(schema.encode(nothing)).assignment is None
    assert schema.decode(schema.encode(something)) == something


def test_a_tagged_field_is_written_only_when_it_says_something() -> None:
    schema = schema_of(FetchRequest, 12)
    plain = schema.encode(FetchRequest())

    named = schema.encode(FetchRequest(cluster_id="c"))

    assert plain[-1:] == b"\x00"
    assert named == plain[:-1] + b"\x01" + b"\x00\x02" + b"\x02c"
    assert schema.decode(named).cluster_id == "c"


def test_a_tagged_struct_that_is_not_on_the_wire_is_none() -> None:
    schema = schema_of(FetchResponse, 12)
    leader = FetchResponseLeaderIdAndEpoch(leader_id=3, leader_epoch=7)

    without = schema.decode(schema.encode(fetch_response()))
    with_leader = schema.decode(schema.encode(fetch_response(current_leader=leader)))
    all_default = schema.encode(fetch_response(current_leader=FetchResponseLeaderIdAndEpoch()))

    assert without.responses[0].partitions[0].current_leader is None
    assert with_leader.responses[0].partitions[0].current_leader == leader
    assert all_default == schema.encode(fetch_response())


def test_a_tagged_null_is_read_as_null() -> None:
    schema = schema_of(FetchRequest, 12)
    wire = schema.encode(FetchRequest())[:-1] + b"\x01" + b"\x00\x01" + b"\x00"

    assert schema.decode(wire).cluster_id is None


def test_unknown_tagged_fields_are_passed_over() -> None:
    wire = b"\x01\x01" + b"\x02" + b"\x05\x03abc" + b"\xff\x7f\x00"

    assert API_VERSIONS_3.decode(wire) == ApiVersionsRequest()


def test_a_float_and_a_long_keep_their_bits() -> None:
    quotas, longest = schema_of(AlterClientQuotasRequest, 0), schema_of(ListTransactionsRequest, 1)
    limit = AlterClientQuotasRequestEntryData(ops=[OpData(key="k", value=-1.5)])

    wire = quotas.encode(AlterClientQuotasRequest(entries=[limit]))

    assert b"\x00\x01k" + b"\xbf\xf8\x00\x00\x00\x00\x00\x00" in wire
    assert quotas.decode(wire).entries == [limit]
    assert longest.decode(longest.encode(ListTransactionsRequest(duration_filter=-(2**63)))).duration_filter == -(2**63)


def test_fields_of_other_versions_have_their_defaults() -> None:
    message = schema_of(MetadataResponse, 0).decode(b"\x00\x00\x00\x00" * 2)

    assert message == MetadataResponse()
    assert (message.controller_id, message.cluster_id, message.topics) == (-1, None, [])


def test_lists_of_two_decoded_messages_are_not_the_same_object() -> None:
    schema = schema_of(MetadataResponse, 0)
    first, second = (schema.decode(b"\x00\x00\x00\x00" * 2) for _ in range(2))

    first.topics.append("x")

    assert second.topics == []


# -- records


def test_records_are_left_where_they_are() -> None:
    schema = schema_of(ProduceRequest, 9)
    produced = ProduceRequest(
        topic_data=[TopicProduceData(name="t", partition_data=[PartitionProduceData(index=1, records=b"batch")])]
    )
    wire = bytearray(b"head" + schema.encode(produced) + b"next")

    decoded = schema.decode(wire, 4, len(wire) - 4)

    offset, size = decoded.topic_data[0].partition_data[0].records
    assert wire[offset : offset + size] == b"batch"
    wire.extend(b"more")  # nothing holds on to the buffer


def test_records_that_were_only_decoded_cannot_be_encoded_again() -> None:
    with pytest.raises(TypeError, match=r"responses\[0\].partitions\[0\].records: bytes are needed"):
        schema_of(FetchResponse, 12).encode(fetch_response(records=(3, 5)))


class Read:
    """Stands for what a log read: only its size is known here."""

    def __init__(self, size: int) -> None:
        self.size = size


@pytest.mark.parametrize("version", [4, 12, 18])
def test_records_that_know_their_size_stand_between_the_bytes(version: int) -> None:
    schema = schema_of(FetchResponse, version)
    read = Read(300)
    topic = "t" if version < 13 else ""
    spliced, copied = (
        FetchResponse(
            responses=[
                FetchableTopicResponse(topic=topic, partitions=[FetchResponsePartitionData(records=records)] * 2)
            ]
        )
        for records in (read, b"r" * 300)
    )

    parts = schema.encode_parts(spliced, b"HEAD")

    assert [part for part in parts if isinstance(part, Read)] == [read, read]
    joined = b"".join(b"r" * part.size if isinstance(part, Read) else part for part in parts)
    assert joined == schema.encode(copied, b"HEAD")
    assert int.from_bytes(joined[:4], "big") == len(joined) - 4


def test_small_records_are_copied_and_large_ones_are_not() -> None:
    schema = schema_of(FetchResponse, 12)
    small, large = memoryview(bytes(100)), memoryview(bytes(5000))

    assert len(schema.encode_parts(fetch_response(records=small), b"")) == 1
    assert large in schema.encode_parts(fetch_response(records=large), b"")


# -- buffers


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_contiguous_buffer_is_read(kind: Any) -> None:
    assert METADATA_4.decode(kind(NULL_TOPICS_4)).topics is None


def test_a_range_outside_the_buffer_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="outside the buffer"):
        METADATA_4.decode(NULL_TOPICS_4, 0, 99)
    with pytest.raises(ValueError, match="outside the buffer"):
        METADATA_4.decode(NULL_TOPICS_4, 3, 2)


def test_decode_from_says_where_the_message_ends() -> None:
    assert METADATA_4.decode_from(b"??" + NULL_TOPICS_4 + b"rest", 2)[1] == 2 + len(NULL_TOPICS_4)


# -- hostile bytes


@pytest.mark.parametrize(
    ("schema", "wire", "reason"),
    [
        (METADATA_4, b"\xff\xff\xff\xfe\x01", "negative count"),
        (METADATA_4, b"\x7f\xff\xff\xff\x01", "more than the bytes can hold"),
        (METADATA_4, b"\x00\x00\x00\x01\xff\xff\x01", "null where it is not allowed"),
        (METADATA_4, b"\x00\x00\x00\x01\xff\xfe\x01", "negative length"),
        (METADATA_4, b"\x00\x00\x00\x01\x00\x05ab\x01", "beyond the end"),
        (METADATA_4, b"\x00\x00\x00\x01\x00\x02\xc3\x28\x01", "not UTF-8"),
        (METADATA_4, b"\x00\x00\x00\x01\x00\x03\xed\xa0\x80\x01", "not UTF-8"),
        (METADATA_4, NULL_TOPICS_4 + b"\x00", "left over"),
        (METADATA_9, b"\xff\xff\xff\xff\x0f" + b"\x01\x00\x00\x00", "more than the bytes can hold"),
        (METADATA_9, b"\xff" * 9 + b"\x01" + b"\x01\x00\x00\x00", "longer than 32 bits"),
        (METADATA_9, b"\xff\xff\xff\xff\x1f" + b"\x01\x00\x00\x00", "longer than 32 bits"),
        (METADATA_9, b"\x02" + b"\x00\x00" + b"\x01\x00\x00\x00", "null where it is not allowed"),
        (API_VERSIONS_3, b"\x01\x01" + b"\x80\xad\xe2\x04" + b"\x00" * 30, "more tagged fields"),
        (API_VERSIONS_3, b"\x01\x01" + b"\x91\x4e" + b"\x00" * 40_000, "more tagged fields"),
        (API_VERSIONS_3, b"\x01\x01" + b"\x02" + b"\x05\x00" + b"\x05\x00", "out of order, or one twice"),
        (API_VERSIONS_3, b"\x01\x01" + b"\x02" + b"\x05\x00" + b"\x04\x00", "out of order, or one twice"),
        (API_VERSIONS_3, b"\x01\x01" + b"\x01" + b"\x05\x7f", "beyond the end"),
        (API_VERSIONS_3, b"\x81\x80\x02" + b"n" * 32_768 + b"\x01\x00", "string is too long"),
    ],
)
def test_what_does_not_fit_the_form_is_malformed(schema: Schema, wire: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        schema.decode(wire)


@pytest.mark.parametrize(("size", "reason"), [(1, "ends inside|beyond the end"), (3, "shorter than its size")])
def test_a_tagged_field_fills_its_size_exactly(size: int, reason: str) -> None:
    schema = schema_of(FetchRequest, 12)
    wire = schema.encode(FetchRequest())[:-1] + b"\x01" + bytes([0, size]) + b"\x02c\x00"[:size]

    with pytest.raises(Malformed, match=reason):
        schema.decode(wire)


def test_a_message_may_not_have_more_elements_than_a_million() -> None:
    count = 1_000_001
    schema = schema_of(MetadataRequest, 4)
    wire = count.to_bytes(4, "big") + b"\x00\x00" * count + b"\x00"

    with pytest.raises(Malformed, match="more elements"):
        schema.decode(wire)


def test_the_limit_of_elements_counts_all_arrays_together() -> None:
    schema = schema_of(FetchResponse, 4)
    message = FetchResponse(
        responses=[FetchableTopicResponse(topic="t", partitions=[FetchResponsePartitionData()] * 3)] * 2
    )
    wire = schema.encode(message)

    assert len(schema.decode(wire, 0, None, 8).responses) == 2
    with pytest.raises(Malformed, match="more elements"):
        schema.decode(wire, 0, None, 7)


def test_the_text_says_where() -> None:
    with pytest.raises(
        Malformed, match=r"MetadataRequest v4, topics\[1\].name: a length reaches beyond the end \(byte 9\)"
    ):
        METADATA_4.decode(b"\x00\x00\x00\x02\x00\x01a\x00\x09")


# -- mistakes of ours


def test_a_field_that_the_version_lacks_must_not_hold_anything() -> None:
    fetch = FetchRequest(
        topics=[FetchRequestTopic(topic="t", partitions=[FetchRequestPartition(last_fetched_epoch=1)])]
    )

    with pytest.raises(ValueError, match="allow_auto_topic_creation: version 3 has no such field"):
        schema_of(MetadataRequest, 3).encode(MetadataRequest(allow_auto_topic_creation=False))
    with pytest.raises(ValueError, match=r"partitions\[0\].last_fetched_epoch: version 11 has no such field"):
        schema_of(FetchRequest, 11).encode(fetch)


def test_a_field_that_may_be_dropped_is_dropped() -> None:
    schema = schema_of(OffsetCommitValue, 0)
    full = OffsetCommitValue(offset=1, leader_epoch=5, metadata="m", commit_timestamp=2, topic_id=b"i" * 16)

    assert schema.decode(schema.encode(full)) == OffsetCommitValue(offset=1, metadata="m", commit_timestamp=2)


@pytest.mark.parametrize(
    ("message", "version", "error", "text"),
    [
        (HeartbeatRequest(generation_id=2**31), 0, ValueError, "generation_id: 2147483648 does not fit"),
        (HeartbeatRequest(generation_id=2**64), 0, ValueError, "generation_id: "),
        (HeartbeatRequest(generation_id="1"), 0, TypeError, "generation_id: "),  # type: ignore[arg-type]
        (HeartbeatRequest(generation_id=1.5), 0, TypeError, "generation_id: "),  # type: ignore[arg-type]
        (HeartbeatRequest(group_id=b"g"), 0, TypeError, "group_id: "),  # type: ignore[arg-type]
        (HeartbeatRequest(group_id=None), 0, ValueError, "group_id: null is not allowed"),  # type: ignore[arg-type]
        (HeartbeatRequest(group_id="\ud800"), 0, ValueError, "group_id: "),
        (HeartbeatRequest(group_id="g" * 32_768), 4, ValueError, "32768 bytes are too many"),
        (MetadataRequest(topics=None), 0, ValueError, "topics: null is not allowed in version 0"),
        (MetadataRequest(topics=7), 4, TypeError, "topics: a list is needed"),  # type: ignore[arg-type]
        (MetadataRequest(topics=["t"]), 4, TypeError, r"topics\[0\]: "),  # type: ignore[list-item]
        (PushTelemetryRequest(client_instance_id=b"short"), 0, ValueError, "an id has 16 bytes"),
        (PushTelemetryRequest(metrics="m"), 0, TypeError, "metrics: bytes are needed"),  # type: ignore[arg-type]
        (TransactionLogValue(producer_id=None), 0, TypeError, "producer_id: "),  # type: ignore[arg-type]
    ],
)
def test_a_value_that_does_not_fit_is_named(message: Any, version: int, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        schema_of(type(message), version).encode(message)


def test_another_class_is_refused() -> None:
    with pytest.raises(TypeError, match="MetadataRequest is needed"):
        METADATA_4.encode(HeartbeatRequest())


def test_a_mistake_leaves_the_codec_as_it_was() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        schema_of(HeartbeatRequest, 0).encode(HeartbeatRequest(group_id="g", generation_id=2**31))

    assert METADATA_4.encode(MetadataRequest(topics=None)) == NULL_TOPICS_4


def test_tuples_do_for_lists() -> None:
    message = ConsumerProtocolSubscription(topics=("a", "b"))  # type: ignore[arg-type]

    assert schema_of(ConsumerProtocolSubscription, 0).encode(message).count(b"\x00\x01") == 2
