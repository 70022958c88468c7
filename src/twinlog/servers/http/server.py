"""The HTTP listener: admits connections, knows the routes, and gives connections what they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from twinlog.base.logs import Log
from twinlog.host import Tasks
from twinlog.servers.http.api import ALL_ROUTES
from twinlog.servers.http.connection import HttpConnection
from twinlog.servers.http.guard import Guard
from twinlog.servers.http.lockout import Lockout
from twinlog.servers.http.message import Request
from twinlog.servers.http.ports import Managed
from twinlog.servers.http.router import Route, Router
from twinlog.servers.http.sessions import Sessions


class HttpServer:
    """``accept`` is what ``host.network.listen`` takes."""

    def __init__(self, managed: Managed) -> None:
        self.managed: Final = managed
        self.settings: Final = managed.settings
        self.tasks: Final[Tasks] = managed.tasks
        self.log: Final[Log] = managed.log
        sessions = Sessions(self.settings, managed.chance, managed.monotonic_ms)
        self.guard: Final = Guard(managed, sessions, Lockout(managed.monotonic_ms))
        managed.guard = self.guard
        self._router = Router(ALL_ROUTES)
        managed.routes = self._router.routes
        self.draining = False
        self.turned_away_count = 0
        self.requests: Final[dict[tuple[str, int], int]] = managed.http_requests
        self._connections: dict[HttpConnection, None] = {}
        self._by_address: dict[str, int] = {}

    def accept(self) -> HttpConnection:
        return HttpConnection(self)

    def find(self, request: Request, parts: Sequence[str]) -> Route:
        return self._router.find(request, parts)

    def count(self, route: Route | None, status: int) -> None:
        """By group and class of status only: what strangers send must not make figures grow."""
        key = (route.group if route is not None else "none", status // 100 * 100)
        self.requests[key] = self.requests.get(key, 0) + 1

    @property
    def connection_count(self) -> int:
        return len(self._connections)

    def admit(self, connection: HttpConnection) -> bool:
        address = connection.peer[0]
        count = self._by_address.get(address, 0)
        settings = self.settings
        if len(self._connections) >= settings.connections_max or count >= settings.connections_per_address_max:
            self.turned_away_count += 1
            self.log.warning("turned an HTTP connection away", peer=address, why="too many connections")
            return False
        self._connections[connection] = None
        self._by_address[address] = count + 1
        return True

    def left(self, connection: HttpConnection) -> None:
        if self._connections.pop(connection, self) is self:
            return
        address = connection.peer[0]
        self._by_address[address] -= 1
        if not self._by_address[address]:
            del self._by_address[address]

    def drain_all(self) -> None:
        """Requests that are being answered get their answers; nothing new begins."""
        self.draining = True
        for connection in list(self._connections):
            connection.drain()

    def close_all(self) -> None:
        for connection in list(self._connections):
            connection.close()
