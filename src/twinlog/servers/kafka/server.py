"""A Kafka listener: admits connections, and gives them what they share."""

from __future__ import annotations

from collections.abc import Iterator

from twinlog.base.logs import Log
from twinlog.base.metrics import Histogram
from twinlog.host import Clock, Tasks
from twinlog.kafka.broker import Broker
from twinlog.servers.admission import Admission
from twinlog.servers.kafka.connection import KafkaConnection


class KafkaServer:
    """``accept`` is what ``host.network.listen`` takes. With ``login_needed`` frames stay small until the login."""

    def __init__(
        self,
        *,
        broker: Broker,
        clock: Clock,
        tasks: Tasks,
        log: Log,
        listener: str,
        login_needed: bool = False,
        admission: Admission | None = None,
    ) -> None:
        self.broker = broker
        self.tasks = tasks
        self.log = log
        self.listener = listener
        self.now_ms = clock.now_ms
        self.monotonic_us = clock.monotonic_us
        settings = broker.settings
        self.frame_max_bytes = (
            settings.request_size_before_login_max_bytes if login_needed else settings.request_size_max_bytes
        )
        self.broken_off_count = 0
        self.figures: dict[int, Histogram] = {}  # by API key, from the request's bytes to its answer
        self._connections: dict[KafkaConnection, None] = {}
        self._by_address: dict[str, int] = {}
        self._admission = admission or Admission()

    def __iter__(self) -> Iterator[KafkaConnection]:
        """Those that are open, for who shows them."""
        return iter(list(self._connections))

    def answered(self, api_key: int, began_us: int) -> None:
        try:
            figures = self.figures[api_key]
        except KeyError:
            figures = self.figures[api_key] = Histogram()
        figures.observe(self.monotonic_us() - began_us)

    def accept(self) -> KafkaConnection:
        return KafkaConnection(self)

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def monotonic_ms(self) -> int:
        return self.monotonic_us() // 1000

    def admit(self, connection: KafkaConnection) -> bool:
        """Whether there is room for one more, from this address and at all."""
        address = connection.peer[0]
        settings = self.broker.settings
        count = self._by_address.get(address, 0)
        why = self._admission.refusal()
        if len(self._connections) >= settings.connections_max or count >= settings.connections_per_address_max:
            why = "too many connections"
        if why is not None:
            self._admission.turned_away_count += 1
            self.log.warning("turned a Kafka connection away", peer=address, why=why)
            return False
        self._connections[connection] = None
        self._by_address[address] = count + 1
        self._admission.connection_count += 1
        return True

    def left(self, connection: KafkaConnection) -> None:
        if self._connections.pop(connection, self) is self:
            return  # it was never admitted
        self._admission.connection_count -= 1
        address = connection.peer[0]
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def drain_all(self) -> None:
        """Every connection answers what is under way, and closes; nothing new is read."""
        for connection in list(self._connections):
            connection.drain()

    def close_all(self) -> None:
        """Every connection sends what is ready, and closes."""
        for connection in list(self._connections):
            connection.close()
