"""Topics as AMQP sees them: brings the streams that the metadata's topics are into the graph.

A topic is shown whole or not at all. It is not while its vhost is missing, or a name that it needs is taken; requests
that would make that so are refused (``cluster.core.topics``), so only what was stored before can be. Then what AMQP
itself declared goes first, then topics of one partition, then those of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from twinlog.amqp import policies
from twinlog.amqp.arguments import MAX_AGE, MAX_BYTES, QUEUE_TYPE, SEGMENT_BYTES, age_seconds
from twinlog.amqp.ports import STREAM, ExchangeInfo, QueueInfo, Twin
from twinlog.amqp.routing import Edge, Graph, VhostGraph
from twinlog.amqp.topology.rules import encode_arguments
from twinlog.cluster import Image, Topic
from twinlog.cluster.kinds.bindings import BINDINGS, Binding
from twinlog.cluster.kinds.configs import TOPIC
from twinlog.cluster.kinds.policies import POLICIES
from twinlog.cluster.kinds.vhosts import VHOSTS
from twinlog.cluster.streams import place_of, queue_names

RETENTION_MS: Final = "retention.ms"
RETENTION_BYTES: Final = "retention.bytes"
SEGMENT: Final = "segment.bytes"
FOR_EVER: Final = "-1"
TOLD_BY: Final = {MAX_AGE: RETENTION_MS, MAX_BYTES: RETENTION_BYTES, SEGMENT_BYTES: SEGMENT}
SUPER_STREAM: Final = "x-super-stream"
PARTITION_ORDER: Final = "x-stream-partition-order"
STREAM_ID: Final = 3 << 60  # ids of streams: this node's, for as long as it runs; nothing is stored under them


def configs_of(arguments: Mapping[str, Any]) -> dict[str, str]:
    """What a topic must be told to keep what a stream of these arguments keeps: without limits, everything."""
    age = arguments.get(MAX_AGE)
    seconds = age_seconds(age) if age is not None else None
    configs = {
        RETENTION_MS: FOR_EVER if seconds is None else str(seconds * 1000),
        RETENTION_BYTES: str(arguments.get(MAX_BYTES, FOR_EVER)),
    }
    if SEGMENT_BYTES in arguments:
        configs[SEGMENT] = str(arguments[SEGMENT_BYTES])
    return configs


def arguments_of(configs: Mapping[str, str]) -> dict[str, Any]:
    """The other way: only what was set on the topic itself, in seconds where RabbitMQ knows nothing smaller."""
    arguments: dict[str, Any] = {QUEUE_TYPE: STREAM}
    kept_ms = configs.get(RETENTION_MS, FOR_EVER)
    if kept_ms != FOR_EVER:
        arguments[MAX_AGE] = f"{-(-int(kept_ms) // 1000)}s"
    for config, name in ((RETENTION_BYTES, MAX_BYTES), (SEGMENT, SEGMENT_BYTES)):
        value = configs.get(config, FOR_EVER)
        if value != FOR_EVER:
            arguments[name] = int(value)
    return arguments


def overruled_by_policies(image: Image, topic: str, *, internal: frozenset[str]) -> dict[str, str]:
    """Configs that policies decide for the stream that a topic is; the first of them, where there are several."""
    if topic in internal:
        return {}
    vhost, name = place_of(topic)
    here = [policy for policy in image.part(POLICIES).values() if policy.vhost == vhost]
    known = image.topics_by_name.get(topic)
    if not here or known is None or vhost not in image.part(VHOSTS):
        return {}
    queue = next(queue_names(name, len(known.partitions)))
    arguments = arguments_of(image.configs.of(TOPIC, topic))
    effective = policies.queue_effective(STREAM, arguments, *policies.policies_of_queue(here, queue, STREAM))
    changed = {name: effective[name] for name in TOLD_BY if effective.get(name) != arguments.get(name)}
    configs = configs_of(changed)
    return {config: configs[config] for name, config in TOLD_BY.items() if name in changed}


class Twins:
    """``effective`` says what a queue's arguments and the policies add up to, ``effective_exchange`` an exchange's."""

    def __init__(
        self,
        graph: Graph,
        internal: frozenset[str],
        effective: Callable[[QueueInfo], Mapping[str, Any]],
        effective_exchange: Callable[[ExchangeInfo], Mapping[str, Any]],
    ) -> None:
        self._graph: Final = graph
        self._internal: Final = internal
        self._effective = effective
        self._effective_exchange = effective_exchange
        self._shown: dict[str, Topic] = {}
        self.hidden: dict[str, None] = {}
        self.queue_count = 0
        self._id_next = STREAM_ID

    def sees(self, topic: str) -> bool:
        return topic not in self._internal and place_of(topic).vhost in self._graph.vhosts

    # ---- following --------------------------------------------------------------------------------------------

    def remove(self, topic: Topic, lost: list[Edge]) -> list[QueueInfo]:
        """Returns the queues that went with it."""
        self.hidden.pop(topic.name, None)
        shown = self._shown.pop(topic.name, None)
        vhost, name = place_of(topic.name)
        part = self._graph.vhosts.get(vhost)
        if shown is None or part is None:
            return []
        count = len(shown.partitions)
        if count > 1:
            lost += part.remove_exchange(name)
        gone = []
        self.queue_count -= count
        for queue in queue_names(name, count):
            gone.append(part.queues[queue])
            lost += part.remove_queue(queue)
        return gone

    def grow(self, image: Image, topic: Topic, lost: list[Edge]) -> tuple[list[QueueInfo], list[QueueInfo]]:
        """It changed: (queues that are gone, queues that are new)."""
        shown = self._shown.get(topic.name)
        if shown is None:
            return [], self.show(image, [topic])
        have, count = len(shown.partitions), len(topic.partitions)
        if have == count:
            return [], []
        if have == 1:
            return self.remove(shown, lost), self.show(image, [topic])
        self._shown[topic.name] = topic
        vhost, name = place_of(topic.name)
        part = self._graph.vhosts[vhost]
        return [], [self._add_partition(image, part, name, topic, index) for index in range(have, count)]

    def show(self, image: Image, topics: Iterable[Topic]) -> list[QueueInfo]:
        """Those that can be shown are from now on; returns their queues."""
        made: list[QueueInfo] = []
        for topic in sorted(topics, key=lambda topic: len(topic.partitions) > 1):
            vhost, name = place_of(topic.name)
            part = self._graph.vhosts.get(vhost)
            count = len(topic.partitions)
            if topic.name in self._internal:
                continue
            if part is None or self._lacks_names(part, name, count):
                self.hidden[topic.name] = None
                continue
            self.hidden.pop(topic.name, None)
            self._shown[topic.name] = topic
            if count == 1:
                made.append(self._add_queue(image, part, topic, 0))
            else:
                info = super_stream_info(topic)
                info.effective = self._effective_exchange(info)
                part.add_exchange(info)
                made += [self._add_partition(image, part, name, topic, index) for index in range(count)]
        return made

    def show_hidden(self, image: Image) -> list[QueueInfo]:
        """Names became free, or a vhost is new. What is bound to what appears now is bound again."""
        if not self.hidden:
            return []
        topics = [image.topics_by_name[name] for name in self.hidden if name in image.topics_by_name]
        return self.show(image, topics)

    def stored_bindings(self, image: Image, infos: Iterable[QueueInfo]) -> Iterator[Binding]:
        """Bindings of the metadata to these queues, and of the exchanges that lead to them."""
        bindings = image.part(BINDINGS)
        for info in infos:
            assert info.twin is not None
            yield from bindings.reaching(info.vhost, True, info.name)
            if info.twin.is_part:
                exchange = place_of(info.twin.topic)
                yield from bindings.leaving(*exchange)
                yield from bindings.reaching(exchange.vhost, False, exchange.name)

    def set_arguments(self, image: Image, topic: str) -> list[QueueInfo]:
        """Configs of the topic changed; returns the queues that obey others now."""
        shown = self._shown.get(topic)
        part = self._graph.vhosts.get(place_of(topic).vhost)
        if shown is None or part is None:
            return []
        changed = []
        for queue in queue_names(place_of(topic).name, len(shown.partitions)):
            info = part.queues[queue]
            info.arguments = arguments_of(image.configs.of(TOPIC, topic))
            effective = self._effective(info)
            if effective != info.effective:
                info.effective = effective
                changed.append(info)
        return changed

    def forget_vhost(self, vhost: str) -> None:
        """It is gone, with everything in it."""
        for name in [name for name in self._shown if place_of(name).vhost == vhost]:
            self.queue_count -= len(self._shown.pop(name).partitions)
            self.hidden[name] = None

    def info_of(self, image: Image, topic: Topic, partition: int) -> QueueInfo:
        """A stream queue as it will be shown."""
        vhost, name = place_of(topic.name)
        count = len(topic.partitions)
        queue = name if count == 1 else f"{name}-{partition}"
        arguments = arguments_of(image.configs.of(TOPIC, topic.name))
        twin = Twin(topic.name, topic.topic_id, partition, count > 1)
        return QueueInfo(0, vhost, queue, True, None, False, arguments, {}, STREAM, twin=twin)

    def _lacks_names(self, part: VhostGraph, name: str, count: int) -> bool:
        if count > 1 and name in part.exchanges:
            return True
        return any(queue in part.queues for queue in queue_names(name, count))

    def _add_queue(self, image: Image, part: VhostGraph, topic: Topic, partition: int) -> QueueInfo:
        info = self.info_of(image, topic, partition)
        self.queue_count += 1
        self._id_next += 1
        info.id = self._id_next
        info.effective = self._effective(info)
        part.add_queue(info)
        return info

    def _add_partition(self, image: Image, part: VhostGraph, exchange: str, topic: Topic, index: int) -> QueueInfo:
        info = self._add_queue(image, part, topic, index)
        part.add_edge(own_binding(part.name, exchange, info), {PARTITION_ORDER: index})
        return info


def super_stream_info(topic: Topic) -> ExchangeInfo:
    vhost, name = place_of(topic.name)
    return ExchangeInfo(vhost, name, "direct", True, False, False, {SUPER_STREAM: True}, twin=topic.name)


def own_binding(vhost: str, exchange: str, info: QueueInfo) -> Binding:
    """Of a super stream's exchange to one of its streams."""
    assert info.twin is not None
    arguments = encode_arguments({PARTITION_ORDER: info.twin.partition})
    return Binding(vhost, exchange, True, info.name, str(info.twin.partition), arguments)
