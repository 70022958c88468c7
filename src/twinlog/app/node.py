"""A node: the composition root. It knows every room, joins their ports, and decides nothing.

Start: storage takes the data directories and recovers the logs, the metadata log is replayed, the node registers in
it, partitions are made ready, and only then a door opens. Stop goes the other way: doors close, what waits
for the disk is answered, connections end, and each directory gets the mark of a clean stop.

The same object runs on the real machine (``app.process``) and in the simulator: everything of the machine
comes through ``host``.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import Final

from twinlog.app.alarms import AlarmWatch
from twinlog.app.amqp import AmqpRooms, MakeKeeper, StoredQueues
from twinlog.app.journal import FrameJournal
from twinlog.app.settings import NodeSettings
from twinlog.app.sides import NOT_BUILT, SIDES, Side, SidePlan
from twinlog.app.static_configs import static_configs
from twinlog.app.waiting import answered, finished, passed
from twinlog.base import HostFault, Refused
from twinlog.base.address import Address, parse_address
from twinlog.base.logs import Log
from twinlog.cluster import Controller, Endpoint, MetadataLog
from twinlog.host import Host
from twinlog.kafka.broker import Broker
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.rules import KAFKA_RULES
from twinlog.servers.admission import Admission
from twinlog.storage.frames import FrameLog
from twinlog.storage.store import LogStore

DRAIN_MS: Final = 5000
CONNECTIONS_PERCENT: Final = 80  # of the descriptors that the process may have
LOOK_AGAIN_MS: Final = 5
EVERYWHERE: Final = ("0.0.0.0", "::")
METADATA_NAME: Final = "metadata"
AMQP: Final = "amqp"


class Node:
    """``start`` returns when clients are served, ``stop`` when everything is on stable storage and marked clean.

    ``on_failed`` hears when the node cannot go on (its metadata can no longer be written); then stop the process.
    ``on_log_open`` hears of the logs that a start has opened: so many, of so many.
    """

    def __init__(
        self,
        host: Host,
        settings: NodeSettings,
        log: Log,
        sides: Sequence[SidePlan] = SIDES,
        make_keeper: MakeKeeper = StoredQueues,
    ) -> None:
        self.host = host
        self.settings = settings
        self.log = log
        self.node_id = settings.identity.id
        self.addresses: dict[str, Address | None] = {plan.name: None for plan in sides}
        self.closed_because: dict[str, str] = {}
        self.on_failed: Callable[[HostFault], None] = lambda fault: None
        self.on_log_open: Callable[[int, int], None] = lambda done, total: None
        self._plans = sides
        self.sides: list[Side] = []
        directories = [settings.identity.data_dir, *settings.identity.more_data_dirs]
        self.store = LogStore(host, directories, settings.storage, node_id=self.node_id, log=log)
        frames = FrameLog(host.disk, self.store.directories[0].flusher, directories[0], METADATA_NAME)
        self.metadata = MetadataLog(FrameJournal(frames), host.clock, settings.metadata)
        self.metadata.on_offline = self._metadata_offline
        self.controller = Controller(self.metadata, host.chance.fork("controller"), KAFKA_RULES, settings.topics)
        self.broker = Broker(
            node_id=self.node_id,
            metadata=self.metadata,
            controller=self.controller,
            store=self.store,
            settings=settings.kafka,
            configs=ConfigValues(self.node_id, static_configs(settings)),
            chance=host.chance,
            now_ms=host.clock.now_ms,
            soon=host.tasks.soon,
            later=host.tasks.later,
            groups=settings.groups,
            transactions=settings.transactions,
        )
        self.amqp = AmqpRooms(self, make_keeper)
        self.resident_bytes: Callable[[], int] = lambda: 0
        self.memory_total_bytes = 0
        self.alarm_watch: AlarmWatch | None = None
        self.descriptors_max = 0  # of this process; 0 where nobody knows
        self.admission = Admission()

    # ---- start ------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        if self.descriptors_max:  # the rest is for files
            self.admission.connections_max = max(self.descriptors_max * CONNECTIONS_PERCENT // 100, 1)
        self.store.open(self._recovering)
        if self.store.directories[0].offline is not None:
            raise self.store.directories[0].offline  # the metadata live there
        self.metadata.open()
        now_ms = self.host.clock.now_ms()
        cluster_id = base64.urlsafe_b64encode(self.store.cluster_id).rstrip(b"=").decode()
        await finished(lambda done: self.controller.form_cluster(now_ms, done, cluster_id=cluster_id))
        await self._start_amqp()
        # A port that the system chooses is known only once it is taken, and nobody else can know it before us.
        await self._open_sides(port_known=False)
        await self._register()
        # What a crash left unsynced counts again before anybody can ask where a log ends.
        for directory in self.store.directories:
            await answered(directory.flusher.flush)
        self.broker.start()
        await self._open_sides(port_known=True)

    async def _open_sides(self, *, port_known: bool) -> None:
        for plan in self._plans:
            address = plan.address(self)
            if address is None or (address.port != 0) != port_known:
                continue
            if plan.name in self.closed_because:
                continue
            if plan.make is None:
                self.closed_because[plan.name] = NOT_BUILT
                continue
            side = plan.make(self)
            self.addresses[plan.name] = await side.open(address)
            self.sides.append(side)

    async def _start_amqp(self) -> None:
        """Queues that cannot be read keep the AMQP door shut, and nothing else."""
        self.alarm_watch = AlarmWatch(
            self.host,
            self.amqp.broker.alarms,
            self.settings.memory,
            self.settings.identity.data_dir,
            self.log,
            self._memory_changed,
            memory_alarm_bytes=self.settings.amqp.memory_alarm_bytes,
            disk_free_min_bytes=self.settings.amqp.disk_free_min_bytes,
            resident_bytes=self.resident_bytes,
            memory_total_bytes=self.memory_total_bytes,
        )
        self.alarm_watch.start()
        try:
            await self.amqp.start()
        except HostFault as fault:
            self.log.error("queues cannot be read, AMQP stays closed", fault=fault)
            self.closed_because[AMQP] = f"closed: {fault}"

    async def _register(self) -> None:
        known = self.metadata.image.brokers.get(self.node_id)
        clean = known is not None and self.store.clean_incarnation == known.incarnation
        endpoints = self._endpoints()
        incarnation = self.store.incarnation
        outcome = await answered(
            lambda done: self.controller.register_broker(self.node_id, incarnation, endpoints, done, clean=clean)
        )
        if isinstance(outcome, Refused):
            raise outcome

    def _endpoints(self) -> list[Endpoint]:
        """Where Kafka clients are told to come back to. All addresses of a machine are no address to come back to:
        then no host is named, and each client is told the one it came to."""
        listen = self.settings.kafka_listen
        told = parse_address(listen.advertised) if listen.advertised else self.addresses["kafka"]
        if told is None:
            told = next(plan.address(self) for plan in self._plans if plan.name == "kafka")
        if told is None:
            return []
        return [Endpoint("PLAINTEXT", "" if told.host in EVERYWHERE else told.host, told.port, "PLAINTEXT")]

    def _recovering(self, done: int, total: int) -> None:
        self.on_log_open(done, total)
        if done == total or done % 1000 == 0:
            self.log.info("logs are open", done=done, total=total)

    # ---- in service -------------------------------------------------------------------------------------------

    def _memory_changed(self, is_short: bool, is_scarce: bool) -> None:
        self.broker.memory_is_short = is_short
        self.admission.memory_is_scarce = is_scarce

    def _metadata_offline(self, fault: HostFault) -> None:
        self.log.error("the metadata cannot be written any more, the node must stop", fault=fault)
        self.on_failed(fault)

    # ---- stop -------------------------------------------------------------------------------------------------

    async def stop(self) -> None:
        for side in self.sides:
            side.close_door()
        # One more round answers everybody who waits for the disk.
        for directory in self.store.directories:
            await answered(directory.flusher.flush)
        for side in self.sides:
            side.close_connections()
        await self._connections_gone()
        if self.alarm_watch is not None:
            self.alarm_watch.stop()
        if self.amqp.is_open:
            self.amqp.close()
        self.metadata.close()
        await answered(lambda done: self.store.close(lambda: done(None)))

    async def _connections_gone(self) -> None:
        deadline_us = self.host.clock.monotonic_us() + DRAIN_MS * 1000
        while any(side.connection_count for side in self.sides):
            if self.host.clock.monotonic_us() > deadline_us:
                self.log.warning("some peers do not take what we send; their connections are cut")
                return
            await passed(self.host.tasks, LOOK_AGAIN_MS)
