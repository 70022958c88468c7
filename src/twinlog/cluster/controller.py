"""The controller of a cluster of one: turns wishes into records, and answers when they are durable.

What to write is decided by ``core``; this class only joins decisions with the log. ``done`` gets one outcome
for each item asked for, in order. A fault of the disk becomes a refusal of every item that depended on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

from twinlog.base import Refused
from twinlog.cluster.core import configs, nodes, quotas, topics
from twinlog.cluster.errors import Reason
from twinlog.cluster.image import Image
from twinlog.cluster.kinds.brokers import Endpoint
from twinlog.cluster.kinds.topics import Topic
from twinlog.cluster.log import MetadataLog
from twinlog.cluster.ports import NamesTaken, Rules
from twinlog.cluster.settings import ControllerSettings
from twinlog.cluster.types import (
    ConfigsWanted,
    Decision,
    Outcome,
    PartitionsWanted,
    Permit,
    ProducerIdBlock,
    QuotaWanted,
    TopicWanted,
    no_limit,
)
from twinlog.host import Chance

T = TypeVar("T")
Done: TypeAlias = Callable[[list[Outcome[T]]], None]
OneDone: TypeAlias = Callable[[Outcome[T]], None]


class Controller:
    def __init__(
        self, log: MetadataLog, chance: Chance, rules: Rules, settings: ControllerSettings | None = None
    ) -> None:
        self._log = log
        self._chance = chance
        self._rules = rules
        self.settings = settings or ControllerSettings()
        self.names_taken: NamesTaken | None = None

    @property
    def image(self) -> Image:
        """What is decided, durable or not yet: the ground of the next decision."""
        return self._log.image_decided

    def create_topics(
        self,
        wanted: Sequence[TopicWanted],
        done: Done[Topic],
        *,
        validate_only: bool = False,
        permit: Permit = no_limit,
    ) -> None:
        decision = topics.create_topics(
            self.image, wanted, self._rules, self.settings, self._chance, permit, self.names_taken
        )
        self._carry_out(decision, done, validate_only)

    def create_partitions(
        self,
        wanted: Sequence[PartitionsWanted],
        done: Done[Topic],
        *,
        validate_only: bool = False,
        permit: Permit = no_limit,
    ) -> None:
        decision = topics.create_partitions(self.image, wanted, self.settings, permit, self.names_taken)
        self._carry_out(decision, done, validate_only)

    def delete_topics(self, topic_ids: Sequence[bytes], done: Done[Topic], *, permit: Permit = no_limit) -> None:
        self._carry_out(topics.delete_topics(self.image, topic_ids, permit), done)

    def topics_erased(self, topic_ids: Sequence[bytes]) -> None:
        """The store deleted every file of these topics; they need not be deleted again after a restart."""
        self._log.propose(topics.topics_erased(self.image, topic_ids), lambda fault: None)

    def alter_configs(self, wanted: Sequence[ConfigsWanted], done: Done[None], *, validate_only: bool = False) -> None:
        self._carry_out(configs.alter_configs(self.image, wanted, self._rules), done, validate_only)

    def alter_quotas(self, wanted: Sequence[QuotaWanted], done: Done[None], *, validate_only: bool = False) -> None:
        self._carry_out(quotas.alter_quotas(self.image, wanted), done, validate_only)

    def form_cluster(self, now_ms: int, done: Callable[[Exception | None], None], *, cluster_id: str = "") -> None:
        """Gives a new cluster its id (a new one, or the one its disks carry); does nothing to one that has it."""
        self._log.propose(nodes.form_cluster(self.image, self._chance, now_ms, cluster_id), done)

    def register_broker(
        self,
        broker_id: int,
        incarnation: bytes,
        endpoints: Sequence[Endpoint],
        done: OneDone[int],
        *,
        clean: bool,
        rack: str | None = None,
    ) -> None:
        """A node's process says that it runs. The outcome is its broker epoch."""
        decision = nodes.register_broker(self.image, broker_id, incarnation, endpoints, rack, clean=clean)
        self._carry_out(decision, lambda outcomes: done(outcomes[0]))

    def allocate_producer_ids(self, broker_id: int, broker_epoch: int, done: OneDone[ProducerIdBlock]) -> None:
        decision = nodes.take_producer_ids(self.image, broker_id, broker_epoch)
        self._carry_out(decision, lambda outcomes: done(outcomes[0]))

    def update_feature(
        self, name: str, level: int, done: OneDone[None], *, allow_lower: bool = False, validate_only: bool = False
    ) -> None:
        decision = nodes.update_feature(self.image, name, level, allow_lower=allow_lower)
        self._carry_out(decision, lambda outcomes: done(outcomes[0]), validate_only)

    def leaders_lost(self, broker_id: int, partitions: Sequence[tuple[bytes, int]]) -> None:
        """The disk below these partitions failed; clients must hear that they have no leader."""
        self._log.propose(nodes.leaders_lost(self.image, broker_id, partitions), lambda fault: None)

    def _carry_out(self, decision: Decision[T], done: Done[T], validate_only: bool = False) -> None:
        if validate_only:
            done(decision.outcomes)
            return

        def on_written(fault: Exception | None) -> None:
            if fault is None:
                done(decision.outcomes)
                return
            refused = Refused(Reason.KAFKA_STORAGE_ERROR, f"the metadata could not be written: {fault}")
            done([outcome if isinstance(outcome, Refused) else refused for outcome in decision.outcomes])

        self._log.propose(decision.records, on_written)
