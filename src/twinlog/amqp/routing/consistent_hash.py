"""Consistent-hash exchanges: each message to one of the bindings, and the same key always to the same one.

The key of a binding is its weight. Bindings own points on a ring, as many as their weight says; a message goes to the
next point behind its hash. When a binding comes or goes, only the messages move that are its own.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from twinlog.amqp.codes import PRECONDITION_FAILED, refuse
from twinlog.wire.amqp import Properties, Table
from twinlog.wire.amqp.properties import ORDER

if TYPE_CHECKING:
    from twinlog.amqp.routing.graph import Edge

HASH_HEADER: Final = "hash-header"
HASH_PROPERTY: Final = "hash-property"
PROPERTIES: Final = ("correlation_id", "message_id", "timestamp")
POINTS_PER_WEIGHT: Final = 64
WEIGHT_MAX: Final = 1000


class ConsistentHashMatcher:
    def __init__(self, arguments: Table) -> None:
        self._header = arguments.get(HASH_HEADER)
        self._property = arguments.get(HASH_PROPERTY)
        self.reads_properties: Final = self._header is not None or self._property is not None
        self._edges: dict[Edge, None] = {}
        self._points: list[int] = []
        self._owners: list[Edge] = []
        self._is_stale = False

    def add(self, edge: Edge) -> None:
        self._edges[edge] = None
        self._is_stale = True

    def remove(self, edge: Edge) -> None:
        del self._edges[edge]
        self._is_stale = True

    def match(self, key: str, properties: Properties | None) -> Iterable[Edge]:
        if self._is_stale:
            self._place()
        if not self._points:
            return ()
        place = bisect_right(self._points, _hash(self._hashed(key, properties)))
        return (self._owners[place % len(self._owners)],)

    def _hashed(self, key: str, properties: Properties | None) -> str:
        if properties is None or not self.reads_properties:
            return key if not self.reads_properties else ""
        if self._header is not None:
            value: Any = (properties.headers or {}).get(self._header)
        else:
            value = getattr(properties, str(self._property))
        return "" if value is None else str(value)

    def _place(self) -> None:
        ring = sorted(
            (_hash(f"{edge.place_name} {point}"), order, edge)
            for order, edge in enumerate(self._edges)
            for point in range(int(edge.binding.key) * POINTS_PER_WEIGHT)
        )
        self._points = [point for point, _, _ in ring]
        self._owners = [edge for _, _, edge in ring]
        self._is_stale = False


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogateescape"), digest_size=8).digest())


def check_binding(key: str, arguments: Table) -> None:
    if not key.isascii() or not key.isdigit() or not 1 <= int(key[:9]) <= WEIGHT_MAX or len(key) > 9:
        refuse(
            PRECONDITION_FAILED,
            f"the key of a binding to a consistent-hash exchange is its weight, from 1 to {WEIGHT_MAX}; it is '{key}'",
        )


def check_arguments(arguments: Table) -> None:
    header, wanted = arguments.get(HASH_HEADER), arguments.get(HASH_PROPERTY)
    if header is not None and wanted is not None:
        refuse(PRECONDITION_FAILED, f"{HASH_HEADER} and {HASH_PROPERTY} cannot be given both")
    if header is not None and not isinstance(header, str):
        refuse(PRECONDITION_FAILED, f"{HASH_HEADER} must be the name of a header")
    if wanted is not None and wanted not in PROPERTIES:
        refuse(PRECONDITION_FAILED, f"{HASH_PROPERTY} must be one of {', '.join(PROPERTIES)}")
    assert set(PROPERTIES) <= set(ORDER)
