"""Walks the graph from an exchange to the queues."""

from __future__ import annotations

from collections.abc import Sequence

from twinlog.amqp.codes import no_exchange
from twinlog.amqp.ports import QueueInfo
from twinlog.amqp.routing.graph import ExchangeNode, Graph, VhostGraph
from twinlog.wire.amqp import Properties


class RouteFinder:
    """Keeps the promises of ``ports.Router``."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    def reads_properties(self, vhost: str, exchange: str) -> bool:
        part = self._graph.vhosts.get(vhost)
        if part is None or exchange not in part.exchanges:
            return False
        known = part.readers.get(exchange)
        if known is None:
            known = part.readers[exchange] = _can_read_properties(part, part.exchanges[exchange])
        return known

    def route(
        self, vhost: str, exchange: str, key: str, properties: Properties | None = None, copies: Sequence[str] = ()
    ) -> tuple[QueueInfo, ...]:
        part = self._graph.vhosts.get(vhost)
        if part is None:
            raise no_exchange(vhost, exchange)
        if copies:
            return _walk(part, exchange, (key, *copies), properties)
        known = part.routes.get((exchange, key))
        if known is not None:
            return known
        route = _walk(part, exchange, (key,), properties)
        if not self.reads_properties(vhost, exchange):
            part.remember(exchange, key, route)
        return route


def _walk(part: VhostGraph, exchange: str, keys: Sequence[str], properties: Properties | None) -> tuple[QueueInfo, ...]:
    start = part.exchanges.get(exchange)
    if start is None:
        raise no_exchange(part.name, exchange)
    found: dict[QueueInfo, None] = {}
    seen = {start: None}
    ahead = [start]
    for node in ahead:  # grows while it is walked
        for target in _targets(part, node, keys, properties):
            if isinstance(target, QueueInfo):
                found[target] = None
            elif target not in seen:
                seen[target] = None
                ahead.append(target)
    return tuple(found)


def _targets(
    part: VhostGraph, node: ExchangeNode, keys: Sequence[str], properties: Properties | None
) -> list[QueueInfo | ExchangeNode]:
    if node.info.name == "":
        named = [part.queues[key] for key in keys if key in part.queues]
        return list(named)
    targets = [edge.target for key in keys for edge in node.matcher.match(key, properties)]
    if not targets and node.alternate is not None:
        alternate = part.exchanges.get(node.alternate)
        if alternate is not None:
            targets.append(alternate)
    return targets


def _can_read_properties(part: VhostGraph, start: ExchangeNode) -> bool:
    seen = {start: None}
    ahead = [start]
    for node in ahead:
        if node.matcher.reads_properties:
            return True
        behind = [edge.target for edge in node.edges if isinstance(edge.target, ExchangeNode)]
        if node.alternate in part.exchanges:
            behind.append(part.exchanges[node.alternate])
        for each in behind:
            if each not in seen:
                seen[each] = None
                ahead.append(each)
    return False
