"""Routes: a method and a path's shape, what the asker needs, and the function that answers.

The same table is matched against requests, turned into the OpenAPI document, and walked by the test of rights.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from twinlog.servers.http.message import HttpError, Request, Response

if TYPE_CHECKING:
    from twinlog.servers.http.ports import Managed

Answer: TypeAlias = "Response | Awaitable[Response]"
Handler: TypeAlias = "Callable[[Managed, Request], Answer]"

# What the asker needs. Everything but ANYBODY needs a login by a user with one of RabbitMQ's management tags.
ANYBODY: Final = "anybody"
USER: Final = "user"
VHOST: Final = "vhost"
"""A user who may enter the vhost that the path names, or an administrator who looks."""
POLICYMAKER: Final = "policymaker"
"""As VHOST, with the tag policymaker or administrator."""
MONITOR: Final = "monitor"
"""The tag monitoring or administrator."""
ADMINISTRATOR: Final = "administrator"
NEEDS: Final = (ANYBODY, USER, VHOST, POLICYMAKER, MONITOR, ADMINISTRATOR)

SMALL: Final = "small"
LARGE: Final = "large"


@dataclass(frozen=True, slots=True)
class Route:
    method: str
    parts: tuple[str, ...]
    """A part in braces takes any name."""
    needs: str
    handler: Handler
    summary: str
    group: str
    query: tuple[tuple[str, str], ...] = ()
    body: tuple[tuple[str, str], ...] | None = None
    """Fields of the JSON body; None: the request has none."""
    body_size: str = SMALL
    answers: int = 200
    streams: bool = False

    @property
    def path(self) -> str:
        return "/" + "/".join(self.parts)


class Routes:
    """A room's routes, filled by decorators."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.all: list[Route] = []

    def add(
        self, method: str, path: str, needs: str, summary: str, **more: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(handler: Callable[..., Any]) -> Callable[..., Any]:
            assert needs in NEEDS, needs
            self.all.append(
                Route(method, tuple(path.strip("/").split("/")), needs, handler, summary, self.group, **more)
            )
            return handler

        return keep

    def get(self, path: str, needs: str, summary: str, **more: Any) -> Callable[..., Any]:
        return self.add("GET", path, needs, summary, **more)

    def put(self, path: str, needs: str, summary: str, **more: Any) -> Callable[..., Any]:
        return self.add("PUT", path, needs, summary, **{"body": (), "answers": 204, **more})

    def post(self, path: str, needs: str, summary: str, **more: Any) -> Callable[..., Any]:
        return self.add("POST", path, needs, summary, **{"body": (), **more})

    def delete(self, path: str, needs: str, summary: str, **more: Any) -> Callable[..., Any]:
        return self.add("DELETE", path, needs, summary, **{"answers": 204, **more})


class Router:
    """Finds the route of a request."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes: Final = tuple(routes)
        self._by_size: dict[int, list[Route]] = {}
        seen: set[tuple[str, tuple[str, ...]]] = set()
        for route in self.routes:
            shape = tuple("{}" if part.startswith("{") else part for part in route.parts)
            assert (route.method, shape) not in seen, f"{route.method} {route.path} is there twice"
            seen.add((route.method, shape))
            self._by_size.setdefault(len(route.parts), []).append(route)
        for routes_of_size in self._by_size.values():
            # Fixed words before names: /api/topics/import is not the topic of that name.
            routes_of_size.sort(key=lambda route: [part.startswith("{") for part in route.parts])

    def find(self, request: Request, parts: Sequence[str]) -> Route:
        """Fills the request's parameters. 404 and 405 as ``HttpError``."""
        if len(parts) > 1 and parts[-1] == "":
            parts = parts[:-1]
        method = "GET" if request.method == "HEAD" else request.method
        allowed: dict[str, None] = {}
        for route in self._by_size.get(len(parts), ()):
            parameters = _matched(route.parts, parts)
            if parameters is None:
                continue
            if route.method == method:
                request.parameters = parameters
                return route
            allowed[route.method] = None
        if allowed:
            methods = ", ".join(allowed)
            raise HttpError(405, "method_not_allowed", f"this takes {methods}", [("Allow", methods)])
        raise HttpError(404, "Object Not Found", "Not Found")


def _matched(shape: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    parameters: dict[str, str] = {}
    for wanted, part in zip(shape, parts, strict=True):
        if wanted.startswith("{"):
            parameters[wanted[1:-1]] = part
        elif wanted != part:
            return None
    return parameters
