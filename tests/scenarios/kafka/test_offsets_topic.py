"""``__consumer_offsets`` does not grow with the number of commits, only with what there is to remember."""

from __future__ import annotations

from tests.compat.target import Server
from tests.scenarios.kafka.groups import commit, fetch_offset, ready, until
from tests.scenarios.kafka.raw import EARLIEST, Connection
from twinlog.wire.kafka.messages import offset_commit

MIB = 1 << 20
SETTINGS = {
    "groups.offsets_partitions": 1,
    "groups.offsets_segment_bytes": MIB,
    "storage.compaction_check_interval_ms": 100,
}
COMMITS = 400  # of a hundred partitions each, about eight kilobytes a commit


def size_of(server: Server) -> int:
    """Of all segment files of the one partition that is written."""
    return max(
        sum(file.stat().st_size for file in folder.glob("*.log"))
        for folder in {p.parent for p in server.data_dir.rglob("*.log")}
    )


def test_many_commits_of_the_same_partitions_take_the_room_of_few() -> None:
    with Server(settings=SETTINGS) as server:
        with Connection(server.bootstrap) as kafka:
            kafka.create_topic("t", 100)
            ready(kafka, "g")
            ready(kafka, "old")
            assert commit(kafka, "old", "t", 7, 3, metadata="from the beginning") == 0
            for offset in range(COMMITS):
                places = [
                    offset_commit.OffsetCommitRequestPartition(partition_index=index, committed_offset=offset)
                    for index in range(100)
                ]
                named = offset_commit.OffsetCommitRequestTopic(name="t", partitions=places)
                request = offset_commit.OffsetCommitRequest(
                    group_id="g", generation_id_or_member_epoch=-1, topics=[named]
                )
                assert not any(each.error_code for each in kafka.call(request, 9).topics[0].partitions)
            written = kafka.end("__consumer_offsets")
            assert written > COMMITS * 100
            until(lambda: size_of(server) < 2 * MIB, f"{size_of(server) >> 10} KiB are left")
            assert kafka.offset("__consumer_offsets", EARLIEST).offset == 0
        server.kill()
        server.start()
        with Connection(server.bootstrap) as kafka:
            found = until(lambda: (answer := fetch_offset(kafka, "old", "t", 3)).error_code == 0 and answer)
            assert (found.committed_offset, found.metadata) == (7, "from the beginning")
            assert fetch_offset(kafka, "g", "t", 99).committed_offset == COMMITS - 1
