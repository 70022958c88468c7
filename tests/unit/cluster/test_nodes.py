"""The cluster and its nodes: ids that are given once, registrations, features, producer ids, lost leaders."""

from __future__ import annotations

from tests.kit.cluster import Metadata, codes
from twinlog.base import Refused
from twinlog.cluster import NO_LEADER, ProducerIdBlock, Reason
from twinlog.cluster.core.nodes import PRODUCER_ID_MAX, take_producer_ids
from twinlog.cluster.image import apply
from twinlog.cluster.records import ProducerIdsTaken


def test_a_cluster_is_formed_once() -> None:
    metadata = Metadata()
    cluster_id = metadata.image.cluster_id
    assert len(cluster_id) == 22 and not cluster_id.startswith("-")
    entries = len(metadata.journal.entries)
    metadata.controller.form_cluster(1, lambda fault: None)
    assert len(metadata.journal.entries) == entries and metadata.image.cluster_id == cluster_id


def test_a_cluster_takes_the_id_that_its_disks_carry() -> None:
    metadata = Metadata(registered=False)
    metadata.controller.form_cluster(1, lambda fault: None, cluster_id="U9YBxuId0dbNmpmEtaGYLQ")
    metadata.journal.sync()
    assert metadata.image.cluster_id == "U9YBxuId0dbNmpmEtaGYLQ"


def test_a_broker_epoch_is_the_offset_of_its_registration() -> None:
    metadata = Metadata()
    epoch = metadata.register(1, incarnation=b"2" * 16)
    assert epoch == metadata.image.brokers[1].broker_epoch == metadata.image.offset


def test_registering_the_same_process_again_changes_nothing() -> None:
    metadata = Metadata()
    epoch = metadata.register(1, incarnation=b"2" * 16, clean=False)
    entries = len(metadata.journal.entries)
    assert metadata.register(1, incarnation=b"2" * 16, clean=False) == epoch
    assert len(metadata.journal.entries) == entries


def test_a_process_after_a_crash_leads_with_a_new_epoch() -> None:
    metadata = Metadata()
    metadata.topic("orders", 2)
    metadata.register(1, incarnation=b"2" * 16, clean=True)
    assert [info.leader_epoch for info in metadata.image.topics_by_name["orders"].partitions] == [0, 0]
    metadata.register(1, incarnation=b"3" * 16, clean=False)
    assert [info.leader_epoch for info in metadata.image.topics_by_name["orders"].partitions] == [1, 1]


def test_clients_of_a_listener_are_told_its_address_or_the_first() -> None:
    broker = Metadata().image.brokers[1]
    named, other = broker.endpoint("PLAINTEXT"), broker.endpoint("SECURE")
    assert named is not None and (named.host, named.port) == ("node1", 9092)
    assert other is named


def test_producer_ids_come_in_blocks_that_do_not_meet_also_after_a_crash() -> None:
    metadata = Metadata()
    take = lambda where: where.run(lambda done: where.controller.allocate_producer_ids(1, 0, done))  # noqa: E731
    assert take(metadata) == ProducerIdBlock(0, 1000)
    assert take(metadata) == ProducerIdBlock(1000, 1000)
    assert take(metadata.restarted(registered=False)) == ProducerIdBlock(2000, 1000)


def test_two_blocks_asked_for_at_once_do_not_meet() -> None:
    metadata = Metadata()
    heard: list = []
    metadata.controller.allocate_producer_ids(1, 0, heard.append)
    metadata.controller.allocate_producer_ids(1, 0, heard.append)
    metadata.journal.sync()
    assert [block.start for block in heard] == [0, 1000]


def test_producer_ids_run_out_with_an_answer() -> None:
    image, _ = apply(Metadata().image, [ProducerIdsTaken(1, 0, PRODUCER_ID_MAX - 10)])
    decision = take_producer_ids(image, 1, 0)
    assert decision.records == [] and isinstance(decision.outcomes[0], Refused)


def feature(metadata: Metadata, name: str, level: int, **options: bool) -> list[int]:
    return codes([metadata.run(lambda done: metadata.controller.update_feature(name, level, done, **options))])


def test_features_move_within_what_this_release_can_do() -> None:
    metadata = Metadata()
    assert metadata.image.features.level("twinlog.metadata") == 1
    assert metadata.image.features.level("transaction.version") == 2
    assert feature(metadata, "group.version", 1) == [0]
    assert metadata.image.features.level("group.version") == 1
    assert feature(metadata, "group.version", 2) == [Reason.INVALID_UPDATE_VERSION]
    assert feature(metadata, "no.such.feature", 1) == [Reason.INVALID_UPDATE_VERSION]
    assert feature(metadata, "group.version", 0) == [Reason.INVALID_UPDATE_VERSION], "lowering has to be asked for"
    assert feature(metadata, "group.version", 0, allow_lower=True) == [0]
    assert metadata.image.features.level("group.version") == 0


def test_partitions_whose_disk_failed_have_no_leader_until_the_node_is_back() -> None:
    metadata = Metadata()
    topic = metadata.topic("orders", 2)
    metadata.controller.leaders_lost(1, [(topic.topic_id, 1), (topic.topic_id, 9), (b"?" * 16, 0)])
    metadata.journal.sync()
    fine, lost = metadata.image.topics_by_id[topic.topic_id].partitions
    assert fine == topic.partitions[0]
    assert (lost.leader, lost.leader_epoch, lost.isr) == (NO_LEADER, 1, (1,))
    metadata.register(1, incarnation=b"2" * 16, clean=True)
    fine, back = metadata.image.topics_by_id[topic.topic_id].partitions
    assert (fine.leader_epoch, back.leader, back.leader_epoch) == (0, 1, 2)


def test_a_node_cannot_give_away_what_it_does_not_lead() -> None:
    metadata = Metadata()
    topic = metadata.topic("orders")
    metadata.controller.leaders_lost(2, [(topic.topic_id, 0)])
    metadata.journal.sync()
    assert metadata.image.topics_by_id[topic.topic_id] == topic
