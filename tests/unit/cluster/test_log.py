"""The metadata log: nothing counts before it is durable, and everything durable counts after a restart."""

from __future__ import annotations

import pytest

from tests.kit.cluster import FixedClock, Listened, MemoryJournal, Metadata
from twinlog.base import DiskFull, HostFault
from twinlog.cluster import EMPTY, MetadataLog, MetadataLogSettings, TopicWanted
from twinlog.cluster.kinds import CODEC
from twinlog.cluster.record import ENTRY_FORMAT, Entry, UnknownRecord
from twinlog.cluster.records import FeatureLevel


def open_log(journal: MemoryJournal, **settings: int) -> MetadataLog:
    log = MetadataLog(journal, FixedClock(), MetadataLogSettings(**settings))
    log.open()
    return log


def test_a_proposal_counts_when_it_is_durable_and_not_before() -> None:
    journal = MemoryJournal()
    log = open_log(journal)
    heard: list[object] = []
    log.propose([FeatureLevel("a", 1)], heard.append)
    assert log.image is EMPTY and log.image_decided.features.level("a") == 1 and heard == []
    journal.sync()
    assert log.image.features.level("a") == 1 and heard == [None]


def test_the_image_changes_then_listeners_hear_then_the_asker() -> None:
    journal = MemoryJournal()
    log = open_log(journal)
    order: list[tuple[str, int]] = []
    log.subscribe(lambda image, delta: order.append(("listener", log.image.features.level("a"))))
    log.propose([FeatureLevel("a", 1)], lambda fault: order.append(("asker", log.image.features.level("a"))))
    journal.sync()
    assert order == [("listener", 0), ("listener", 1), ("asker", 1)]


def test_proposals_that_arrive_together_share_one_sync() -> None:
    journal = MemoryJournal()
    log = open_log(journal)
    heard: list[object] = []
    for level in range(1, 4):
        log.propose([FeatureLevel("a", level)], lambda fault: heard.append(log.image.features.level("a")))
    assert journal.sync() == 3
    assert heard == [1, 2, 3]


def test_a_late_listener_hears_of_everything_at_once() -> None:
    metadata = Metadata()
    metadata.topic("orders")
    metadata.topic("payments")
    listened = Listened()
    metadata.log.subscribe(listened)
    assert listened.names_created() == ["orders", "payments"]
    metadata.topic("later")
    assert listened.names_created() == ["orders", "payments", "later"]


def test_a_restart_replays_what_was_synced_and_nothing_else() -> None:
    metadata = Metadata()
    metadata.topic("kept")
    metadata.controller.create_topics([TopicWanted("lost")], lambda outcomes: None)
    before = metadata.image
    after = metadata.restarted(registered=False)
    assert after.image == before
    assert "lost" not in after.image.topics_by_name
    assert after.image.cluster_id == before.cluster_id != ""


def test_a_failed_sync_ends_the_log_and_nothing_of_its_round_counts() -> None:
    metadata = Metadata()
    log, fault = metadata.log, HostFault("disk", "sync failed")
    ends: list[object] = []
    log.on_offline = ends.append
    heard: list[object] = []
    before = log.image
    log.propose([FeatureLevel("a", 1)], heard.append)
    log.propose([FeatureLevel("b", 1)], heard.append)
    metadata.journal.sync(fault)
    assert heard == [fault, fault] and ends == [fault]
    assert log.image is before and log.image_decided is before
    log.propose([FeatureLevel("c", 1)], heard.append)
    assert heard[-1] is fault, "a log that failed never accepts again"
    assert metadata.journal.sync() == 0


def test_a_write_that_fails_ends_the_log() -> None:
    metadata = Metadata()
    fault = metadata.journal.refuse_with = HostFault("disk", "write failed")
    ends: list[object] = []
    metadata.log.on_offline = ends.append
    heard: list[object] = []
    metadata.log.propose([FeatureLevel("a", 1)], heard.append)
    assert heard == [fault] and ends == [fault] and metadata.log.offline is fault


def test_a_full_disk_refuses_the_proposal_and_the_log_lives_on() -> None:
    metadata = Metadata()
    full = metadata.journal.refuse_with = DiskFull("disk", "no room")
    heard: list[object] = []
    metadata.log.propose([FeatureLevel("a", 1)], heard.append)
    assert heard == [full] and metadata.log.offline is None
    assert metadata.log.image_decided.features.level("a") == 0
    metadata.journal.refuse_with = None
    metadata.log.propose([FeatureLevel("a", 1)], heard.append)
    metadata.journal.sync()
    assert heard == [full, None] and metadata.image.features.level("a") == 1
    assert metadata.restarted(registered=False).image == metadata.image


