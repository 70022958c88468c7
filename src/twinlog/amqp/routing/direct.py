"""Direct exchanges: the key of the message is the key of the binding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from twinlog.amqp.routing.matcher import Edges
from twinlog.wire.amqp import Properties

if TYPE_CHECKING:
    from twinlog.amqp.routing.graph import Edge


class DirectMatcher:
    def __init__(self) -> None:
        self.reads_properties: Final = False
        self._by_key: dict[str, Edges] = {}

    def add(self, edge: Edge) -> None:
        self._by_key.setdefault(edge.binding.key, {})[edge] = None

    def remove(self, edge: Edge) -> None:
        edges = self._by_key[edge.binding.key]
        del edges[edge]
        if not edges:
            del self._by_key[edge.binding.key]

    def match(self, key: str, properties: Properties | None) -> Iterable[Edge]:
        return self._by_key.get(key, ())
