"""Faults that a test can switch on in a running broker, and off again.

Connections and deliveries are broken through the broker's own API. The disk is slowed below the broker, which has to be
started for it (``Broker(faults=True)``): ``twinlog.testing.serve`` runs it on a machine with knobs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from twinlog.testing.broker import Broker


class Faults:
    """What ``Broker.faults`` gives."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker

    def drop_connections(self, *, protocol: str = "") -> int:
        """Cuts every client's connection, or those of one protocol (``kafka``, ``amqp``); how many that were."""
        dropped = 0
        for each in self._broker.ask("GET", "/api/connections"):
            if each["protocol"].lower().startswith(protocol.lower()):
                dropped += self._close(each["name"])
        return dropped

    def redeliver(self, queue: str, *, vhost: str = "/") -> int:
        """What consumers of the queue hold unacknowledged comes again, marked as redelivered: their connections are
        cut. How many that were."""
        found = self._broker.ask("GET", f"/api/consumers/{quote(vhost, safe='')}")
        names = {each["channel_details"]["connection_name"] for each in found if each["queue"]["name"] == queue}
        return sum(self._close(name) for name in names)

    def slow_disk(self, delay_ms: float) -> None:
        """Every sync of the disk takes so much longer from now on: confirms and ``acks=all`` come late."""
        self._broker.turn(disk_delay_ms=delay_ms)

    def heal(self) -> None:
        """All is well again."""
        if self._broker.has_knobs:
            self._broker.turn(disk_delay_ms=0)

    def _close(self, name: str) -> int:
        from twinlog.testing.broker import ApiRefused

        try:
            self._broker.ask("DELETE", f"/api/connections/{quote(name, safe='')}")
        except ApiRefused:
            return 0  # it was gone before we came
        return 1
