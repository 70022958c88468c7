"""A real node on a small file system that runs full: nothing acknowledged is lost, and it mends itself."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from twinlog.testing import Broker

confluent_kafka = pytest.importorskip("confluent_kafka")
admin_of = pytest.importorskip("confluent_kafka.admin")

MIB = 1 << 20
ENOUGH = 2000


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(place)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting a small file system needs root")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


class Sender:
    """Sends numbered records until somebody says no; remembers what was acknowledged, and at which offset."""

    def __init__(self, broker: Broker, **options: object) -> None:
        self.acknowledged: dict[int, bytes] = {}
        self.refused: list[str] = []
        self.number = 0
        self._producer = confluent_kafka.Producer({"bootstrap.servers": broker.kafka, "linger.ms": 0, **options})

    def _told(self, error: object, message: object) -> None:
        if error is not None:
            self.refused.append(str(error))
        else:
            self.acknowledged[message.offset()] = message.value()  # type: ignore[attr-defined]

    def send_until_refused(self, topic: str) -> None:
        while not self.refused and self.number < ENOUGH:
            self.send(topic, 1)

    def send(self, topic: str, count: int) -> None:
        for _ in range(count):
            self.number += 1
            self._producer.produce(topic, b"%d:" % self.number + b"x" * 100_000, callback=self._told)
            self._producer.flush(60)


def stored(broker: Broker, topic: str) -> dict[int, bytes]:
    consumer = confluent_kafka.Consumer({"bootstrap.servers": broker.kafka, "group.id": "reader", "check.crcs": True})
    place = confluent_kafka.TopicPartition(topic, 0)
    start, end = consumer.get_watermark_offsets(place, timeout=30)
    place.offset = start
    consumer.assign([place])
    found: dict[int, bytes] = {}
    while not found or max(found) < end - 1:
        message = consumer.poll(30)
        assert message is not None and message.error() is None, "nothing came"
        found[message.offset()] = message.value()
    consumer.close()
    return found


@pytest.mark.parametrize("low_mark", [True, False], ids=["refused-by-the-mark", "refused-by-the-file-system"])
def test_a_disk_that_runs_full_loses_nothing_and_takes_records_again_when_there_is_room(
    small_disk: Path, low_mark: bool
) -> None:
    settings = {} if low_mark else {"storage.disk_low_bytes": 0, "storage.disk_low_percent": 0}
    settings |= {"storage.reserve_bytes": 0, "storage.rounds_bytes": 0}
    with Broker(data_dir=small_disk / "data", settings=settings) as broker:
        admin = admin_of.AdminClient({"bootstrap.servers": broker.kafka})
        topic = confluent_kafka.admin.NewTopic(
            "t", 1, 1, config={"segment.bytes": str(MIB), "file.delete.delay.ms": "0"}
        )
        admin.create_topics([topic])["t"].result(30)
        sender = Sender(broker, **{"delivery.timeout.ms": 3000})
        sender.send_until_refused("t")
        assert sender.refused, "a full disk took everything"
        before = dict(sender.acknowledged)
        assert len(before) > 20

        found = stored(broker, "t")
        assert {offset: found[offset] for offset in before} == before, "consumers go on, and find all that was told"

        place = confluent_kafka.TopicPartition("t", 0, len(before) - 5)
        admin.delete_records([place])[place].result(30)
        patient = Sender(broker, **{"delivery.timeout.ms": 60_000})
        patient.number = 100_000
        patient.send("t", 5)
        assert not patient.refused
        assert len(patient.acknowledged) == 5

        broker.kill()
        broker.start()
        found = stored(broker, "t")
        for offset, value in {**before, **patient.acknowledged}.items():
            assert offset < min(found) or found[offset] == value
        assert "Traceback" not in broker.log
