"""The metadata log on a disk that is cut and damaged: what opens is a state that was promised, or nothing opens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from tests.kit.metadata_disk import MetadataNode, lived
from tests.kit.storage import Machine, restore
from twinlog.base import HostFault
from twinlog.cluster import Image, Topic, TopicWanted


@cache
def life(snapshots: bool) -> tuple[dict[str, bytes], list[Image]]:
    return lived(300 if snapshots else 1 << 20)


def damaged(files: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for path, data in files.items():
        for size in range(len(data)):
            yield path, data[:size]
        for position in range(len(data)):
            if path.endswith(".mark") and position % 512 >= 24:
                continue  # the rest of a slot means nothing
            spoilt = bytearray(data)
            spoilt[position] ^= 1 << position % 8
            yield path, bytes(spoilt)


@pytest.mark.parametrize("snapshots", [False, True])
def test_files_cut_anywhere_or_flipped_anywhere_give_all_that_was_promised_or_stop_the_start(
    snapshots: bool,
) -> None:
    files, images = life(snapshots)
    assert any(path.endswith(".snapshot") for path in files) == snapshots
    opened = refused = 0
    for path, data in damaged(files):
        machine = restore({**files, path: data})
        before = machine.copy_tree("data")
        try:
            node = MetadataNode(machine)
        except HostFault:
            refused += 1
            assert machine.copy_tree("data") == before, "a start that is refused changes nothing"
            continue
        opened += 1
        assert node.log.image == images[-1], f"{path} with {len(data)} of {len(files[path])} bytes"
        heard = node.create("after")
        machine.settle()
        machine.cut_power()
        again = MetadataNode(machine)
        assert again.log.image == node.log.image and "after" in again.log.image.topics_by_name, heard
    assert opened and refused


def topics_lost_in_power_cuts(seed: int, *, disk_lies: bool = False) -> set[str]:
    """Creates topics while the power goes now and then; returns those that were answered and are gone."""
    machine = Machine(seed)
    machine.platter.lies_about_sync = disk_lies
    node = MetadataNode(machine, snapshot_after_bytes=700)
    node.form()
    answered: dict[str, bytes] = {}

    def on_created(outcomes: list) -> None:
        answered.update({topic.name: topic.topic_id for topic in outcomes if isinstance(topic, Topic)})

    for number in range(30):
        node.controller.create_topics([TopicWanted(f"topic{number}", 2)], on_created)
        machine.loop.run_for_us(machine.chance.below(900))
        if machine.chance.below(10) == 0:
            machine.cut_power()
            node = MetadataNode(machine, snapshot_after_bytes=700)
            found = {name: topic.topic_id for name, topic in node.log.image.topics_by_name.items()}
            lost = {name for name, topic_id in answered.items() if found.get(name) != topic_id}
            if lost:
                return lost
    return set()


@pytest.mark.parametrize("seed", range(40))
def test_a_power_cut_keeps_what_was_answered(seed: int) -> None:
    assert topics_lost_in_power_cuts(seed) == set()


def test_a_disk_that_lies_about_syncs_is_found_out() -> None:
    def loses(seed: int) -> bool:
        try:
            return bool(topics_lost_in_power_cuts(seed, disk_lies=True))
        except HostFault:
            return True  # what is left cannot even be opened

    assert any(loses(seed) for seed in range(10))


def test_a_full_disk_refuses_topics_and_takes_them_when_there_is_room_again() -> None:
    machine = Machine()
    node = MetadataNode(machine)
    node.form()
    machine.platter.capacity_bytes = machine.platter.used_bytes
    (refused,) = node.create("orders")
    assert getattr(refused, "code", 0) == 56
    machine.platter.capacity_bytes *= 2
    heard = node.create("orders")
    machine.settle()
    assert "orders" in node.log.image.topics_by_name and len(heard) == 1
    machine.cut_power()
    assert "orders" in MetadataNode(machine).log.image.topics_by_name
