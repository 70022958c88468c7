"""What can have a quota, which quotas there are, and whose quota counts for a client."""

from __future__ import annotations

import ipaddress
import math
from collections.abc import Iterator, Mapping
from typing import Final

from twinlog.base import Refused
from twinlog.cluster.kinds.quotas import Entity
from twinlog.wire.kafka.errors import ErrorCode

USER: Final = "user"
CLIENT: Final = "client-id"
ADDRESS: Final = "ip"

PRODUCE_RATE: Final = "producer_byte_rate"
FETCH_RATE: Final = "consumer_byte_rate"
REQUEST_SHARE: Final = "request_percentage"
MUTATION_RATE: Final = "controller_mutation_rate"
CONNECTION_RATE: Final = "connection_creation_rate"

# What each quota means, and whether it is a whole number.
OF_CLIENTS: Final[Mapping[str, tuple[str, bool]]] = {
    PRODUCE_RATE: ("bytes a second in produce requests", True),
    FETCH_RATE: ("bytes a second in fetch responses", True),
    REQUEST_SHARE: ("percent of one core's time for requests", False),
    MUTATION_RATE: ("partitions made or deleted a second", False),
}
OF_ADDRESSES: Final[Mapping[str, tuple[str, bool]]] = {CONNECTION_RATE: ("new connections a second", True)}
NAME_CHARACTERS_MAX: Final = 1000


def checked_entity(pairs: list[tuple[str, str | None]]) -> Entity:
    """``Refused`` when nothing can have these names."""
    types = [kind for kind, _ in pairs]
    if not pairs:
        raise _invalid("a quota is of a user, a client id, both, or an address")
    if len(set(types)) != len(types):
        raise _invalid("the entity names a type twice")
    for kind, name in pairs:
        if kind not in (USER, CLIENT, ADDRESS):
            raise _invalid(f"there are quotas of {USER}, {CLIENT} and {ADDRESS}, not of {kind[:50]!r}")
        if name is not None and not 0 < len(name) <= NAME_CHARACTERS_MAX:
            raise _invalid(f"the name of a {kind} has 1 to {NAME_CHARACTERS_MAX} characters")
        if kind == ADDRESS and name is not None:
            try:
                ipaddress.ip_address(name)
            except ValueError:
                raise _invalid(f"{name[:50]!r} is not an IP address") from None
    if ADDRESS in types and len(types) > 1:
        raise _invalid("the quota of an address cannot be of a user or client id as well")
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


def check_value(entity: Entity, name: str, value: float) -> None:
    """``Refused`` when the entity cannot have this quota."""
    known = OF_ADDRESSES if entity[0][0] == ADDRESS else OF_CLIENTS
    if name not in known:
        raise _invalid(f"there is no quota {name[:50]!r} here; there are {', '.join(known)}")
    if not math.isfinite(value) or value <= 0:
        raise _invalid(f"{name} has to be above 0; to lift a quota, remove it")
    if known[name][1] and value != int(value):
        raise _invalid(f"{name} is a whole number")


def _invalid(message: str) -> Refused:
    return Refused(ErrorCode.INVALID_REQUEST, message)


def candidates(user: str, client_id: str) -> Iterator[tuple[Entity, tuple[str, str]]]:
    """The entities whose quota may count for a client, the one that goes first first, each with who shares it."""
    both, one, all_of_client = (user, client_id), (user, ""), ("", client_id)
    yield ((CLIENT, client_id), (USER, user)), both
    yield ((CLIENT, None), (USER, user)), both
    yield ((USER, user),), one
    yield ((CLIENT, client_id), (USER, None)), both
    yield ((CLIENT, None), (USER, None)), both
    yield ((USER, None),), one
    yield ((CLIENT, client_id),), all_of_client
    yield ((CLIENT, None),), all_of_client
