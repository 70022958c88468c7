"""A real broker on a real file system, and the power goes: all that was confirmed is there, after one start and two.

Logs and queues share the disk. The control turns every sync into nothing, and has to lose something of either:
without it, nothing lost would mean nothing.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.queue_load import Ledger, QueueLoad, declare
from tests.faults.small_disk import NoSmallDisk, SmallDisk
from tests.faults.wire_load import Load, everything_in, topics_at
from tests.scenarios.amqp.raw import Refusal
from twinlog.testing import Broker
from twinlog.testing.broker import BrokerFailed

FEW = 3
CUTS_PER_DRAIN = 5  # of the queue, which is a backlog meanwhile
CUTS_PER_LINE = 20
# Small files of queues: they move, and go, all the time.
SETTINGS = {
    "amqp.listen": "127.0.0.1:0",
    "queues.journal_file_bytes": 65536,
    "queues.journal_files_max": 2,
    "queues.segment_bytes": 16384,
}
# What a broker imports first when it is to lie about its syncs.
LYING = """
import os
import twinlog.host.local.system_calls as calls
os.fsync = os.fdatasync = calls.syncfs = lambda fd: None
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    disk = SmallDisk(tmp_path)
    try:
        disk.make()
        disk.cut_power()
        disk.come_back()
    except NoSmallDisk as reason:
        disk.remove()
        pytest.skip(str(reason))
    yield disk
    disk.remove()


class Cuts:
    """A broker's data through one cut after the other."""

    def __init__(self, disk: SmallDisk, seed: int, environment: dict[str, str] | None = None) -> None:
        self.disk = disk
        self.random = random.Random(seed)
        self.cuts = self.confirmed = self.unknown = 0
        self.lost: list[str] = []
        self.start_s = 0.0  # the longest start after a cut
        self.ledger = Ledger()
        self.queue_lost: list[str] = []
        self.is_over = False  # the broker, or its queues, did not start any more
        self._before: Load | None = None  # of the last cut; looked at again after the next one
        self._broker = Broker(disk.path / "data", settings=SETTINGS, environment=environment)

    def once(self, *, drain: bool = False) -> None:
        broker = self._broker
        broker.start()
        self._look(self._before, "the second start")
        declare(broker.amqp)
        load = Load(broker.kafka, f"cut-{self.cuts}")
        queue_load = QueueLoad(broker.amqp, self.ledger, self.cuts)
        # Also very early: the first files and names are the ones whose directories may not be synced.
        time.sleep(self.random.choice([0.02, 0.1, 0.3, 0.8]) * self.random.random())
        self.disk.cut_power()
        load.stop()
        queue_load.stop()
        broker.kill()
        queue_load.end()
        self.disk.come_back()
        self.cuts += 1
        self.confirmed += len(load.confirmed) + len(load.made)
        self.unknown += load.unknown
        begun_s = time.monotonic()
        try:
            broker.start()
        except BrokerFailed as failed:
            self.lost.append(str(failed))
            self.is_over = True
            return
        self.start_s = max(self.start_s, time.monotonic() - begun_s)
        self._look(load, "the first start")
        self._look_at_queue(drain or self.cuts % CUTS_PER_DRAIN == 0)
        self._before = load
        broker.kill()

    def _look(self, load: Load | None, when: str) -> None:
        if load is None:
            return
        topics = topics_at(self._broker.kafka)
        self.lost += [f"topic {name} after {when}" for name in [load.topic, *load.made] if name not in topics]
        if load.topic not in topics:
            return
        found = everything_in(self._broker.kafka, load.topic)
        for (partition, offset), value in load.confirmed.items():
            if found.get((partition, offset)) != value:
                self.lost.append(f"{value[:20]!r} at {load.topic}-{partition} {offset} after {when}")
        for partition in range(3):
            offsets = sorted(offset for at, offset in found if at == partition)
            assert offsets == list(range(len(offsets))), "a log with a hole"

    def _look_at_queue(self, drain: bool) -> None:
        if self._broker.amqp == "None":  # the door stays closed
            self.is_over = True
            self.queue_lost.append(f"queues cannot be read: {self._broker.log[-500:]}")
            return
        if drain:
            try:
                self.ledger.drain(self._broker.amqp)
            except Refusal as refusal:  # the queue itself is gone, or damaged
                self.queue_lost.append(str(refusal))
            self.queue_lost += [f"{body!r} was confirmed" for body in sorted(self.ledger.lost())]
        self.queue_lost += self.ledger.broken

    def end(self) -> None:
        self._broker.kill()
        self._broker.remove()

    def __str__(self) -> str:
        return (
            f"{self.cuts} power cuts: {self.confirmed} confirmed of which {len(self.lost)} lost, "
            f"{self.unknown} unknown; {len(self.ledger.confirmed)} messages confirmed of which {len(self.queue_lost)} "
            f"lost, {len(self.ledger.over)} settled for good; longest start {self.start_s:.2f} s"
        )


def survive(disk: SmallDisk, count: int, seed: int, tell: Callable[[Cuts], None] = lambda cuts: None) -> Cuts:
    cuts = Cuts(disk, seed)
    try:
        for left in reversed(range(count)):
            cuts.once(drain=not left)
            assert cuts.lost == [], f"after {cuts.cuts} cuts of seed {seed}"
            assert cuts.queue_lost == [], f"after {cuts.cuts} cuts of seed {seed}"
            tell(cuts)
    finally:
        cuts.end()
    assert cuts.confirmed > 0
    assert cuts.ledger.confirmed
    return cuts


def test_what_was_confirmed_survives_a_few_power_cuts(disk: SmallDisk) -> None:
    survive(disk, FEW, seed=1)


@pytest.mark.parametrize("what", ["records", "messages"])
def test_control_without_syncs_a_power_cut_loses_what_was_confirmed(disk: SmallDisk, tmp_path: Path, what: str) -> None:
    (tmp_path / "lying").mkdir()
    (tmp_path / "lying" / "sitecustomize.py").write_text(LYING)
    python_path = os.pathsep.join([str(tmp_path / "lying"), *filter(None, [os.environ.get("PYTHONPATH")])])
    cuts = Cuts(disk, 2, {"PYTHONPATH": python_path})
    lost = cuts.lost if what == "records" else cuts.queue_lost
    try:
        while not lost and not cuts.is_over and cuts.cuts < 10:
            cuts.once(drain=True)
    finally:
        cuts.end()
    assert lost or cuts.is_over, "the check would not notice a loss"


@pytest.mark.slow
def test_what_was_confirmed_survives_many_power_cuts(disk: SmallDisk, capsys: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()

    def tell(cuts: Cuts) -> None:
        if cuts.cuts % CUTS_PER_LINE == 0:
            with capsys.disabled():
                print(f"\n{cuts.cuts} cuts in {time.monotonic() - began:.0f} s", end="", flush=True)

    cuts = survive(disk, int(os.environ.get("CUTS", "200")), int(os.environ.get("SEED", "3")), tell)
    with capsys.disabled():
        print(f"\n{cuts}")
