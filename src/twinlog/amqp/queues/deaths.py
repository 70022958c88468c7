"""What a dead letter carries: where it died, why, and how often.

``x-death`` is an array of tables, the latest death first, one for each (queue, reason). What a client sent under that
name is not believed: only runs that we made ourselves carry on the count (``RUN_DEATHS``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from twinlog._kernel import RUN_COPIES, RUN_DEATHS, RUN_DELAY, RUN_HEADERS, RUN_IMMEDIATE, RUN_MANDATORY
from twinlog.amqp.queues.classic import REJECTED
from twinlog.wire.amqp import Properties, decode_properties, encode_properties
from twinlog.wire.amqp.table import Int64, Timestamp

DEATHS: Final = "x-death"
COPIES: Final = "CC"
TABLE_SIZE_MAX: Final = 100  # deaths remembered; those of the longest ago are forgotten
FLAGS_LEFT: Final = RUN_MANDATORY | RUN_IMMEDIATE | RUN_COPIES | RUN_DELAY


class Letter(NamedTuple):
    """A message on its way to a dead letter exchange."""

    key: str
    copies: tuple[str, ...]
    flags: int
    properties: Properties
    encoded: bytes
    body: bytes
    deaths: Sequence[dict[str, Any]]

    def may_enter(self, queue: str, reason: str) -> bool:
        """Whether it does not go round in a circle that no client keeps up."""
        if reason == REJECTED:
            return True
        between = []
        for death in self.deaths:
            between.append(death.get("reason"))
            if death.get("queue") == queue:
                return REJECTED in between
        return True


def letter_of(
    queue: str,
    reason: str,
    exchange: str,
    key: str,
    flags: int,
    encoded: bytes,
    body: bytes,
    now_ms: int,
    new_key: str | None,
) -> Letter:
    """The message as it is published again."""
    properties = decode_properties(encoded)
    headers = dict(properties.headers or {})
    copies = tuple(each for each in headers.get(COPIES) or () if isinstance(each, str))
    known = headers.pop(DEATHS, None) if flags & RUN_DEATHS else None
    if not flags & RUN_DEATHS:
        for name in [name for name in headers if name.startswith(("x-first-death-", "x-last-death-"))]:
            del headers[name]
    deaths = [death for death in known if isinstance(death, dict)] if isinstance(known, list) else []
    deaths = with_death(deaths, queue, reason, exchange, (key, *copies), properties.expiration, now_ms)
    headers.pop("x-delay", None)
    if new_key is not None:
        headers.pop(COPIES, None)
        key, copies = new_key, ()
    for which, value in (("queue", queue), ("reason", reason), ("exchange", exchange)):
        headers.setdefault(f"x-first-death-{which}", value)
        headers[f"x-last-death-{which}"] = value
    headers[DEATHS] = deaths
    properties.headers = headers
    properties.expiration = None
    new_flags = flags & ~FLAGS_LEFT | RUN_HEADERS | RUN_DEATHS | (RUN_COPIES if copies else 0)
    return Letter(key, copies, new_flags, properties, encode_properties(properties), body, deaths)


def with_death(
    deaths: list[dict[str, Any]],
    queue: str,
    reason: str,
    exchange: str,
    keys: Sequence[str],
    expiration: str | None,
    now_ms: int,
) -> list[dict[str, Any]]:
    before = next((each for each in deaths if each.get("queue") == queue and each.get("reason") == reason), None)
    if before is not None:
        death = {**before, "count": Int64(int(before.get("count", 0)) + 1)}
    else:
        death = {
            "count": Int64(1),
            "reason": reason,
            "queue": queue,
            "time": Timestamp(now_ms // 1000),
            "exchange": exchange,
            "routing-keys": list(keys),
        }
        if expiration is not None:
            death["original-expiration"] = expiration
    return [death, *(each for each in deaths if each is not before)][:TABLE_SIZE_MAX]