def test_nothing_to_write_still_waits_for_what_it_was_decided_on() -> None:
    journal = MemoryJournal()
    log = open_log(journal)
    order: list[str] = []
    log.propose([], lambda fault: order.append("nothing waits for nothing"))
    log.propose([FeatureLevel("a", 1)], lambda fault: order.append("a"))
    log.propose([], lambda fault: order.append("found a"))
    log.propose([], lambda fault: order.append("found a, too"))
    assert order == ["nothing waits for nothing"]
    journal.sync()
    assert order[1:] == ["a", "found a", "found a, too"]


def test_who_found_it_decided_hears_of_the_fault_as_well() -> None:
    journal = MemoryJournal()
    log = open_log(journal)
    heard: list[object] = []
    log.propose([FeatureLevel("a", 1)], heard.append)
    log.propose([], heard.append)
    fault = HostFault("disk")
    journal.sync(fault)
    assert heard == [fault, fault]


def test_a_proposal_made_in_an_answer_is_the_next_entry() -> None:
    journal = MemoryJournal()
    log = open_log(journal)
    heard: list[object] = []
    log.propose([FeatureLevel("a", 1)], lambda fault: log.propose([FeatureLevel("b", 1)], heard.append))
    journal.sync()
    assert heard == [] and log.image.features.levels == {"a": 1}
    journal.sync()
    assert heard == [None] and log.image.features.levels == {"a": 1, "b": 1}


def test_a_log_that_grew_is_replaced_by_a_snapshot() -> None:
    metadata = Metadata(log_settings=MetadataLogSettings(snapshot_after_bytes=1024))
    for number in range(40):
        metadata.topic(f"topic{number}", 3, retention_ms="1000")
    assert 1 <= metadata.journal.snapshots < 10
    assert len(metadata.journal.entries) < 40
    assert metadata.restarted(registered=False).image == metadata.image


def test_no_snapshot_is_taken_while_something_is_on_its_way() -> None:
    journal = MemoryJournal()
    log = open_log(journal, snapshot_after_bytes=1)
    log.propose([FeatureLevel("a", 1)], lambda fault: log.propose([FeatureLevel("b", 1)], lambda fault: None))
    journal.sync()
    assert journal.snapshots == 0
    journal.sync()
    assert journal.snapshots == 1


def test_entries_that_the_snapshot_already_holds_are_passed_over() -> None:
    metadata = Metadata(log_settings=MetadataLogSettings(snapshot_after_bytes=200))
    metadata.journal.keep_entries = True
    for number in range(5):
        metadata.topic(f"topic{number}")
    assert metadata.journal.snapshots > 0
    assert metadata.restarted(registered=False).image == metadata.image


def test_a_snapshot_that_finds_no_room_changes_nothing() -> None:
    journal = MemoryJournal()
    log = open_log(journal, snapshot_after_bytes=1)
    log.propose([FeatureLevel("a", 1)], lambda fault: None)
    journal.refuse_with = DiskFull("disk")
    journal.sync()
    assert log.offline is None and log.image.features.level("a") == 1


def test_a_snapshot_that_fails_ends_the_log() -> None:
    journal = MemoryJournal()
    log = open_log(journal, snapshot_after_bytes=1)
    log.propose([FeatureLevel("a", 1)], lambda fault: None)
    journal.refuse_with = HostFault("disk")
    journal.sync()
    assert log.offline is not None


def test_missing_entries_stop_the_start() -> None:
    metadata = Metadata()
    metadata.topic("a")
    metadata.topic("b")
    del metadata.journal.entries[-2]
    with pytest.raises(UnknownRecord, match="entries are missing"):
        open_log(metadata.journal)


def test_a_log_of_a_newer_release_stops_the_start() -> None:
    journal = MemoryJournal()
    newer = CODEC.encode(Entry(ENTRY_FORMAT, 0, 0, 0, (["topic.created/9"],)))
    journal.entries.append(newer)
    with pytest.raises(UnknownRecord, match="version 9"):
        open_log(journal)


def test_after_its_end_a_log_refuses_and_writes_nothing() -> None:
    # A partition log may fail while the node stops; what is said about it then comes too late.
    journal = MemoryJournal()
    log = open_log(journal)
    log.close()
    heard: list[object] = []
    log.propose([FeatureLevel("a", 1)], heard.append)
    assert isinstance(heard[0], HostFault)
    assert journal.entries == []
