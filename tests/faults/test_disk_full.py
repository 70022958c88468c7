"""A real node on a small file system that runs full: nothing acknowledged is lost, and it mends itself."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.amqp.raw import PERSISTENT, Channel, Client, eventually
from twinlog.testing import Broker
from twinlog.wire.amqp import methods as wire

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


@pytest.mark.parametrize("low_mark", [True, False], ids=["refused-by-the-mark", "refused-by-the-file-system"])
def test_queues_on_a_disk_that_runs_full_lose_nothing_and_their_consumers_go_on(
    small_disk: Path, low_mark: bool
) -> None:
    """A topic fills the disk; publishers wait or are told no, consumers take and acknowledge as before."""
    settings: dict[str, object] = {"amqp.listen": "127.0.0.1:0", "storage.reserve_bytes": 0, "storage.rounds_bytes": 0}
    if low_mark:
        settings |= {"amqp.disk_free_min_bytes": 40 * MIB}
    else:
        settings |= {
            "amqp.disk_free_min_bytes": 0,
            "storage.disk_low_bytes": 0,
            "storage.disk_low_percent": 0,
        }
    with Broker(data_dir=small_disk / "data", settings=settings) as broker:
        admin = admin_of.AdminClient({"bootstrap.servers": broker.kafka})
        topic = admin_of.NewTopic("t", 1, 1, config={"segment.bytes": str(MIB), "file.delete.delay.ms": "0"})
        admin.create_topics([topic])["t"].result(30)
        with Client(broker.amqp).opened() as publisher, Client(broker.amqp).opened() as consumer:
            sending, taking = publisher.channel(), consumer.channel()
            taking.queue("q", durable=True)
            sending.published("", "q", *(body(number) for number in range(40)), properties=PERSISTENT)
            sender = Sender(broker, **{"delivery.timeout.ms": 3000})
            sender.send_until_refused("t")
            assert sender.refused, "a full disk took everything"

            if low_mark:
                assert isinstance(publisher.next_thing(0), wire.ConnectionBlocked)
                answers = {}
            else:
                answers = publish_until_it_waits(sending)
            for number in range(10):
                message = taking.get("q")
                assert message is not None and message.body == body(number), "consumers go on"
                taking.ack(message.tag)

            place = confluent_kafka.TopicPartition("t", 0, len(sender.acknowledged) - 5)
            admin.delete_records([place])[place].result(30)
            if low_mark:
                assert isinstance(publisher.next_thing(0), wire.ConnectionUnblocked)
            eventually(lambda: is_confirmed(broker))
            take_answers(sending, answers)  # what waited for room has it now
            assert low_mark or set(answers.values()) == {"stored", "refused"}

        broker.kill()
        broker.start()
        with Client(broker.amqp).opened() as client:
            bodies = client.channel().bodies("q")
        kept = {body(number) for number in range(10, 40)} | {
            body(FIRST + n) for n, said in answers.items() if said == "stored"
        }
        assert kept <= set(bodies)
        assert not {body(FIRST + n) for n, said in answers.items() if said == "refused"} & set(bodies)
        assert body(LAST) in bodies
        assert "Traceback" not in broker.log


FIRST = 1000  # above it lies what is published while the disk is full
LAST = 9999


def body(number: int) -> bytes:
    return b"%04d" % number + bytes(20_000)


def publish_until_it_waits(channel: Channel) -> dict[int, str]:
    """Publishes numbered messages, each when the one before is answered, until the disk has no room: the first that
    finds none waits for it, those behind it are refused, and all are told in the order of publishing."""
    answers: dict[int, str] = {}
    channel.confirm_select()
    channel.client.socket.settimeout(1)
    while list(answers.values()).count("waits") < 3:
        number = 1 + len(answers)  # its tag, too
        answers[number] = "waits"
        channel.publish("", "q", body(FIRST + number), PERSISTENT)
        with contextlib.suppress(TimeoutError):
            take_answer(channel, answers)
    channel.client.socket.settimeout(20)
    return answers


def take_answers(channel: Channel, answers: dict[int, str]) -> None:
    while "waits" in answers.values():
        take_answer(channel, answers)


def take_answer(channel: Channel, answers: dict[int, str]) -> None:
    said = channel.next_thing()
    assert isinstance(said, (wire.BasicAck, wire.BasicNack)), said
    fate = "stored" if isinstance(said, wire.BasicAck) else "refused"
    for number, before in answers.items():
        if before == "waits" and (number == said.delivery_tag or (said.multiple and number < said.delivery_tag)):
            answers[number] = fate


def is_confirmed(broker: Broker) -> bool:
    """Whether another publisher gets a message in."""
    with Client(broker.amqp).opened() as client:
        channel = client.channel()
        channel.confirm_select()
        channel.publish("", "q", body(LAST), PERSISTENT)
        return isinstance(channel.next_thing(), wire.BasicAck)
