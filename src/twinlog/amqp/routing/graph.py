"""Exchanges, queues and bindings as a message sees them: the graph that the router walks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from twinlog.amqp.ports import ExchangeInfo, QueueInfo
from twinlog.amqp.routing.matcher import Edges, Matcher
from twinlog.amqp.routing.types import exchange_type
from twinlog.cluster.kinds.bindings import Binding
from twinlog.wire.amqp import Table

ALTERNATE: Final = "alternate-exchange"
ROUTES_MAX: Final = 100_000  # remembered routes of one vhost; then all are forgotten

Target: TypeAlias = "QueueInfo | ExchangeNode"


class Edge:
    """A binding in place. Compared by identity."""

    __slots__ = ("arguments", "binding", "source", "target")

    def __init__(self, binding: Binding, arguments: Table, source: ExchangeNode, target: Target) -> None:
        self.binding = binding
        self.arguments = arguments
        self.source = source
        self.target = target

    @property
    def place_name(self) -> str:
        """Tells the edges of one exchange apart, the same on every machine."""
        binding = self.binding
        return f"{'queue' if binding.to_queue else 'exchange'} {binding.destination} {binding.arguments.hex()}"


class ExchangeNode:
    """An exchange with what is bound to it (``edges``) and what it is bound to (``reaching``)."""

    __slots__ = ("edges", "info", "matcher", "reaching")

    def __init__(self, info: ExchangeInfo) -> None:
        self.info = info
        self.matcher: Matcher = exchange_type(info.kind, info.arguments).make(info.arguments)
        self.edges: Edges = {}
        self.reaching: Edges = {}

    @property
    def alternate(self) -> str | None:
        name = self.info.effective.get(ALTERNATE)
        return name if isinstance(name, str) else None


class VhostGraph:
    """One vhost's part. Every change forgets the remembered routes that it could make wrong."""

    __slots__ = ("edges", "exchanges", "name", "queue_edges", "queues", "readers", "routes")

    def __init__(self, name: str) -> None:
        self.name = name
        self.exchanges: dict[str, ExchangeNode] = {}
        self.queues: dict[str, QueueInfo] = {}
        self.edges: dict[Binding, Edge] = {}
        self.queue_edges: dict[str, Edges] = {}
        self.routes: dict[tuple[str, str], tuple[QueueInfo, ...]] = {}
        self.readers: dict[str, bool] = {}  # by exchange: whether its routes depend on more than the key

    def add_exchange(self, info: ExchangeInfo) -> None:
        assert info.name not in self.exchanges, info
        self.exchanges[info.name] = ExchangeNode(info)
        self.forget()  # it may be somebody's alternate exchange

    def remove_exchange(self, name: str) -> list[Edge]:
        """Returns the edges that went with it."""
        node = self.exchanges.pop(name)
        gone = list({**node.edges, **node.reaching})
        for edge in gone:
            self.remove_edge(edge)
        self.forget()
        return gone

    def add_queue(self, info: QueueInfo) -> None:
        assert info.name not in self.queues, info
        self.queues[info.name] = info
        self.routes.pop(("", info.name), None)

    def remove_queue(self, name: str) -> list[Edge]:
        """Returns the edges that went with it."""
        del self.queues[name]
        gone = list(self.queue_edges.get(name, ()))
        for edge in gone:
            self.remove_edge(edge)
        self.routes.pop(("", name), None)
        return gone

    def add_edge(self, binding: Binding, arguments: Table) -> None:
        source = self.exchanges[binding.source]
        target: Target = self.queues[binding.destination] if binding.to_queue else self.exchanges[binding.destination]
        edge = Edge(binding, arguments, source, target)
        assert binding not in self.edges, binding
        self.edges[binding] = edge
        source.edges[edge] = None
        source.matcher.add(edge)
        self._reaching(edge)[edge] = None
        self.forget()

    def remove_edge(self, edge: Edge) -> None:
        del self.edges[edge.binding]
        del edge.source.edges[edge]
        edge.source.matcher.remove(edge)
        reaching = self._reaching(edge)
        del reaching[edge]
        if not reaching and edge.binding.to_queue:
            del self.queue_edges[edge.binding.destination]
        self.forget()

    def _reaching(self, edge: Edge) -> Edges:
        if isinstance(edge.target, ExchangeNode):
            return edge.target.reaching
        return self.queue_edges.setdefault(edge.binding.destination, {})

    def remember(self, exchange: str, key: str, route: tuple[QueueInfo, ...]) -> None:
        if len(self.routes) >= ROUTES_MAX:
            self.routes.clear()
        self.routes[exchange, key] = route

    def forget(self) -> None:
        self.routes.clear()
        self.readers.clear()


class Graph:
    """All vhosts of the node."""

    def __init__(self) -> None:
        self.vhosts: dict[str, VhostGraph] = {}

    def __iter__(self) -> Iterator[VhostGraph]:
        return iter(self.vhosts.values())

    def queue(self, vhost: str, name: str) -> QueueInfo | None:
        part = self.vhosts.get(vhost)
        return part.queues.get(name) if part else None

    def exchange(self, vhost: str, name: str) -> ExchangeInfo | None:
        part = self.vhosts.get(vhost)
        node = part.exchanges.get(name) if part else None
        return node.info if node else None
