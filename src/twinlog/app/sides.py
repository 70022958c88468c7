"""The doors of a node: one protocol, one listener. To open another protocol, write its side and name it in SIDES."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from twinlog.base.address import Address, parse_address
from twinlog.host import Listener, StreamHandler
from twinlog.servers.amqp.server import AmqpServer
from twinlog.servers.kafka.server import KafkaServer

if TYPE_CHECKING:
    from twinlog.app.node import Node
    from twinlog.servers.http.ports import Managed
    from twinlog.servers.http.server import HttpServer


class Side(Protocol):
    """A protocol's listener with its connections."""

    async def open(self, address: Address) -> Address:
        """Listens; returns the address with the port that was really taken."""

    def close_door(self) -> None:
        """Nobody new comes in, nothing new is read; who has all answers is let go."""

    def close_connections(self) -> None:
        """What is ready is sent, then every connection closes."""

    @property
    def connection_count(self) -> int: ...


class Server(Protocol):
    """What a protocol's server has for its side."""

    def accept(self) -> StreamHandler: ...

    def drain_all(self) -> None: ...

    def close_all(self) -> None: ...

    @property
    def connection_count(self) -> int: ...


ServerT = TypeVar("ServerT", bound=Server)


class ServedSide(Generic[ServerT]):
    """A side whose server is there from the start, in the clear."""

    def __init__(self, node: Node, server: ServerT) -> None:
        self._network = node.host.network
        self._listener: Listener | None = None
        self.server = server

    async def open(self, address: Address) -> Address:
        self._listener = await self._network.listen(address.host, address.port, self.server.accept)
        return Address(*self._listener.address)

    def close_door(self) -> None:
        if self._listener is not None:
            self._listener.close()
        self.server.drain_all()

    def close_connections(self) -> None:
        self.server.close_all()

    @property
    def connection_count(self) -> int:
        return self.server.connection_count


class KafkaSide(ServedSide[KafkaServer]):
    """Kafka clients."""

    def __init__(self, node: Node) -> None:
        server = KafkaServer(
            broker=node.broker,
            clock=node.host.clock,
            tasks=node.host.tasks,
            log=node.log,
            listener="PLAINTEXT",
            admission=node.admission,
        )
        super().__init__(node, server)


class AmqpSide(ServedSide[AmqpServer]):
    """AMQP clients."""

    def __init__(self, node: Node) -> None:
        server = AmqpServer(
            broker=node.amqp.broker,
            clock=node.host.clock,
            tasks=node.host.tasks,
            log=node.log,
            cluster_name=lambda: node.metadata.image.cluster_id or "twinlog",
            admission=node.admission,
        )
        node.amqp.topology.on_vhost_deleted = server.close_vhost
        super().__init__(node, server)


class HttpSide:
    """Browsers, management tools, Prometheus. What answers them is loaded when the first of them comes: most nodes are
    started far more often than somebody looks at them."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._listener: Listener | None = None
        self._server: HttpServer | None = None
        self._managed: Managed | None = None

    async def open(self, address: Address) -> Address:
        from twinlog.app.http import managed_node

        node = self._node
        self._managed = managed_node(node)
        self._managed.figures.start()
        self._listener = await node.host.network.listen(address.host, address.port, self._accept)
        return Address(*self._listener.address)

    def _accept(self) -> StreamHandler:
        if self._server is None:
            from twinlog.servers.http.server import HttpServer

            assert self._managed is not None
            self._server = HttpServer(self._managed)
        return self._server.accept()

    def close_door(self) -> None:
        if self._managed is not None:
            self._managed.figures.stop()
        if self._listener is not None:
            self._listener.close()
        if self._server is not None:
            self._server.drain_all()

    def close_connections(self) -> None:
        if self._server is not None:
            self._server.close_all()

    @property
    def connection_count(self) -> int:
        return self._server.connection_count if self._server is not None else 0


class SidePlan(NamedTuple):
    """A side in the settings: ``group`` is the field of ``NodeSettings`` that says where it listens."""

    name: str
    group: str
    make: Callable[[Node], Side] | None

    def address(self, node: Node) -> Address | None:
        """Where it is to listen; None when it is off."""
        listen: str = getattr(node.settings, self.group).listen
        return None if listen == "off" else parse_address(listen)


SIDES: Final = (
    SidePlan("kafka", "kafka_listen", KafkaSide),
    SidePlan("amqp", "amqp_listen", AmqpSide),
    SidePlan("http", "http_listen", HttpSide),
)
NOT_BUILT: Final = "closed: not built yet"
