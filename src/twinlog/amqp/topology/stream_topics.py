"""Streams as the topology asks for them: topics that the controller makes and deletes, and what of them is decided."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from twinlog.amqp.codes import PRECONDITION_FAILED, no_queue, refuse
from twinlog.amqp.ports import Done, ExchangeInfo, QueueInfo, T, Twin
from twinlog.amqp.routing import Graph
from twinlog.amqp.topology.twins import Twins, configs_of, own_binding, super_stream_info
from twinlog.base import HostFault, Refused
from twinlog.cluster import Controller, MetadataLog, Outcome, Topic, TopicWanted
from twinlog.cluster.errors import Reason
from twinlog.cluster.kinds.bindings import Binding
from twinlog.cluster.streams import find_stream, find_super_stream, topic_of
from twinlog.wire.amqp import Table


class StreamTopics:
    """Without a controller there are no topics, and so no streams."""

    def __init__(self, metadata: MetadataLog, controller: Controller | None, graph: Graph, twins: Twins) -> None:
        self._metadata: Final = metadata
        self._controller: Final = controller
        self._graph: Final = graph
        self._twins: Final = twins

    # ---- what is decided --------------------------------------------------------------------------------------

    def queue(self, vhost: str, name: str, seen: QueueInfo | None) -> tuple[QueueInfo | None, bool]:
        """The stream as decided, and whether the graph shows just that; ``seen`` is what it shows."""
        image = self._metadata.image_decided
        if image is self._metadata.image:
            return seen, True
        found = find_stream(image, vhost, name)
        if found is None or not self._twins.sees(found[0].name):
            return None, seen is None
        info = self._twins.info_of(image, *found)
        return (seen, True) if seen is not None and seen.twin == info.twin else (info, False)

    def exchange(self, vhost: str, name: str, seen: ExchangeInfo | None) -> tuple[ExchangeInfo | None, bool]:
        """The super stream, likewise."""
        image = self._metadata.image_decided
        if image is self._metadata.image:
            return seen, True
        topic = find_super_stream(image, vhost, name)
        if topic is None or not self._twins.sees(topic.name):
            return None, seen is None
        if seen is not None and seen.twin == topic.name:
            return seen, True
        return super_stream_info(topic), False

    # ---- making and deleting ----------------------------------------------------------------------------------

    def create(self, vhost: str, name: str, arguments: Table, done: Done[QueueInfo]) -> None:
        def created(outcomes: list[Outcome[Topic]]) -> None:
            outcome = outcomes[0]
            info = self._graph.queue(vhost, name)
            if isinstance(outcome, Refused):
                done(_as_refusal(outcome, name))
            elif info is None:
                done(no_queue(vhost, name))  # deleted meanwhile
            else:
                done(info)

        wanted = TopicWanted(topic_of(vhost, name), 1, configs=configs_of(arguments))
        self._topics(name).create_topics([wanted], created)

    def create_super_stream(self, vhost: str, name: str, partitions: int, arguments: Table, done: Done[None]) -> None:
        """Unless it is there with as many partitions."""

        def created(outcomes: list[Outcome[Topic]]) -> None:
            outcome = outcomes[0]
            done(_as_refusal(outcome, name) if isinstance(outcome, Refused) else None)

        topic = topic_of(vhost, name)
        known = self._metadata.image_decided.topics_by_name.get(topic)
        if known is not None and len(known.partitions) == partitions:
            self._metadata.propose([], lambda fault: created([known]))
            return
        wanted = TopicWanted(topic, partitions, configs=configs_of(arguments))
        self._topics(name).create_topics([wanted], created)

    def delete(self, info: QueueInfo, twin: Twin, done: Done[T], outcome: Callable[[], T]) -> None:
        if twin.is_part:
            refuse(
                PRECONDITION_FAILED,
                f"queue '{info.name}' in vhost '{info.vhost}' is a partition of topic '{twin.topic}' and goes with it",
            )

        def deleted(outcomes: list[Outcome[Topic]]) -> None:
            refused = outcomes[0]
            done(_as_refusal(refused, info.name) if isinstance(refused, Refused) else outcome())

        self._topics(info.name).delete_topics([twin.topic_id], deleted)

    def _topics(self, name: str) -> Controller:
        if self._controller is None:
            refuse(PRECONDITION_FAILED, f"there are no topics here that '{name}' could be")
        return self._controller


def check_may_go(info: ExchangeInfo) -> None:
    """``Refused`` 406 for the exchange of a super stream."""
    if info.twin is not None:
        refuse(
            PRECONDITION_FAILED,
            f"exchange '{info.name}' in vhost '{info.vhost}' is the super stream of topic '{info.twin}' and goes "
            "with it",
        )


def is_own(binding: Binding, source: ExchangeInfo | None, target: QueueInfo | ExchangeInfo | None) -> bool:
    """Whether it is what a super stream is made of."""
    if source is None or source.twin is None or not isinstance(target, QueueInfo) or target.twin is None:
        return False
    return target.twin.topic == source.twin and binding == own_binding(source.vhost, source.name, target)


def _as_refusal(refused: Refused, name: str) -> Refused | HostFault:
    """What the controller says, in AMQP's codes."""
    if refused.code == Reason.KAFKA_STORAGE_ERROR:
        return HostFault("metadata log", refused.message)
    return Refused(PRECONDITION_FAILED, f"stream '{name}': {refused.message}")
