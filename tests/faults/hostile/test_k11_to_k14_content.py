"""Hostile content in well-formed requests: batches, bombs, names, roles."""

from __future__ import annotations

import zlib
from pathlib import Path

import cramjam
import lz4.frame
import pytest

from tests.faults.hostile.attack import MEMORY_GROWTH_MAX, Attack, frame
from tests.scenarios.kafka.batches import Record, batch, record_bytes, varint
from tests.scenarios.kafka.raw import LATEST, Closed, fetch_request
from tests.scenarios.kafka.test_rows_19_to_27_produce import LOOSER_AT_KAFKA, WRONG_BATCHES
from twinlog.wire.kafka.errors import ErrorCode
from twinlog.wire.kafka.messages import (
    create_topics,
    delete_records,
    delete_topics,
    fetch,
    list_offsets,
    offset_for_leader_epoch,
    produce,
)

BOMB_BYTES = 256 << 20  # what a bomb of well under a mebibyte unpacks to, except for snappy, which packs 20 to 1
MIB = 1 << 20
INFLATED_MAX = 64 * MIB  # kafka.batch_inflated_max_bytes: one batch at a time may take so much, and gives it back


def test_k11_wrong_batches_one_after_the_other(attack: Attack) -> None:
    with attack.connect() as connection:
        for what, (wrong, codes) in WRONG_BATCHES.items():
            if what in LOOSER_AT_KAFKA and not attack.target.is_twinlog:
                continue
            for codec in (0, 1) if "attributes" not in wrong else (0,):
                answer = connection.produce(attack.topic, batch([Record()] * 3, codec=codec, **wrong))
                assert answer.error_code in codes, (what, codec)


def test_k11_a_random_byte_changed_anywhere_is_never_stored(attack: Attack) -> None:
    """Every byte from the magic on is covered: by its meaning or by the checksum."""
    whole = batch([Record(b"value", b"key", headers=[("h", b"x")])] * 3)
    with attack.connect() as connection:
        for place in range(16, len(whole)):
            for flipped in (0x01, 0x80):
                wrong = bytearray(whole)
                wrong[place] ^= flipped
                assert connection.produce(attack.topic, bytes(wrong)).error_code != 0, place


