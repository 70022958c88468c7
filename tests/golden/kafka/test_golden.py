"""What real clients and a real Kafka sent is read by us, and written again as the same bytes.

The files come from ``capture.py``: one frame a line (kind, API, version, bytes behind the size), and stored records.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.kit.kafka_messages import decoded
from twinlog._kernel import kafka_split
from twinlog.wire.kafka import (
    APIS,
    FLEXIBLE_FROM,
    decode_request,
    decode_response,
    encode_request,
    encode_response,
    records,
)

HERE = Path(__file__).parent
CLIENTS = ["aiokafka", "java", "kafka_python", "librdkafka"]
KEYS = {api.name: key for key, api in APIS.items()}


def frames(client: str) -> list[tuple[str, str, int, bytes]]:
    lines = (HERE / f"{client}.txt").read_text(encoding="utf-8").splitlines()[1:]
    words = (line.split() for line in lines)
    return [(kind, name, int(version), bytes.fromhex(frame)) for kind, name, version, frame in words]


def every_frame() -> list[Any]:
    return [
        pytest.param(*frame, id=f"{client}-{frame[1]}-{frame[0]}-v{frame[2]}-{number}")
        for client in CLIENTS
        for number, frame in enumerate(frames(client))
    ]


@pytest.mark.parametrize(("kind", "name", "version", "frame"), every_frame())
def test_a_frame_of_others_is_read_and_written_alike(kind: str, name: str, version: int, frame: bytes) -> None:
    key = KEYS[name]
    sized = len(frame).to_bytes(4, "big") + frame
    if kind == "request":
        _, _, [(split_key, split_version, correlation_id, client_id, off, end)] = kafka_split(
            sized, 0, len(sized), len(sized), FLEXIBLE_FROM
        )
        request = decoded(decode_request(key, version, sized, off, end), sized)
        assert (split_key, split_version) == (key, version)
        assert encode_request(key, version, correlation_id, client_id, request) == sized
    else:
        correlation_id, response = decode_response(key, version, frame)
        assert encode_response(key, version, correlation_id, decoded(response, frame)) == sized


def test_the_files_hold_what_the_clients_can_do() -> None:
    spoken = {client: {name for kind, name, _, _ in frames(client) if kind == "request"} for client in CLIENTS}

    assert len(spoken["java"]) >= 60
    assert len(spoken["librdkafka"]) >= 30
    everyday = {"ApiVersions", "Metadata", "Produce", "Fetch", "JoinGroup", "SyncGroup", "OffsetCommit", "EndTxn"}
    assert all(everyday <= spoken[client] for client in CLIENTS if client != "kafka_python")


def first(client: str, kind: str, name: str) -> Any:
    frame = next(each for each in frames(client) if each[:2] == (kind, name))
    if kind == "response":
        return decode_response(KEYS[name], frame[2], frame[3])[1]
    head = 8 + 2 + int.from_bytes(frame[3][8:10], "big") + (frame[2] >= FLEXIBLE_FROM[KEYS[name]])
    return decode_request(KEYS[name], frame[2], frame[3], head)


def test_the_java_client_says_who_it_is() -> None:
    request = first("java", "request", "ApiVersions")

    assert (request.client_software_name, request.client_software_version) == ("apache-kafka-java", "4.3.1")


def test_kafka_names_its_features() -> None:
    response = first("java", "response", "ApiVersions")

    finalized = {feature.name: feature.max_version_level for feature in response.finalized_features}
    assert finalized["transaction.version"] == 2
    assert {key.api_key for key in response.api_keys} >= {0, 1, 3, 18, 68}


def test_a_topic_is_described_with_its_partitions() -> None:
    request = first("librdkafka", "request", "CreateTopics")
    response = first("librdkafka", "response", "CreateTopics")

    assert [(topic.name, topic.num_partitions, topic.replication_factor) for topic in request.topics] == [
        ("golden-librdkafka", 2, 1)
    ]
    assert [(topic.name, topic.error_code) for topic in response.topics] == [("golden-librdkafka", 0)]


def stored() -> list[list[str]]:
    return [line.split() for line in (HERE / "stored_records.txt").read_text(encoding="utf-8").splitlines()[1:]]


@pytest.mark.parametrize(("topic", "key_hex", "value_hex"), stored())
def test_what_kafkas_coordinators_store_is_read_and_written_alike(topic: str, key_hex: str, value_hex: str) -> None:
    decode = records.decode_group_key if topic == "__consumer_offsets" else records.decode_transaction_key
    key = decode(bytes.fromhex(key_hex))

    assert records.encode_key(key).hex() == key_hex
    if value_hex != "-":
        wire = bytes.fromhex(value_hex)
        value = records.decode_value(key, wire)
        assert records.encode_value(value, int.from_bytes(wire[:2], "big")).hex() == value_hex


def test_the_stored_records_are_of_many_types() -> None:
    assert {key[:4] for topic, key, _ in stored() if topic == "__consumer_offsets"} >= {
        "0001", "0002", "0003", "0005", "0006", "0007", "0008"
    }  # fmt: skip
