"""An AMQP listener: admits connections, and gives them what they share."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Iterator
from itertools import count

from twinlog.amqp.broker import AmqpBroker
from twinlog.amqp.codes import CONNECTION_FORCED, NOT_ALLOWED, refuse
from twinlog.base.logs import Log
from twinlog.host import Clock, Tasks
from twinlog.servers.admission import Admission
from twinlog.servers.amqp.connection import AmqpConnection


class AmqpServer:
    """``accept`` is what ``host.network.listen`` takes."""

    def __init__(
        self,
        *,
        broker: AmqpBroker,
        clock: Clock,
        tasks: Tasks,
        log: Log,
        cluster_name: Callable[[], str],
        admission: Admission | None = None,
    ) -> None:
        self.broker = broker
        self.tasks = tasks
        self.log = log
        self.cluster_name = cluster_name
        self._monotonic_us = clock.monotonic_us
        self.broken_off_count = 0
        self.refused_login_count = 0
        self._numbers = count(1)
        self._connections: dict[AmqpConnection, None] = {}
        self._by_address: dict[str, int] = {}
        self._in_handshake: dict[str, int] = {}
        self._entered: dict[AmqpConnection, None] = {}
        self._admission = admission or Admission()

    def accept(self) -> AmqpConnection:
        return AmqpConnection(self, next(self._numbers))

    def monotonic_ms(self) -> int:
        return self._monotonic_us() // 1000

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def __iter__(self) -> Iterator[AmqpConnection]:
        """Those that are open, for who shows them."""
        return iter(list(self._entered))

    # ---- coming and going -------------------------------------------------------------------------------------

    def admit(self, connection: AmqpConnection) -> bool:
        address = connection.peer[0]
        settings = self.broker.settings
        here = self._by_address.get(address, 0)
        shaking_hands = self._in_handshake.get(address, 0)
        why = self._admission.refusal()
        if (
            len(self._connections) >= settings.connections_max
            or here >= settings.connections_per_address_max
            or shaking_hands >= settings.handshakes_per_address_max
        ):
            why = "too many connections"
        if why is not None:
            self._admission.turned_away_count += 1
            self.log.warning("turned an AMQP connection away", peer=address, why=why)
            return False
        self._connections[connection] = None
        self._by_address[address] = here + 1
        self._in_handshake[address] = shaking_hands + 1
        self._admission.connection_count += 1
        return True

    def entered(self, connection: AmqpConnection) -> None:
        """Its handshake is over."""
        self._entered[connection] = None
        self.broker.counts.connection_created += 1
        _count_down(self._in_handshake, connection.peer[0])

    def left(self, connection: AmqpConnection) -> None:
        if self._connections.pop(connection, self) is self:
            return  # it was never admitted
        self._admission.connection_count -= 1
        address = connection.peer[0]
        _count_down(self._by_address, address)
        if self._entered.pop(connection, self) is self:
            _count_down(self._in_handshake, address)
        else:
            self.broker.counts.connection_closed += 1

    def is_loopback(self, address: str) -> bool:
        try:
            return ipaddress.ip_address(address.partition("%")[0]).is_loopback
        except ValueError:
            return False

    # ---- limits -----------------------------------------------------------------------------------------------

    def check_limits(self, user: str, vhost: str) -> None:
        """``Refused`` 530 when the vhost or the user has as many connections as it may have."""
        limit = self.broker.vhost_limit(vhost, "max-connections")
        if 0 <= limit <= sum(each.caller.vhost == vhost for each in self._entered):
            refuse(NOT_ALLOWED, f"access to vhost '{vhost}' refused for user '{user}': connection limit ({limit})")
        limit = self.broker.user_limit(user, "max-connections")
        if 0 <= limit <= sum(each.caller.user == user for each in self._entered):
            refuse(NOT_ALLOWED, f"Connection refused for user '{user}': user connection limit ({limit}) is reached")

    def check_channels(self, user: str) -> None:
        limit = self.broker.user_limit(user, "max-channels")
        if 0 <= limit <= sum(len(each.channels) for each in self._entered if each.caller.user == user):
            refuse(NOT_ALLOWED, f"number of channels opened for user '{user}' has reached the limit of {limit}")

    # ---- the end ----------------------------------------------------------------------------------------------

    def close_vhost(self, vhost: str) -> None:
        for connection in self:
            if connection.caller.vhost == vhost:
                connection.close(CONNECTION_FORCED, f"vhost '{vhost}' is deleted")

    def drain_all(self) -> None:
        """Nothing new is read; what is under way gets its answers."""
        for connection in list(self._connections):
            connection.drain()

    def close_all(self, reason: str = "broker forced connection closure with reason 'shutdown'") -> None:
        """Everybody is told, and has a moment to agree."""
        for connection in list(self._connections):
            connection.close(CONNECTION_FORCED, reason)


def _count_down(counts: dict[str, int], address: str) -> None:
    counts[address] -= 1
    if not counts[address]:
        del counts[address]