def pieces() -> list[bytes]:
    """A record with a value of zeros as large as the bomb, in pieces."""
    head = record_bytes(Record(b"", b"k"), 0, 0)
    body_size = BOMB_BYTES + 16
    return [varint(body_size) + head[1:4], *([bytes(MIB)] * (BOMB_BYTES // MIB))]


def gzip_bomb() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(packer.compress(piece) for piece in pieces()) + packer.flush()


def zstd_bomb() -> bytes:
    packer = cramjam.zstd.Compressor(3)
    for piece in pieces():
        packer.compress(piece)
    return bytes(packer.finish())


def lz4_bomb() -> bytes:
    with lz4.frame.LZ4FrameCompressor(block_linked=False, block_size=lz4.frame.BLOCKSIZE_MAX1MB) as packer:
        return packer.begin() + b"".join(packer.compress(piece) for piece in pieces()[:200]) + packer.flush()


def snappy_liar() -> bytes:
    """Raw snappy that declares 2 GiB."""
    return b"\xff\xff\xff\xff\x07" + b"\xfe\x01\x00" * 1000


def snappy_framed_liar() -> bytes:
    """The Java framing, with a block that declares 1 GiB."""
    block = b"\x80\x80\x80\x80\x04" + b"\xfe\x01\x00" * 1000
    return b"\x82SNAPPY\0" + b"\0\0\0\x01\0\0\0\x01" + len(block).to_bytes(4, "big") + block


def zstd_liar() -> bytes:
    """A frame header that declares a window and content of many gibibytes."""
    return b"\x28\xb5\x2f\xfd\xe0" + b"\xff" * 8 + b"\x01\x00\x00" * 10


BOMBS = {
    "gzip": (1, gzip_bomb),
    "snappy": (2, snappy_liar),
    "snappy of Java": (2, snappy_framed_liar),
    "lz4": (3, lz4_bomb),
    "zstd": (4, zstd_bomb),
    "zstd that lies": (4, zstd_liar),
}


@pytest.mark.parametrize("name", BOMBS)
def test_k12_a_bomb_is_refused_within_bounds(attack: Attack, name: str) -> None:
    codec, make = BOMBS[name]
    bomb = make()
    if not attack.target.is_twinlog:
        pytest.skip("Apache Kafka unpacks it")
    attack.memory_growth_max = INFLATED_MAX + MEMORY_GROWTH_MAX
    with attack.connect() as connection:
        for _ in range(3):
            answer = connection.produce(attack.topic, batch([Record()], codec=codec, payload=bomb[: 1000 * 1000]))
            assert answer.error_code in (ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.CORRUPT_MESSAGE)


@pytest.mark.parametrize("codec", [1, 2, 3, 4])
def test_k12_a_truncated_stream_is_refused_at_every_length(attack: Attack, codec: int) -> None:
    if not attack.target.is_twinlog:
        pytest.skip("Apache Kafka answers some of these with an unexpected error")
    whole = batch([Record(b"value %d" % n, b"key") for n in range(20)], codec=codec)
    payload = whole[61:]
    with attack.connect() as connection:
        for size in range(len(payload)):
            wrong = batch([Record(b"value %d" % n, b"key") for n in range(20)], codec=codec, payload=payload[:size])
            answer = connection.produce(attack.topic, wrong)
            assert answer.error_code in (ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_RECORD), size


ILLEGAL_NAMES = ["..", ".", "../../x", "x" * 250, "nul\0byte", "a/b", "\u202egnp.exe", "\U0001f4a3", "", "a\nb", "a\\b"]


def files_below(home: Path) -> set[str]:
    return {str(path.relative_to(home)) for path in home.rglob("*")}


def test_k13_illegal_names_are_refused_everywhere_and_leave_no_file(attack: Attack) -> None:
    home = attack.target.data_dir.parent if attack.target.is_twinlog else None
    outside = files_below(home) if home else set()
    with attack.connect() as connection:
        for name in ILLEGAL_NAMES:
            wish = create_topics.CreatableTopic(name=name, num_partitions=1, replication_factor=1)
            made = connection.call(create_topics.CreateTopicsRequest(topics=[wish], timeout_ms=9999), 7).topics[0]
            assert made.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION, name
            assert connection.topic(name, create=True).error_code == ErrorCode.INVALID_TOPIC_EXCEPTION, name
            answer = connection.produce(name, batch([Record()]))
            unknown = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.INVALID_TOPIC_EXCEPTION)
            assert answer.error_code in unknown, name
            assert connection.fetch(name, 0).error_code in unknown, name
    if home:
        appeared = {path for path in files_below(home) - outside if not path.startswith("data/")}
        assert appeared == set()
        assert not (home.parent / "x").exists()


def test_k13_no_name_of_a_stranger_reaches_the_disk(attack: Attack) -> None:
    """Directories are named by ids: a legal but strange name is not found below the data directory."""
    name = f"..strange..{attack.topic}"
    with attack.connect() as connection:
        connection.create_topic(name)
        connection.produce(name, batch([Record()]))
    if attack.target.is_twinlog:
        assert [path for path in files_below(attack.target.data_dir) if "strange" in path] == []


def test_k14_a_client_that_poses_as_a_replica_moves_nothing(attack: Attack) -> None:
    with attack.connect() as connection:
        before = connection.fetch(attack.topic, 0)
    for version, role in (
        (4, {"replica_id": 1}),
        (12, {"replica_id": 0}),
        (12, {"replica_id": 77}),
        (15, {"replica_state": fetch.FetchRequestReplicaState(replica_id=1, replica_epoch=5)}),
        (17, {"replica_state": fetch.FetchRequestReplicaState(replica_id=999, replica_epoch=0)}),
    ):
        with attack.connect() as connection:
            place = attack.topic if version < 13 else connection.topic(attack.topic).topic_id
            request, _ = fetch_request(place, 1_000_000, version=version, **role)
            try:
                answer = connection.call(request, version)
                codes = {answer.error_code} | {p.error_code for t in answer.responses for p in t.partitions}
                assert codes != {0}
            except Closed:
                pass
    with attack.connect() as connection:
        after = connection.fetch(attack.topic, 0)
        assert (after.high_watermark, after.log_start_offset) == (before.high_watermark, before.log_start_offset)
        (partition,) = connection.topic(attack.topic).partitions
        assert partition.isr_nodes == partition.replica_nodes == [partition.leader_id]


def test_k14_calls_between_brokers_are_closed(attack: Attack) -> None:
    for key in (4, 5, 6, 7, 52, 53, 54, 56, 58, 59, 62, 63, 67, 70, 73, 82):
        for version in (0, 1):
            with attack.connect(timeout_s=10) as connection:
                try:
                    connection.send_bytes(frame(key, version, bytes(40)))
                    connection.receive_frame()
                    assert not attack.target.is_twinlog, key
                except (Closed, ConnectionError):
                    pass


def test_k14_empty_topic_lists_get_empty_answers(attack: Attack) -> None:
    with attack.connect() as connection:
        assert connection.call(produce.ProduceRequest(acks=-1, timeout_ms=99), 9).responses == []
        assert connection.call(produce.ProduceRequest(acks=1, timeout_ms=99), 13).responses == []
        assert connection.call(fetch.FetchRequest(max_wait_ms=1, session_epoch=-1), 12).responses == []
        assert connection.call(list_offsets.ListOffsetsRequest(replica_id=-1), 7).topics == []
        assert connection.call(offset_for_leader_epoch.OffsetForLeaderEpochRequest(replica_id=-1), 4).topics == []
        assert connection.call(create_topics.CreateTopicsRequest(timeout_ms=99), 7).topics == []
        assert connection.call(delete_topics.DeleteTopicsRequest(timeout_ms=99), 6).responses == []
        assert connection.call(delete_records.DeleteRecordsRequest(timeout_ms=99), 2).topics == []


def test_k14_empty_partition_lists_get_empty_answers(attack: Attack) -> None:
    with attack.connect() as connection:
        asked = produce.ProduceRequest(acks=-1, timeout_ms=99, topic_data=[produce.TopicProduceData(name=attack.topic)])
        (answer,) = connection.call(asked, 9).responses or [produce.TopicProduceResponse(name=attack.topic)]
        assert answer.partition_responses == []
        assert connection.offset(attack.topic, LATEST).error_code == 0
