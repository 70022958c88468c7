"""Headers exchanges: a binding's arguments are what a message's headers must hold, all of it or any of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from twinlog.amqp.codes import PRECONDITION_FAILED, refuse
from twinlog.wire.amqp import Properties, Table

if TYPE_CHECKING:
    from twinlog.amqp.routing.graph import Edge

MATCH: Final = "x-match"
# Each way of matching: (whether everything must fit, whether names beginning with x- count).
WAYS: Final = {
    "all": (True, False),
    "any": (False, False),
    "all-with-x": (True, True),
    "any-with-x": (False, True),
}
NOTHING: Final[Mapping[str, Any]] = {}


class _Wanted(NamedTuple):
    everything: bool
    items: tuple[tuple[str, Any], ...]


class HeadersMatcher:
    def __init__(self) -> None:
        self.reads_properties: Final = True
        self._wanted: dict[Edge, _Wanted] = {}

    def add(self, edge: Edge) -> None:
        everything, with_x = WAYS[edge.arguments.get(MATCH, "all")]
        items = tuple(
            (name, value)
            for name, value in edge.arguments.items()
            if name != MATCH and (with_x or not name.startswith("x-"))
        )
        self._wanted[edge] = _Wanted(everything, items)

    def remove(self, edge: Edge) -> None:
        del self._wanted[edge]

    def match(self, key: str, properties: Properties | None) -> Iterable[Edge]:
        headers = (properties.headers if properties else None) or NOTHING
        return [edge for edge, wanted in self._wanted.items() if _fits(wanted, headers)]


def check_binding(key: str, arguments: Table) -> None:
    way = arguments.get(MATCH, "all")
    if not isinstance(way, str) or way not in WAYS:
        refuse(PRECONDITION_FAILED, f"x-match of a binding must be one of {', '.join(WAYS)}, it is {way!r}")


def _fits(wanted: _Wanted, headers: Mapping[str, Any]) -> bool:
    # Nothing wanted: all of it is there, any of it is not.
    checks = (name in headers and _same(value, headers[name]) for name, value in wanted.items)
    return all(checks) if wanted.everything else any(checks)


def _same(wanted: Any, given: Any) -> bool:
    """By value, across the widths of numbers; a number is never a text, nor true or false. A void value is any."""
    if wanted is None:
        return True
    return _family(wanted) is _family(given) and bool(wanted == given)


def _family(value: Any) -> type:
    for family in (bool, str, bytes, list, dict):
        if isinstance(value, family):
            return family
    return Decimal if isinstance(value, int | float | Decimal) else type(value)
