"""A Kafka connection: rows 1 to 9 of the checklist, hostile bytes, limits, time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.servers.harness import Client, Node, batch, fetch, produce, values
from twinlog.kafka.quotas import NoQuotas
from twinlog.kafka.settings import KafkaSettings
from twinlog.servers.kafka.api import ADVERTISED, HANDLERS
from twinlog.wire.kafka.api import APIS, encode_request
from twinlog.wire.kafka.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from twinlog.wire.kafka.messages.init_producer_id import InitProducerIdRequest
from twinlog.wire.kafka.messages.list_offsets import ListOffsetsRequest
from twinlog.wire.kafka.messages.produce import ProduceResponse


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    yield Node(str(tmp_path / "data"))


def hello(version: int = 3) -> ApiVersionsRequest:
    if version < 3:
        return ApiVersionsRequest()
    return ApiVersionsRequest(client_software_name="test", client_software_version="1.0")


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def request_frame(key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    head = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    return frame(head + correlation_id.to_bytes(4, "big") + b"\xff\xff" + body)


# -- ApiVersions


@pytest.mark.parametrize("version", range(5))
def test_api_versions_names_what_has_a_handler_and_nothing_else(node: Node, version: int) -> None:
    answer = node.client().ask(hello(version), version)
    assert answer.error_code == 0
    assert {each.api_key: (each.min_version, each.max_version) for each in answer.api_keys} == ADVERTISED
    assert set(ADVERTISED) == set(HANDLERS)


@pytest.mark.parametrize("version", [5, 6, 100, 32767])
def test_row_1_a_newer_api_versions_gets_35_in_the_oldest_form_and_may_try_again(node: Node, version: int) -> None:
    client = node.client()
    # Whatever the newer form is: only its header, which stays as it is, can be read.
    client.feed(request_frame(18, version, 77, b"\0" + b"what a newer version holds"))
    answer = bytes(client.received)
    assert answer[4:10] == (77).to_bytes(4, "big") + (35).to_bytes(2, "big")
    client.received.clear()
    client._asked[77] = (18, 0)
    client.feed(request_frame(18, version, 77, b"\0"))
    ((_, response),) = client.answers()
    assert response.error_code == 35
    assert [(each.api_key, each.min_version, each.max_version) for each in response.api_keys] == [(18, 0, 4)]
    assert client.ask(hello(), 3).error_code == 0


@pytest.mark.parametrize("version", range(5))
def test_row_2_the_header_of_an_api_versions_answer_has_no_tags(node: Node, version: int) -> None:
    client = node.client()
    client.send_request(hello(version), version)
    assert client.received[8:10] == b"\0\0"
    assert len(client.received) == 4 + int.from_bytes(client.received[:4], "big")


def test_row_3_unknown_tags_in_a_request_are_skipped(node: Node) -> None:
    client = node.client()
    client._asked[9] = (18, 3)
    head = (18).to_bytes(2, "big") + (3).to_bytes(2, "big") + (9).to_bytes(4, "big") + b"\0\4test"
    tags = b"\1\x63\3abc"
    client.feed(frame(head + tags + b"\5test\0041.0" + tags))
    assert client.answers()[0][1].error_code == 0


@pytest.mark.parametrize(("name", "version"), [("", "1"), ("a b", "1"), ("-a", "1"), ("a", "1\n"), ("a", "")])
def test_a_client_software_name_has_to_be_one(node: Node, name: str, version: str) -> None:
    asked = ApiVersionsRequest(client_software_name=name, client_software_version=version)
    assert node.client().ask(asked, 3).error_code == 42


def test_row_4_fields_that_a_version_lacks_are_not_written(node: Node) -> None:
    answer = ProduceResponse(throttle_time_ms=7)
    client = node.client()
    old, new = client.ask(hello(0), 0), client.ask(hello(4), 4)
    assert isinstance(old, ApiVersionsResponse) and old.finalized_features == []
    assert old.finalized_features_epoch == -1 and new.finalized_features_epoch >= 0
    assert answer.node_endpoints == []


def test_row_7_produce_is_advertised_from_0_and_served_from_3(node: Node) -> None:
    assert ADVERTISED[0][0] == 0
    client = node.client()
    client.feed(request_frame(0, 2, 1, b"\0" * 20))
    assert client.closed


# -- what closes a connection


@pytest.mark.parametrize(("key", "version"), [(999, 0), (-1, 0), (4, 0), (3000, 1), (1, 3), (1, 19), (0, 14), (2, 0)])
def test_row_5_an_unknown_key_or_version_closes_with_one_line(node: Node, key: int, version: int) -> None:
    client = node.client()
    client.feed(request_frame(key, version, 1, b"\0" * 16))
    assert client.closed and not client.received
    assert len(node.log.lines) == 1


@pytest.mark.parametrize("size", [-1, 0, 1, 7, 2**31 - 1, -(2**31), 100 * 1024 * 1024 + 1])
def test_k1_an_absurd_size_closes_at_once(node: Node, size: int) -> None:
    client = node.client()
    client.feed(size.to_bytes(4, "big", signed=True) + b"\0" * 8)
    assert client.closed and not client.expected


def test_k2_before_login_a_frame_is_small(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"), login_needed=True)
    client = node.client()
    client.feed((64 * 1024 + 1).to_bytes(4, "big"))
    client.feed(b"\0" * 4)
    assert client.closed


def test_k2_a_first_request_that_does_not_come_closes(node: Node) -> None:
    client = node.client()
    client.feed((1000).to_bytes(4, "big"))
    for _ in range(9):
        node.pass_time(1000)
        client.feed(b"\0")
    assert not client.closed
    node.pass_time(1000)
    assert client.closed


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP"),
        (b"POST /api HTTP/1.1\r\n", "HTTP"),
        (bytes([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xFC]), "TLS"),
        (b"AMQP\0\0\x09\x01", "AMQP"),
    ],
)
def test_k3_another_protocol_is_named_in_the_log(node: Node, data: bytes, word: str) -> None:
    client = node.client()
    client.feed(data)
    assert client.closed
    ((_, fields),) = node.log.lines
    assert word in str(fields["why"])


def test_k4_millions_of_tags_are_refused_before_anything_is_built(node: Node) -> None:
    head = (18).to_bytes(2, "big") + (3).to_bytes(2, "big") + (9).to_bytes(4, "big") + b"\xff\xff"
    client = node.client()
    client.feed(frame(head + b"\x80\xda\xc4\x09" + b"\0" * 100))
    assert client.closed


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff\x0f", b"\x80" * 9 + b"\x01", b"\xff\xff\xff\xff\x07", b"\x7f"])
def test_k5_lengths_beyond_the_frame_close(node: Node, length: bytes) -> None:
    head = (18).to_bytes(2, "big") + (3).to_bytes(2, "big") + (9).to_bytes(4, "big") + b"\xff\xff\0"
    client = node.client()
    client.feed(frame(head + length + b"abc"))
    assert client.closed and not client.received


@pytest.mark.parametrize("key", [0, 1, 2, 21, 22, 23])
@pytest.mark.parametrize("filler", [b"\xff", b"\x7f", b"\x80", b"\0"])
def test_k5_a_body_of_one_repeated_byte_closes_or_is_answered(node: Node, key: int, filler: bytes) -> None:
    client = node.client()
    for size in (0, 1, 5, 30, 400):
        other = node.client() if client.closed else client
        other.feed(request_frame(key, HANDLERS[key].VERSIONS[1], 1, filler * size))
        assert other.closed or other.received or other.connection._slots


def test_answers_that_are_ready_leave_before_the_close(node: Node) -> None:
    client = node.client()
    client._asked[1] = (18, 0)
    client.feed(request_frame(18, 0, 1, b"") + b"\xff\xff\xff\xff\0\0\0\0")
    assert client.closed and len(client.answers()) == 1


def test_the_requests_behind_a_broken_one_are_not_served(node: Node) -> None:
    node.topic("t")
    client = node.client()
    good = encode_request(0, 9, 2, "test", produce("t", batch(b"a")))
    client.feed(request_frame(999, 0, 1, b"") + good)
    assert client.closed
    assert node.broker.partitions.get("t", 0).log.offset_end == 0  # type: ignore[union-attr]


def test_a_bug_in_a_handler_closes_its_connection_and_is_told(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr(node.broker.fetches, "begin", broken)
    client, other = node.client(), node.client()
    client.send_request(fetch("t", 0), 12)
    assert client.closed and not other.closed
    assert "KeyError" in str(node.log.lines)


# -- framing


def test_a_request_in_pieces_is_served_once_it_is_whole(node: Node) -> None:
    node.topic("t")
    client = node.client()
    client._asked[5] = (0, 9)
    data = encode_request(0, 9, 5, "test", produce("t", batch(b"a")))
    for position in range(len(data) - 1):
        client.feed(data[position : position + 1])
        assert not client.received
    client.feed(data[-1:])
    assert client.answers()[0][1].responses[0].partition_responses[0].base_offset == 0
    assert client.expected and set(client.expected) == {len(data)}


def test_many_requests_in_one_piece_are_answered_in_order(node: Node) -> None:
    client = node.client()
    data = b""
    for number in range(20):
        client._asked[number] = (18, 0)
        data += encode_request(18, 0, number, "test", hello(0))
    client.feed(data)
    assert [number for number, _ in client.answers()] == list(range(20))


def test_what_was_produced_does_not_hang_on_the_read_buffer(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a")), 9)
    client.incoming += b"overwritten"  # a bytearray that somebody still looks into cannot grow
    del client.incoming[:]
    node.sync()
    assert len(client.answers()) == 1


# -- limits


def test_a_client_that_does_not_read_is_not_read(node: Node) -> None:
    node.topic("t")
    client = node.client()
    for _ in range(3):
        client.ask(produce("t", batch(b"x" * 500_000)), 9)
    client.stuck = True
    for _ in range(10):
        client.send_request(fetch("t", 0), 12)
    assert client.paused and client.queued_bytes < 3 << 20 and client.incoming
    before = len(client.received)
    client.stuck = False
    client.take_queued()
    assert not client.paused and not client.incoming
    assert len(client.answers()) == 10 and before > 0


def test_row_9_a_throttled_client_gets_its_answer_at_once_and_is_then_not_read(tmp_path: Path) -> None:
    class Strict(NoQuotas):
        def charge_produce(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
            assert (principal, client_id) == ("User:ANONYMOUS", "test") and size_bytes > 0
            return 300

        def charge_fetch(self, principal: str, client_id: str | None, size_bytes: int, now_ms: int) -> int:
            return 200 if size_bytes else 0

    node = Node(str(tmp_path / "data"), quotas=Strict())
    node.topic("t")
    client = node.client()
    assert client.ask(produce("t", batch(b"a")), 9).throttle_time_ms == 300
    client.send_request(fetch("t", 0), 12)
    node.pass_time(299)
    assert client.answers() == []
    node.pass_time(1)
    ((_, answer),) = client.answers()
    assert values(answer.responses[0].partitions[0].records) == [b"a"] and answer.throttle_time_ms == 200
    client.send_request(ListOffsetsRequest(replica_id=-1), 1)
    assert client.answers() == []
    node.pass_time(200)
    assert len(client.answers()) == 1


def test_connections_above_the_limit_are_turned_away(tmp_path: Path) -> None:
    settings = KafkaSettings(connections_max=3, connections_per_address_max=2)
    node = Node(str(tmp_path / "data"), settings)
    first, second, third = node.client(), node.client(), node.client()
    assert [client.closed for client in (first, second, third)] == [False, False, True]
    node.settle()
    first.gone()
    assert not node.client().closed
    assert node.server.connection_count == 2 and node.admission.turned_away_count == 1


# -- time


def test_an_idle_connection_is_closed_and_one_that_waits_is_not(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"), KafkaSettings(connection_idle_max_ms=10_000))
    node.topic("t")
    idle, waiting = node.client(), node.client()
    idle.ask(hello(), 3)
    waiting.send_request(fetch("t", 0, max_wait_ms=60_000), 12)
    node.pass_time(9_000)
    assert not idle.closed
    node.pass_time(14_000)
    assert idle.closed and not waiting.closed
    assert node.log.lines == []


def test_a_connection_has_one_timer_however_often_it_waits(node: Node) -> None:
    node.topic("t")
    before = node.tasks.timer_count
    client, writer = node.client(), node.client()
    for number in range(50):
        client.send_request(fetch("t", number, max_wait_ms=500), 12)
        writer.ask(produce("t", batch(b"a")), 9)
    assert len(client.answers()) == 50
    assert node.tasks.timer_count <= before + 3
    node.pass_time(2000)
    client.gone()
    writer.gone()
    assert node.tasks.timer_count <= before + 1


def test_nothing_is_kept_of_connections_that_are_gone(node: Node) -> None:
    for _ in range(5):
        client = node.client()
        client.ask(hello(), 3)
        client.gone()
    assert node.server.connection_count == 0 and not node.server._by_address


def test_stopping_closes_every_connection_after_its_answers(node: Node) -> None:
    clients = [node.client() for _ in range(3)]
    for client in clients:
        client.send_request(hello(), 3)
    node.server.close_all()
    node.settle()
    assert all(client.closed and len(client.answers()) == 1 for client in clients)
    assert node.server.connection_count == 0


def test_draining_answers_what_is_under_way_reads_nothing_new_and_closes(node: Node) -> None:
    node.topic("t")
    idle, writer = node.client(), node.client()
    idle.ask(hello(), 3)
    node.hold_syncs()
    writer.send_request(produce("t", batch(b"a"), acks=-1), 9)
    node.server.drain_all()
    node.settle()
    assert idle.closed and not writer.closed
    writer.send_request(produce("t", batch(b"b"), acks=-1), 9)
    node.sync()
    ((_, answer),) = writer.answers()
    assert answer.responses[0].partition_responses[0].error_code == 0
    assert writer.closed
    assert node.server.connection_count == 0


# -- InitProducerId


@pytest.mark.parametrize("version", range(6))
def test_every_producer_gets_an_id_of_its_own(node: Node, version: int) -> None:
    client = node.client()
    taken = [client.ask(InitProducerIdRequest(transactional_id=None), version) for _ in range(3)]
    assert [each.error_code for each in taken] == [0, 0, 0]
    assert len({each.producer_id for each in taken}) == 3 and {each.producer_epoch for each in taken} == {0}


def test_producer_ids_go_on_from_block_to_block_and_wait_for_its_record(node: Node) -> None:
    client: Client = node.client()
    for number in range(2500):
        assert client.ask(InitProducerIdRequest(transactional_id=None), 4).producer_id == number
    assert node.metadata.image.producer_id_next == 3000


def test_a_producer_that_names_its_old_id_gets_a_new_one(node: Node) -> None:
    client = node.client()
    old = client.ask(InitProducerIdRequest(transactional_id=None), 4).producer_id
    again = InitProducerIdRequest(transactional_id=None, producer_id=old, producer_epoch=3)
    assert client.ask(again, 4).producer_id not in (-1, old)
    half = InitProducerIdRequest(transactional_id=None, producer_id=old, producer_epoch=-1)
    assert client.ask(half, 4).error_code == 42


def test_the_table_of_handlers_stays_within_what_the_codec_knows() -> None:
    for key, module in HANDLERS.items():
        low, high = module.VERSIONS
        assert APIS[key].version_min <= low <= high <= APIS[key].version_max, APIS[key]
        assert isinstance(module.RIGHTS, tuple)
