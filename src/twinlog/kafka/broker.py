"""What an API handler sees of the node: one object, so that a handler is a function of a request and this."""

from __future__ import annotations

from collections.abc import Callable

from twinlog.cluster import Controller, Image, MetadataLog, Outcome, ProducerIdBlock
from twinlog.host import Chance
from twinlog.kafka.config_values import ConfigValues
from twinlog.kafka.coordinator.timers import Later, Timers
from twinlog.kafka.fetch import Fetches
from twinlog.kafka.groups import GroupSettings
from twinlog.kafka.groups.coordinator import GroupCoordinator
from twinlog.kafka.metrics import KafkaMetrics
from twinlog.kafka.partition_table import PartitionTable
from twinlog.kafka.ports import Soon
from twinlog.kafka.producer_ids import ProducerIds
from twinlog.kafka.quotas import QuotaBook, Quotas
from twinlog.kafka.rights import AllRights, Rights
from twinlog.kafka.settings import KafkaSettings
from twinlog.kafka.topic_plan import TopicPlans
from twinlog.kafka.transactions import TransactionCoordinator, TransactionSettings
from twinlog.kafka.transactions.joining import Joining
from twinlog.storage import LogStore


class Broker:
    """The Kafka side of a node, without its sockets.

    ``start`` makes every partition of the metadata image servable and follows it from then on; before that no
    listener may be open, so no client can be sent to a leader whose log is not ready.
    """

    def __init__(
        self,
        *,
        node_id: int,
        metadata: MetadataLog,
        controller: Controller,
        store: LogStore,
        settings: KafkaSettings,
        configs: ConfigValues,
        chance: Chance,
        now_ms: Callable[[], int],
        soon: Soon,
        later: Later,
        groups: GroupSettings | None = None,
        transactions: TransactionSettings | None = None,
        quotas: Quotas | None = None,
    ) -> None:
        self.node_id = node_id
        self.metadata = metadata
        self.controller = controller
        self.store = store
        self.settings = settings
        self.configs = configs
        self.now_ms = now_ms
        self.metrics = KafkaMetrics()
        self.memory_is_short = False  # producers are slowed down
        self._quota_book = QuotaBook(self.metrics)
        self.quotas: Quotas = quotas or self._quota_book
        self.rights: Rights = AllRights()
        plans = TopicPlans(
            configs,
            flush_interval_ms=store.settings.flush_interval_ms,
            inflated_max_bytes=settings.batch_inflated_max_bytes,
        )
        self.partitions = PartitionTable(node_id, store, plans, soon)
        self.fetches = Fetches(self.partitions, settings, chance.fork("fetch sessions"), soon)
        self.producer_ids = ProducerIds(self._allocate_producer_ids)
        self.groups = GroupCoordinator(
            node_id=node_id,
            partitions=self.partitions,
            controller=controller,
            settings=groups or GroupSettings(),
            chance=chance.fork("group members"),
            timers=Timers(now_ms, soon, later),
        )
        self.transactions = TransactionCoordinator(
            node_id=node_id,
            partitions=self.partitions,
            controller=controller,
            settings=transactions or TransactionSettings(),
            metrics=self.metrics,
            fresh_ids=self.producer_ids,
            offsets=self.groups,
            timers=Timers(now_ms, soon, later),
        )
        self.joining = Joining(self.transactions)

    @property
    def image(self) -> Image:
        return self.metadata.image

    def start(self) -> None:
        self.partitions.on_lost = lambda lost: self.controller.leaders_lost(self.node_id, lost)
        self.partitions.on_erased = self.controller.topics_erased
        self.metadata.subscribe(self.partitions.follow)
        self.metadata.subscribe(self._quota_book.follow)
        self.metadata.subscribe(self.groups.follow)
        self.metadata.subscribe(self.transactions.follow)

    def _allocate_producer_ids(self, done: Callable[[Outcome[ProducerIdBlock]], None]) -> None:
        self.controller.allocate_producer_ids(self.node_id, self.image.brokers[self.node_id].broker_epoch, done)
