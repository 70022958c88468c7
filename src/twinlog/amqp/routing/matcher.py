"""What the exchange types have in common: edges come and go, and a message is matched against them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from twinlog.wire.amqp import Properties, Table

if TYPE_CHECKING:
    from twinlog.amqp.routing.graph import Edge


class Matcher(Protocol):
    """The bindings of one exchange, arranged for matching. An edge is removed only after it was added."""

    @property
    def reads_properties(self) -> bool:
        """Whether a match depends on more than the key."""

    def add(self, edge: Edge) -> None: ...

    def remove(self, edge: Edge) -> None: ...

    def match(self, key: str, properties: Properties | None) -> Iterable[Edge]: ...


# Edges in the order in which they were added.
Edges: TypeAlias = "dict[Edge, None]"


def anything_goes(key: str, arguments: Table) -> None:
    """The check of exchange types to which every binding is fine."""
