"""Produce through a connection: rows 19 to 26 of the checklist, acks, order, limits."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.servers.harness import START_MS, Client, Node, batch, fetch, produce, records_of, values
from twinlog._kernel import build_batch, compress
from twinlog.wire.kafka.errors import ErrorCode

VERSION = 9


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    yield Node(str(tmp_path / "data"))


def result(response: Any, partition: int = 0) -> Any:
    return response.responses[0].partition_responses[partition]


def read_all(client: Client, topic: str, version: int = 11) -> bytes:
    return client.ask(fetch(topic, 0), version).responses[0].partitions[0].records


def sealed(data: bytes | bytearray) -> bytes:
    """The batch with a right checksum again."""
    from twinlog._kernel import crc32c

    data = bytearray(data)
    data[17:21] = crc32c(bytes(data[21:])).to_bytes(4, "big")
    return bytes(data)


# -- acks


def test_acks_all_is_answered_when_the_sync_ended_and_is_invisible_before(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    writer, reader = node.client(), node.client()
    writer.send_request(produce("t", batch(b"a")), VERSION)
    assert writer.answers() == []
    assert read_all(reader, "t") == b""
    node.sync()
    ((_, response),) = writer.answers()
    assert (result(response).error_code, result(response).base_offset) == (0, 0)
    assert values(read_all(reader, "t")) == [b"a"]


def test_acks_1_is_answered_and_visible_at_once(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    assert result(client.ask(produce("t", batch(b"a"), acks=1), VERSION)).base_offset == 0
    assert values(read_all(client, "t")) == [b"a"]


def test_acks_1_behind_acks_all_is_answered_at_once_but_not_seen_before_it(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    strict, relaxed = node.client(), node.client()
    strict.send_request(produce("t", batch(b"a")), VERSION)
    assert result(relaxed.ask(produce("t", batch(b"b"), acks=1), VERSION)).base_offset == 1
    assert read_all(relaxed, "t") == b""
    node.sync()
    assert values(read_all(relaxed, "t")) == [b"a", b"b"]


def test_row_6_acks_0_has_no_answer_and_does_not_shift_later_ones(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    first = client.send_request(produce("t", batch(b"a")), VERSION)
    client.send_request(produce("t", batch(b"b"), acks=0), VERSION)
    third = client.send_request(produce("t", batch(b"c")), VERSION)
    node.sync()
    node.sync()
    answers = client.answers()
    assert [(number, result(response).base_offset) for number, response in answers] == [(first, 0), (third, 2)]
    assert values(read_all(node.client(), "t")) == [b"a", b"b", b"c"]


def test_a_refusal_with_acks_0_closes_the_connection(node: Node) -> None:
    client = node.client()
    client.send_request(produce("nowhere", batch(b"a"), acks=0), VERSION)
    assert client.closed and client.answers() == []


@pytest.mark.parametrize("acks", [2, -2, 127])
def test_row_23_other_acks_are_refused(node: Node, acks: int) -> None:
    node.topic("t")
    client = node.client()
    assert result(client.ask(produce("t", batch(b"a"), acks=acks), VERSION)).error_code == 21
    assert read_all(client, "t") == b""


def test_row_23_acks_all_below_min_insync_replicas_writes_nothing_and_weaker_acks_do(node: Node) -> None:
    node.topic("t", min_insync_replicas="2")
    node.broker.partitions.get("t", 0).lead(0, 1, 2)  # type: ignore[union-attr]
    client = node.client()
    assert result(client.ask(produce("t", batch(b"a")), VERSION)).error_code == 19
    assert result(client.ask(produce("t", batch(b"b"), acks=1), VERSION)).base_offset == 0


def test_flush_messages_makes_acks_1_wait_for_the_disk(node: Node) -> None:
    node.topic("t", flush_messages="2")
    node.hold_syncs()
    client = node.client()
    assert result(client.ask(produce("t", batch(b"a"), acks=1), VERSION)).base_offset == 0
    client.send_request(produce("t", batch(b"b"), acks=1), VERSION)
    assert client.answers() == []
    node.sync()
    assert result(client.answers()[0][1]).base_offset == 1


# -- order


def test_row_6_many_in_flight_are_appended_and_answered_in_order(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    numbers = [client.send_request(produce("t", batch(b"%d" % n)), VERSION) for n in range(5)]
    node.sync()
    node.sync()
    assert [number for number, _ in client.answers()] == numbers
    assert values(read_all(node.client(), "t")) == [b"0", b"1", b"2", b"3", b"4"]


def test_a_request_behind_a_produce_that_waits_starts_after_it(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a")), VERSION)
    client.send_request(fetch("t", 0), 11)
    assert client.answers() == [] and client.paused
    node.sync()
    (_, produced), (_, fetched) = client.answers()
    assert result(produced).base_offset == 0
    assert values(fetched.responses[0].partitions[0].records) == [b"a"]
    assert not client.paused


def test_several_partitions_are_answered_together(node: Node) -> None:
    node.topic("t", 3)
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a"), batch(b"b"), batch(b"c")), VERSION)
    node.sync()
    ((_, response),) = client.answers()
    assert [each.index for each in response.responses[0].partition_responses] == [0, 1, 2]
    assert {each.error_code for each in response.responses[0].partition_responses} == {0}


def test_one_bad_partition_does_not_hurt_the_others(node: Node) -> None:
    node.topic("t", 2)
    client = node.client()
    response = client.ask(produce("t", batch(b"a"), batch(b"b"), batch(b"c")), VERSION)
    assert [each.error_code for each in response.responses[0].partition_responses] == [0, 0, 3]
    assert [each.base_offset for each in response.responses[0].partition_responses] == [0, 0, -1]


def test_too_many_in_flight_are_left_in_the_socket(tmp_path: Path) -> None:
    from twinlog.kafka.settings import KafkaSettings

    node = Node(str(tmp_path / "data"), KafkaSettings(produces_in_flight_max=2))
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    for n in range(4):
        client.send_request(produce("t", batch(b"%d" % n)), VERSION)
    assert client.paused and client.incoming
    for _ in range(4):
        if node.disk.waiting:
            node.sync()
    assert len(client.answers()) == 4 and not client.paused


# -- time and failure


def test_an_append_that_is_not_stable_in_time_is_reported_and_comes_out_later(node: Node) -> None:
    node.topic("t", 2)
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a"), timeout_ms=1000), VERSION)
    node.pass_time(999)
    assert client.answers() == []
    node.pass_time(1)
    assert result(client.answers()[0][1]).error_code == ErrorCode.REQUEST_TIMED_OUT
    assert read_all(client, "t") == b""
    node.sync()
    assert client.answers() == []
    assert values(read_all(client, "t")) == [b"a"]


def test_a_failed_sync_fails_what_waits_and_all_that_follows(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a")), VERSION)
    node.fail_syncs()
    failed = result(client.answers()[0][1])
    assert (failed.error_code, failed.base_offset) == (ErrorCode.KAFKA_STORAGE_ERROR, -1)
    later = result(client.ask(produce("t", batch(b"b"), acks=1), VERSION))
    assert later.error_code in (ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def test_the_partitions_of_a_failed_log_lose_their_leader(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a")), VERSION)
    node.fail_syncs()
    assert node.metadata.image.topics_by_name["t"].partitions[0].leader == -1


def test_deleting_the_topic_answers_who_waits(node: Node) -> None:
    topic_id = node.topic("t")
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a")), VERSION)
    node.delete_topic(topic_id)
    assert result(client.answers()[0][1]).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not node.metadata.image.topics_to_erase


def test_a_client_that_leaves_is_not_answered_and_its_data_stays(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    client = node.client()
    client.send_request(produce("t", batch(b"a")), VERSION)
    client.gone()
    node.sync()
    assert values(read_all(node.client(), "t")) == [b"a"]


# -- what a batch may be


def test_row_19_a_wrong_checksum_is_corrupt(node: Node) -> None:
    node.topic("t")
    data = bytearray(batch(b"a"))
    data[-1] ^= 1
    client = node.client()
    assert result(client.ask(produce("t", bytes(data)), VERSION)).error_code == 2
    assert read_all(client, "t") == b""


def broken_batches() -> dict[str, tuple[bytes, set[int]]]:
    good = batch(b"a", b"b")
    magic_1, magic_9 = bytearray(good), bytearray(good)
    magic_1[16], magic_9[16] = 1, 9
    length = bytearray(good)
    length[8:12] = (len(good) - 12 + 1).to_bytes(4, "big")
    negative_length = bytearray(good)
    negative_length[8:12] = (-5).to_bytes(4, "big", signed=True)
    count = bytearray(good)
    count[57:61] = (-1).to_bytes(4, "big", signed=True)
    count_large = bytearray(good)
    count_large[57:61] = (2**31 - 1).to_bytes(4, "big")
    delta = bytearray(good)
    delta[23:27] = (5).to_bytes(4, "big")
    control = batch(b"a", attributes=0x20)
    with_horizon = batch(b"a", attributes=0x40)
    return {
        "format 1": (bytes(magic_1), {43}),
        "format 9": (bytes(magic_9), {43, 87}),
        "length too long": (bytes(length), {2, 87}),
        "negative length": (bytes(negative_length), {2, 87}),
        "negative count": (sealed(count), {87}),
        "count too large": (sealed(count_large), {87}),
        "offset delta": (sealed(delta), {87}),
        "control batch": (sealed(control), {87}),
        "delete horizon": (sealed(with_horizon), {87}),
        "two batches": (good + good, {87}),
        "bytes behind": (good + b"\0\0", {2, 87}),
        "nothing": (b"", {87}),
    }


@pytest.mark.parametrize("name", broken_batches())
def test_row_19_what_is_not_one_good_batch_is_refused(node: Node, name: str) -> None:
    data, codes = broken_batches()[name]
    node.topic("t")
    client = node.client()
    assert result(client.ask(produce("t", data), VERSION)).error_code in codes
    assert result(client.ask(produce("t", None), VERSION)).error_code == 87
    assert node.broker.partitions.get("t", 0).log.offset_end == 0  # type: ignore[union-attr]


def test_a_transactional_batch_needs_a_transaction(node: Node) -> None:
    node.topic("t")
    data = batch(b"a", attributes=0x10, producer_id=7, producer_epoch=0, base_sequence=0)
    assert result(node.client().ask(produce("t", data), VERSION)).error_code == ErrorCode.INVALID_TXN_STATE


def test_row_20_create_time_keeps_the_batch_as_it_came_but_for_offset_and_epoch(node: Node) -> None:
    node.topic("t")
    client = node.client()
    data = batch(b"a", b"b", at_ms=START_MS - 5)
    client.ask(produce("t", batch(b"first")), VERSION)
    assert result(client.ask(produce("t", data), VERSION)).log_append_time_ms == -1
    stored = client.ask(fetch("t", 1), 11).responses[0].partitions[0].records
    assert stored[:8] == (1).to_bytes(8, "big")
    assert stored[8:12] == data[8:12] and stored[16:] == data[16:]


def test_row_20_log_append_time_is_stamped_answered_and_checksummed(node: Node) -> None:
    node.topic("t", message_timestamp_type="LogAppendTime")
    client = node.client()
    answer = result(client.ask(produce("t", batch(b"a", at_ms=5)), VERSION))
    assert answer.log_append_time_ms == START_MS
    stored = read_all(client, "t")
    assert stored[22] & 0x08
    assert int.from_bytes(stored[35:43], "big") == START_MS
    assert [record[1] for record in records_of(stored)] == [START_MS]


def test_a_producer_may_not_claim_log_append_time(node: Node) -> None:
    node.topic("t")
    data = sealed(batch(b"a", attributes=0x08))
    assert result(node.client().ask(produce("t", data), VERSION)).error_code == ErrorCode.INVALID_TIMESTAMP


def test_row_21_a_batch_above_max_message_bytes_is_too_large(node: Node) -> None:
    node.topic("t", max_message_bytes="200")
    client = node.client()
    fitting, large = batch(b"x" * 125), batch(b"x" * 140)
    assert len(fitting) <= 200 < len(large)
    assert result(client.ask(produce("t", large), VERSION)).error_code == 10
    assert result(client.ask(produce("t", fitting), VERSION)).error_code == 0


def test_a_bomb_is_too_large_however_small_it_is(tmp_path: Path) -> None:
    from twinlog.kafka.settings import KafkaSettings

    node = Node(str(tmp_path / "data"), KafkaSettings(batch_inflated_max_bytes=100_000))
    node.topic("t")
    bomb = build_batch([(START_MS, b"k", b"\0" * 1_000_000, [])], codec=1)
    assert len(bomb) < 5000
    assert result(node.client().ask(produce("t", bomb), VERSION)).error_code == 10


def test_a_truncated_stream_is_corrupt(node: Node) -> None:
    node.topic("t")
    good = batch(b"a" * 100, codec=1)
    torn = bytearray(good[:-10])
    torn[8:12] = (len(torn) - 12).to_bytes(4, "big")
    assert len(compress(1, b"a")) > 0
    assert result(node.client().ask(produce("t", sealed(torn)), VERSION)).error_code == 2


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_compressed_batches_come_back_as_they_were(node: Node, codec: int) -> None:
    node.topic("t")
    client = node.client()
    data = batch(b"a" * 100, b"b", codec=codec)
    assert result(client.ask(produce("t", data), VERSION)).error_code == 0
    stored = read_all(client, "t")
    assert stored[16:] == data[16:] and values(stored) == [b"a" * 100, b"b"]


def test_row_22_a_compacted_topic_refuses_the_record_without_a_key_and_names_it(node: Node) -> None:
    node.topic("t", cleanup_policy="compact")
    data = build_batch([(START_MS, b"k", b"a", []), (START_MS, None, b"b", []), (START_MS, None, b"c", [])])
    client = node.client()
    refused = result(client.ask(produce("t", data), 8))
    assert refused.error_code == 87
    assert [each.batch_index for each in refused.record_errors] == [1]
    assert result(client.ask(produce("t", batch(b"a")), 8)).error_code == 0


def test_row_22_timestamps_too_far_ahead_are_refused_record_by_record(node: Node) -> None:
    node.topic("t")
    late = START_MS + 3_600_001
    data = build_batch([(START_MS, b"k", b"a", []), (late, b"k", b"b", [])])
    client = node.client()
    refused = result(client.ask(produce("t", data), 8))
    assert refused.error_code == 32
    assert [each.batch_index for each in refused.record_errors] == [1]
    assert result(client.ask(produce("t", batch(b"a", at_ms=late - 1)), 8)).error_code == 0


def test_row_22_timestamps_too_far_back_are_refused_even_in_the_middle(node: Node) -> None:
    node.topic("t", message_timestamp_before_max_ms="1000")
    old = START_MS - 1001
    data = build_batch([(START_MS, b"k", b"a", []), (old, b"k", b"b", []), (START_MS, b"k", b"c", [])])
    client = node.client()
    refused = result(client.ask(produce("t", data), 8))
    assert (refused.error_code, [each.batch_index for each in refused.record_errors]) == (32, [1])
    assert result(client.ask(produce("t", batch(b"a", at_ms=old + 1)), 8)).error_code == 0


def test_limits_on_timestamps_do_not_bind_a_topic_that_stamps_itself(node: Node) -> None:
    node.topic("t", message_timestamp_type="LogAppendTime")
    data = batch(b"a", at_ms=START_MS * 3)
    assert result(node.client().ask(produce("t", data), 8)).error_code == 0


# -- idempotence


def numbered(sequence: int, *payload: bytes, epoch: int = 0, producer_id: int = 7) -> bytes:
    return batch(*payload, producer_id=producer_id, producer_epoch=epoch, base_sequence=sequence)


def test_row_24_a_duplicate_gets_the_offset_of_its_first_copy(node: Node) -> None:
    node.topic("t")
    client = node.client()
    for n in range(6):
        assert result(client.ask(produce("t", numbered(n, b"%d" % n)), VERSION)).base_offset == n
    for n in range(1, 6):
        again = result(client.ask(produce("t", numbered(n, b"%d" % n)), VERSION))
        assert (again.error_code, again.base_offset) == (0, n)
    assert len(values(read_all(client, "t"))) == 6


def test_row_24_an_older_duplicate_is_46_and_a_gap_45(node: Node) -> None:
    node.topic("t")
    client = node.client()
    for n in range(6):
        client.ask(produce("t", numbered(n, b"%d" % n)), VERSION)
    assert result(client.ask(produce("t", numbered(0, b"0")), VERSION)).error_code == 46
    assert result(client.ask(produce("t", numbered(7, b"7")), VERSION)).error_code == 45


def test_row_24_a_duplicate_waits_for_the_disk_as_its_first_copy_does(node: Node) -> None:
    node.topic("t")
    node.hold_syncs()
    first, second = node.client(), node.client()
    first.send_request(produce("t", numbered(0, b"a")), VERSION)
    second.send_request(produce("t", numbered(0, b"a")), VERSION)
    assert second.answers() == []
    node.sync()
    assert [result(client.answers()[0][1]).base_offset for client in (first, second)] == [0, 0]


def test_row_25_sequences_wrap_inside_a_batch(node: Node) -> None:
    node.topic("t")
    client = node.client()
    last = 2**31 - 1
    log = node.broker.partitions.get("t", 0).log  # type: ignore[union-attr]
    client.ask(produce("t", numbered(0, b"a")), VERSION)
    log.producers.by_id[7].batches[-1] = log.producers.by_id[7].batches[-1]._replace(sequence_last=last - 2)
    assert result(client.ask(produce("t", numbered(last - 1, b"a", b"b", b"c")), VERSION)).error_code == 0
    assert result(client.ask(produce("t", numbered(1, b"d")), VERSION)).error_code == 0


def test_row_26_an_older_epoch_is_47_and_a_new_one_starts_at_0(node: Node) -> None:
    node.topic("t")
    client = node.client()
    client.ask(produce("t", numbered(0, b"a", epoch=3)), VERSION)
    assert result(client.ask(produce("t", numbered(1, b"b", epoch=2)), VERSION)).error_code == 47
    assert result(client.ask(produce("t", numbered(1, b"b", epoch=4)), VERSION)).error_code == 45
    assert result(client.ask(produce("t", numbered(0, b"b", epoch=4)), VERSION)).error_code == 0


def test_a_first_sequence_other_than_0_on_a_new_log_is_out_of_order(node: Node) -> None:
    node.topic("t")
    assert result(node.client().ask(produce("t", numbered(5, b"a")), VERSION)).error_code == 45


@pytest.mark.parametrize(("epoch", "sequence"), [(-1, 0), (0, -1)])
def test_a_producer_id_needs_epoch_and_sequence(node: Node, epoch: int, sequence: int) -> None:
    node.topic("t")
    assert result(node.client().ask(produce("t", numbered(sequence, b"a", epoch=epoch)), VERSION)).error_code == 87


# -- names, ids, versions


def test_row_12_an_unknown_topic_has_a_code_for_its_name_and_one_for_its_id(node: Node) -> None:
    client = node.client()
    assert result(client.ask(produce("nowhere", batch(b"a")), 12)).error_code == 3
    assert result(client.ask(produce(b"i" * 16, batch(b"a")), 13)).error_code == 100


def test_row_12_an_old_id_is_unknown_when_the_topic_was_made_anew(node: Node) -> None:
    old = node.topic("t")
    node.delete_topic(old)
    new = node.topic("t")
    client = node.client()
    assert old != new
    assert result(client.ask(produce(old, batch(b"a")), 13)).error_code == 100
    assert result(client.ask(produce(new, batch(b"a")), 13)).base_offset == 0


@pytest.mark.parametrize("version", range(3, 14))
def test_every_version_is_served(node: Node, version: int) -> None:
    topic_id = node.topic("t")
    client = node.client()
    answer = client.ask(produce(topic_id if version >= 13 else "t", batch(b"a")), version)
    assert (result(answer).error_code, result(answer).base_offset, answer.throttle_time_ms) == (0, 0, 0)


def test_row_27_producers_are_remembered_over_a_restart(tmp_path: Path) -> None:
    node = Node(str(tmp_path / "data"))
    node.topic("t")
    node.client().ask(produce("t", numbered(0, b"a")), VERSION)
    node.store.close(lambda: None)
    node.settle()

    again = Node(str(tmp_path / "data"), journal=node.journal)
    client = again.client()
    assert result(client.ask(produce("t", numbered(0, b"a")), VERSION)).base_offset == 0
    assert result(client.ask(produce("t", numbered(1, b"b")), VERSION)).base_offset == 1


@pytest.mark.parametrize("acks", [1, -1])
def test_a_request_leaves_nothing_to_the_garbage_collector(node: Node, acks: int) -> None:
    node.topic("t")
    client = node.client()
    request = produce("t", batch(b"a"), acks=acks)
    client.ask(request, VERSION)
    gc.collect()
    gc.disable()
    try:
        for _ in range(50):
            client.ask(request, VERSION)
        assert gc.collect() < 50
    finally:
        gc.enable()
