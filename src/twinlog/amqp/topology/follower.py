"""Brings what the metadata log says into the graph, and tells the keeper of queues."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from twinlog.amqp import policies
from twinlog.amqp.ports import ExchangeInfo, QueueInfo, QueueKeeper
from twinlog.amqp.routing import Edge, Graph, VhostGraph
from twinlog.amqp.topology.keeper import NoKeeper
from twinlog.amqp.topology.rules import PREDECLARED, decode_arguments
from twinlog.amqp.topology.twins import Twins
from twinlog.cluster import Delta, Image
from twinlog.cluster.kinds.bindings import BINDINGS, Binding
from twinlog.cluster.kinds.configs import TOPIC
from twinlog.cluster.kinds.exchanges import EXCHANGES, ExchangeDeclared
from twinlog.cluster.kinds.policies import POLICIES, PolicyPut
from twinlog.cluster.kinds.queues import QUEUES, QueueDeclared
from twinlog.cluster.kinds.vhosts import VHOSTS


class Follower:
    """``lost`` hears of edges that went because something at their ends did, when the graph is whole again."""

    def __init__(
        self, graph: Graph, lost: Callable[[Iterable[Edge]], None], internal_topics: frozenset[str] = frozenset()
    ) -> None:
        self.graph: Final = graph
        self.twins: Final = Twins(graph, internal_topics, self._queue_effective, self._exchange_effective)
        self.keeper: QueueKeeper = NoKeeper()
        self.reasons: dict[tuple[str, str], str] = {}  # why a durable queue is being deleted
        self.on_vhost_deleted: Callable[[str], None] = lambda vhost: None
        self._lost = lost
        self._policies: dict[str, list[PolicyPut]] = {}

    def follow(self, image: Image, delta: Delta) -> None:
        lost: list[Edge] = []
        deleted: list[QueueInfo] = []
        created: list[QueueInfo] = []
        changed: list[QueueInfo] = []
        vhosts_gone = [record.name for record in delta.change(VHOSTS).deleted]
        for vhost in vhosts_gone:
            deleted += self.graph.vhosts.pop(vhost).queues.values()
            self.twins.forget_vhost(vhost)
        self._follow_deletions(delta, lost, deleted)
        if delta.touches(POLICIES):
            self._sort_policies(image)
        self._follow_creations(image, delta, created, deleted, lost)
        for kind, name in delta.configs.changed:
            if kind == TOPIC:
                changed += self.twins.set_arguments(image, name)
        if delta.touches(POLICIES):
            for part in self.graph:
                changed += self._refresh(part)
        for info in deleted:
            self.keeper.on_queue_deleted(info, self.reasons.pop((info.vhost, info.name), "deleted"))
        for info in created:
            self.keeper.on_queue_created(info)
        for info in changed:
            if info not in created:
                self.keeper.on_queue_changed(info)
        self._lost(lost)
        for vhost in vhosts_gone:
            self.on_vhost_deleted(vhost)

    def _follow_deletions(self, delta: Delta, lost: list[Edge], deleted: list[QueueInfo]) -> None:
        for queue in delta.change(QUEUES).deleted:
            part = self.graph.vhosts.get(queue.vhost)
            if part is not None:
                deleted.append(part.queues[queue.name])
                lost += part.remove_queue(queue.name)
        for topic in delta.topics.deleted:
            deleted += self.twins.remove(topic, lost)
        for exchange in delta.change(EXCHANGES).deleted:
            part = self.graph.vhosts.get(exchange.vhost)
            if part is not None:
                lost += part.remove_exchange(exchange.name)
        for binding in delta.change(BINDINGS).undone:
            part = self.graph.vhosts.get(binding.vhost)
            edge = part.edges.get(binding) if part is not None else None
            if part is not None and edge is not None:
                part.remove_edge(edge)
                lost.append(edge)

    def _follow_creations(
        self, image: Image, delta: Delta, created: list[QueueInfo], deleted: list[QueueInfo], lost: list[Edge]
    ) -> None:
        for before_vhost, vhost in delta.change(VHOSTS).put:
            if before_vhost is None:
                self._add_vhost(vhost.name)
        for before_exchange, exchange in delta.change(EXCHANGES).put:
            assert before_exchange is None, exchange
            self.add_exchange(self.graph.vhosts[exchange.vhost], self.exchange_of(exchange))
        for before_queue, queue in delta.change(QUEUES).put:
            assert before_queue is None, queue
            info = self.queue_of(queue)
            self.add_queue(info)
            created.append(info)
        for _, topic in delta.topics.changed:
            gone, new = self.twins.grow(image, topic, lost)
            deleted += gone
            created += new
        created += self.twins.show(image, delta.topics.created)
        bindings = dict.fromkeys(delta.change(BINDINGS).made)
        revealed = self.twins.show_hidden(image)
        if revealed:
            created += revealed
            bindings |= dict.fromkeys(self.twins.stored_bindings(image, revealed))
        for binding in bindings:
            self._add_edge(binding)

    def _add_edge(self, binding: Binding) -> None:
        part = self.graph.vhosts[binding.vhost]
        targets = part.queues if binding.to_queue else part.exchanges
        if binding.source in part.exchanges and binding.destination in targets and binding not in part.edges:
            part.add_edge(binding, decode_arguments(binding.arguments))
        # Else a topic at one of its ends is hidden: the edge comes when that is shown.

    # ---- things -----------------------------------------------------------------------------------------------

    def add_queue(self, info: QueueInfo) -> None:
        info.effective = self._queue_effective(info)
        self.graph.vhosts[info.vhost].add_queue(info)

    def add_exchange(self, part: VhostGraph, info: ExchangeInfo) -> None:
        info.effective = self._exchange_effective(info)
        part.add_exchange(info)

    def queue_of(self, record: QueueDeclared) -> QueueInfo:
        arguments = decode_arguments(record.arguments)
        return QueueInfo(
            record.queue_id, record.vhost, record.name, True, None, record.auto_delete, arguments, {}, record.kind
        )

    def exchange_of(self, record: ExchangeDeclared) -> ExchangeInfo:
        arguments = decode_arguments(record.arguments)
        return ExchangeInfo(
            record.vhost, record.name, record.kind, True, record.auto_delete, record.internal, arguments
        )

    def _add_vhost(self, name: str) -> None:
        part = self.graph.vhosts[name] = VhostGraph(name)
        for exchange, kind, internal in PREDECLARED:
            self.add_exchange(part, ExchangeInfo(name, exchange, kind, True, False, internal))

    # ---- policies ---------------------------------------------------------------------------------------------

    def _sort_policies(self, image: Image) -> None:
        self._policies = {}
        for policy in image.part(POLICIES).values():
            self._policies.setdefault(policy.vhost, []).append(policy)

    def policies_of_queue(self, info: QueueInfo) -> tuple[PolicyPut | None, PolicyPut | None]:
        """The user's policy and the operator's that the queue obeys."""
        return policies.policies_of_queue(self._policies.get(info.vhost, ()), info.name, info.type)

    def policy_of_exchange(self, info: ExchangeInfo) -> PolicyPut | None:
        here = self._policies.get(info.vhost, ())
        return policies.policy_of((each for each in here if not each.operator), info.name, policies.EXCHANGE_KINDS)

    def _queue_effective(self, info: QueueInfo) -> dict[str, object]:
        return policies.queue_effective(info.type, info.arguments, *self.policies_of_queue(info))

    def _exchange_effective(self, info: ExchangeInfo) -> dict[str, object]:
        return policies.exchange_effective(info.arguments, self.policy_of_exchange(info))

    def _refresh(self, part: VhostGraph) -> list[QueueInfo]:
        for node in part.exchanges.values():
            node.info.effective = self._exchange_effective(node.info)
        part.forget()
        changed = []
        for info in part.queues.values():
            effective = self._queue_effective(info)
            if effective != info.effective:
                info.effective = effective
                changed.append(info)
        return changed
