"""Fanout exchanges: every message to everyone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from twinlog.amqp.routing.matcher import Edges
from twinlog.wire.amqp import Properties

if TYPE_CHECKING:
    from twinlog.amqp.routing.graph import Edge


class FanoutMatcher:
    def __init__(self) -> None:
        self.reads_properties: Final = False
        self._edges: Edges = {}

    def add(self, edge: Edge) -> None:
        self._edges[edge] = None

    def remove(self, edge: Edge) -> None:
        del self._edges[edge]

    def match(self, key: str, properties: Properties | None) -> Iterable[Edge]:
        return self._edges
