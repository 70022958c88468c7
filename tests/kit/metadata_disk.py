"""A metadata log on a simulated disk, with its controller."""

from __future__ import annotations

from tests.kit.cluster import SeededChance
from tests.kit.storage import QUICK, Machine
from twinlog.app.journal import FrameJournal
from twinlog.cluster import ConfigOp, ConfigsWanted, Controller, Endpoint, Image, MetadataLog, TopicWanted
from twinlog.cluster.settings import MetadataLogSettings
from twinlog.kafka.rules import KAFKA_RULES
from twinlog.storage import FrameLog
from twinlog.storage.flusher import Flusher


class MetadataNode:
    """On a machine that outlives it."""

    def __init__(self, machine: Machine, snapshot_after_bytes: int = 4096) -> None:
        self.machine = machine
        machine.disk.make_directory("data")
        machine.disk.sync_directory_now("")
        flusher = Flusher(machine.disk, machine.tasks, QUICK)
        frames = FrameLog(machine.disk, flusher, "data", "metadata")
        settings = MetadataLogSettings(snapshot_after_bytes=snapshot_after_bytes)
        self.log = MetadataLog(FrameJournal(frames), machine.clock, settings)
        self.log.open()
        self.controller = Controller(self.log, SeededChance(self.log.image.offset), KAFKA_RULES)

    def form(self) -> None:
        self.controller.form_cluster(1, lambda fault: None)
        endpoint = Endpoint("PLAINTEXT", "node1", 9092, "PLAINTEXT")
        self.controller.register_broker(1, b"1" * 16, [endpoint], lambda outcome: None, clean=True)
        self.machine.settle()

    def create(self, name: str) -> list[object]:
        heard: list[object] = []
        self.controller.create_topics([TopicWanted(name, 3, configs={"retention.ms": "1000"})], heard.extend)
        return heard


def lived(snapshot_after_bytes: int) -> tuple[dict[str, bytes], list[Image]]:
    """A short life: its files after everything became durable and the mark caught up, and every image on the way."""
    machine = Machine()
    node = MetadataNode(machine, snapshot_after_bytes)
    images = [node.log.image]
    node.log.subscribe(lambda image, delta: images.append(image))
    node.form()
    for name in ("orders", "payments"):
        node.create(name)
        machine.settle()
    node.controller.alter_configs([ConfigsWanted("broker", "", [ConfigOp("log.retention.ms", 0, "5")])], lambda _: None)
    machine.settle(1000)
    return machine.copy_tree("data"), images
